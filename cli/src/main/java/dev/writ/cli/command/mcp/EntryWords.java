package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.tools.mcp.LocalSpec;
import dev.writ.tools.mcp.NpmOrigin;
import dev.writ.tools.mcp.ServerSpec;
import dev.writ.tools.mcp.remote.RemoteSpec;
import dev.writ.tools.mcp.web.WebAddress;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * What a client's entry says of a server, whatever the server and its secrets are called here: two
 * of them with one address and different secrets are two servers.
 *
 * @param command of a local one, as it was asked for
 * @param plain variables, or what headers hold beside their secrets
 * @param secrets digests of the values, by variable or header; empty for one that is not there
 */
record EntryWords(
    List<String> command,
    Optional<WebAddress> url,
    SortedMap<String, String> plain,
    SortedMap<String, Optional<Digest>> secrets) {

  /**
   * @param values of secrets, by their names
   */
  static EntryWords of(ServerSpec spec, Function<String, Optional<byte[]>> values) {
    TreeMap<String, String> plain = new TreeMap<>();
    TreeMap<String, Optional<Digest>> secrets = new TreeMap<>();
    Function<String, Optional<Digest>> digest = name -> values.apply(name).map(Digest::sha256);
    spec.local()
        .ifPresent(local -> {
          plain.putAll(local.environment());
          local.secrets().forEach((name, secret) -> secrets.put(name, digest.apply(secret)));
        });
    spec.remote()
        .ifPresent(remote ->
            remote
                .headers()
                .forEach((name, value) -> {
                  plain.put(name, value.text());
                  value.secret().ifPresent(secret -> secrets.put(name, digest.apply(secret)));
                }));
    return new EntryWords(
        spec.local().map(EntryWords::command).orElse(List.of()),
        spec.remote().map(RemoteSpec::url),
        plain,
        secrets);
  }

  private static List<String> command(LocalSpec spec) {
    return spec.npm().map(NpmOrigin::asked).orElse(spec.command());
  }
}

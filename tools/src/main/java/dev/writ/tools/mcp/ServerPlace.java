package dev.writ.tools.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.document.Scope;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.SecretFile;
import dev.writ.tools.mcp.oauth.OauthSpec;
import dev.writ.tools.mcp.remote.RemoteSpec;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * For whom a server runs, and how it is confined: calls with an equal key share a server.
 *
 * @param profile the sandbox profile
 * @param memoryBytes the limit of all that it keeps in memory
 * @param secrets the values of its secrets
 * @param keeps whether it finds its state again; else it has an empty one that ends with it
 */
record ServerPlace(
    Scope scope,
    String profile,
    long memoryBytes,
    boolean approved,
    List<Guarantee> waived,
    List<SecretFile> secrets,
    boolean keeps) {
  ServerPlace {
    waived = List.copyOf(waived);
    secrets = List.copyOf(secrets);
  }

  /** The state that it would have, of which one process at a time has it. */
  Optional<String> state(UpstreamPackage upstream) {
    boolean has =
        upstream.spec().local().filter(l -> l.kept().stateBytes().isPresent()).isPresent();
    return keeps && has
        ? Optional.of(scope.tenant() + "\u0000" + upstream.manifest().name())
        : Optional.empty();
  }

  /** Differs where anything differs; of the secrets it has a digest of all of them. */
  String key(UpstreamPackage upstream) {
    Digest packageDigest = upstream.manifest().packageDigest();
    Optional<String> tokens =
        upstream.spec().remote().flatMap(RemoteSpec::oauth).map(OauthSpec::tokens);
    ByteArrayOutputStream values = new ByteArrayOutputStream();
    for (SecretFile secret : secrets) {
      if (tokens.filter(secret.name()::equals).isPresent()) {
        continue; // they change while the server is kept
      }
      values.writeBytes(secret.name().getBytes(StandardCharsets.UTF_8));
      values.writeBytes(Digest.sha256(secret.bytes()).bytes());
    }
    return String.join(
        "\u0000",
        packageDigest.toString(),
        scope.tenant(),
        scope.run(),
        scope.subject(),
        profile,
        memoryBytes + " " + approved + " " + waived,
        Digest.sha256(values.toByteArray()).toString());
  }
}

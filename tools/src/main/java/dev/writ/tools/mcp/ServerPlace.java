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
 */
record ServerPlace(
    Scope scope,
    String profile,
    long memoryBytes,
    boolean approved,
    List<Guarantee> waived,
    List<SecretFile> secrets) {
  ServerPlace {
    waived = List.copyOf(waived);
    secrets = List.copyOf(secrets);
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

import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.client.VerifiedOutcome;
import dev.writ.client.WritClient;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Resources;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/**
 * Asks for one effect and believes the answer only where the installation's keys have signed it.
 *
 * <p>Arguments: the server's address, its log's name, the agent's tenant, name and key file, the
 * installation's trust.jwks, and the effect's tool, version, operation, sandbox and parameters.
 */
final class Example {
  public static void main(String[] args) throws Exception {
    WritClient.Agent agent =
        new WritClient.Agent(args[2], args[3], KeyFiles.read(Path.of(args[4]), () -> null));
    WritClient.Pinned pinned =
        new WritClient.Pinned(Trust.parse(Files.readAllBytes(Path.of(args[5]))), args[1]);
    Effect effect =
        new Effect(
            args[6],
            args[7],
            args[8],
            (JsonValue.Obj) Jcs.parse(args[10].getBytes(StandardCharsets.UTF_8)),
            List.of(),
            new Resources(1000, 64 << 20, 1 << 20, 2000),
            args[9],
            Optional.empty());
    try (WritClient client =
        new WritClient(
            URI.create(args[0]), agent, pinned, InstantSource.system(), new SecureRandom())) {
      VerifiedOutcome outcome =
          client.submit(client.request("example", effect, Optional.of("example-1")));
      System.out.println("verdict " + outcome.decision().verdict());
      outcome.receipt().ifPresent(r -> System.out.println("status " + r.status().text()));
      outcome
          .output()
          .map(o -> new String(o, StandardCharsets.UTF_8).replaceAll("\\p{C}", "?")) // no escapes
          .ifPresent(o -> System.out.println("output " + o));
    }
  }
}

package dev.writ.conform.world;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.process.StandardOutput;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A driver of code that gives what it gave once, on a host with an engine: vectors are made the
 * same also where there is none. The outcomes are in {@code code-outcomes.json}.
 */
record RecalledCode(Driver of) implements Driver {
  /** One outcome, and the call that had it. */
  record Call(String tool, String language, String code, DriverOutcome outcome) {
    static Call read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      return new Call(
          fields.name("tool"),
          fields.name("language"),
          fields.string("code"),
          new DriverOutcome(
              fields.oneOf("end", List.of(DriverOutcome.End.values()), DriverOutcome.End::text),
              fields.name("reason"),
              fields.string("message"),
              Optional.of(
                  new DriverOutcome.Output(
                      Jcs.write(fields.obj("output")), StandardOutput.MEDIA_TYPE)),
              List.of(),
              DriverOutcome.Metrics.NONE,
              fields.obj("observations")));
    }
  }

  /** In the order of the file. */
  static List<Call> calls() {
    try (InputStream in = RecalledCode.class.getResourceAsStream("code-outcomes.json")) {
      JsonValue.Arr list = (JsonValue.Arr) Jcs.parse(in.readAllBytes());
      return list.items().stream().map(item -> Call.read("outcome", item)).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A workspace that is empty when it is first looked at, and then never. */
  static final class Trees implements RunWorkspaces {
    private boolean used;

    @Override
    public Digest treeDigest(String tenant, String run) {
      boolean empty = !used;
      used = true;
      return empty ? Digest.sha256() : Digest.sha256("left".getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public void wipe(String tenant, String run, String reason, Instant at) {
      used = false;
    }
  }

  @Override
  public String name() {
    return of.name();
  }

  @Override
  public Determinism determinism() {
    return of.determinism();
  }

  /** As the first release had it, under which the vectors were made; a replay has to know it. */
  @Override
  public Digest sandboxProfile(String profile) {
    return of.sandboxProfilesBefore(profile).getFirst();
  }

  @Override
  public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
    return invocation ->
        calls().stream()
            .filter(call -> JsonValue.of(call.code).equals(invocation.params().get("code")))
            .findFirst()
            .orElseThrow()
            .outcome;
  }
}

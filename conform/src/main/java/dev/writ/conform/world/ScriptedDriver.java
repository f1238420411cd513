package dev.writ.conform.world;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.error.ExecutorError;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The driver of scenarios: its tools do what the scenario says, and every run is counted. It would
 * be pure; what a tool is its manifest says.
 */
final class ScriptedDriver implements Driver {
  private static final String NAME = "scripted";
  private static final String SANDBOX = "box";
  private static final DriverOutcome.Metrics USED = new DriverOutcome.Metrics(7, 1 << 20, 9, 11);

  /** What happens to the machine while a tool runs. */
  private final Runnable crash;

  private final ScriptedWorkspaces workspaces;

  private final TreeMap<String, JsonValue.Obj> behaviours = new TreeMap<>();
  private boolean refusing;
  private long runs;

  ScriptedDriver(Runnable crash, ScriptedWorkspaces workspaces) {
    this.crash = crash;
    this.workspaces = workspaces;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Determinism determinism() {
    return Determinism.PURE;
  }

  @Override
  public Digest sandboxProfile(String profile) {
    if (!profile.equals(SANDBOX)) {
      throw new WritException(ExecutorError.SANDBOX_MISSING, profile);
    }
    return Digest.sha256(profile.getBytes(StandardCharsets.UTF_8));
  }

  /** From now on that tool does this (spec/conformance.md). */
  synchronized void does(String tool, JsonValue.Obj behaviour) {
    behaviours.put(tool, behaviour);
  }

  synchronized void refuses(boolean value) {
    refusing = value;
  }

  synchronized long runs() {
    return runs;
  }

  @Override
  public synchronized Prepared prepare(
      ToolManifest manifest, String operation, PackageContent content) {
    manifest.files().forEach(content::read);
    if (refusing) {
      throw new WritException(ExecutorError.PREPARE_FAILED, "the scenario says so");
    }
    return invocation -> run(manifest.name(), invocation);
  }

  private DriverOutcome run(String tool, Invocation invocation) {
    Optional<JsonValue.Obj> behaviour;
    synchronized (this) {
      runs++;
      behaviour = Optional.ofNullable(behaviours.get(tool));
    }
    if (behaviour.isEmpty()) {
      return DriverOutcome.succeeded(
          Jcs.write(JsonValue.object().put("ok", true).put("params", invocation.params()).build()),
          "application/json",
          USED);
    }
    Fields fields = Fields.of("behaviour", behaviour.get());
    if (fields.has("appends_b64")) {
      workspaces.append(
          invocation, StrictBase64.decode("appends_b64", fields.string("appends_b64")));
    }
    if (fields.has("unmeasured") && fields.bool("unmeasured")) {
      workspaces.fails(true);
    }
    return switch (fields.name("does")) {
      case "crash" -> {
        crash.run();
        yield DriverOutcome.failed(DriverOutcome.End.FAILED, "crashed", "", USED);
      }
      case "throw" -> throw new IllegalStateException("the scenario says so");
      default ->
          new DriverOutcome(
              fields.oneOf("end", List.of(DriverOutcome.End.values()), DriverOutcome.End::text),
              fields.string("reason"),
              fields.string("message"),
              fields.optional(
                  "output_b64",
                  key ->
                      new DriverOutcome.Output(
                          StrictBase64.decode(key, fields.string(key)),
                          fields.string("media_type"))),
              List.of(),
              USED,
              JsonValue.object().build());
    };
  }
}

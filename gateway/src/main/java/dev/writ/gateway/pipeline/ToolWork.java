package dev.writ.gateway.pipeline;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.CallPeer;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.SandboxObserver;
import dev.writ.guardian.document.ToolManifest;
import java.util.Optional;

/**
 * What the thread of an effect saw of the effect's tool: nothing where none ran. Of one thread
 * alone; no document has any of it.
 */
public final class ToolWork implements ToolObserver {
  /** Larger outputs are not looked at. */
  private static final int OUTPUT_BYTES_MAX = 64 << 10;

  private final SandboxObserver surface;
  private final ToolObserver telemetry;
  private final long begin = System.nanoTime();
  private long beforeToolNs;
  private Optional<ToolManifest> tool = Optional.empty();
  private Optional<DriverOutcome.Metrics> used = Optional.empty();
  private Optional<JsonValue.Obj> observations = Optional.empty();
  private Optional<Long> exitCode = Optional.empty();
  private Optional<String> sandbox = Optional.empty();

  /** Seen by nobody else. */
  public ToolWork() {
    this(SandboxObserver.NONE, ToolObserver.NONE);
  }

  /**
   * @param surface the surface's own observer
   * @param telemetry the server's
   */
  public ToolWork(SandboxObserver surface, ToolObserver telemetry) {
    this.surface = surface;
    this.telemetry = telemetry;
  }

  @Override
  public void begins(Digest request, ToolManifest manifest) {
    beforeToolNs = System.nanoTime() - begin;
    tool = Optional.of(manifest);
    telemetry.begins(request, manifest);
  }

  @Override
  public void ends(Optional<DriverOutcome> outcome) {
    used = outcome.map(DriverOutcome::metrics);
    observations = outcome.map(DriverOutcome::observations);
    exitCode = outcome.flatMap(o -> lastExitCode(o).or(() -> statedExitCode(o)));
    telemetry.ends(outcome);
  }

  /** The exit code of the last command, which the drivers of processes observe. */
  private static Optional<Long> lastExitCode(DriverOutcome outcome) {
    return outcome.observations().get("commands") instanceof JsonValue.Arr commands
            && !commands.items().isEmpty()
            && commands.items().getLast() instanceof JsonValue.Obj last
        ? number(last, "exit_code").or(() -> number(last, "signal").map(signal -> 128 + signal))
        : Optional.empty();
  }

  /** What a driver gives for a command that could not be started, as a shell would. */
  private static Optional<Long> statedExitCode(DriverOutcome outcome) {
    try {
      return outcome
          .output()
          .filter(output -> output.bytes().length <= OUTPUT_BYTES_MAX)
          .filter(output -> output.mediaType().equals("application/json"))
          .map(output -> Jcs.parse(output.bytes()))
          .filter(JsonValue.Obj.class::isInstance)
          .flatMap(output -> number((JsonValue.Obj) output, "exit_code"));
    } catch (WritException e) {
      return Optional.empty(); // partial output, most likely
    }
  }

  private static Optional<Long> number(JsonValue.Obj object, String name) {
    return object.get(name) instanceof JsonValue.Num number && number.isInteger()
        ? Optional.of((long) number.value())
        : Optional.empty();
  }

  @Override
  public void in(String id) {
    sandbox = Optional.of(id);
    surface.in(id);
    telemetry.in(id);
  }

  @Override
  public void created() {
    surface.created();
    telemetry.created();
  }

  @Override
  public void executing() {
    surface.executing();
    telemetry.executing();
  }

  @Override
  public void executed() {
    surface.executed();
    telemetry.executed();
  }

  @Override
  public void destroyed() {
    surface.destroyed();
    telemetry.destroyed();
  }

  @Override
  public CallPeer peer() {
    return surface.peer();
  }

  /** The tool, if it was dispatched on this thread. */
  public Optional<ToolManifest> tool() {
    return tool;
  }

  /** What it used, by its driver. */
  public Optional<DriverOutcome.Metrics> used() {
    return used;
  }

  /** What its driver observed. */
  public Optional<JsonValue.Obj> observations() {
    return observations;
  }

  /** The exit code of its last command; 128 and the signal that ended it. */
  public Optional<Long> exitCode() {
    return exitCode;
  }

  /** The sandbox in which it ran. */
  public Optional<String> sandbox() {
    return sandbox;
  }

  /** From the turn of its call to the start of the tool, in nanoseconds. */
  public long beforeToolNs() {
    return beforeToolNs;
  }
}

package dev.writ.sandbox;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.egress.EgressEvent;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * How a command ended, with all measurements.
 *
 * @param reason the first that applies, in the order of {@link EndReason}
 * @param reached all that apply except EXITED and SIGNALLED, in the same order: a program may have
 *     reached a limit and still have exited successfully
 * @param exitCode of the first process; absent if a signal or Writ ended it
 * @param signal that ended the first process; absent if it exited. Engines report a signal as
 *     shells do, so an exit with 129 to 192 counts as one.
 * @param egress every name looked up and every connection, in the order of their ends
 * @param engine name and version of what confined it
 */
public record Ended(
    EndReason reason,
    List<EndReason> reached,
    OptionalInt exitCode,
    OptionalInt signal,
    Captured stdout,
    Captured stderr,
    Usage usage,
    List<EgressEvent> egress,
    String engine) {
  public Ended {
    Objects.requireNonNull(reason);
    reached = List.copyOf(reached);
    Objects.requireNonNull(exitCode);
    Objects.requireNonNull(signal);
    Objects.requireNonNull(stdout);
    Objects.requireNonNull(stderr);
    Objects.requireNonNull(usage);
    egress = List.copyOf(egress);
    Objects.requireNonNull(engine);
  }

  /** Whether it exited by itself with 0 and no limit ended it. */
  public boolean succeeded() {
    return reason == EndReason.EXITED && exitCode.orElse(-1) == 0;
  }

  /** For receipts: output as digests, and the measurements. */
  public JsonValue.Obj toJson() {
    var json =
        JsonValue.object()
            .put("reason", reason.text())
            .putList("reached", reached, r -> JsonValue.of(r.text()))
            .put("stdout", stdout.toJson())
            .put("stderr", stderr.toJson())
            .put("usage", usage.toJson())
            .putList("egress", egress, EgressEvent::toJson)
            .put("engine", engine);
    exitCode.ifPresent(code -> json.put("exit_code", (long) code));
    signal.ifPresent(number -> json.put("signal", (long) number));
    return json.build();
  }
}

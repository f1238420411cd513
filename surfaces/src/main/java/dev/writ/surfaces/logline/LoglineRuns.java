package dev.writ.surfaces.logline;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.v1.Reader;
import dev.writ.guardian.document.Scope;
import java.util.Optional;

/** Ends runs for callers: the run is closed and its workspace wiped before the answer. */
final class LoglineRuns {
  static final String PATH = "/execute/runs/{tenant}/{run}";

  private final Pipeline pipeline;

  LoglineRuns(Pipeline pipeline) {
    this.pipeline = pipeline;
  }

  /**
   * Ends a run that is the caller's own, or that policy shares with it.
   *
   * @throws WritException {@code GWY-040} for unknown and foreign runs alike; why it stays open,
   *     {@code EXE-902} or {@code EXE-903}; {@code EXE-901} where it was closed before
   */
  void end(Caller caller, String run) {
    if (!pipeline.kernel().access().mayUse(caller.who(pipeline.policy()), run)) {
      throw Reader.unknown(run);
    }
    pipeline.closeRun(LoglineSurface.NAME, caller.tenant(), run);
  }

  /**
   * Ends the run of an execution. A refusal does not change that the execution was made, so it
   * stands in the answer.
   */
  Optional<JsonValue.Obj> endOf(Served served) {
    Scope scope = served.receipt().scope();
    try {
      pipeline.closeRun(LoglineSurface.NAME, scope.tenant(), scope.run());
      return Optional.of(JsonValue.object().put("ended", true).build());
    } catch (WritException e) {
      return Optional.of(
          JsonValue.object()
              .put("ended", false)
              .put("code", e.code().code())
              .put("reason", e.code().meaning())
              .build());
    }
  }
}

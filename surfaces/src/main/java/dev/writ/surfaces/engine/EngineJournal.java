package dev.writ.surfaces.engine;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.pipeline.IncidentKind;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.LedgerView;
import java.util.Optional;

/** What the journal shows of executions that came through this surface. */
public final class EngineJournal {
  private final EngineResults results;

  public EngineJournal(LedgerView ledger) {
    this.results = new EngineResults(ledger, _ -> Optional.empty());
  }

  /**
   * The kind of incident that a cancelled execution is, by the documents alone: its budget was
   * over, or its tool was revoked; absent where its caller cancelled it, and for requests that came
   * another way.
   */
  public Optional<IncidentKind> kindOfCancelled(Receipt receipt, Request request) {
    boolean ours = request.origin().filter(o -> o.surface().equals(EngineSurface.NAME)).isPresent();
    return ours && receipt.reason().equals(Ending.CANCELLED)
        ? results.of(new EngineExecutions.Known(receipt.request())).stream()
            .flatMap(result -> result.incidents().stream())
            .map(ToolExecutionIncident::kind)
            .findFirst()
        : Optional.empty();
  }

  /** The region of the server that took a request; absent for other surfaces. */
  public static Optional<String> region(Request request) {
    return request.context().get(EngineSurface.NAME) instanceof JsonValue.Obj engine
            && engine.get(EngineSurface.REGION) instanceof JsonValue.Str region
        ? Optional.of(region.value())
        : Optional.empty();
  }

  /** The caller's own name for what belongs together; of other surfaces, the run. */
  public static String correlation(Request request) {
    return request.context().get(EngineSurface.NAME) instanceof JsonValue.Obj engine
            && engine.get(EngineSurface.CORRELATION) instanceof JsonValue.Str id
        ? id.value()
        : request.namedRun();
  }
}

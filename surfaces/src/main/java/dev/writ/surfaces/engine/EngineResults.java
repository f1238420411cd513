package dev.writ.surfaces.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.retention.Deletions;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.surfaces.engine.ToolExecutionResult.Artifact;
import dev.writ.surfaces.engine.ToolExecutionResult.Ids;
import dev.writ.surfaces.engine.ToolExecutionResult.Metrics;
import dev.writ.surfaces.engine.ToolExecutionResult.Tool;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Makes results from the ledger: the same for the first answer, a repeat, and after a restart. */
final class EngineResults {
  /** Larger outputs are references, and not in the answer. */
  static final int INLINE_BYTES_MAX = 1 << 20;

  /** The name of an output among the references. */
  static final String OUTPUT = "outputPayload";

  private static final long OBSERVATIONS_BYTES_MAX = 64L << 20;
  private static final long EVENTS_LOOKED_AT_MAX = 2_000;
  private static final long MB = 1 << 20;
  private static final String JSON = "application/json";

  private final LedgerView ledger;
  private final Function<Digest, Optional<Guidance>> guidance;

  /**
   * @param guidance for the caller of a request
   */
  EngineResults(LedgerView ledger, Function<Digest, Optional<Guidance>> guidance) {
    this.ledger = ledger;
    this.guidance = guidance;
  }

  /**
   * The result of a request that was judged and is not at work in this process.
   *
   * @return empty where it was dispatched and has no receipt
   */
  Optional<ToolExecutionResult> of(EngineExecutions.Known known) {
    Request request = Request.read(document(known.request()));
    RequestRow row =
        RequestRow.parse(ledger.get(Tables.REQUEST, Tables.key(known.request())).orElseThrow());
    Optional<Digest> served =
        ledger.get(Tables.SERVED, Tables.key(known.request())).map(Digest::ofBytes);
    if (served.isPresent()) {
      return Optional.of(served(known, request, served.get()));
    }
    if (ledger.get(Tables.DISPATCHED, Tables.key(known.request())).isPresent()) {
      return Optional.empty();
    }
    Decision decision = Decision.read(document(row.decision()));
    Ending ending =
        switch (row.state()) {
          case DENIED, PENDING -> Ending.of(decision, guidance.apply(known.request()));
          case ALLOWED -> known.undispatched().orElseGet(Ending::notDispatched);
          case LAPSED ->
              refusal(row.run(), known.request())
                  .map(Ending::of)
                  .or(known::undispatched)
                  .orElseGet(Ending::notDispatched);
        };
    return Optional.of(
        new ToolExecutionResult(
            requestId(request),
            ending.state(),
            ending.status(),
            tool(request, row),
            context(request, decision),
            Optional.empty(),
            List.of(),
            new Metrics(0, 0, 0, known.waitedMs().orElse(0L)),
            ending.incidents(),
            Optional.empty(),
            traceId(request),
            ending.failure(),
            new Ids(known.request(), row.decision(), Optional.empty())));
  }

  private ToolExecutionResult served(EngineExecutions.Known known, Request request, Digest id) {
    Receipt receipt = Receipt.read(document(id));
    Decision decision = Decision.read(document(receipt.decision()));
    Ending ending = Ending.of(receipt, request.effect(), why(known, request, decision, receipt));
    Optional<JsonValue> payload = payload(receipt);
    return new ToolExecutionResult(
        requestId(request),
        ending.state(),
        ending.status(),
        new Tool(
            receipt.tool().name(),
            receipt.tool().version(),
            request.effect().operation(),
            Optional.of(receipt.tool().packageDigest())),
        context(request, decision),
        payload,
        artifacts(receipt, id, payload.isPresent()),
        metrics(known, receipt, decision),
        ending.incidents(),
        receipt.observations().map(_ -> logsRef(requestId(request))),
        traceId(request),
        ending.failure(),
        new Ids(receipt.request(), receipt.decision(), Optional.of(id)));
  }

  static String logsRef(String requestId) {
    return EngineSurface.PATH + "/" + requestId + "/logs";
  }

  /**
   * A reference to the driver's observations, including captured stderr.
   *
   * @throws WritException {@code EXE-960} where a rule had them deleted
   */
  Optional<byte[]> logs(EngineExecutions.Known known) {
    return ledger
        .get(Tables.SERVED, Tables.key(known.request()))
        .map(Digest::ofBytes)
        .map(id -> Receipt.read(document(id)))
        .flatMap(receipt -> receipt.observations().map(digest -> logs(receipt, digest)));
  }

  private byte[] logs(Receipt receipt, Digest observations) {
    String tenant = receipt.scope().tenant();
    return observations(tenant, observations)
        .orElseThrow(
            () -> Deletions.of(ledger, observations, tenant).orElseThrow().gone(observations));
  }

  /** Empty where a rule had them deleted. */
  private Optional<byte[]> observations(String tenant, Digest digest) {
    return Deletions.read(ledger, digest, OBSERVATIONS_BYTES_MAX, tenant);
  }

  private JsonValue document(Digest id) {
    return ledger.document(id).orElseThrow().document();
  }

  static String requestId(Request request) {
    return request.idempotencyKey().orElseThrow().substring(EngineSurface.NAME.length() + 1);
  }

  private static ToolExecutionContext context(Request request, Decision decision) {
    return new ToolExecutionContext(
        request.scope().tenant(),
        request.scope().subject(),
        correlation(request),
        new ToolExecutionContext.PolicySnapshot(decision.policy(), decision.snapshot()),
        ofEngine(request, EngineSurface.REGION));
  }

  /** The correlation in the request's context, or the run's name if there is none. */
  static String correlation(Request request) {
    return ofEngine(request, EngineSurface.CORRELATION).orElseGet(() -> requestId(request));
  }

  /** A text that the engine put into the request's context. */
  private static Optional<String> ofEngine(Request request, String member) {
    return request.context().get(EngineSurface.NAME) instanceof JsonValue.Obj engine
            && engine.get(member) instanceof JsonValue.Str text
        ? Optional.of(text.value())
        : Optional.empty();
  }

  private Tool tool(Request request, RequestRow row) {
    return new Tool(
        request.effect().tool(),
        request.effect().version(),
        request.effect().operation(),
        row.intent().map(id -> Intent.read(document(id)).tool().packageDigest()));
  }

  private static String traceId(Request request) {
    return request.context().get("traceparent") instanceof JsonValue.Str parent
        ? parent.value().substring(3, 35)
        : "";
  }

  private Optional<JsonValue> payload(Receipt receipt) {
    return receipt
        .output()
        .filter(output -> receipt.retained() && output.mediaType().equals(JSON))
        .filter(output -> output.size() <= INLINE_BYTES_MAX)
        .flatMap(output -> {
          try {
            JsonValue value =
                Jcs.parseCanonical(ledger.blob(output.digest(), output.size()), Limits.DEFAULT);
            Jcs.parse(Jcs.write(JsonValue.object().put(OUTPUT, value).build()));
            return Optional.of(value);
          } catch (WritException e) {
            return Optional.empty(); // too deep for an answer: it becomes a reference
          }
        });
  }

  private static List<Artifact> artifacts(Receipt receipt, Digest id, boolean inline) {
    List<Artifact> artifacts = new ArrayList<>();
    if (!receipt.retained()) {
      return artifacts;
    }
    receipt
        .output()
        .filter(_ -> !inline)
        .ifPresent(
            output -> artifacts.add(artifact(OUTPUT, output, "/v1/receipts/" + id + "/output")));
    for (Receipt.Artifact artifact : receipt.artifacts()) {
      String ref = "/v1/blobs/" + artifact.content().digest() + "?of=" + id;
      artifacts.add(artifact(artifact.name(), artifact.content(), ref));
    }
    return artifacts;
  }

  private static Artifact artifact(String name, Content content, String ref) {
    return new Artifact(name, content.digest(), content.size(), content.mediaType(), ref);
  }

  /**
   * Measurements of the driver; the wait as the lane measured it, otherwise as the journal shows
   * it.
   */
  private Metrics metrics(EngineExecutions.Known known, Receipt receipt, Decision decision) {
    long waited =
        known
            .waitedMs()
            .orElseGet(() -> Math.max(0, between(decision.decidedAt(), receipt.startedAt())));
    Optional<JsonValue.Obj> measured =
        receipt
            .observations()
            .flatMap(digest -> observations(receipt.scope().tenant(), digest))
            .map(Jcs::parse)
            .filter(JsonValue.Obj.class::isInstance)
            .map(observed -> ((JsonValue.Obj) observed).get("metrics"))
            .filter(JsonValue.Obj.class::isInstance)
            .map(JsonValue.Obj.class::cast);
    if (measured.isEmpty()) {
      return new Metrics(
          0, 0, Math.max(0, between(receipt.startedAt(), receipt.finishedAt())), waited);
    }
    Fields fields = Fields.of("metrics", measured.get());
    return new Metrics(
        fields.count("cpu_ms"),
        (fields.count("memory_bytes") + MB - 1) / MB,
        fields.count("wall_ms"),
        waited);
  }

  private static long between(Instant from, Instant to) {
    return Duration.between(from, to).toMillis();
  }

  private Ending.Cancelled why(
      EngineExecutions.Known known, Request request, Decision decision, Receipt receipt) {
    if (!receipt.reason().equals(Ending.CANCELLED)) {
      return Ending.Cancelled.BY_ITS_CALLER;
    }
    if (!known.overBudget() && revokedMeanwhile(receipt)) {
      return Ending.Cancelled.TOOL_REVOKED;
    }
    boolean overBudget =
        known.waitedMs().isPresent() ? known.overBudget() : wasOver(request, decision, receipt);
    return overBudget ? Ending.Cancelled.OVER_BUDGET : Ending.Cancelled.BY_ITS_CALLER;
  }

  /**
   * By the documents, if the server that cancelled it has no record of it: the time from its only
   * decision was longer than its budget.
   */
  private static boolean wasOver(Request request, Decision decision, Receipt receipt) {
    return decision.supersedes().isEmpty()
        && request.context().get(EngineSurface.NAME) instanceof JsonValue.Obj engine
        && engine.get(EngineSurface.BUDGET) instanceof JsonValue.Num budget
        && between(decision.decidedAt(), receipt.finishedAt()) >= budget.value();
  }

  /** Whether the log has a revocation of the tool between its dispatch and its end. */
  private boolean revokedMeanwhile(Receipt receipt) {
    boolean[] found = {false};
    ledger.events(
        SystemState.RUN,
        0,
        event -> {
          if (event.kind().equals(EventKind.TOOL_REVOKED)
              && !event.at().isBefore(receipt.startedAt())
              && !event.at().isAfter(receipt.finishedAt())) {
            JsonValue.Obj detail = SystemChange.read(document(event.body())).detail();
            found[0] |=
                JsonValue.of(receipt.tool().name()).equals(detail.get("tool"))
                    && JsonValue.of(receipt.tool().version()).equals(detail.get("version"));
          }
        });
    return found[0];
  }

  /** The latest refusal of a request by stages 1 to 3, among the latest events of its run. */
  private Optional<Refusal> refusal(RunId run, Digest request) {
    long last = ledger.head(run).map(Event::seq).orElse(-1L);
    for (long seq = last; seq >= Math.max(0, last - EVENTS_LOOKED_AT_MAX); seq--) {
      Optional<Refusal> refusal =
          ledger
              .event(run, seq)
              .filter(event -> event.kind().equals(EventKind.EFFECT_REFUSED))
              .map(event -> Refusal.read(document(event.body())))
              .filter(r -> r.request().equals(request));
      if (refusal.isPresent()) {
        return refusal;
      }
    }
    return Optional.empty();
  }
}

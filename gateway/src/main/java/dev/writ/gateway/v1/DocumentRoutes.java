package dev.writ.gateway.v1;

import static dev.writ.gateway.http.Route.Access.CALLER;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Changes;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.retention.ReadClass;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Signed documents by their ids, and the outcomes of requests. */
final class DocumentRoutes {
  /** The longest wait for an outcome that changes, in seconds. */
  static final long WAIT_S = 50;

  /**
   * Commits of this process wake a waiting call; a caller that lost its right is seen this soon.
   */
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

  private final Reader reader;
  private final Changes changes;
  private final BooleanSupplier draining;

  DocumentRoutes(Reader reader, Changes changes, BooleanSupplier draining) {
    this.reader = reader;
    this.changes = changes;
    this.draining = draining;
  }

  List<Route> routes() {
    return List.of(
        Route.get("/v1/requests/{id}", CALLER, call -> document(call, Request.TYPE)),
        Route.get("/v1/requests/{id}/outcome", CALLER, this::outcome),
        Route.get("/v1/decisions/{id}", CALLER, call -> document(call, Decision.TYPE)),
        Route.get("/v1/intents/{id}", CALLER, call -> document(call, Intent.TYPE)),
        Route.get("/v1/receipts/{id}", CALLER, call -> document(call, Receipt.TYPE)));
  }

  private HttpAnswer document(HttpCall call, String type) {
    Caller caller = call.caller();
    Digest id = Bodies.id(call, "id");
    Optional<Envelope> waiting = reader.waiting(caller, id, type);
    if (waiting.isPresent() && !type.equals(Intent.TYPE)) {
      read(caller, waiting.get(), ReadClass.PARAMETERS);
      return HttpAnswer.of(200, waiting.get().payloadType(), waiting.get().payload());
    }
    Envelope document = reader.document(caller, id, type);
    read(caller, document, ReadClass.PARAMETERS);
    return Replies.envelope(document);
  }

  private void read(Caller caller, Envelope document, ReadClass what) {
    Scope scope = Scope.read(Fields.of("document", document.document()));
    reader.records().effect(caller, scope, document.id(), what);
  }

  /**
   * The outcome of a request: its decision, and after execution its receipt with the output. With
   * {@code wait_s} it waits so long for one that waits for approval.
   */
  private HttpAnswer outcome(HttpCall call) {
    long waitS = Bodies.number(call, "wait_s").orElse(0L);
    if (waitS > WAIT_S) {
      throw new WritException(GatewayError.PARAMETER, "wait_s " + waitS + ", at most " + WAIT_S);
    }
    Digest id = Bodies.id(call, "id");
    long until = System.nanoTime() + Duration.ofSeconds(waitS).toNanos();
    while (true) {
      reader.document(call.caller(), id, Request.TYPE); // may be revoked while it waits
      long seen = changes.count();
      long left = until - System.nanoTime();
      if (left <= 0 || !isPending(id) || draining.getAsBoolean()) {
        return outcome(call.caller(), id);
      }
      pause(seen, Duration.ofNanos(Math.min(left, LOOK_EVERY.toNanos())));
    }
  }

  private boolean isPending(Digest request) {
    return reader.row(request).filter(r -> r.state() == RequestRow.State.PENDING).isPresent();
  }

  private void pause(long seen, Duration atMost) {
    try {
      changes.await(seen, atMost);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private HttpAnswer outcome(Caller caller, Digest id) {
    Optional<Digest> receipt =
        reader.kernel().ledger().get(Tables.SERVED, Tables.key(id)).map(Digest::ofBytes);
    if (receipt.isPresent()) {
      read(caller, reader.document(caller, id, Request.TYPE), ReadClass.OUTPUTS);
      Served served = reader.kernel().receipt(caller.tenant(), receipt.get());
      return Replies.of(served, reader.kernel().explanations().guidance(id));
    }
    var row = reader.row(id).orElseThrow(() -> Reader.unknown(id));
    return HttpAnswer.json(
        200,
        JsonValue.object()
            .put("request_id", id)
            .put("state", row.state().name().toLowerCase(Locale.ROOT))
            .put("decision_id", row.decision())
            .putIfPresent("guidance", reader.kernel().explanations().guidance(id), Guidance::toJson)
            .putIfPresent(
                "waiting",
                Optional.of(id).filter(_ -> row.state() == RequestRow.State.PENDING),
                request -> Replies.waiting(request, row.run().run()))
            .build());
  }
}

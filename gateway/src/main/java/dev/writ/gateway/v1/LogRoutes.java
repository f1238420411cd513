package dev.writ.gateway.v1;

import static dev.writ.gateway.http.Route.Access.CALLER;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.journal.EventKind;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Scope;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.NoteKey;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** The transparency log: checkpoints, proofs, and the keys that verify what is handed out. */
final class LogRoutes {
  static final String CHECKPOINT_TYPE = "text/plain; charset=utf-8";

  private static final int CHECKPOINTS_MAX = 100;

  private final Reader reader;

  LogRoutes(Reader reader) {
    this.reader = reader;
  }

  List<Route> routes() {
    return List.of(
        Route.get("/v1/checkpoints", CALLER, this::checkpoints),
        Route.get("/v1/checkpoints/latest", CALLER, _ -> latest()),
        Route.get("/v1/checkpoints/{size}", CALLER, this::checkpoint),
        Route.get("/v1/receipts/{id}/proof", CALLER, this::inclusion),
        Route.get("/v1/proofs/consistency", CALLER, this::consistency),
        Route.get("/v1/keys", CALLER, _ -> keys()));
  }

  private LedgerView ledger() {
    return reader.kernel().ledger();
  }

  /**
   * Some of the stored checkpoints, spread over the log's whole history, with the first and a fresh
   * one: whoever walks from each to the next by consistency proofs has the history in one line.
   */
  private HttpAnswer checkpoints(HttpCall call) {
    int most = EffectQueries.limit(call, CHECKPOINTS_MAX, CHECKPOINTS_MAX);
    Checkpoint now = reader.kernel().checkpoint();
    TreeMap<Long, Checkpoint> spread = new TreeMap<>();
    for (int part = 1; part < most; part++) {
      ledger()
          .checkpointCovering(1 + (now.size() - 1) * (part - 1) / most)
          .ifPresent(found -> spread.put(found.size(), found));
    }
    spread.put(now.size(), now);
    return HttpAnswer.json(
        200,
        JsonValue.object()
            .putList(
                "checkpoints", List.copyOf(spread.values()), found -> JsonValue.of(text(found)))
            .putList("log_keys", logKeys(), key -> JsonValue.of(key.toString()))
            .build());
  }

  /** Those of now and of before: an old checkpoint has the signature of its own time. */
  private List<NoteKey> logKeys() {
    return reader.kernel().system().trust().keys().values().stream()
        .filter(key -> key.role() == KeyRole.LOG)
        .map(key -> new NoteKey(ledger().origin(), key.key()))
        .toList();
  }

  private HttpAnswer latest() {
    return note(reader.kernel().checkpoint());
  }

  private HttpAnswer checkpoint(HttpCall call) {
    String size = call.value("size");
    Optional<Checkpoint> found =
        size.matches("[0-9]{1,15}") ? ledger().checkpoint(Long.parseLong(size)) : Optional.empty();
    return note(found.orElseThrow(() -> Reader.unknown("checkpoint " + size)));
  }

  private static HttpAnswer note(Checkpoint checkpoint) {
    return HttpAnswer.of(200, CHECKPOINT_TYPE, checkpoint.toBytes());
  }

  /** Proof that a receipt's event is in the log of a checkpoint, which comes with it. */
  private HttpAnswer inclusion(HttpCall call) {
    Digest id = Bodies.id(call, "id");
    Scope scope =
        Scope.read(
            Fields.of("receipt", reader.document(call.caller(), id, Receipt.TYPE).document()));
    RunId run = new RunId(scope.tenant(), scope.run());
    Event event = eventOf(run, id);
    long index = ledger().indexOf(run, event.seq()).orElseThrow();
    Checkpoint checkpoint =
        Bodies.number(call, "size").isPresent()
            ? ledger()
                .checkpoint(Bodies.requiredNumber(call, "size"))
                .filter(c -> c.size() > index)
                .orElseThrow(() -> Reader.unknown("a checkpoint of that size"))
            : reader.kernel().checkpoint();
    return HttpAnswer.json(
        200,
        JsonValue.object()
            .put("index", index)
            .put("event", event.toJson())
            .put("hashes", ledger().inclusionProof(index, checkpoint.size()).toJson())
            .put("checkpoint", text(checkpoint))
            .build());
  }

  private Event eventOf(RunId run, Digest receipt) {
    Event[] found = new Event[1];
    ledger()
        .events(
            run,
            0,
            event -> {
              if (event.body().equals(receipt) && event.kind().equals(EventKind.RECEIPT_SIGNED)) {
                found[0] = event;
              }
            });
    return Optional.ofNullable(found[0]).orElseThrow(() -> Reader.unknown(receipt));
  }

  private HttpAnswer consistency(HttpCall call) {
    long from = Bodies.requiredNumber(call, "from");
    long to = Bodies.requiredNumber(call, "to");
    return HttpAnswer.json(
        200,
        JsonValue.object()
            .put("from", from)
            .put("to", to)
            .put("hashes", ledger().consistencyProof(from, to).toJson())
            .build());
  }

  /** The installation's public keys. Verifiers should obtain them from elsewhere and pin them. */
  private HttpAnswer keys() {
    var trust = reader.kernel().system().trust();
    var installation =
        trust.keys().values().stream().filter(key -> key.tenant().isEmpty()).toList();
    return HttpAnswer.of(
        200,
        "application/jwk-set+json",
        Jcs.write(JsonValue.object().putList("keys", installation, key -> key.toJson()).build()));
  }

  private static String text(Checkpoint checkpoint) {
    return new String(checkpoint.toBytes(), StandardCharsets.UTF_8);
  }
}

package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestKeys;
import dev.writ.guardian.Guardian;
import dev.writ.guardian.document.Decision;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerSeam;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.form.LogTime;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A forger who holds every key: writes a ledger anew with a few documents or events changed, and
 * everything that names them by digest made to fit, so that all digests, chains and rows agree.
 */
final class Rewrite {
  private static final Pattern HEX = Pattern.compile("[0-9a-f]{64}");

  private final LedgerView from;
  private final TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes = new TreeMap<>();
  private final TreeMap<Digest, String> signers = new TreeMap<>();
  private final TreeMap<Digest, UnaryOperator<Event>> events = new TreeMap<>();
  private final TreeMap<Digest, Event> repeats = new TreeMap<>();
  private final TreeMap<String, String> renamed = new TreeMap<>();
  private final TreeSet<Digest> written = new TreeSet<>();
  private final TreeMap<RunId, String> seeds = new TreeMap<>();
  private final TreeMap<RunId, Event> heads = new TreeMap<>();
  private final LogTime time = LogTime.begin();

  Rewrite(LedgerView from) {
    this.from = from;
  }

  /** Changes a document, and signs it again with the same key. */
  Rewrite document(Digest id, UnaryOperator<JsonValue.Obj> change) {
    changes.put(id, change);
    return this;
  }

  /** Has a document signed by another key. */
  Rewrite signer(Digest id, String name) {
    signers.put(id, name);
    return this;
  }

  /** Changes an event, which keeps its place in the run. */
  Rewrite event(Event event, UnaryOperator<Event> change) {
    events.put(event.id(), change);
    return this;
  }

  /** Writes {@code again} once more behind an event. */
  Rewrite repeat(Event behind, Event again) {
    repeats.put(behind.id(), again);
    return this;
  }

  static JsonValue.Obj with(JsonValue.Obj document, String member, JsonValue value) {
    TreeMap<String, JsonValue> members = new TreeMap<>(document.members());
    members.put(member, value);
    return new JsonValue.Obj(members);
  }

  void write(LedgerConfig config) {
    try (Ledger to = Ledger.create(config)) {
      from.eventsByIndex(
          0,
          from.treeSize(),
          (index, event) -> {
            Batch batch = new Batch();
            Instant at = event(event, batch);
            if (from.timeRestarts().contains(index)) {
              LedgerSeam.restarting(batch, from.incarnation());
              time.restart(at);
            } else if (at.isBefore(time.earliest())) {
              LedgerSeam.restarting(batch);
              time.restart(at);
            }
            time.take(at);
            to.append(batch).await();
            if (from.checkpoint(index + 1).isPresent()) {
              to.checkpoint();
            }
          });
      Batch rows = new Batch();
      Rows.copy(from, rows, this::text);
      to.append(rows).await();
    }
  }

  private Instant event(Event event, Batch batch) {
    if (event.kind().equals(EventKind.RUN_OPENED)) {
      seeds.put(event.runId(), event.prngSeed().orElseThrow());
    }
    body(event.body(), batch);
    Event next = append(events.getOrDefault(event.id(), UnaryOperator.identity()).apply(event));
    rename(event.id().hex(), next.id().hex());
    batch.event(next);
    Event again = repeats.get(event.id());
    if (again != null) {
      batch.event(append(again));
    }
    return next.at();
  }

  private Event append(Event event) {
    Digest body = digest(event.body());
    Optional<String> seed = event.prngSeed().map(this::text);
    Event head = heads.get(event.runId());
    Event next =
        head == null
            ? Event.first(event.tenant(), event.run(), event.kind(), body, event.at(), seed)
            : head.next(event.kind(), body, event.at(), seed);
    heads.put(event.runId(), next);
    return next;
  }

  private void body(Digest id, Batch batch) {
    if (!written.add(id)) {
      return;
    }
    Optional<Envelope> document = from.document(id);
    if (document.isPresent()) {
      document(document.get(), batch);
    } else if (from.hasBlob(id)) {
      batch.blob(from.blob(id, Batch.BLOB_BYTES_MAX));
    }
  }

  private void document(Envelope envelope, Batch batch) {
    String text = new String(envelope.payload(), StandardCharsets.UTF_8);
    Matcher named = HEX.matcher(text);
    while (named.find()) {
      body(Digest.parse("sha256:" + named.group()), batch);
    }
    JsonValue.Obj changed = (JsonValue.Obj) Jcs.parse(text(text).getBytes(StandardCharsets.UTF_8));
    changed = changes.getOrDefault(envelope.id(), UnaryOperator.identity()).apply(changed);
    String kid = envelope.signatures().getFirst().kid();
    String signer =
        signers.getOrDefault(
            envelope.id(),
            Rows.NAMES.stream()
                .filter(name -> TestKeys.key(name).kid().equals(kid))
                .findFirst()
                .orElseThrow());
    Envelope signed = Envelope.sign(envelope.payloadType(), changed, TestKeys.key(signer));
    rename(envelope.id().hex(), signed.id().hex());
    if (envelope.payloadType().equals(Decision.TYPE)) {
      Decision decision = Decision.read(envelope.document());
      byte[] seed =
          HexFormat.of()
              .parseHex(seeds.get(new RunId(decision.scope().tenant(), decision.scope().run())));
      rename(Guardian.effectSeed(seed, envelope.id()), Guardian.effectSeed(seed, signed.id()));
    }
    batch.document(signed);
  }

  private void rename(String before, String after) {
    if (!before.equals(after)) {
      renamed.put(before, after);
    }
  }

  /** The text with every digest and seed as it is now. */
  private String text(String text) {
    return HEX.matcher(text)
        .replaceAll(found -> renamed.getOrDefault(found.group(), found.group()));
  }

  private Digest digest(Digest id) {
    return Digest.parse("sha256:" + text(id.hex()));
  }
}

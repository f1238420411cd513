package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Optional;

/** A ledger's surroundings, the same bytes every time. */
final class Fixture {
  static final String ORIGIN = "writ.example/log";
  static final SigningKey LOG_KEY = key(1);
  static final Instant AT = Instant.parse("2026-11-21T12:00:00Z");
  static final String TENANT = "acme";

  private Fixture() {}

  static SigningKey key(int seed) {
    byte[] secret = new byte[32];
    Arrays.fill(secret, (byte) seed);
    return SigningKey.ed25519(secret);
  }

  static LedgerConfig config(Path home) {
    return new LedgerConfig(
        home.resolve("data"),
        home.resolve("anchor.json"),
        ORIGIN,
        LOG_KEY,
        InstantSource.fixed(AT));
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static Envelope document(String says) {
    return Envelope.sign(
        PayloadTypes.of("receipt"), JsonValue.object().put("says", says).build(), key(2));
  }

  static Event first(String run) {
    return Event.first(TENANT, run, "run.opened", document(run).id(), AT, Optional.empty());
  }

  /** Opens a run: its first event and the document that the event names. */
  static Batch opening(String run) {
    return new Batch().event(first(run)).document(document(run));
  }

  /** Continues a run by one event, whose body is a document of its own. */
  static Batch step(Ledger ledger, RunId run, String says) {
    Envelope document = document(says);
    Event head = ledger.pendingHead(run).orElseThrow();
    return new Batch()
        .event(head.next("receipt.signed", document.id(), AT, Optional.empty()))
        .document(document);
  }

  static RunId run(String run) {
    return new RunId(TENANT, run);
  }

  static Digest digest(String text) {
    return Digest.sha256(bytes(text));
  }

  /** Writes rows without events, as nobody but a test does. */
  static void write(Storage store, Write rows) {
    long size = store.last(Family.LOG).map(row -> Keys.number(row.key()) + 1).orElse(0L);
    store.write(rows, size, size);
  }
}

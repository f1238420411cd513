package dev.writ.ledger.event;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.ledger.error.LedgerError;
import java.time.Instant;
import java.util.Optional;

/**
 * One journal event (spec/journal.md). Its canonical bytes are a leaf of the log, and their digest
 * is what the run's next event names as {@code prev}.
 *
 * @param tenant the run's tenant
 * @param run the run within the tenant
 * @param seq position in the run, from 0 without gaps
 * @param kind what happened; the ledger does not look into it
 * @param prev id of the run's event before this one; absent for the first alone
 * @param body digest of the document or blob with the content of the event
 * @param at the one clock reading of the step, cut to milliseconds
 * @param prngSeed 32 bytes in lower-case hex, if the step has a seed
 */
public record Event(
    String tenant,
    String run,
    long seq,
    String kind,
    Optional<Digest> prev,
    Digest body,
    Instant at,
    Optional<String> prngSeed) {

  private static final int SEED_DIGITS = 64;
  private static final Instant AT_MIN = Instant.parse("0000-01-01T00:00:00Z");
  private static final Instant AT_MAX = Instant.parse("9999-12-31T23:59:59.999Z");

  /**
   * @throws WritException {@code LED-021} for a name, {@code LED-020} for a position and {@code
   *     prev} that contradict each other, {@code LED-026} for a time that RFC 3339 cannot write,
   *     {@code CAN-023} for a malformed seed
   */
  public Event {
    Names.check("tenant", tenant);
    Names.check("run", run);
    Names.check("kind", kind);
    at = Timestamps.truncate(at);
    if (at.isBefore(AT_MIN) || at.isAfter(AT_MAX)) {
      throw new WritException(LedgerError.EVENT_TIME, at.toString());
    }
    if (seq < 0 || seq > JsonValue.Num.MAX_INTEGER || prev.isPresent() != (seq > 0)) {
      throw new WritException(
          LedgerError.CHAIN, "seq " + seq + (prev.isPresent() ? " with" : " without") + " prev");
    }
    if (prngSeed.isPresent() && !isSeed(prngSeed.get())) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE, "event/prng_seed is not 64 lower-case hex digits");
    }
  }

  private static boolean isSeed(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
        return false;
      }
    }
    return text.length() == SEED_DIGITS;
  }

  /** The event that opens a run. */
  public static Event first(
      String tenant, String run, String kind, Digest body, Instant at, Optional<String> seed) {
    return new Event(tenant, run, 0, kind, Optional.empty(), body, at, seed);
  }

  /** The event that continues this one. */
  public Event next(String kind, Digest body, Instant at, Optional<String> seed) {
    return next(id(), kind, body, at, seed);
  }

  /**
   * The same for a caller that knows this event's id, whose computation costs a hash; the ledger
   * refuses a wrong one.
   */
  public Event next(Digest id, String kind, Digest body, Instant at, Optional<String> seed) {
    return new Event(tenant, run, seq + 1, kind, Optional.of(id), body, at, seed);
  }

  public RunId runId() {
    return new RunId(tenant, run);
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("at", at)
        .put("body", body)
        .put("kind", kind)
        .putIfPresent("prev", prev, digest -> JsonValue.of(digest.toString()))
        .putIfPresent("prng_seed", prngSeed, JsonValue::of)
        .put("run", run)
        .put("seq", seq)
        .put("tenant", tenant)
        .build();
  }

  /**
   * Reads an event's canonical bytes: those that {@link #toBytes} gives back.
   *
   * @throws WritException {@code CAN-0xx} for any other form, {@code LED-02x} as the constructor
   */
  public static Event parse(byte[] canonical) {
    Event plain = new EventText(canonical).read();
    return plain == null ? parseAny(canonical) : plain;
  }

  /** The same by way of a tree, for every form; says what is wrong. */
  public static Event parseAny(byte[] canonical) {
    Fields fields = Fields.of("event", Jcs.parseCanonical(canonical, Limits.DEFAULT));
    Event event =
        new Event(
            fields.name("tenant"),
            fields.name("run"),
            fields.count("seq"),
            fields.name("kind"),
            fields.optional("prev", fields::digest),
            fields.digest("body"),
            fields.time("at"),
            fields.optional("prng_seed", fields::string));
    fields.end();
    return event;
  }

  /** The canonical bytes, which are the leaf of the log. */
  public byte[] toBytes() {
    return EventText.write(this).orElseGet(() -> Jcs.write(toJson()));
  }

  /** The digest of the canonical bytes. */
  public Digest id() {
    return Digest.sha256(toBytes());
  }
}

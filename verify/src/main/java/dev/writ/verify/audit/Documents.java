package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Decision;
import dev.writ.ledger.DocumentSource;
import dev.writ.verify.error.AuditError;
import java.util.LinkedHashMap;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Function;

/**
 * Reads documents from a ledger or a bundle; one that cannot be read is reported and counts as
 * missing. The latest ones are cached, since the events of an effect use the same documents several
 * times.
 */
final class Documents {
  /** Four documents of an effect, of as many effects as callers usually have under way. */
  private static final int RECENT = 512;

  private final DocumentSource source;
  private final Findings findings;
  private final LinkedHashMap<Digest, Read<?>> recent;
  private final LinkedHashMap<Digest, JudgeInputs> recentInputs;

  Documents(DocumentSource source, Findings findings) {
    this(source, findings, new LinkedHashMap<>(), new LinkedHashMap<>());
  }

  private Documents(
      DocumentSource source,
      Findings findings,
      LinkedHashMap<Digest, Read<?>> recent,
      LinkedHashMap<Digest, JudgeInputs> recentInputs) {
    this.source = source;
    this.findings = findings;
    this.recent = recent;
    this.recentInputs = recentInputs;
  }

  /** The same documents for somebody with findings of his own. */
  Documents with(Findings others) {
    return new Documents(source, others, recent, recentInputs);
  }

  DocumentSource source() {
    return source;
  }

  Findings findings() {
    return findings;
  }

  /** A document and its envelope. */
  record Read<T>(Digest id, Envelope envelope, T document) {}

  /**
   * @param type the payload's type; each type has only one reader
   */
  <T> Optional<Read<T>> read(Digest id, String type, Function<JsonValue, T> reader, String place) {
    Optional<Read<T>> known = known(id, type);
    if (known.isPresent()) {
      return known;
    }
    Optional<Read<T>> read = readNow(id, type, reader, place);
    read.ifPresent(r -> keep(recent, r.id(), r));
    return read;
  }

  private <T> Optional<Read<T>> known(Digest id, String type) {
    Read<?> known = recent.get(id);
    if (known == null || !known.envelope().payloadType().equals(type)) {
      return Optional.empty();
    }
    @SuppressWarnings("unchecked") // each type has only one reader
    Read<T> read = (Read<T>) known;
    return Optional.of(read);
  }

  /**
   * A document whose place somebody else looks at: nothing is reported.
   *
   * @throws WritException where it cannot be read
   * @throws NoSuchElementException where it is missing
   */
  <T> T require(Digest id, String type, Function<JsonValue, T> reader) {
    Optional<Read<T>> known = known(id, type);
    return known.isPresent()
        ? known.get().document()
        : reader.apply(source.document(id).orElseThrow().document());
  }

  /**
   * The inputs that a decision records.
   *
   * @throws WritException where they cannot be read
   */
  JudgeInputs inputs(Digest id, Decision decision) {
    JudgeInputs known = recentInputs.get(id);
    if (known == null) {
      known = JudgeInputs.read(decision.inputs());
      keep(recentInputs, id, known);
    }
    return known;
  }

  private static <T> void keep(LinkedHashMap<Digest, T> recent, Digest id, T read) {
    recent.put(id, read);
    if (recent.size() > RECENT) {
      recent.pollFirstEntry();
    }
  }

  private <T> Optional<Read<T>> readNow(
      Digest id, String type, Function<JsonValue, T> reader, String place) {
    try {
      Optional<Envelope> envelope = source.document(id);
      if (envelope.isEmpty()) {
        findings.problem(AuditError.DOCUMENT, place, "no document " + id, type);
        return Optional.empty();
      }
      if (!envelope.get().payloadType().equals(type)) {
        findings.problem(AuditError.DOCUMENT, place, envelope.get().payloadType(), type);
        return Optional.empty();
      }
      return Optional.of(new Read<>(id, envelope.get(), reader.apply(envelope.get().document())));
    } catch (WritException e) {
      findings.problem(AuditError.DOCUMENT, place, e, type);
      return Optional.empty();
    }
  }
}

package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.DocumentSource;
import dev.writ.verify.error.AuditError;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.function.Function;

/**
 * Reads documents from a ledger or a bundle; one that cannot be read is reported and counts as
 * missing. The latest ones are cached, since the events of an effect use the same documents several
 * times.
 */
final class Documents {
  private static final int RECENT = 64;

  private final DocumentSource source;
  private final Findings findings;
  private final LinkedHashMap<Digest, Read<?>> recent = new LinkedHashMap<>();

  Documents(DocumentSource source, Findings findings) {
    this.source = source;
    this.findings = findings;
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
    Read<?> known = recent.get(id);
    if (known != null && known.envelope().payloadType().equals(type)) {
      @SuppressWarnings("unchecked") // each type has only one reader
      Read<T> read = (Read<T>) known;
      return Optional.of(read);
    }
    Optional<Read<T>> read = readNow(id, type, reader, place);
    read.ifPresent(this::keep);
    return read;
  }

  private void keep(Read<?> read) {
    recent.put(read.id(), read);
    if (recent.size() > RECENT) {
      Iterator<Read<?>> oldest = recent.values().iterator();
      oldest.next();
      oldest.remove();
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

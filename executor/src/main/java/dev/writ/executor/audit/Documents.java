package dev.writ.executor.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.ExecutorError;
import dev.writ.ledger.DocumentSource;
import java.util.Optional;
import java.util.function.Function;

/**
 * Reads documents out of a ledger or a bundle; what cannot be read is a finding and is not there.
 */
record Documents(DocumentSource source, Findings findings) {
  /** A document and its envelope. */
  record Read<T>(Digest id, Envelope envelope, T document) {}

  <T> Optional<Read<T>> read(Digest id, String type, Function<JsonValue, T> reader, String place) {
    try {
      Optional<Envelope> envelope = source.document(id);
      if (envelope.isEmpty()) {
        findings.problem(ExecutorError.AUDIT_DOCUMENT, place, "no document " + id, type);
        return Optional.empty();
      }
      if (!envelope.get().payloadType().equals(type)) {
        findings.problem(ExecutorError.AUDIT_DOCUMENT, place, envelope.get().payloadType(), type);
        return Optional.empty();
      }
      return Optional.of(new Read<>(id, envelope.get(), reader.apply(envelope.get().document())));
    } catch (WritException e) {
      findings.problem(ExecutorError.AUDIT_DOCUMENT, place, e, type);
      return Optional.empty();
    }
  }
}

package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import java.util.Optional;

/** A store of signed documents by id: a ledger, or a bundle exported from one. */
@FunctionalInterface
public interface DocumentSource {
  /** The document with that id; its payload is hashed and compared again. */
  Optional<Envelope> document(Digest id);
}

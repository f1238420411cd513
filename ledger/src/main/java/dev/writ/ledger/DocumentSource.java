package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import java.util.Optional;

/** Where signed documents are found by id: a ledger, or a bundle that was taken from one. */
@FunctionalInterface
public interface DocumentSource {
  /** The document with that id; its payload has been hashed again. */
  Optional<Envelope> document(Digest id);
}

package dev.writ.gateway.view;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.guardian.PolicyExplain;
import dev.writ.guardian.document.Guidance;
import dev.writ.ledger.note.Checkpoint;
import java.util.Optional;

/** What a ledger's files alone do not say of an effect. */
public interface Surround {
  /** The keys of the installation, with those that are revoked or over. */
  Trust trust();

  /** A checkpoint of at least so many events; empty where none can be had. */
  Optional<Checkpoint> covering(long size);

  /** Why the request was judged so. */
  Optional<PolicyExplain> explained(Digest request);

  Optional<Guidance> guidance(Digest request);
}

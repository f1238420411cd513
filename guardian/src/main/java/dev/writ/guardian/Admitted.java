package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.guardian.document.Request;
import java.time.Instant;
import java.util.List;

/**
 * A request that passed admission: authentic, whole, fresh, and rightly delegated.
 *
 * @param id the request's id
 * @param holder the key that signed it; of several, the one with the least key id
 * @param charged subjects charged: the subject, then each delegator that is another (protocol rule
 *     9)
 * @param receivedAt when it was first received; its age is that at this time (protocol rule 8)
 */
public record Admitted(
    Envelope envelope,
    Request request,
    Digest id,
    TrustedKey holder,
    List<String> charged,
    Instant receivedAt) {

  public Admitted {
    charged = List.copyOf(charged);
  }
}

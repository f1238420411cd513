package dev.writ.canonicalize.dsse;

import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.SignatureBatch;
import dev.writ.canonicalize.crypto.VerifyingKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Envelopes whose signatures are verified together, by one equation. No verdict changes: where it
 * does not hold, nothing is known of any of them, and {@link Envelope#verifySignatures} judges each
 * alone.
 */
public record EnvelopeBatch(List<Item> items) {
  /** Of larger payloads hashing is most of the cost, and a batch holds a copy of each. */
  static final int PAYLOAD_BYTES_MAX = 16 * 1024;

  /** Fewer envelopes than this do not pay; the number depends on the engine in use. */
  public static int least() {
    return SignatureBatch.least();
  }

  /** An envelope, and for each of its signatures the key under which it has to hold. */
  public record Item(Envelope envelope, List<VerifyingKey> keys) {
    /**
     * Whether a batch may save anything here: not for what is verified already, large, or not
     * signed by Ed25519 alone.
     */
    public boolean mayGain() {
      return envelope.payloadBytes() <= PAYLOAD_BYTES_MAX
          && keys.stream().allMatch(key -> key.algorithm() == Algorithm.ED25519)
          && !envelope.isVerified(keys);
    }
  }

  /** Whether one equation is probably faster than verifying each signature. */
  public boolean pays() {
    return SignatureBatch.pays(
        items.stream().flatMap(item -> item.keys.stream()).map(VerifyingKey::kid).toList());
  }

  /**
   * Verifies all signatures. If all are accepted, each envelope remembers it.
   *
   * @return false if at least one is not accepted; it is not known which
   */
  public boolean verify() {
    List<SignatureBatch.Item> signatures = new ArrayList<>();
    for (Item item : items) {
      byte[] message = item.envelope.preAuthEncoding();
      for (int i = 0; i < item.keys.size(); i++) {
        byte[] signature = item.envelope.signatures().get(i).bytes();
        signatures.add(new SignatureBatch.Item(item.keys.get(i), message, signature));
      }
    }
    if (!SignatureBatch.holds(signatures)) {
      return false;
    }
    items.forEach(item -> item.envelope.holdsAhead(item.keys.stream().map(Optional::of).toList()));
    return true;
  }
}

package dev.writ.canonicalize.dsse;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SignatureBatch;
import dev.writ.canonicalize.crypto.VerifyingKey;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Does ahead, and for many envelopes at once, what a walk over them will ask for: payloads are
 * parsed, signatures verified in batches. What was found stays with the envelope and goes with it.
 *
 * <p>No verdict changes: a signature that does not hold here, and all that cannot be done here, is
 * left for whoever asks, who then judges it by the one rule and refuses it at its place. Which keys
 * count is {@code Trust}'s to say, at that place.
 */
public final class EnvelopesAhead {
  private EnvelopesAhead() {}

  /**
   * @param keys by key id; a signature of another key is left alone
   */
  public static void prepare(
      List<Envelope> envelopes, Function<String, Optional<VerifyingKey>> keys) {
    List<SignatureBatch.Item> items = new ArrayList<>();
    for (Envelope envelope : envelopes) {
      try {
        envelope.document();
      } catch (WritException e) {
        // refused where it is asked for
      }
      byte[] message = envelope.preAuthEncoding();
      for (Envelope.Signature signature : envelope.signatures()) {
        keys.apply(signature.kid())
            .ifPresent(key -> items.add(new SignatureBatch.Item(key, message, signature.bytes())));
      }
    }
    BitSet accepted = SignatureBatch.verify(items);
    int next = 0;
    for (Envelope envelope : envelopes) {
      List<Optional<VerifyingKey>> held = new ArrayList<>();
      for (Envelope.Signature signature : envelope.signatures()) {
        Optional<VerifyingKey> key = keys.apply(signature.kid());
        held.add(key.isPresent() && accepted.get(next) ? key : Optional.empty());
        next += key.isPresent() ? 1 : 0;
      }
      envelope.holdsAhead(held);
    }
  }
}

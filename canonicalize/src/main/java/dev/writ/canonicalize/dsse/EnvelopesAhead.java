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
 * Parses payloads and verifies signatures in batches, before a walk over many envelopes needs them.
 * Each envelope keeps its results.
 *
 * <p>No verdict changes: a signature that is not accepted here, or an envelope that cannot be
 * parsed, is judged again by the one rule, and refused, when the walk reaches it. {@code Trust}
 * decides there which keys count.
 */
public final class EnvelopesAhead {
  private EnvelopesAhead() {}

  /**
   * @param keys by key id; a signature by any other key is not verified here
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

package dev.writ.verify.stamp;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.note.Checkpoint;
import java.util.List;
import java.util.Optional;

/**
 * Replies of time stamp authorities, each of which must hold (spec/witness.md, "Time stamps").
 *
 * @param replies as {@code .tsr} files have them
 */
public record Stamps(List<byte[]> replies, StampAuthorities authorities) {
  /** There are none. */
  public static final Stamps NONE = new Stamps(List.of(), StampAuthorities.NONE);

  public Stamps {
    replies = List.copyOf(replies);
  }

  /**
   * What they say of a checkpoint.
   *
   * @throws dev.writ.canonicalize.WritException as {@link TimeStamp#verify}, for the first that
   *     does not hold
   */
  public List<TimeStamp> of(Checkpoint checkpoint) {
    Digest stamped = Digest.sha256(checkpoint.toBytes());
    return replies.stream()
        .map(reply -> TimeStamp.verify(reply, stamped, Optional.empty(), authorities))
        .toList();
  }
}

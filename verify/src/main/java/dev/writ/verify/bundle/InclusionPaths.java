package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.MerkleProof;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The inclusion proof (RFC 9162, 2.1.3.1) of single events, from what a bundle's one proof for all
 * of them has. In linear time; the hashes of a path are shared with the paths beside it.
 */
public final class InclusionPaths {
  private final JournalMerge events;
  private final Inclusion.Hashes hashes;
  private final Predicate<Event> wanted;
  private final List<Path> paths = new ArrayList<>();

  /** From the leaf's sibling up. */
  private record Path(long index, Event event, List<Digest> siblings) {}

  /** Gets an event with its place in the log and its proof. */
  @FunctionalInterface
  public interface Visitor {
    void path(long index, Event event, MerkleProof proof);
  }

  private InclusionPaths(JournalMerge events, Inclusion.Hashes hashes, Predicate<Event> wanted) {
    this.events = events;
    this.hashes = hashes;
    this.wanted = wanted;
  }

  /**
   * Computes the proofs of those events of the run itself that are wanted, in the order of the log,
   * towards the root of the bundle's checkpoint.
   *
   * @param bundle is verified
   */
  public static void each(Bundle bundle, Predicate<Event> wanted, Visitor visitor) {
    InclusionPaths found =
        new InclusionPaths(new JournalMerge(bundle), bundle.inclusion().hashes(), wanted);
    found.root(0, bundle.checkpoint().size());
    found.paths.forEach(
        path -> visitor.path(path.index, path.event, new MerkleProof(path.siblings)));
  }

  private Digest root(long from, long to) {
    if (events.index() >= to) {
      hashes.next();
      return hashes.hash();
    }
    if (to - from == 1) {
      return leaf();
    }
    long middle = from + Long.highestOneBit(to - from - 1);
    int before = paths.size();
    Digest left = root(from, middle);
    int between = paths.size();
    Digest right = root(middle, to);
    paths.subList(before, between).forEach(path -> path.siblings.add(right));
    paths.subList(between, paths.size()).forEach(path -> path.siblings.add(left));
    return Merkle.nodeHash(left, right);
  }

  private Digest leaf() {
    long index = events.index();
    boolean own = events.journal() == RecordedRun.Journal.RUN;
    JournalLines.Place place = events.place();
    byte[] line = events.take();
    if (own) {
      Event event = JournalLines.event(line, place);
      if (wanted.test(event)) {
        paths.add(new Path(index, event, new ArrayList<>()));
      }
    }
    return Merkle.leafHash(line);
  }
}

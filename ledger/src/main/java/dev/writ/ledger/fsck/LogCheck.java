package dev.writ.ledger.fsck;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.Anchor;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.LogRow;
import dev.writ.ledger.form.LogTime;
import dev.writ.ledger.form.MetaRow;
import dev.writ.ledger.form.StoredForm;
import dev.writ.ledger.merkle.Frontier;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.SharedAnchor;
import dev.writ.ledger.storage.Storage;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Rebuilds the tree from the entries, and compares with it every stored node, checkpoint and
 * anchor; and the times of the events in their order.
 */
final class LogCheck {
  private static final byte[] ALL = {};

  private final Storage store;
  private final Blobs blobs;
  private final Fsck.Options options;
  private final Examination found;
  private final Frontier frontier = Frontier.empty();
  private final LogTime time = LogTime.begin();
  private final TreeSet<Long> restarts = new TreeSet<>();

  /** By what they are called: that of the home, and one that gateways share. */
  private static final String OWN = "anchor";

  private final TreeMap<String, Anchor> anchors = new TreeMap<>();

  private long logRows;
  private long oneNodeFrom = Long.MAX_VALUE;

  LogCheck(Storage store, Blobs blobs, Fsck.Options options, Examination found) {
    this.store = store;
    this.blobs = blobs;
    this.options = options;
    this.found = found;
  }

  long logRows() {
    return logRows;
  }

  long oneNodeFrom() {
    return oneNodeFrom;
  }

  /** Events whose tree is rebuilt. */
  long size() {
    return frontier.size();
  }

  Digest root() {
    return frontier.root();
  }

  /** Reads how many rows the log has, which all else is compared with. */
  void readSize() {
    logRows = store.last(Family.LOG).map(row -> Keys.number(row.key()) + 1).orElse(0L);
  }

  void readForm() {
    oneNodeFrom = LogRow.oneNodeFrom(store);
    if (oneNodeFrom != Long.MAX_VALUE && (oneNodeFrom < 0 || oneNodeFrom > logRows)) {
      found.problem(
          "one_node_from",
          "rows of one node begin at " + oneNodeFrom + ", but the log has " + logRows + " rows");
    }
  }

  void readAnchors() {
    if (options.anchor().isEmpty()) {
      found.notVerified("the anchor: none was named, so a restored backup would not be told");
      return;
    }
    Anchor.read(options.anchor().get())
        .ifPresentOrElse(
            anchor -> anchors.put(OWN, anchor),
            () -> found.problem(OWN, options.anchor().get() + " is missing"));
    LargeContents contents = blobs.contents();
    Optional<SharedAnchor> shared = contents.anchor();
    if (shared.isPresent()) {
      shared
          .get()
          .read()
          .ifPresentOrElse(
              bytes -> anchors.put("shared anchor", Anchor.parse(bytes, "the shared anchor")),
              () -> found.problem("shared anchor", "it is missing in " + contents.location()));
    }
  }

  /** Rebuilds the tree from the event bytes, and compares every stored node and root with it. */
  void examine() {
    MetaRow.timeRestarts(store).forEach(restarts::add);
    root(0);
    found.scan(
        Family.LOG,
        (key, row) -> {
          long index = Keys.number(key);
          if (index != frontier.size()) {
            found.problem("log row " + index, "row " + frontier.size() + " is missing before it");
            return false;
          }
          logRow(index, row);
          root(frontier.size());
          found.done("log rows", frontier.size());
          return true;
        });
    found.verified(
        frontier.size() + " log rows: leaf, nodes and the roots of checkpoints, from the entries");
    anchors.forEach(this::anchor);
  }

  private void logRow(long index, byte[] row) {
    String where = "log row " + index;
    int nodesLength = LogRow.nodesLength(index, oneNodeFrom);
    byte[] key = row.length > nodesLength ? LogRow.eventKey(index, oneNodeFrom, row) : ALL;
    Optional<byte[]> event = store.get(Family.EVENTS, key);
    if (event.isEmpty()) {
      found.problem(where, "it names an event that is not there");
    } else if (Keys.number(event.get()) != index) {
      found.problem(where, "its event says position " + Keys.number(event.get()));
    }
    if (row.length < nodesLength) {
      found.problem(where, row.length + " bytes are too few for its nodes");
    }
    event.ifPresent(e -> time(where, index, key, e));
    byte[] padded = Arrays.copyOf(row, Math.max(row.length, nodesLength));
    boolean hasOne = index >= oneNodeFrom;
    Optional<Digest> leaf =
        event
            .map(e -> Merkle.leafHash(StoredForm.eventBytes(key, e)))
            .or(() -> hasOne ? Optional.empty() : Optional.of(LogRow.node(padded, 0)));
    if (leaf.isEmpty()) {
      // The stored node stands for the event, so that its loss is not found again in every root.
      frontier.appendUnknown(LogRow.node(padded, 0));
      return;
    }
    List<Digest> nodes = frontier.append(leaf.get());
    int least = hasOne ? nodes.size() - 1 : 0;
    for (int level = least; level < nodes.size(); level++) {
      Digest stored = LogRow.node(padded, level - least);
      if (!stored.equals(nodes.get(level))) {
        found.problem(
            where,
            "calculated node "
                + nodes.get(level)
                + " at level "
                + level
                + ", but "
                + stored
                + " is stored");
      }
    }
  }

  /** A row that is no event is reported by the check of runs. */
  private void time(String where, long index, byte[] key, byte[] row) {
    Optional<Instant> at = at(key, row);
    if (at.isEmpty()) {
      return;
    }
    if (restarts.contains(index)) {
      time.restart(at.get());
    }
    try {
      time.take(at.get());
    } catch (WritException e) {
      found.problem(where, e.getMessage());
    }
  }

  private static Optional<Instant> at(byte[] key, byte[] row) {
    try {
      return Optional.of(StoredForm.parseEvent(key, row).at());
    } catch (WritException e) {
      return Optional.empty();
    }
  }

  /** Compares everything that states a root at this size with the computed one. */
  private void root(long size) {
    Optional<byte[]> note = store.get(Family.CHECKPOINTS, Keys.number(size));
    if (note.isPresent()) {
      try {
        requireRoot("checkpoint " + size, "checkpoint", Checkpoint.parse(note.get()).root());
      } catch (WritException e) {
        found.problem("checkpoint " + size, e.getMessage());
      }
    }
    anchors.forEach((name, anchor) -> {
      if (anchor.treeSize() == size) {
        requireRoot(name, name, anchor.root());
      }
    });
  }

  private void requireRoot(String where, String who, Digest claimed) {
    Digest calculated = frontier.root();
    if (!calculated.equals(claimed)) {
      found.problem(where, "calculated root " + calculated + ", but " + who + " claims " + claimed);
    }
  }

  private void anchor(String name, Anchor anchor) {
    if (anchor.treeSize() > frontier.size()) {
      found.problem(
          name,
          "the log has " + frontier.size() + " events, but the anchor saw " + anchor.treeSize());
    }
    long incarnation = Keys.number(MetaRow.INCARNATION.read(store));
    // Another home may have begun a later one, which this home's anchor did not see.
    boolean isOfAnother = blobs.contents().isShared() && anchor.incarnation() < incarnation;
    if (anchor.incarnation() != incarnation && !(isOfAnother && name.equals(OWN))) {
      found.problem(
          name,
          "the ledger is incarnation " + incarnation + ", the anchor's " + anchor.incarnation());
    }
    if (!anchor.origin().equals(origin())) {
      found.problem(name, "the ledger is " + origin() + ", the anchor's " + anchor.origin());
    }
    found.verified("the " + name + ": origin, incarnation, size " + anchor.treeSize() + ", root");
  }

  String origin() {
    return new String(MetaRow.ORIGIN.read(store), StandardCharsets.UTF_8);
  }

  void times() {
    Instant stored = Instant.ofEpochMilli(Keys.number(MetaRow.HIGH_WATER.read(store)));
    if (!stored.equals(time.latest())) {
      found.problem("high_water", "calculated " + time.latest() + ", but " + stored + " is stored");
    }
    restarts
        .tailSet(frontier.size())
        .forEach(index ->
            found.problem(
                "time_restarts", "time restarts at event " + index + ", which is not there"));
    found.verified(
        "times of events: none more than a day behind those before it, but where time restarts ("
            + restarts.size()
            + "); the high-water mark");
  }
}

package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.verify.bundle.RecordedRun.Journal;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.List;

/** Writes {@code log/inclusion.json} for events of a ledger. */
final class InclusionWriter {
  private final LedgerView ledger;
  private final long size;
  private final EnumMap<Journal, RangeList> ranges = new EnumMap<>(Journal.class);
  private List<RangeList.Cursor> events;
  private OutputStream out;
  private String separator;

  /** The event before the current position. */
  private long last;

  private long provenIndex = -1;
  private MerkleProof proven;

  InclusionWriter(LedgerView ledger, long size) {
    this.ledger = ledger;
    this.size = size;
    Inclusion.JOURNALS.forEach(journal -> ranges.put(journal, new RangeList()));
  }

  /** Adds an event of a journal, in the order of the log. */
  void add(Journal journal, long index) {
    ranges.get(journal).add(index);
  }

  void writeTo(OutputStream target) throws IOException {
    out = target;
    separator = "\"";
    events = ranges.values().stream().map(RangeList::cursor).toList();
    text("{\"consumed\":");
    ranges.get(Journal.CONSUMED).writeTo(out);
    text(",\"hashes\":[");
    hashes(0, size, size, 0);
    text("],\"run\":");
    ranges.get(Journal.RUN).writeTo(out);
    text(",\"system\":");
    ranges.get(Journal.SYSTEM).writeTo(out);
    text("}");
  }

  private void text(String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.US_ASCII));
  }

  private RangeList.Cursor next() {
    RangeList.Cursor next = events.getFirst();
    for (RangeList.Cursor cursor : events) {
      next = cursor.index() < next.index() ? cursor : next;
    }
    return next;
  }

  /**
   * @param parentTo the end of the subtree of which this one is a half
   * @param depth depth of this subtree; that of the whole tree is 0
   */
  private void hashes(long from, long to, long parentTo, int depth) throws IOException {
    RangeList.Cursor next = next();
    if (next.index() >= to) {
      // Its other half contains an event, whose inclusion proof has this subtree's hash at this
      // depth.
      List<Digest> path = proof(next.index() < parentTo ? next.index() : last).hashes();
      text(separator + path.get(path.size() - depth) + "\"");
      separator = ",\"";
    } else if (to - from == 1) {
      last = next.index();
      next.move();
    } else {
      long middle = from + Long.highestOneBit(to - from - 1);
      hashes(from, middle, to, depth + 1);
      hashes(middle, to, to, depth + 1);
    }
  }

  private MerkleProof proof(long index) {
    if (index != provenIndex) {
      proven = ledger.inclusionProof(index, size);
      provenIndex = index;
    }
    return proven;
  }
}

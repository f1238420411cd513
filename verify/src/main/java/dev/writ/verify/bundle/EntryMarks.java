package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.verify.audit.RequestMarks;
import java.util.BitSet;
import java.util.OptionalInt;

/** Marks requests by the entries of their documents in a bundle: a bit for each entry. */
final class EntryMarks implements RequestMarks {
  private final Bundle bundle;
  private final EventPrefetch known;
  private final BitSet marked = new BitSet();

  /**
   * @param known has the entries of what was read last, so that they need not be looked for
   */
  EntryMarks(Bundle bundle, EventPrefetch known) {
    this.bundle = bundle;
    this.known = known;
  }

  @Override
  public boolean add(Digest request) {
    OptionalInt read = known.entry(request);
    int entry =
        read.isPresent() ? read.getAsInt() : bundle.required(BundleEntryNames.document(request));
    boolean first = !marked.get(entry);
    marked.set(entry);
    return first;
  }

  @Override
  public boolean contains(Digest request) {
    OptionalInt entry = known.entry(request);
    entry = entry.isPresent() ? entry : bundle.entry(BundleEntryNames.document(request));
    return entry.isPresent() && marked.get(entry.getAsInt());
  }
}

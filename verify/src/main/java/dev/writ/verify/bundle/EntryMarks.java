package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.verify.audit.RequestMarks;
import java.util.BitSet;
import java.util.OptionalInt;

/** Marks requests by the entries of their documents in a bundle: a bit for each entry. */
final class EntryMarks implements RequestMarks {
  private final Bundle bundle;
  private final BitSet marked = new BitSet();

  EntryMarks(Bundle bundle) {
    this.bundle = bundle;
  }

  @Override
  public boolean add(Digest request) {
    int entry = bundle.required(BundleEntryNames.document(request));
    boolean first = !marked.get(entry);
    marked.set(entry);
    return first;
  }

  @Override
  public boolean contains(Digest request) {
    OptionalInt entry = bundle.entry(BundleEntryNames.document(request));
    return entry.isPresent() && marked.get(entry.getAsInt());
  }
}

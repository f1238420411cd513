package dev.writ.verify.bundle;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.DigestSet;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.executor.document.Deletion;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.error.AuditError;
import dev.writ.verify.error.BundleError;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Compares a bundle's entries with the references of its events: none may be missing, and at the
 * end none may be left over. Keeps a bit for each entry.
 */
final class ReferenceCoverage implements References.Sink {
  private final Bundle bundle;
  private final StatedDeletions deletions;
  private final DigestSet deleted = new DigestSet();
  private final TreeMap<Digest, DigestSet> erased = new TreeMap<>();
  private final TreeMap<Digest, Instant> erasedAt = new TreeMap<>();
  private final TreeMap<Digest, DigestSet> archived = new TreeMap<>();
  private final BitSet referred = new BitSet();
  private final TreeSet<String> withFiles = new TreeSet<>();

  /** Those that were looked up: a run names few, each with every effect. */
  private final LinkedHashSet<ToolRef> manifests = new LinkedHashSet<>();

  private final DigestSet received = new DigestSet();
  private final DigestSet consumed = new DigestSet();
  private final DigestSet leftOut = new DigestSet();

  /** Of those that were left out: the ones with a size, and each together with its size. */
  private final DigestSet sized = new DigestSet();

  private final DigestSet sizes = new DigestSet();
  private final DigestSet notKept = new DigestSet();
  long documents;
  long blobs;
  long tools;
  long files;

  ReferenceCoverage(Bundle bundle, StatedDeletions deletions) {
    this.bundle = bundle;
    this.deletions = deletions;
  }

  /** Marks an entry as belonging here; false if it was marked before. */
  private boolean refer(String name, OptionalInt entry, String place) {
    if (entry.isEmpty()) {
      throw new WritException(BundleError.ENTRY_MISSING, place + " names " + name);
    }
    boolean first = !referred.get(entry.getAsInt());
    referred.set(entry.getAsInt());
    return first;
  }

  @Override
  public void document(Digest id, String place) {
    document(id, bundle.entry(BundleEntryNames.document(id)), place);
  }

  /**
   * @param entry where it is, if it is here
   */
  void document(Digest id, OptionalInt entry, String place) {
    documents += refer(BundleEntryNames.document(id), entry, place) ? 1 : 0;
  }

  @Override
  public void blob(Digest digest, OptionalLong size, References.Use use, String place) {
    blob(digest, bundle.entry(BundleEntryNames.blob(digest)), size, use, place);
  }

  /**
   * @param entry where it is, if it is here
   */
  void blob(Digest digest, OptionalInt entry, OptionalLong size, References.Use use, String place) {
    Optional<Deletion> stated = deletions.of(use, digest);
    if (stated.isPresent()) {
      switch (stated.get().reason()) {
        case Deletion.Rule _ -> deleted.add(digest);
        case Deletion.Order order -> {
          erased.computeIfAbsent(order.id(), _ -> new DigestSet()).add(digest);
          erasedAt.put(order.id(), stated.get().deletedAt());
        }
        case Deletion.Archived in ->
            archived.computeIfAbsent(in.bundle(), _ -> new DigestSet()).add(digest);
      }
      return;
    }
    if (!bundle.manifest().blobs()) {
      leftOut.add(digest);
      size.ifPresent(bytes -> requireOneSize(digest, bytes, place));
      return;
    }
    String name = BundleEntryNames.blob(digest);
    blobs += refer(name, entry, place) ? 1 : 0;
    long found = bundle.archive().size(entry.getAsInt());
    if (size.isPresent() && size.getAsLong() != found) {
      throw new WritException(
          BundleError.ENTRY_DIGEST,
          place + " " + name + " size: recorded " + size.getAsLong() + ", recomputed " + found);
    }
  }

  /** Of a content that is not here nothing else can be said. */
  private void requireOneSize(Digest digest, long size, String place) {
    boolean isKnown = !sized.add(digest);
    boolean isNew = sizes.add(Digest.sha256((digest + " " + size).getBytes(US_ASCII)));
    if (isKnown && isNew) {
      throw new WritException(
          AuditError.BINDING,
          place + " size of " + digest + ": " + size + " bytes, and another size before");
    }
  }

  @Override
  public void notKept(Digest digest) {
    notKept.add(digest);
  }

  @Override
  public void tool(ToolRef tool, String place) {
    if (!bundle.manifest().tools() || manifests.contains(tool)) {
      return;
    }
    String name = BundleEntryNames.tool(tool);
    if (refer(name, bundle.entry(name), place)) {
      tools++;
      if (bundle.tool(tool).isEmpty()) {
        throw new WritException(BundleError.ENTRY_DIGEST, name + " is of another package");
      }
    }
    manifests.add(tool);
  }

  @Override
  public void files(ToolRef tool, String place) {
    tool(tool, place);
    if (!bundle.manifest().tools() || !withFiles.add(BundleEntryNames.tool(tool))) {
      return;
    }
    ToolManifest manifest = bundle.tool(tool).orElseThrow();
    for (ToolManifest.PackageFile file : manifest.files()) {
      String name = BundleEntryNames.file(tool, file);
      if (refer(name, bundle.entry(name), place)) {
        files++;
        int length = bundle.files(manifest).read(file).length;
        if (length != file.size()) {
          throw new WritException(
              BundleError.ENTRY_DIGEST,
              name + " size: recorded " + file.size() + ", recomputed " + length);
        }
      }
    }
  }

  /** An event of {@code journal/consumed.jsonl}. */
  void received(Digest receipt, String place) {
    if (bundle.entry(BundleEntryNames.document(receipt)).isEmpty()) {
      throw new WritException(
          BundleError.ENTRY_MISSING, place + " names " + BundleEntryNames.document(receipt));
    }
    if (!received.add(receipt)) {
      throw new WritException(
          BundleError.ENTRY_UNUSED, BundleEntryNames.CONSUMED + " " + place + " again");
    }
  }

  /** The event with the receipt of another run must precede its consumption in the log. */
  @Override
  public void foreign(Digest receipt, RunId run, String place) {
    if (!received.contains(receipt)) {
      throw new WritException(
          BundleError.ENTRY_MISSING,
          BundleEntryNames.CONSUMED + " has no event of receipt " + receipt + " before " + place);
    }
    consumed.add(receipt);
  }

  /** At the end of the run. */
  void requireNothingElse() {
    if (received.size() != consumed.size()) {
      throw new WritException(
          BundleError.ENTRY_UNUSED,
          BundleEntryNames.CONSUMED
              + " has "
              + received.size()
              + " receipts, the run consumes "
              + consumed.size());
    }
    BundleEntryNames.SINGLE.forEach(name -> bundle.entry(name).ifPresent(referred::set));
    int unused = referred.nextClearBit(0);
    if (unused < bundle.archive().entries()) {
      throw new WritException(BundleError.ENTRY_UNUSED, bundle.archive().name(unused));
    }
  }

  /** What orders of an operator had erased, as statements in the bundle say, a line for each. */
  List<String> erased() {
    List<String> lines = new ArrayList<>();
    erased.forEach((order, contents) ->
        lines.add(
            contents.size()
                + " contents: erased at "
                + Timestamps.format(erasedAt.get(order))
                + " by order "
                + order
                + " of an operator, as the executor signed; only their digests are here"));
    return lines;
  }

  /** What was moved to the archive, as statements in the bundle say; there is one bundle there. */
  List<String> archived() {
    List<String> lines = new ArrayList<>();
    archived.forEach((in, contents) ->
        lines.add(
            contents.size()
                + " contents: moved to the archive, into the bundle "
                + in
                + ", as the executor signed; only their digests are here"));
    return lines;
  }

  /** How many contents are deleted by rules, as statements in the bundle say. */
  int deleted() {
    return deleted.size();
  }

  int leftOut() {
    return leftOut.size();
  }

  /**
   * How many outputs were not retained, without those that are in the bundle for another reason.
   */
  long notKept() {
    long[] count = {0};
    notKept.drainSorted(digest -> count[0] += isHere(digest) ? 0 : 1);
    return count[0];
  }

  private boolean isHere(Digest digest) {
    return leftOut.contains(digest) || bundle.entry(BundleEntryNames.blob(digest)).isPresent();
  }
}

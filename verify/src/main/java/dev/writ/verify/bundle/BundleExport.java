package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.ReadEvent;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.retention.Deletions;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.bundle.RecordedRun.Journal;
import dev.writ.verify.error.BundleError;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * Exports the bundle of one run from a ledger (spec/bundle.md). The same run at the same size of
 * the log gives the same bytes on any machine. One pass over the events finds what they refer to,
 * as digests; a second one writes.
 */
public final class BundleExport {
  /**
   * What to leave out, and what to prove in addition.
   *
   * @param kept an earlier checkpoint that somebody kept: the bundle proves that its log is
   *     consistent with it
   * @param latest exports even a closed run at the latest checkpoint, with the system run up to
   *     then: the later revocation of a key that signed, for example
   * @param reads adds what the log states of reads of the run, up to the latest checkpoint
   */
  public record Options(
      boolean blobs, boolean tools, Optional<Checkpoint> kept, boolean latest, boolean reads) {
    public static final Options WHOLE = new Options(true, true, Optional.empty());

    /** At the checkpoint of its closing. */
    public Options(boolean blobs, boolean tools, Optional<Checkpoint> kept) {
      this(blobs, tools, kept, false, false);
    }

    /** The same, at the latest checkpoint. */
    public Options atLatest() {
      return new Options(blobs, tools, kept, true, reads);
    }

    /** The same, at the latest checkpoint and with the reads that it covers. */
    public Options withReads() {
      return new Options(blobs, tools, kept, true, true);
    }
  }

  /** Finds packages. */
  public interface Packages {
    /** The manifest of exactly that package. */
    Optional<ToolManifest> manifest(ToolRef tool);

    /** The files of a package. */
    Driver.PackageContent files(ToolManifest manifest);

    /** Those of a registry that holds one package for each name and version. */
    static Packages of(Tools.Registry registry) {
      return new Packages() {
        @Override
        public Optional<ToolManifest> manifest(ToolRef tool) {
          return registry.manifest(tool.name(), tool.version());
        }

        @Override
        public Driver.PackageContent files(ToolManifest manifest) {
          return registry.content(manifest);
        }
      };
    }
  }

  private final LedgerView ledger;
  private final RunId run;
  private final Packages packages;
  private final Options options;
  private final boolean closed;
  private final Checkpoint checkpoint;
  private final Found found = new Found();
  private final InclusionWriter inclusion;
  private final TreeMap<Long, Event> consumed = new TreeMap<>();
  private final Optional<Trust> stated;
  private SystemState system = SystemState.NOTHING;
  private long incarnation = 1;

  /** Of the run. */
  private long journalBytes;

  private BundleExport(LedgerView ledger, RunId run, Packages packages, Options options) {
    this(ledger, run, packages, options, Optional.empty());
  }

  private BundleExport(
      LedgerView ledger, RunId run, Packages packages, Options options, Optional<Trust> stated) {
    this.stated = stated;
    this.ledger = ledger;
    this.run = run;
    this.packages = packages;
    this.options = options;
    Event head =
        ledger
            .head(run)
            .filter(_ -> !run.equals(SystemState.RUN))
            .orElseThrow(() -> new WritException(BundleError.RUN_UNKNOWN, run.toString()));
    this.closed = head.kind().equals(EventKind.RUN_CLOSED);
    this.checkpoint = checkpoint(head);
    this.inclusion = new InclusionWriter(ledger, checkpoint.size());
  }

  /**
   * @param ledger may be written by another process meanwhile
   * @return the bundle's bytes
   * @throws WritException {@code RPL-05x} where the run, its checkpoint, a manifest or content is
   *     not there, {@code RPL-042} where the kept checkpoint is of another history, {@code RPL-012}
   *     where it is too large
   */
  public static byte[] of(LedgerView ledger, RunId run, Packages packages, Options options) {
    PositionedTarget.Memory memory = new PositionedTarget.Memory();
    new BundleExport(ledger, run, packages, options).write(memory);
    return memory.toBytes();
  }

  /** For tests: a forged bundle, with another trust than its system run gives. */
  static byte[] forged(LedgerView ledger, RunId run, Packages packages, Trust stated) {
    PositionedTarget.Memory memory = new PositionedTarget.Memory();
    new BundleExport(ledger, run, packages, Options.WHOLE, Optional.of(stated)).write(memory);
    return memory.toBytes();
  }

  /**
   * The same into a file.
   *
   * @param file empty, open for reading and writing
   * @throws WritException as {@link #of}; {@code RPL-016} where the storage fails
   */
  public static void write(
      LedgerView ledger, RunId run, Packages packages, Options options, FileChannel file) {
    write(ledger, run, packages, options, file, _ -> {});
  }

  /**
   * The same, asking before the file grows.
   *
   * @param growth is told by how many bytes it is about to grow, and may refuse; what it throws
   *     ends the export
   */
  public static void write(
      LedgerView ledger,
      RunId run,
      Packages packages,
      Options options,
      FileChannel file,
      LongConsumer growth) {
    new BundleExport(ledger, run, packages, options).write(PositionedTarget.of(file, growth));
  }

  /**
   * The checkpoint of a closed run's closing, so that its bundle never changes, unless the latest
   * is requested; the latest one of an open run.
   */
  private Checkpoint checkpoint(Event head) {
    long index = index(head);
    Optional<Checkpoint> stored =
        closed && !options.latest()
            ? ledger
                .get(Tables.CLOSED, Tables.key(run.tenant(), run.run()))
                .filter(row -> row.length > 0)
                .map(row -> new String(row, StandardCharsets.US_ASCII))
                .flatMap(size -> ledger.checkpoint(Long.parseUnsignedLong(size, 16)))
            : ledger.latestCheckpoint();
    return stored
        .filter(c -> c.size() > index)
        .orElseThrow(() ->
            new WritException(
                BundleError.NOT_COVERED,
                run
                    + " ends at log index "
                    + index
                    + ", the checkpoint has "
                    + stored.map(Checkpoint::size).map(String::valueOf).orElse("no size yet")));
  }

  private long index(Event event) {
    return ledger.indexOf(event.runId(), event.seq()).orElseThrow();
  }

  private void events(RunId of, Consumer<Event> consumer) {
    ledger.events(
        of,
        0,
        event -> {
          if (index(event) < checkpoint.size()) {
            consumer.accept(event);
          }
        });
  }

  private void write(PositionedTarget target) {
    Optional<Consistency> consistency = options.kept().flatMap(this::consistency);
    try (found.documents;
        found.blobs) {
      find();
      if (isStatedLater()) {
        latest(target);
      } else {
        pack(target, consistency);
      }
    }
  }

  private void find() {
    References references = new References(ledger, found);
    events(
        SystemState.RUN,
        event -> {
          references.event(event);
          inclusion.add(Journal.SYSTEM, index(event));
          system(event);
        });
    events(
        run,
        event -> {
          references.event(event);
          inclusion.add(Journal.RUN, index(event));
          journalBytes += event.toBytes().length + 1;
        });
    consumed();
  }

  private void pack(PositionedTarget target, Optional<Consistency> consistency) {
    consumed.keySet().forEach(index -> inclusion.add(Journal.CONSUMED, index));
    // A run that has too much is refused before gigabytes of it are written.
    ArchiveForm.requireBounds(
        0, found.documents.size() + (options.blobs() ? found.blobs.size() : 0));
    ArchiveForm.requireContentBounds(BundleEntryNames.RUN, journalBytes);
    ArchiveWriter out = new ArchiveWriter(target);
    if (options.blobs()) {
      found.blobs.forEach(blob -> out.entry(BundleEntryNames.blob(blob), to -> blob(blob, to)));
    }
    out.entry(BundleEntryNames.MANIFEST, Jcs.write(manifest().toJson()));
    found.documents.forEach(id ->
        out.entry(BundleEntryNames.document(id), ledger.document(id).orElseThrow().toBytes()));
    out.entry(BundleEntryNames.CONSUMED, to -> consumed.values().forEach(event -> line(event, to)));
    out.entry(BundleEntryNames.RUN, to -> events(run, event -> line(event, to)));
    out.entry(BundleEntryNames.SYSTEM, to -> events(SystemState.RUN, event -> line(event, to)));
    out.entry(BundleEntryNames.CHECKPOINT, checkpoint.toBytes());
    consistency.ifPresent(
        proof -> out.entry(BundleEntryNames.CONSISTENCY, Jcs.write(proof.toJson())));
    out.entry(BundleEntryNames.INCLUSION, inclusion::writeTo);
    if (options.tools()) {
      found.tools.values().forEach(tool -> tool(out, tool));
    }
    out.entry(BundleEntryNames.TRUST, Jcs.write(stated.orElseGet(system::trust).toJson()));
    out.end();
  }

  /** A content that was deleted since is shown to be by the latest checkpoint alone. */
  private void latest(PositionedTarget target) {
    if (options.latest() || !closed) {
      throw new WritException(
          BundleError.NOT_COVERED,
          "contents of "
              + run
              + " were deleted at log index "
              + consumed.lastKey()
              + ", the checkpoint has "
              + checkpoint.size());
    }
    new BundleExport(ledger, run, packages, options.atLatest(), stated).write(target);
  }

  private BundleManifest manifest() {
    return new BundleManifest(
        run,
        ledger.origin(),
        incarnation,
        checkpoint.size(),
        closed,
        options.blobs(),
        options.tools());
  }

  private void system(Event event) {
    if (stated.isEmpty()) {
      system = system.after(event, ledger);
    }
    Envelope signed = ledger.document(event.body()).orElseThrow();
    if (signed.payloadType().equals(SystemChange.TYPE)) {
      incarnation = SystemChange.read(signed.document()).incarnation().orElse(incarnation);
    }
  }

  /** A consistency proof between two sizes; empty if they are equal. */
  private Optional<Consistency> consistency(Checkpoint kept) {
    if (!kept.origin().equals(ledger.origin())) {
      throw new WritException(
          LedgerError.CHECKPOINT_ORIGIN, kept.origin() + " instead of " + ledger.origin());
    }
    if (kept.size() > ledger.treeSize()) {
      throw new WritException(
          BundleError.CHECKPOINT_AHEAD,
          "the kept checkpoint has size " + kept.size() + ", the ledger " + ledger.treeSize());
    }
    Digest root = ledger.root(kept.size());
    if (!root.equals(kept.root())) {
      throw new WritException(
          BundleError.FORK,
          "at size " + kept.size() + " the ledger's root is " + root + ", kept is " + kept.root());
    }
    long size1 = Math.min(kept.size(), checkpoint.size());
    long size2 = Math.max(kept.size(), checkpoint.size());
    return size1 == size2
        ? Optional.empty()
        : Optional.of(new Consistency(size1, size2, ledger.consistencyProof(size1, size2)));
  }

  /** What the events refer to. */
  private final class Found implements References.Sink {
    private final DigestSpool documents = new DigestSpool();
    private final DigestSpool blobs = new DigestSpool();
    private final TreeMap<String, ToolRef> tools = new TreeMap<>();
    private final TreeSet<String> withFiles = new TreeSet<>();
    private final TreeMap<RunId, TreeSet<Digest>> foreign = new TreeMap<>();
    private final TreeSet<Digest> deletions = new TreeSet<>();

    @Override
    public void document(Digest id, String place) {
      documents.add(id);
      if (!ledger.hasDocument(id)) {
        throw new WritException(BundleError.CONTENT_MISSING, place + " names document " + id);
      }
    }

    @Override
    public void blob(Digest digest, OptionalLong size, References.Use use, String place) {
      Deletion.Item item = new Deletion.Item(use.content(), digest, use.seq(), size.orElse(0));
      Optional<Deletions.Stated> stated = Deletions.of(ledger, run, item);
      if (stated.isPresent()) {
        deletions.add(stated.get().id());
      } else {
        blobs.add(digest);
      }
    }

    @Override
    public void notKept(Digest digest) {
      // stays outside
    }

    @Override
    public void tool(ToolRef tool, String place) {
      tools.put(BundleEntryNames.tool(tool), tool);
    }

    @Override
    public void files(ToolRef tool, String place) {
      tool(tool, place);
      withFiles.add(BundleEntryNames.tool(tool));
    }

    @Override
    public void foreign(Digest receipt, RunId other, String place) {
      foreign.computeIfAbsent(other, _ -> new TreeSet<>()).add(receipt);
    }
  }

  private void consumed() {
    found.foreign.forEach((other, receipts) ->
        ledger.events(
            other,
            0,
            event -> {
              if (event.kind().equals(EventKind.RECEIPT_SIGNED)
                  && receipts.contains(event.body())) {
                consumed.put(index(event), event);
              }
            }));
    deletions();
    if (options.reads()) {
      reads();
    }
  }

  /** The statements about reads of the run that the checkpoint covers. */
  private void reads() {
    events(
        ReadEvent.RUN,
        event -> {
          ReadEvent read = ReadEvent.read(ledger.document(event.body()).orElseThrow().document());
          if (read.by().tenant().equals(run.tenant())
              && read.thing().run().filter(run.run()::equals).isPresent()) {
            consumed.put(index(event), event);
            found.document(event.body(), References.place(event));
          }
        });
  }

  /** The statements about contents of the run. */
  private void deletions() {
    if (found.deletions.isEmpty()) {
      return;
    }
    ledger.events(
        Deletion.RUN,
        0,
        event -> {
          if (found.deletions.contains(event.body())) {
            consumed.put(index(event), event);
            found.document(event.body(), References.place(event));
          }
        });
  }

  /** Whether a statement about a content of the run comes after the checkpoint. */
  private boolean isStatedLater() {
    return !consumed.isEmpty() && consumed.lastKey() >= checkpoint.size();
  }

  private static void line(Event event, OutputStream out) {
    try {
      out.write(event.toBytes());
      out.write('\n');
    } catch (IOException e) {
      throw PositionedSource.failed(e);
    }
  }

  private void blob(Digest digest, OutputStream out) throws IOException {
    if (!ledger.hasBlob(digest)) {
      throw new WritException(BundleError.CONTENT_MISSING, "blob " + digest);
    }
    try (InputStream in = ledger.openBlob(digest)) {
      in.transferTo(out);
    }
  }

  private void tool(ArchiveWriter out, ToolRef tool) {
    ToolManifest manifest =
        packages
            .manifest(tool)
            .filter(m -> m.ref().equals(tool))
            .orElseThrow(() ->
                new WritException(
                    BundleError.TOOL_MISSING,
                    tool.name() + " " + tool.version() + " " + tool.packageDigest()));
    if (found.withFiles.contains(BundleEntryNames.tool(tool))) {
      Driver.PackageContent files = packages.files(manifest);
      TreeMap<String, ToolManifest.PackageFile> sorted = new TreeMap<>();
      manifest.files().forEach(file -> sorted.put(BundleEntryNames.file(tool, file), file));
      sorted.forEach((name, file) -> out.entry(name, file(files, name, file)));
    }
    out.entry(BundleEntryNames.tool(tool), Jcs.write(manifest.toJson()));
  }

  private static byte[] file(
      Driver.PackageContent files, String name, ToolManifest.PackageFile file) {
    byte[] bytes = files.read(file);
    if (!Digest.sha256(bytes).equals(file.digest())
        || bytes.length > BundleEntryNames.CONTENT_MAX) {
      throw new WritException(
          BundleError.TOOL_MISSING, name + " is " + Digest.sha256(bytes) + ", not as its manifest");
    }
    return bytes;
  }
}

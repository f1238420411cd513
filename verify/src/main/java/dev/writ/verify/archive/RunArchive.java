package dev.writ.verify.archive;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.DigestSet;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.SystemState;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.retention.ArchivedBundle;
import dev.writ.executor.retention.ArchivedRuns;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.archive.ArchivePlace;
import dev.writ.ledger.content.SealedCopy;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleExport;
import dev.writ.verify.bundle.BundleVerifier;
import dev.writ.verify.error.BundleError;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Puts bundles of closed runs into an archive (spec/retention.md, Archive): each is exported,
 * verified against the log, kept durably under its digest, and read back. Nothing leaves the ledger
 * here. Every step may be repeated; a run that is not archived yet gives the same bytes again.
 */
public final class RunArchive {
  private static final String BLOBS = "blobs/";
  private static final int WRITER_DIGITS = 16;

  private final LedgerView ledger;
  private final ArchivePlace place;
  private final ArchiveReader reader;
  private final BundleExport.Packages packages;

  /**
   * @param packages the tools of the installation
   */
  public RunArchive(LedgerView ledger, ArchivePlace place, BundleExport.Packages packages) {
    this.ledger = ledger;
    this.place = place;
    this.reader = new ArchiveReader(place);
    this.packages = packages;
  }

  /**
   * Has the archive keep a closed run, or finds that it does.
   *
   * @param state what is in force
   * @param now by which the time since its closing is computed, and from which a lock of its bundle
   *     runs
   * @throws WritException {@code EXE-940} to {@code EXE-943} where it may not be archived, {@code
   *     EXE-947}, {@code EXE-948} where what the archive has of it is missing or damaged, {@code
   *     LED-093}, {@code LED-094}, and the codes of an export and of a verification
   */
  public ArchivedBundle store(RunId run, SystemState state, Instant now) {
    place.require();
    Optional<Digest> known = ArchivedRuns.bundle(ledger, run);
    requireArchivable(run, state, now);
    return onItsDisk(() -> known.isPresent() ? readBack(run, known.get()) : write(run, now));
  }

  /**
   * The bundle of a run that was archived before, read and verified.
   *
   * @throws WritException as {@link #store}
   */
  public ArchivedBundle earlier(RunId run) {
    return onItsDisk(() -> readBack(run, ArchivedRuns.bundle(ledger, run).orElseThrow()));
  }

  /** A disk that fails or is full fails every other run, too, and does so for a while only. */
  private ArchivedBundle onItsDisk(Supplier<ArchivedBundle> work) {
    try {
      return work.get();
    } catch (WritException e) {
      throw e.code() == BundleError.STORAGE
          ? new WritException(LedgerError.ARCHIVE_FAILED, place.address() + ": " + e.found(), e)
          : e;
    }
  }

  /**
   * How long after its closing a run may be archived, in seconds.
   *
   * @throws WritException {@code EXE-940} where policy lets no run be archived
   */
  public static long requireAllowed(SystemState state) {
    return state
        .policyInForce()
        .retention()
        .archiveAfterS()
        .orElseThrow(() ->
            new WritException(
                ExecutorError.ARCHIVE_NOT_ALLOWED, "policy " + state.policyInForce().digest()));
  }

  private void requireArchivable(RunId run, SystemState state, Instant now) {
    long after = requireAllowed(state);
    Event head =
        ledger
            .head(run)
            .orElseThrow(() -> new WritException(BundleError.RUN_UNKNOWN, run.toString()));
    if (!head.kind().equals(EventKind.RUN_CLOSED)) {
      throw new WritException(ExecutorError.ARCHIVE_TOO_EARLY, run + " is open");
    }
    Instant earliest = head.at().plusSeconds(after);
    if (now.isBefore(earliest)) {
      throw new WritException(
          ExecutorError.ARCHIVE_TOO_EARLY,
          run + " was closed at " + head.at() + ", and can be archived from " + earliest + " on");
    }
    if (state.isHeld(run)) {
      throw new WritException(ExecutorError.ARCHIVE_HELD, run.toString());
    }
  }

  private ArchivedBundle write(RunId run, Instant now) {
    try {
      Path draft = place.draft(writer());
      try {
        try (FileChannel channel =
            FileChannel.open(draft, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
          BundleExport.write(ledger, run, packages, BundleExport.Options.WHOLE, channel);
        }
        requireNotSealed(run, verified(run, draft));
        Digest bundle = ArchiveReader.digest(draft);
        place.keep(draft, bundle, now);
        return readBack(run, bundle);
      } finally {
        Files.deleteIfExists(draft);
      }
    } catch (IOException e) {
      throw new WritException(
          LedgerError.ARCHIVE_FAILED, place.address() + ": " + e.getMessage(), e);
    }
  }

  /** Who has a log open for writing is the only one of its name. */
  private String writer() {
    return Digest.sha256(ledger.origin().getBytes(StandardCharsets.UTF_8))
        .hex()
        .substring(0, WRITER_DIGITS);
  }

  private ArchivedBundle readBack(RunId run, Digest bundle) {
    try (ArchivePlace.Fetched fetched = reader.fetch(bundle)) {
      return new ArchivedBundle(bundle, verified(run, fetched.file()));
    }
  }

  /**
   * Verifies a bundle, and that it is this run in this log; returns its contents.
   *
   * @throws WritException {@code EXE-948} where it is another one, and the verifier's codes
   */
  private DigestSet verified(RunId run, Path file) {
    try (Bundle bundle = Bundle.open(file)) {
      BundleVerifier.verify(
          bundle, new BundleVerifier.Options(Optional.empty(), Optional.empty(), true), _ -> {});
      boolean isOfThisLog =
          bundle.manifest().origin().equals(ledger.origin())
              && bundle.checkpoint().size() <= ledger.treeSize()
              && ledger.root(bundle.checkpoint().size()).equals(bundle.checkpoint().root());
      if (!isOfThisLog || !bundle.manifest().run().equals(run) || !bundle.manifest().blobs()) {
        throw new WritException(
            ExecutorError.BUNDLE_DIFFERS,
            "it is of "
                + bundle.manifest().run()
                + " in "
                + bundle.manifest().origin()
                + ", with its contents "
                + (bundle.manifest().blobs() ? "included" : "left out"));
      }
      return contents(bundle);
    }
  }

  private static DigestSet contents(Bundle bundle) {
    DigestSet contents = new DigestSet();
    for (int entry = 0; entry < bundle.entries(); entry++) {
      String name = bundle.entryName(entry);
      if (name.startsWith(BLOBS)) {
        contents.add(Digest.parse("sha256:" + name.substring(BLOBS.length())));
      }
    }
    return contents;
  }

  /** A bundle has contents in the clear, where no erasure would reach them. */
  private void requireNotSealed(RunId run, DigestSet contents) {
    contents.drainSorted(content ->
        ledger.scan(
            SealedCopy.TABLE,
            content.hex(),
            (_, _) -> {
              throw new WritException(ExecutorError.ARCHIVE_SEALED, content + " of " + run);
            }));
  }
}

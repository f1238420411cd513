package dev.writ.embed.home;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.embed.error.EmbedError;
import dev.writ.executor.SystemState;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.retention.ArchivedBundle;
import dev.writ.executor.retention.ArchivedContents;
import dev.writ.executor.retention.ArchivedRuns;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.archive.ArchivePlace;
import dev.writ.ledger.archive.ArchivePlaceProvider;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.RunId;
import dev.writ.tools.error.FileTrouble;
import dev.writ.verify.archive.ArchiveReader;
import dev.writ.verify.archive.RunArchive;
import dev.writ.verify.bundle.BundleExport;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * The archive of a home's closed runs (spec/retention.md, Archive). Its address is in the file
 * {@code archive.address} of the data directory, and is read anew each time.
 */
public final class HomeArchive {
  /** The name of the file in a home that has the archive's address. */
  public static final String FILE = "archive.address";

  private final Home home;

  public HomeArchive(Home home) {
    this.home = home;
  }

  private Path file() {
    return home.dir().resolve(FILE);
  }

  /** Where the archive is; empty where this home has none. */
  public Optional<String> address() {
    try {
      return Optional.of(Files.readString(file()).strip()).filter(text -> !text.isEmpty());
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, file() + ": " + e.getMessage(), e);
    }
  }

  /**
   * The archive.
   *
   * @throws WritException {@code CLI-112} where this home has none, {@code LED-092}
   */
  public ArchivePlace place() {
    return ArchivePlaceProvider.find(
        address().orElseThrow(() -> new WritException(EmbedError.NO_ARCHIVE, file().toString())));
  }

  /**
   * Begins one, or goes on with one that was begun, and remembers it.
   *
   * @param address of a folder, or of a kind that is known
   * @param now the time
   * @throws WritException {@code CLI-113} where this home has another one, {@code LED-092} to
   *     {@code LED-094}, and what a store refuses, which also has to lock bundles where the address
   *     says so
   */
  public void begin(String address, Instant now) {
    ArchivePlace place = ArchivePlaceProvider.find(address);
    Optional<String> known = address();
    if (known.isPresent() && !known.get().equals(place.address())) {
      throw new WritException(
          EmbedError.OTHER_ARCHIVE, known.get() + ", and not " + place.address());
    }
    if (known.isPresent()) {
      place.require(); // another disk may be mounted there now
      return;
    }
    place.begin();
    place.protection(now);
    try {
      DurableFiles.REAL.write(file(), (place.address() + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, file() + ": " + e.getMessage(), e);
    }
  }

  /**
   * Bundles in the archive that no statement of this log names: of runs that stayed, since others
   * use their contents, what an attempt left that ended early, or another installation's. None
   * where this home has no archive.
   *
   * @throws WritException {@code LED-092} to {@code LED-094}, and what a store refuses
   */
  public List<Digest> unnamed(LedgerView ledger) {
    if (address().isEmpty()) {
      return List.of();
    }
    ArchivePlace place = place();
    place.require();
    TreeSet<Digest> there = new TreeSet<>();
    place.visit(there::add);
    there.removeAll(ArchivedRuns.all(ledger).values());
    return List.copyOf(there);
  }

  /** Reads contents from it; none where this home has no archive. */
  public ArchivedContents contents() {
    return (bundle, content) ->
        address().isEmpty() ? Optional.empty() : reader().open(bundle, content);
  }

  private ArchiveReader reader() {
    return new ArchiveReader(place());
  }

  /**
   * The bundle of an archived run, whose bytes are those that the log names; empty where the run is
   * not archived, or an order of erasure covers contents of it.
   *
   * @throws WritException {@code CLI-112}, {@code EXE-947}, {@code EXE-948}
   */
  public Optional<ArchivePlace.Fetched> bundle(LedgerView ledger, RunId run) {
    return ArchivedRuns.bundle(ledger, run)
        .filter(_ -> ArchivedRuns.erasedBy(ledger, run).isEmpty())
        .map(digest -> reader().fetch(digest));
  }

  /**
   * Writes the whole bundle of a run, from the archive where that has it and no order of erasure
   * covers contents of it: else of what the ledger has.
   *
   * @throws WritException as {@link BundleFiles#write} and {@link #bundle}
   */
  public void write(LedgerView ledger, RunId run, BundleExport.Packages packages, Path file) {
    Optional<ArchivePlace.Fetched> archived = bundle(ledger, run);
    if (archived.isEmpty()) {
      BundleFiles.write(ledger, run, packages, BundleExport.Options.WHOLE, file);
      return;
    }
    try (ArchivePlace.Fetched fetched = archived.get();
        InputStream in = Files.newInputStream(fetched.file());
        OutputStream out = Files.newOutputStream(file, StandardOpenOption.CREATE_NEW)) {
      in.transferTo(out);
    } catch (FileAlreadyExistsException e) {
      throw new WritException(EmbedError.FILE_EXISTS, String.valueOf(file), e);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, FileTrouble.of(file, e), e);
    }
  }

  /**
   * Closed runs that policy lets be archived now, that are not archived and that no hold keeps, in
   * the order of their names; none where policy allows none.
   *
   * @param isLeftOut runs that are passed over
   * @param most how many
   */
  public static List<RunId> due(
      LedgerView ledger, SystemState state, Instant now, Predicate<RunId> isLeftOut, int most) {
    Optional<Long> afterS = state.policyInForce().retention().archiveAfterS();
    List<RunId> due = new ArrayList<>();
    ledger.runs(run ->
        afterS
            .filter(_ -> due.size() < most && !isLeftOut.test(run) && !state.isHeld(run))
            .filter(_ -> ArchivedRuns.bundle(ledger, run).isEmpty())
            .flatMap(after ->
                ledger
                    .head(run)
                    .filter(head -> head.kind().equals(EventKind.RUN_CLOSED))
                    .filter(head -> !now.isBefore(head.at().plusSeconds(after))))
            .ifPresent(_ -> due.add(run)));
    return due;
  }

  /** A run that the archive has now. */
  public record Stored(RunId run, Digest bundle) {}

  /** A run that was not archived, and why. */
  public record Kept(RunId run, WritException why) {}

  /**
   * What came of archiving some runs.
   *
   * @param deleted what left the ledger, also of runs that were archived before
   */
  public record Moved(List<Stored> stored, List<Kept> kept, ContentRetention.Deleted deleted) {}

  /**
   * Has the archive keep bundles of closed runs, then removes their contents from the ledger where
   * nothing else needs them. A run that cannot be archived stays as it is. After a crash the same
   * call goes on.
   *
   * @param open this home
   * @throws WritException {@code CLI-112}, {@code EXE-940}, {@code LED-093}, {@code LED-094}; of
   *     one run alone also why it cannot be archived
   */
  public Moved move(OpenHome open, List<RunId> runs, Instant now) {
    return move(open, runs, now, runs.size() == 1);
  }

  /**
   * The same, where one run alone that cannot be archived is no failure either.
   *
   * @throws WritException {@code CLI-112}, {@code EXE-940}, {@code LED-093}, {@code LED-094}
   */
  public Moved moveEach(OpenHome open, List<RunId> runs, Instant now) {
    return move(open, runs, now, false);
  }

  private Moved move(OpenHome open, List<RunId> runs, Instant now, boolean isOneAsked) {
    ArchivePlace place = place();
    LedgerView ledger = open.kernel().ledger();
    SystemState state = open.kernel().system();
    RunArchive archive = new RunArchive(ledger, place, open.packages());
    TreeMap<RunId, ArchivedBundle> bundles = new TreeMap<>();
    List<Kept> kept = new ArrayList<>();
    place.require();
    for (RunId run : runs) {
      try {
        bundles.put(run, archive.store(run, state, now));
      } catch (WritException e) {
        if (isOneAsked || concernsAll(e)) {
          throw e;
        }
        kept.add(new Kept(run, e));
      }
    }
    TreeMap<RunId, ArchivedBundle> earlier = new TreeMap<>();
    ContentRetention.Deleted deleted =
        open.kernel()
            .contents()
            .archive(bundles, run -> earlier.computeIfAbsent(run, archive::earlier), now);
    List<Stored> stored = new ArrayList<>();
    bundles.forEach((run, bundle) -> {
      if (ArchivedRuns.bundle(ledger, run).isPresent()) {
        stored.add(new Stored(run, bundle.digest()));
      } else {
        kept.add(new Kept(run, new WritException(ExecutorError.ARCHIVE_SHARED, run.toString())));
      }
    });
    return new Moved(stored, kept, deleted);
  }

  /** Whether no other run could be archived either. */
  private static boolean concernsAll(WritException e) {
    return e.code() == ExecutorError.ARCHIVE_NOT_ALLOWED
        || e.code() == LedgerError.ARCHIVE_FAILED
        || e.code() == LedgerError.ARCHIVE_ABSENT
        || e.code().code().startsWith("OBJ-");
  }
}

package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Text;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.HomeArchive;
import dev.writ.embed.home.InstalledTools;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.retention.ArchivedRuns;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.archive.ArchivePlace;
import dev.writ.ledger.event.RunId;
import dev.writ.tools.registry.ToolRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Bundles as commands name them: by their files, or by runs of the data directory, which are read
 * from the archive or exported for as long as this is open. Of an archived run that an order of
 * erasure covers, that is what the ledger still has.
 */
final class NamedBundles implements AutoCloseable {
  private final Session session;
  private final List<ArchivePlace.Fetched> fetched = new ArrayList<>();
  private Optional<TemporaryDirectory> folder = Optional.empty();
  private int exported;

  NamedBundles(Session session) {
    this.session = session;
  }

  /**
   * The file of a bundle.
   *
   * @throws WritException {@code CLI-002} where there is neither such a file nor such a run, and
   *     what an export or the archive throws
   */
  String file(String name) {
    if (Files.exists(Path.of(name))) {
      return name;
    }
    Home place = Homes.place(session);
    if (!place.exists()) {
      throw noFile(name);
    }
    for (RunId run : NamedRuns.meant(place.tenant(), name)) {
      Optional<String> file = ofRun(run);
      if (file.isPresent()) {
        return file.get();
      }
    }
    throw noFile(name);
  }

  /** A bundle of that run, if there is such a run. */
  private Optional<String> ofRun(RunId run) {
    Home home = Homes.homeOf(session, run);
    try (LedgerView ledger = OpenHome.read(home)) {
      if (ledger.head(run).isEmpty()) {
        return Optional.empty();
      }
      noteErasure(session, ledger, run);
      HomeArchive archive = new HomeArchive(home);
      Optional<ArchivePlace.Fetched> archived = archive.bundle(ledger, run);
      if (archived.isPresent()) {
        fetched.add(archived.get());
        return Optional.of(archived.get().file().toString());
      }
      Path file = folder().resolve(++exported + ".writ");
      archive.write(
          ledger, run, new InstalledTools(ToolRegistry.open(home.tools()), List.of()), file);
      return Optional.of(file.toString());
    }
  }

  /** Tells a person that a bundle of an archived run comes without its contents, and why. */
  static void noteErasure(Session session, LedgerView ledger, RunId run) {
    Optional<Digest> bundle = ArchivedRuns.bundle(ledger, run);
    if (bundle.isEmpty()) {
      return;
    }
    ArchivedRuns.erasedBy(ledger, run).stream()
        .findFirst()
        .ifPresent(order ->
            session
                .terminal()
                .err()
                .println(
                    Text.printable(
                        "note: order "
                            + order
                            + " erased contents of "
                            + run
                            + ", so this is what the ledger has of it, without those that were"
                            + " archived; remove the bundle "
                            + bundle.get()
                            + " from the archive if it is still there")));
  }

  private static WritException noFile(String name) {
    return new WritException(
        EmbedError.FILE_UNREADABLE,
        name + " is no file, and the data directory has no run of that name");
  }

  private Path folder() {
    try {
      if (folder.isEmpty()) {
        folder = Optional.of(TemporaryDirectory.create("writ-runs"));
      }
      return folder.get().path();
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, String.valueOf(e.getMessage()), e);
    }
  }

  @Override
  public void close() {
    fetched.forEach(ArchivePlace.Fetched::close);
    folder.ifPresent(dir -> {
      try {
        dir.close();
      } catch (IOException e) {
        throw new WritException(EmbedError.FILE_UNWRITABLE, dir.path() + ": " + e.getMessage(), e);
      }
    });
  }
}

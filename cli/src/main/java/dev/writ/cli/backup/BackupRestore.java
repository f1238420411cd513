package dev.writ.cli.backup;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Report;
import dev.writ.cli.error.BackupError;
import dev.writ.cli.home.NextIncarnation;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.ledger.Anchor;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.disk.AnchorLock;
import dev.writ.ledger.disk.WriterLock;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Puts a backup back as a new home, and takes it into service (spec/backup.md, "Restore"). */
final class BackupRestore {
  private static final String LOCK = ".restoring.lock";
  private static final String ANCHOR = ".restoring.anchor";

  private final BackupContents contents;
  private final Home home;
  private final Order order;
  private final Path parts;

  private BackupRestore(BackupContents contents, Home home, Order order) {
    this.contents = contents;
    this.home = home;
    this.order = order;
    this.parts = home.dir().resolveSibling(home.dir().getFileName() + ".restoring");
  }

  /**
   * How a backup is put back.
   *
   * @param keys the folder with key files that are not in the backup
   * @param isLossAccepted whether it goes on where the anchor has seen more
   * @param clock of the event that records it
   * @param disk on which the home lies
   */
  record Order(
      Optional<Path> keys, boolean isLossAccepted, InstantSource clock, DurableFiles disk) {}

  /**
   * What was put back.
   *
   * @param incarnation in which it is in service
   * @param absent files that the backup does not have, and that are not in the home now
   */
  record Restored(Path home, BackupNote note, long incarnation, List<String> absent)
      implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("home", home.toString())
          .put("number", note.number())
          .put("made_at", note.made())
          .put("size", note.size())
          .put("root", note.root())
          .put("incarnation", incarnation)
          .putList("absent", absent, JsonValue::of)
          .build();
    }
  }

  /**
   * Makes the home.
   *
   * @param home where there is nothing yet
   * @throws WritException {@code CLI-011} where there is something, {@code LED-003} where what was
   *     there is still served, {@code BAK-0xx}; there is no home then
   */
  static Restored restore(BackupContents contents, Home home, Order order) {
    try {
      return new BackupRestore(contents, home, order).restore();
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, "the home: " + e.getMessage(), e);
    }
  }

  private Restored restore() throws IOException {
    requireNothing(home.dir());
    if (!Files.exists(parts.resolve(LOCK))) {
      requireNothing(parts); // a folder of somebody else's, that no restore made
    }
    requireNoLoss(contents.note().size(), Optional.empty());
    try {
      order.disk().createDirectories(parts);
    } catch (IOException e) {
      Files.deleteIfExists(parts);
      throw e;
    }
    Path anchorLock = WriterLock.lockOf(home.anchor());
    boolean isLocked = Files.exists(anchorLock);
    // A server whose home went away may still run, and works by the names of its files.
    try (HeldLock _ = HeldLock.take(parts.resolve(LOCK));
        AnchorLock _ = notServed()) {
      clear();
      boolean whole = false;
      try {
        List<BackedUpFile> files = contents.files();
        contents.putInto(order.disk(), parts, files, _ -> true);
        order.disk().createDirectories(partial().tools()); // a backup has no empty folders
        List<String> absent =
            files.stream()
                .filter(BackedUpFile::isLeftOut)
                .map(BackedUpFile::path)
                .filter(path -> !isTaken(path))
                .toList();
        long incarnation = intoService();
        order.disk().move(parts, home.dir());
        whole = true;
        // Last: an anchor that is ahead of every backup would make a restore after a crash a loss.
        order.disk().write(home.anchor(), Files.readAllBytes(home.dir().resolve(ANCHOR)));
        for (String done : List.of(LOCK, ANCHOR, ANCHOR + ".lock")) {
          Files.delete(home.dir().resolve(done));
        }
        return new Restored(home.dir(), contents.note(), incarnation, absent);
      } finally {
        if (!whole) {
          DurableFiles.deleteTree(parts);
          if (!isLocked) {
            Files.deleteIfExists(anchorLock);
          }
        }
      }
    }
  }

  private AnchorLock notServed() throws IOException {
    try {
      return AnchorLock.take(home.anchor());
    } catch (WritException e) {
      DurableFiles.deleteTree(parts);
      throw e;
    }
  }

  private static void requireNothing(Path dir) throws IOException {
    if (Files.isSymbolicLink(dir)) {
      throw new WritException(EmbedError.HOME_EXISTS, dir + " is a link: name where it leads to");
    }
    if (!Files.exists(dir)) {
      return;
    }
    boolean empty = false;
    if (isMounted(dir)) {
      throw new WritException(
          EmbedError.HOME_EXISTS, dir + " is where a file system is mounted: name a folder in it");
    }
    if (Files.isDirectory(dir)) {
      try (Stream<Path> children = Files.list(dir)) {
        empty = children.findAny().isEmpty();
      }
    }
    if (!empty) {
      throw new WritException(EmbedError.HOME_EXISTS, dir.toString());
    }
  }

  /** The home gets its name by a rename, which does not lead into another file system. */
  private static boolean isMounted(Path dir) throws IOException {
    return dir.getFileSystem().supportedFileAttributeViews().contains("unix")
        && !Files.getAttribute(dir, "unix:dev")
            .equals(Files.getAttribute(dir.toAbsolutePath().getParent(), "unix:dev"));
  }

  /** Removes what a restore left that was killed. */
  private void clear() throws IOException {
    try (Stream<Path> left = Files.list(parts)) {
      for (Path child : left.toList()) {
        if (!child.getFileName().toString().equals(LOCK)) {
          DurableFiles.deleteTree(child);
        }
      }
    }
  }

  /**
   * Requires that the anchor has not seen more than the backup has.
   *
   * @param ledger that was put back; before it is, only the size can be compared
   */
  private void requireNoLoss(long size, Optional<LedgerView> ledger) {
    Optional<Anchor> found = Anchor.read(home.anchor());
    if (found.isEmpty()) {
      return;
    }
    Anchor anchor = found.get();
    if (!anchor.origin().equals(contents.note().origin())) {
      throw new WritException(
          LedgerError.ANCHOR_OTHER,
          home.anchor() + " is of " + anchor.origin() + ", not of " + contents.note().origin());
    }
    if (order.isLossAccepted()) {
      return;
    }
    if (anchor.treeSize() > size) {
      throw new WritException(
          BackupError.LOSS,
          "the anchor saw "
              + anchor.treeSize()
              + " events, the backup has "
              + size
              + ": "
              + (anchor.treeSize() - size)
              + " are lost");
    }
    if (ledger.isPresent() && !ledger.get().root(anchor.treeSize()).equals(anchor.root())) {
      throw new WritException(
          BackupError.LOSS, "another history of " + anchor.treeSize() + " events");
    }
  }

  /** Takes a file that is not in the backup from the folder of keys, if it is a key of there. */
  private boolean isTaken(String path) {
    Path target = parts.resolve(path);
    Optional<Path> source =
        order
            .keys()
            .filter(_ -> target.getParent().equals(partial().keys()))
            .map(keys -> keys.resolve(target.getFileName()))
            .filter(Files::isRegularFile);
    try {
      if (source.isPresent()) {
        order.disk().createDirectories(target.getParent());
        order.disk().write(target, Files.readAllBytes(source.get()));
      }
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, target + ": " + e.getMessage(), e);
    }
    return source.isPresent();
  }

  private Home partial() {
    return home.at(parts);
  }

  private long intoService() throws IOException {
    Home partial = partial();
    SigningKey log = key("log");
    SigningKey operator = key("operator");
    if (!log.verifyingKey().equals(contents.note().key().key())) {
      throw new WritException(BackupError.KEYS_ABSENT, "log.pem is not the log key of the backup");
    }
    contents.requireSound(partial);
    try (LedgerView view = Ledger.openReadOnly(partial.ledger())) {
      requireNoLoss(view.treeSize(), Optional.of(view));
    }
    Path anchor = parts.resolve(ANCHOR);
    if (Files.exists(home.anchor())) {
      Files.copy(home.anchor(), anchor); // the next incarnation is a later one than it saw
    }
    return NextIncarnation.begin(
        new LedgerConfig(partial.ledger(), anchor, contents.note().origin(), log, order.clock()),
        operator);
  }

  private SigningKey key(String name) {
    String file = name + ".pem";
    Optional<Path> found =
        Stream.concat(Stream.of(partial().keys()), order.keys().stream())
            .map(dir -> dir.resolve(file))
            .filter(Files::isRegularFile)
            .findFirst();
    if (found.isPresent()) {
      return partial().key(found.get().toString());
    }
    if (!partial().hasKey(name)) {
      throw new WritException(BackupError.KEYS_ABSENT, file);
    }
    return partial().key(name);
  }
}

package dev.writ.cli.backup;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.cli.base.Report;
import dev.writ.cli.error.BackupError;
import dev.writ.cli.term.Progress;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerCopy;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.seal.ContentKeys;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Makes one backup of an installation, while others may write in it. */
final class BackupMaker {
  /** Larger files of the home are objects, as the ledger's are. */
  private static final int IN_LIST_MAX = 64 << 10;

  private static final String LEDGER = "ledger";

  private final Home home;
  private final SigningKey logKey;
  private final List<HomeFile> homeFiles;
  private final BackupWriter writer;
  private final Progress progress;
  private final Optional<BackupNote> last;
  private final StoredObjects before;
  private final StoredObjects needed = new StoredObjects();
  private final List<String> leftOut = new ArrayList<>();
  private long files;
  private int newObjects;
  private long newBytes;

  private BackupMaker(Home home, List<HomeFile> homeFiles, BackupWriter writer, Progress progress) {
    this.home = home;
    this.logKey = home.key("log");
    this.homeFiles = homeFiles;
    this.writer = writer;
    this.progress = progress;
    this.last = last(writer.folder(), own(home, logKey));
    this.before = last.map(writer.folder()::objects).orElseGet(StoredObjects::new);
  }

  private static NoteKey own(Home home, SigningKey logKey) {
    return new NoteKey(home.origin(), logKey.verifyingKey());
  }

  /**
   * The statement of the latest backup, if this installation's own key signed it. Another one is
   * nothing to build on: whoever can write the folder can put it there.
   */
  private static Optional<BackupNote> last(BackupFolder folder, NoteKey own) {
    TreeSet<Integer> numbers = folder.numbers();
    return numbers.isEmpty()
        ? Optional.empty()
        : Optional.of(folder.note(numbers.last(), Optional.empty()))
            .filter(note -> note.key().equals(own));
  }

  /**
   * What was made.
   *
   * @param files how many it has
   * @param bytes of all objects that it needs, as they are stored
   * @param newObjects how many of these were written now
   * @param newBytes of these
   * @param leftOut files and folders that it does not have, since they hold secrets
   */
  record Made(
      BackupNote note, long files, long bytes, int newObjects, long newBytes, List<String> leftOut)
      implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("number", note.number())
          .put("made_at", note.made())
          .put("incarnation", note.incarnation())
          .put("size", note.size())
          .put("root", note.root())
          .put("files", files)
          .put("bytes", bytes)
          .put("new_objects", newObjects)
          .put("new_bytes", newBytes)
          .putList("left_out", leftOut, JsonValue::of)
          .put("log_key", note.key().toString())
          .build();
    }
  }

  /**
   * How a backup is made.
   *
   * @param to the folder
   * @param recipients to whom it is encrypted; where there are none, to those of the folder
   * @param isWithoutSecrets whether files with secrets are left out of a backup in clear
   * @param at the time that it states
   */
  record Order(Path to, AgeRecipients recipients, boolean isWithoutSecrets, Instant at) {}

  /**
   * Makes a backup.
   *
   * @param disk on which the folder lies
   * @throws WritException {@code LED-079} where the rows are not on this machine, {@code BAK-0xx},
   *     {@code CLI-002} and {@code CLI-003} where a file cannot be read or written; the earlier
   *     backups stay as they are
   */
  static Made make(Home home, Order order, DurableFiles disk, Progress progress) {
    LedgerCopy.requireHere(home.ledger());
    try {
      requireOutside(home, order.to());
      List<HomeFile> homeFiles = HomeFile.of(home);
      boolean encrypted =
          !order.recipients().isEmpty()
              || BackupFolder.find(order.to()).map(BackupFolder::isEncrypted).orElse(false);
      List<String> secrets =
          homeFiles.stream().filter(HomeFile::holdsSecrets).map(HomeFile::path).toList();
      if (!encrypted && !secrets.isEmpty() && !order.isWithoutSecrets()) {
        throw new WritException(
            BackupError.SECRETS, secrets.getFirst() + " and " + (secrets.size() - 1) + " others");
      }
      try (BackupScratch scratch = BackupScratch.of(home);
          BackupWriter writer =
              BackupWriter.open(disk, order.to(), home.origin(), order.recipients())) {
        BackupMaker maker = new BackupMaker(home, homeFiles, writer, progress);
        maker.requireOwnRecipients(order);
        return maker.make(scratch.path(), order.at());
      }
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, "the backup: " + e.getMessage(), e);
    }
  }

  /** Writ's own folders have nothing of others in them: some are read, swept or replaced whole. */
  private static void requireOutside(Home home, Path to) throws IOException {
    Path there = to; // what is there of it, whose links are followed
    while (!Files.exists(there)) {
      there = there.getParent();
    }
    Path real = there.toRealPath().resolve(there.relativize(to));
    for (String own : HomeFile.OWN) {
      if (real.startsWith(home.dir().toRealPath().resolve(own))) {
        throw new WritException(
            BackupError.FOREIGN, to + " is in " + own + " of the data directory " + home.dir());
      }
    }
  }

  /**
   * Requires that the folder's recipients, which anybody may have written there, are those of a
   * backup of ours, unless the caller named them.
   */
  private void requireOwnRecipients(Order order) {
    List<String> names = writer.folder().recipients().names();
    if (order.recipients().isEmpty()
        && !names.isEmpty()
        && !last.map(note -> note.recipients().equals(names)).orElse(false)) {
      throw new WritException(
          BackupError.RECIPIENTS_CHANGED, "no backup that this log key signed states " + names);
    }
  }

  private Made make(Path scratch, Instant at) throws IOException {
    Path copy = scratch.resolve(LEDGER);
    progress.step("naming the ledger's files");
    LedgerCopy.make(home.ledger(), copy);
    try (LedgerView view = Ledger.openReadOnly(copy)) {
      int number = requireContinued(view) + 1;
      Path list = scratch.resolve("files");
      try (OutputStream lines = Files.newOutputStream(list)) {
        for (HomeFile file : homeFiles) {
          write(lines, of(file));
        }
        if (Files.isDirectory(HomeFile.contentKeys(home))) {
          leftOut.add(ContentKeys.FOLDER);
        }
        for (Path file : below(copy)) {
          write(lines, object(LEDGER + "/" + copy.relativize(file), file));
        }
      }
      StoredBytes files;
      try (InputStream lines = Files.newInputStream(list)) {
        files = writer.files(number, lines);
      }
      BackupNote note =
          new BackupNote(
              view.origin(),
              number,
              Timestamps.truncate(at),
              view.incarnation(),
              view.treeSize(),
              view.root(),
              files,
              writer.objects(number, needed),
              writer.folder().recipients().names(),
              own(home, logKey));
      writer.note(number, note.sign(logKey));
      return new Made(note, this.files, needed.bytes(), newObjects, newBytes, leftOut);
    }
  }

  /**
   * Requires that the ledger continues the latest backup in the folder.
   *
   * @return that backup's number; 0 where there is none
   */
  private int requireContinued(LedgerView view) {
    BackupFolder folder = writer.folder();
    if (folder.numbers().isEmpty()) {
      return 0;
    }
    int number = folder.numbers().last();
    BackupNote last = folder.note(number, Optional.empty());
    boolean continues =
        view.incarnation() > last.incarnation()
            || view.incarnation() == last.incarnation()
                && view.treeSize() >= last.size()
                && view.root(last.size()).equals(last.root());
    if (!continues) {
      throw new WritException(
          BackupError.BEHIND,
          "backup "
              + number
              + " has incarnation "
              + last.incarnation()
              + " and "
              + last.size()
              + " events; here are "
              + view.incarnation()
              + " and "
              + view.treeSize());
    }
    return number;
  }

  private BackedUpFile of(HomeFile found) throws IOException {
    if (found.holdsSecrets() && !writer.folder().isEncrypted()) {
      leftOut.add(found.path());
      return BackedUpFile.leftOut(found.path());
    }
    boolean executable = Files.isExecutable(found.file());
    try (InputStream in = Files.newInputStream(found.file())) {
      byte[] content = in.readNBytes(IN_LIST_MAX + 1);
      if (content.length <= IN_LIST_MAX) {
        return BackedUpFile.small(found.path(), content, executable);
      }
    }
    return object(found.path(), found.file());
  }

  private BackedUpFile object(String path, Path file) throws IOException {
    Digest name = digest(file);
    if (needed.find(name).isEmpty()) {
      Optional<StoredBytes> stored =
          before.find(name).filter(stated -> isThere(writer.folder().object(name), stated.size()));
      if (stored.isEmpty()) {
        try (InputStream in = Files.newInputStream(file)) {
          stored = Optional.of(writer.object(name, in));
        }
        newObjects++;
        newBytes += stored.get().size();
      }
      needed.add(name, stored.get());
    }
    return BackedUpFile.large(path, name, Files.isExecutable(file));
  }

  private static boolean isThere(Path object, long size) {
    try {
      return Files.size(object) == size;
    } catch (IOException e) {
      return false;
    }
  }

  private static Digest digest(Path file) throws IOException {
    MessageDigest digest = Digest.newSha256();
    try (InputStream in = Files.newInputStream(file)) {
      byte[] buffer = new byte[1 << 16];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        digest.update(buffer, 0, read);
      }
    }
    return Digest.ofBytes(digest.digest());
  }

  private void write(OutputStream lines, BackedUpFile file) throws IOException {
    lines.write(file.toLine());
    lines.write('\n');
    files += file.isLeftOut() ? 0 : 1;
    progress.step("files " + files);
  }

  private static List<Path> below(Path dir) throws IOException {
    try (Stream<Path> all = Files.walk(dir)) {
      return all.filter(Files::isRegularFile).sorted().toList();
    }
  }
}

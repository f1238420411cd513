package dev.writ.cli.backup;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.cli.error.BackupError;
import dev.writ.cli.home.LogKeys;
import dev.writ.cli.term.Progress;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.GuardianCard;
import dev.writ.embed.home.Home;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.fsck.FsckReport;
import dev.writ.ledger.note.NoteKey;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** What one backup holds: read, compared with what it states, and put into a directory. */
final class BackupContents {
  private static final int BUFFER = 1 << 16;

  private final BackupFolder folder;
  private final BackupNote note;
  private final StoredObjects objects;
  private final AgeIdentities identities;
  private final Progress progress;

  private BackupContents(
      BackupFolder folder,
      BackupNote note,
      StoredObjects objects,
      AgeIdentities identities,
      Progress progress) {
    this.folder = folder;
    this.note = note;
    this.objects = objects;
    this.identities = identities;
    this.progress = progress;
  }

  /**
   * Reads the statement of a backup.
   *
   * @param number which; the latest where it is not given
   * @param pinned the log key that the caller trusts, if any
   * @throws WritException {@code BAK-0xx}
   */
  static BackupContents of(
      BackupFolder folder,
      Optional<Integer> number,
      Optional<NoteKey> pinned,
      AgeIdentities identities,
      Progress progress) {
    BackupNote note = folder.note(folder.number(number), pinned);
    return new BackupContents(folder, note, folder.objects(note), identities, progress);
  }

  BackupNote note() {
    return note;
  }

  /** Whether what it holds can be read, and not only compared with its digests. */
  boolean isReadable() {
    return !folder.isEncrypted() || !identities.isEmpty();
  }

  /**
   * Reads all files as they are stored.
   *
   * @throws WritException {@code BAK-010} or {@code BAK-011} for the first that is not the stated
   *     one
   */
  void requireStored() throws IOException {
    folder.requireStored(folder.files(note.number()), note.files());
    List<Digest> names = new ArrayList<>();
    objects.forEach((name, _) -> names.add(name));
    long done = 0;
    for (Digest name : names) {
      progress.step("objects", ++done, names.size());
      folder.requireStored(folder.object(name), objects.find(name).orElseThrow());
    }
  }

  /**
   * The files that it has, and those that were left out.
   *
   * @throws WritException {@code BAK-010} where the list is not the stated one, {@code BAK-013}
   *     where it cannot be decrypted
   */
  List<BackedUpFile> files() throws IOException {
    Path file = folder.files(note.number());
    List<BackedUpFile> files = new ArrayList<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                folder.open(file, note.files(), identities), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        files.add(BackedUpFile.parse(line.getBytes(StandardCharsets.UTF_8)));
      }
    } catch (IllegalArgumentException e) {
      throw malformed(file, e);
    } catch (WritException e) {
      throw e.code().code().startsWith("CAN") ? malformed(file, e) : e;
    }
    return files;
  }

  private WritException malformed(Path file, RuntimeException e) {
    return new WritException(BackupError.DAMAGED, folder.name(file) + ": " + e.getMessage(), e);
  }

  /**
   * Writes files into a directory that has none of them, each readable by its owner alone.
   *
   * @param disk on which the directory lies
   * @throws WritException {@code BAK-010} or {@code BAK-011} for the first that is not the stated
   *     one, {@code CLI-003} where the directory cannot be written
   */
  void putInto(
      DurableFiles disk, Path dir, List<BackedUpFile> files, Predicate<BackedUpFile> wanted)
      throws IOException {
    long done = 0;
    for (BackedUpFile file : files) {
      if (!file.isLeftOut() && wanted.test(file)) {
        Path target = dir.resolve(file.path());
        disk.createDirectories(target.getParent());
        try (FileChannel out = create(disk, target)) {
          if (file.content().isPresent()) {
            write(disk, out, target, ByteBuffer.wrap(file.content().get()));
          } else {
            copy(disk, file.object().orElseThrow(), out, target);
          }
          disk.sync(out, target);
        }
        if (file.isExecutable()) {
          Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rwx------"));
        }
      }
      progress.step("files", ++done, files.size());
    }
    // A ledger without large contents has none in the list.
    for (String part : List.of("ledger/blobs", "ledger/blobs/new")) {
      disk.createDirectories(dir.resolve(part));
    }
    try (Stream<Path> all = Files.walk(dir)) {
      for (Path each : all.filter(Files::isDirectory).toList()) {
        disk.syncDirectory(each); // the names of the files
      }
    }
  }

  private static FileChannel create(DurableFiles disk, Path target) throws IOException {
    try {
      return disk.createFile(target);
    } catch (IOException e) {
      throw unwritable(target, e);
    }
  }

  private static void write(DurableFiles disk, FileChannel out, Path target, ByteBuffer bytes) {
    try {
      disk.write(out, bytes, target);
    } catch (IOException e) {
      throw unwritable(target, e);
    }
  }

  private static WritException unwritable(Path target, IOException e) {
    return new WritException(EmbedError.FILE_UNWRITABLE, target + ": " + e.getMessage(), e);
  }

  private void copy(DurableFiles disk, Digest name, FileChannel out, Path target)
      throws IOException {
    Path object = folder.object(name);
    StoredBytes stated =
        objects
            .find(name)
            .orElseThrow(() ->
                new WritException(
                    BackupError.DAMAGED, "the list of objects does not have " + name));
    var digest = Digest.newSha256();
    try (InputStream in = folder.open(object, stated, identities)) {
      byte[] buffer = new byte[BUFFER];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        digest.update(buffer, 0, read);
        write(disk, out, target, ByteBuffer.wrap(buffer, 0, read));
      }
    }
    if (!Digest.ofBytes(digest.digest()).equals(name)) {
      throw new WritException(BackupError.DAMAGED, folder.name(object) + " is another content");
    }
  }

  /**
   * Examines the ledger that was put into a directory, with {@code guardian.apart} where the home
   * has it.
   *
   * @throws WritException {@code BAK-014} where it is not sound, or not the one of the note
   */
  void requireSound(Home home) {
    Path ledger = home.ledger();
    LogKeys logKeys = LogKeys.of(ledger, () -> note.key().key(), GuardianCard.isIn(home));
    FsckReport report =
        logKeys.addTo(
            Fsck.check(
                Fsck.Options.of(ledger)
                    .withLogKeys(logKeys.keys())
                    .withProgress((step, done) -> progress.step(step + " " + done))));
    if (!report.isSound()) {
      throw new WritException(
          BackupError.OTHER_LEDGER,
          report.problemsTotal() + " problems, the first: " + report.problems().getFirst());
    }
    try (LedgerView view = Ledger.openReadOnly(ledger)) {
      if (!view.origin().equals(note.origin())
          || view.incarnation() != note.incarnation()
          || view.treeSize() != note.size()
          || !view.root().equals(note.root())) {
        throw new WritException(
            BackupError.OTHER_LEDGER,
            "it has incarnation "
                + view.incarnation()
                + ", "
                + view.treeSize()
                + " events and the root "
                + view.root());
      }
    }
  }
}

package dev.writ.cli.backup;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.cli.error.BackupError;
import dev.writ.embed.error.EmbedError;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The one process that writes into a folder of backups. What it returns from is on the disk. */
final class BackupWriter implements AutoCloseable {
  static final String LOCK = "writ-backup.lock";
  private static final int BUFFER = 1 << 16;

  private final DurableFiles files;
  private final BackupFolder folder;
  private final HeldLock lock;

  private BackupWriter(DurableFiles files, BackupFolder folder, HeldLock lock) {
    this.files = files;
    this.folder = folder;
    this.lock = lock;
  }

  /**
   * Opens a folder for a backup, or makes it.
   *
   * @param recipients of the backup; where there are none, those of the folder
   * @throws WritException {@code BAK-002} for another installation's, {@code BAK-004} while another
   *     process writes there, {@code BAK-007} for other recipients
   */
  static BackupWriter open(DurableFiles files, Path dir, String origin, AgeRecipients recipients)
      throws IOException {
    files.createDirectories(dir);
    Optional<BackupFolder> found = BackupFolder.find(dir);
    if (found.isPresent()) {
      BackupFolder folder = found.get();
      if (!folder.origin().equals(origin)) {
        throw new WritException(
            BackupError.FOREIGN, dir + " is of " + folder.origin() + ", not of " + origin);
      }
      if (!recipients.isEmpty()
          && !new TreeSet<>(folder.recipients().names())
              .equals(new TreeSet<>(recipients.names()))) {
        throw new WritException(
            BackupError.RECIPIENTS_CHANGED,
            folder.isEncrypted() ? folder.recipients().names().toString() : "to none");
      }
    }
    HeldLock lock = HeldLock.take(dir.resolve(LOCK));
    try {
      BackupFolder folder =
          found.isPresent() ? found.get() : BackupFolder.make(files, dir, origin, recipients);
      return new BackupWriter(files, folder, lock);
    } catch (IOException | RuntimeException e) {
      lock.close();
      throw e;
    }
  }

  /** Opens a folder that is there. */
  static BackupWriter open(BackupFolder folder) throws IOException {
    return new BackupWriter(DurableFiles.REAL, folder, HeldLock.take(folder.dir().resolve(LOCK)));
  }

  BackupFolder folder() {
    return folder;
  }

  /**
   * Stores a content as an object.
   *
   * @throws WritException {@code BAK-010} where what was written is not read back, {@code CLI-002}
   *     where the content has another digest than its name
   */
  StoredBytes object(Digest name, InputStream content) throws IOException {
    Path file = folder.object(name);
    files.createDirectories(file.getParent());
    return write(file, content, folder.recipients(), Optional.of(name));
  }

  /** Stores the list of a backup's files. */
  StoredBytes files(int number, InputStream lines) throws IOException {
    return write(folder.files(number), lines, folder.recipients(), Optional.empty());
  }

  /** Stores the list of the objects that it needs, which is not encrypted. */
  StoredBytes objects(int number, StoredObjects objects) throws IOException {
    return write(
        folder.objects(number),
        new ByteArrayInputStream(objects.toBytes()),
        new AgeRecipients(List.of()),
        Optional.empty());
  }

  /** Stores the note: from then on the backup is there. */
  void note(int number, byte[] note) throws IOException {
    files.write(folder.note(number), note);
  }

  private StoredBytes write(
      Path file, InputStream content, AgeRecipients recipients, Optional<Digest> name)
      throws IOException {
    Path fresh = folder.dir().resolve("new").resolve(file.getFileName());
    try {
      StoredBytes written = writeNew(fresh, content, recipients, name);
      files.move(fresh, file);
      return written;
    } catch (IOException | RuntimeException e) {
      discard(fresh); // else a disk that it has filled would stay full
      throw e;
    }
  }

  private static void discard(Path fresh) {
    try {
      Files.deleteIfExists(fresh);
    } catch (IOException e) {
      // Why it was not written says more; the next backup removes it.
    }
  }

  private StoredBytes writeNew(
      Path fresh, InputStream content, AgeRecipients recipients, Optional<Digest> name)
      throws IOException {
    // Not written over: its pages may be lost for good (spec/storage.md, "A sync that fails").
    Files.deleteIfExists(fresh);
    MessageDigest plain = Digest.newSha256();
    StoredBytes written;
    try (FileChannel channel = files.createFile(fresh)) {
      HashingChannel stored = new HashingChannel(channel, fresh);
      try (WritableByteChannel encrypting = recipients.encrypting(stored)) {
        byte[] buffer = new byte[BUFFER];
        for (int read = content.read(buffer); read >= 0; read = content.read(buffer)) {
          plain.update(buffer, 0, read);
          ByteBuffer bytes = ByteBuffer.wrap(buffer, 0, read);
          while (bytes.hasRemaining()) {
            encrypting.write(bytes);
          }
        }
      }
      files.sync(channel, fresh);
      written = stored.written();
    }
    Digest found = Digest.ofBytes(plain.digest());
    if (name.isPresent() && !name.get().equals(found)) {
      throw new WritException(
          EmbedError.FILE_UNREADABLE, "a file changed while it was read: " + found);
    }
    folder.require(fresh, BackupStream.read(fresh), written);
    return written;
  }

  /** The channel of a new file, which counts and digests what is written. */
  private final class HashingChannel implements WritableByteChannel {
    private final FileChannel channel;
    private final Path file;
    private final MessageDigest digest = Digest.newSha256();
    private long count;

    HashingChannel(FileChannel channel, Path file) {
      this.channel = channel;
      this.file = file;
    }

    @Override
    public int write(ByteBuffer bytes) throws IOException {
      int length = bytes.remaining();
      digest.update(bytes.duplicate());
      files.write(channel, bytes, file);
      count += length;
      return length;
    }

    StoredBytes written() {
      return new StoredBytes(Digest.ofBytes(digest.digest()), count);
    }

    @Override
    public boolean isOpen() {
      return channel.isOpen();
    }

    /** The file stays open: it is synced after the encryption has ended. */
    @Override
    public void close() {}
  }

  /** Removes a backup; what only it needed is removed by {@link #sweep}. */
  void remove(int number) throws IOException {
    Files.delete(folder.note(number));
    files.syncDirectory(folder.note(number).getParent());
    Files.deleteIfExists(folder.files(number));
    Files.deleteIfExists(folder.objects(number));
  }

  /**
   * Removes objects and unfinished files that no backup needs.
   *
   * @return how many objects
   */
  int sweep(StoredObjects needed) throws IOException {
    int swept = 0;
    for (Path file : below(folder.dir().resolve("objects"))) {
      String hex = file.getFileName().toString();
      // Other names are not ours to delete.
      if (hex.matches("[0-9a-f]{64}") && needed.find(Digest.parse("sha256:" + hex)).isEmpty()) {
        Files.delete(file);
        swept++;
      }
    }
    for (Path file : below(folder.dir().resolve("new"))) {
      Files.delete(file);
    }
    return swept;
  }

  private static List<Path> below(Path dir) throws IOException {
    try (Stream<Path> files = Files.walk(dir)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  @Override
  public void close() {
    lock.close();
  }
}

package dev.writ.ledger.witness;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.Disk;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.note.SignedNote;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * The directory of a witness, which one process has: {@code logs} with the latest checkpoint of
 * each log, {@code forks} with what contradicts it. Files are replaced as a whole, and synced.
 */
public final class WitnessStore implements AutoCloseable {
  private static final String LOGS = "logs";
  private static final String FORKS = "forks";

  private final Path dir;
  private final DurableFiles files;
  private final FileChannel held;
  private boolean failed;

  private WitnessStore(Path dir, DurableFiles files, FileChannel held) {
    this.dir = dir;
    this.files = files;
    this.held = held;
  }

  /**
   * Takes the directory, and makes what is missing of it.
   *
   * @throws WritException {@code LED-091} where another process has it, {@code LED-090} where it
   *     cannot be used
   */
  public static WitnessStore open(Path dir, Disk disk) {
    DurableFiles files = new DurableFiles(disk);
    try {
      files.createDirectories(dir.resolve(LOGS));
      files.createDirectories(dir.resolve(FORKS));
      FileChannel channel =
          FileChannel.open(
              dir.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      if (!isTaken(channel)) {
        channel.close();
        throw new WritException(LedgerError.WITNESS_BUSY, dir.toString());
      }
      return new WitnessStore(dir, files, channel);
    } catch (IOException e) {
      throw new WritException(LedgerError.WITNESS_STATE, e.toString(), e);
    }
  }

  private static boolean isTaken(FileChannel channel) throws IOException {
    try {
      FileLock lock = channel.tryLock(); // ends with the channel
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false; // of this process
    }
  }

  /** What was cosigned last; empty where nothing was. */
  Optional<byte[]> latest(String hash) {
    Path file = dir.resolve(LOGS).resolve(hash);
    try (InputStream in = Files.newInputStream(file)) {
      return Optional.of(in.readNBytes(SignedNote.BYTES_MAX + 1));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new WritException(LedgerError.WITNESS_STATE, e.toString(), e);
    }
  }

  void keepLatest(String hash, byte[] note) {
    keep(dir.resolve(LOGS).resolve(hash), note);
  }

  /** Keeps the first one: more of them prove no more. */
  void keepFork(String hash, byte[] note) {
    Path file = dir.resolve(FORKS).resolve(hash);
    if (!Files.exists(file)) {
      keep(file, note);
    }
  }

  /** After a failure nothing is known of what is on the disk, so nothing more is kept. */
  private void keep(Path file, byte[] note) {
    try {
      if (failed) {
        throw new IOException("an earlier write failed; start again");
      }
      failed = true;
      files.write(file, note);
      failed = false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      held.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

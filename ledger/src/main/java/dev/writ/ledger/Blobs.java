package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.Nondeterministic;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.Disk;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The content-addressed store: small content in the database, large content as files {@code
 * blobs/ab/<hex>}. A file exists for readers only once a row names it.
 */
final class Blobs {
  private final Storage store;
  private final Path dir;
  private final DurableFiles files;
  private final FailStop failStop;
  private final ReentrantLock naming = new ReentrantLock();

  /** Must not be held during disk access: the appender takes it. */
  private final ReentrantLock holding = new ReentrantLock();

  private final TreeMap<Digest, Integer> held = new TreeMap<>();
  private final AtomicLong sinks = new AtomicLong();

  Blobs(Storage store, Path dir, DurableFiles files, FailStop failStop) {
    this.store = store;
    this.dir = dir;
    this.files = files;
    this.failStop = failStop;
  }

  /** For reading alone. */
  static Blobs reading(Storage store, Path dir) {
    return new Blobs(store, dir, DurableFiles.REAL, new FailStop());
  }

  static void create(DurableFiles files, Path dir) throws IOException {
    files.createDirectory(dir);
    files.createDirectory(dir.resolve("new"));
  }

  DurableFiles files() {
    return files;
  }

  /**
   * @throws WritException {@code LED-022} once the ledger has stopped
   */
  void requireSound() {
    failStop.require();
  }

  /**
   * Syncs what was written and gives it its name, for good.
   *
   * @throws WritException {@code LED-070} where a sync fails, which stops the ledger, {@code
   *     LED-022} where one failed meanwhile ({@link FailStopDisk})
   */
  void keep(FileChannel channel, Path file, Digest digest) throws IOException {
    try {
      files.sync(channel, file);
      channel.close();
      name(file, digest);
    } catch (Disk.SyncFailed e) {
      throw new WritException(LedgerError.SYNC, "blob " + digest + ": " + e.getMessage(), e);
    }
  }

  /** Where a blob's file is. */
  Path file(Digest digest) {
    String hex = digest.hex();
    return dir.resolve(hex.substring(0, 2)).resolve(hex);
  }

  /**
   * A temporary name for a file that is being written; leftovers are removed at the next opening.
   */
  Path fresh() {
    return dir.resolve("new").resolve(Long.toString(sinks.incrementAndGet()));
  }

  /**
   * Only one thread at a time: another one might see a directory whose own name is not synced yet.
   */
  private void name(Path file, Digest digest) throws IOException {
    Path target = file(digest);
    naming.lock();
    try {
      failStop.require(); // the directory's name may not be durable
      if (!Files.isDirectory(target.getParent())) {
        files.createDirectory(target.getParent());
      }
      hold(digest);
      files.move(file, target);
    } finally {
      naming.unlock();
    }
  }

  /** Protects the file until the batch that names it is written. */
  private void hold(Digest digest) {
    holding.lock();
    try {
      held.merge(digest, 1, Integer::sum);
    } finally {
      holding.unlock();
    }
  }

  /** Ends the protection: a batch that names it was written. */
  void release(Digest digest) {
    holding.lock();
    try {
      held.computeIfPresent(digest, (_, n) -> n == 1 ? null : n - 1);
    } finally {
      holding.unlock();
    }
  }

  /**
   * Whether a file of this content is protected: it was written, and its batch was not. A batch
   * that will never be written protects it, too, until the next opening.
   */
  boolean isHeld(Digest digest) {
    holding.lock();
    try {
      return held.containsKey(digest);
    } finally {
      holding.unlock();
    }
  }

  /**
   * Removes the file of content that no row names any more; if that fails, the next opening removes
   * it.
   */
  void remove(Digest digest) {
    naming.lock();
    try {
      if (!isHeld(digest)) {
        Files.deleteIfExists(file(digest));
      }
    } catch (IOException e) {
      // The next opening removes it.
    } finally {
      naming.unlock();
    }
  }

  boolean has(Digest digest) {
    byte[] key = digest.bytes();
    return store.has(Family.BLOBS, key) || store.has(Family.FILES, key);
  }

  long size(Digest digest) {
    return fileSize(digest)
        .orElseGet(() -> (long) small(digest).orElseThrow(() -> missing(digest)).length);
  }

  private Optional<Long> fileSize(Digest digest) {
    return store.get(Family.FILES, digest.bytes()).map(Keys::number);
  }

  private Optional<byte[]> small(Digest digest) {
    return store.get(Family.BLOBS, digest.bytes());
  }

  byte[] read(Digest digest, long bytesMax) {
    Optional<byte[]> small = small(digest);
    long size = small.isPresent() ? small.get().length : fileSizeOf(digest);
    if (size > bytesMax) {
      throw new WritException(
          LedgerError.BLOB_TOO_LARGE, digest + " has " + size + " bytes, at most " + bytesMax);
    }
    if (small.isPresent()) {
      return verified(digest, small.get());
    }
    try (InputStream in = openFile(digest, size)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw Failures.of("reading blob " + digest, e);
    }
  }

  InputStream open(Digest digest) {
    Optional<byte[]> small = small(digest);
    return small.isPresent()
        ? new ByteArrayInputStream(verified(digest, small.get()))
        : openFile(digest, fileSizeOf(digest));
  }

  private static byte[] verified(Digest digest, byte[] content) {
    Digest calculated = Digest.sha256(content);
    if (!calculated.equals(digest)) {
      throw new WritException(
          LedgerError.BLOB_CORRUPT, digest + " has the calculated digest " + calculated);
    }
    return content;
  }

  private long fileSizeOf(Digest digest) {
    return fileSize(digest).orElseThrow(() -> missing(digest));
  }

  InputStream openFile(Digest digest, long size) {
    try {
      return new VerifyingStream(Files.newInputStream(file(digest)), digest, size);
    } catch (NoSuchFileException e) {
      if (fileSize(digest).isEmpty()) {
        throw missing(digest); // deleted since its size was read
      }
      throw new WritException(LedgerError.BLOB_CORRUPT, digest + ": its file is missing", e);
    } catch (IOException e) {
      throw Failures.of("opening blob " + digest, e);
    }
  }

  private static WritException missing(Digest digest) {
    return new WritException(LedgerError.BLOB_MISSING, digest.toString());
  }

  /**
   * Removes what a crash left behind: unfinished files, and files that no batch came to name. Only
   * for the one writer, before it has handed out a sink.
   *
   * @return how many files were removed
   */
  @Nondeterministic("what is removed does not depend on the order of removal")
  int sweep() {
    int swept = 0;
    try (DirectoryStream<Path> directories = Files.newDirectoryStream(dir)) {
      for (Path directory : directories) {
        int left = 0;
        boolean unfinished = directory.getFileName().toString().equals("new");
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
          for (Path file : files) {
            if (unfinished || !isNamed(file)) {
              Files.delete(file);
              swept++;
            } else {
              left++;
            }
          }
        }
        if (!unfinished && left == 0) {
          Files.delete(directory); // its name may not have been synced
        }
      }
      return swept;
    } catch (IOException e) {
      throw Failures.of("sweeping " + dir, e);
    }
  }

  private boolean isNamed(Path file) {
    Digest digest;
    try {
      digest = Digest.parse("sha256:" + file.getFileName());
    } catch (WritException e) {
      return true; // not a name of ours, so not ours to delete
    }
    return fileSize(digest).isPresent();
  }
}

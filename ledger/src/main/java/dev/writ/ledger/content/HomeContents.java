package dev.writ.ledger.content;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.Nondeterministic;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.Disk;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.disk.FailStop;
import dev.writ.ledger.disk.FailStopDisk;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.LargeContents;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** Large contents as files {@code blobs/ab/<hex>} of the ledger's own directory. */
public final class HomeContents implements LargeContents {
  private final Path dir;
  private final DurableFiles files;
  private final FailStop failStop;
  private final ReentrantLock naming = new ReentrantLock();

  /** Whose names are on the disk; guarded by {@link #naming}. */
  private final TreeSet<Path> settled = new TreeSet<>();

  public HomeContents(Path dir, DurableFiles files, FailStop failStop) {
    this.dir = dir;
    this.files = files;
    this.failStop = failStop;
  }

  @Override
  public String location() {
    return "home";
  }

  @Override
  public boolean isShared() {
    return false;
  }

  private Path file(Digest digest) {
    String hex = digest.hex();
    return dir.resolve(hex.substring(0, 2)).resolve(hex);
  }

  /**
   * Syncs what was written and gives it its name, for good.
   *
   * @throws WritException {@code LED-070} where a sync fails, which stops the ledger, {@code
   *     LED-022} where one failed meanwhile ({@link FailStopDisk})
   */
  @Override
  public byte[] keep(Spooled content, long epoch) throws IOException {
    keepAt(content, NO_PLACE);
    return NO_PLACE;
  }

  @Override
  public void keepAt(Spooled content, byte[] place) throws IOException {
    try {
      files.sync(content.channel(), content.file());
      content.channel().close();
      name(content);
    } catch (Disk.SyncFailed e) {
      throw new WritException(
          LedgerError.SYNC, "blob " + content.digest() + ": " + e.getMessage(), e);
    }
  }

  /**
   * Only one thread at a time: another one might see a directory whose own name is not synced yet.
   */
  private void name(Spooled content) throws IOException {
    Path target = file(content.digest());
    naming.lock();
    try {
      failStop.require(); // the directory's name may not be durable
      Path directory = target.getParent();
      if (!settled.contains(directory) || !Files.isDirectory(directory)) {
        files.settleDirectory(directory);
        settled.add(directory);
      }
      files.move(content.file(), target);
    } finally {
      naming.unlock();
    }
  }

  @Override
  public boolean has(Digest digest, byte[] place, long size) {
    try {
      return Files.size(file(digest)) == size;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public Optional<InputStream> open(Digest digest, byte[] place, long size) throws IOException {
    try {
      return Optional.of(Files.newInputStream(file(digest)));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  /** Asked while none is named: of two that store and remove the same one is first. */
  @Override
  public void remove(Digest digest, byte[] place, BooleanSupplier isUnused) throws IOException {
    naming.lock();
    try {
      if (isUnused.getAsBoolean()) {
        Files.deleteIfExists(file(digest));
      }
    } finally {
      naming.unlock();
    }
  }

  @Override
  @Nondeterministic("the order does not matter")
  public void visit(StoredVisitor visitor) throws IOException {
    try (DirectoryStream<Path> directories = Files.newDirectoryStream(dir)) {
      for (Path directory : directories) {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
          for (Path file : found) {
            digest(file).ifPresent(digest -> visitor.stored(digest, NO_PLACE, 0));
          }
        }
      }
    }
  }

  private static Optional<Digest> digest(Path file) {
    try {
      return Optional.of(Digest.parse("sha256:" + file.getFileName()));
    } catch (WritException e) {
      return Optional.empty(); // not a name of ours
    }
  }

  /**
   * Removes what a crash left behind: files that no batch came to name, and directories that are
   * empty then, since it is not known whether their names were synced. Only for the one writer,
   * before it has handed out a sink.
   */
  @Nondeterministic("what is removed does not depend on the order of removal")
  void sweep(Predicate<Digest> isNamed) throws IOException {
    try (DirectoryStream<Path> directories = Files.newDirectoryStream(dir)) {
      for (Path directory : directories) {
        boolean isEmpty = true;
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
          for (Path file : found) {
            if (digest(file).map(isNamed::test).orElse(true)) {
              isEmpty = false;
            } else {
              Files.delete(file);
            }
          }
        }
        if (isEmpty && !directory.getFileName().toString().equals(Blobs.UNFINISHED)) {
          Files.delete(directory);
        }
      }
    }
  }
}

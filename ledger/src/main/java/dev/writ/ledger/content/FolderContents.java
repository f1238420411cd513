package dev.writ.ledger.content;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.Nondeterministic;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.ContentPlace;
import dev.writ.ledger.storage.LargeContents;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Large contents in a folder that the machines of all gateways mount: {@code
 * file:///mnt/writ-contents}.
 */
public final class FolderContents implements LargeContents {
  static final String SCHEME = "file";

  private static final String MARKER = "installation";
  private static final String SUFFIX_UNFINISHED = ".new";

  private final Path dir;
  private final DurableFiles files = DurableFiles.REAL;
  private final AtomicLong kept = new AtomicLong();

  /** A directory is made by one thread at a time. */
  private final ReentrantLock making = new ReentrantLock();

  /** Whose names are on the disk; guarded by {@link #making}. */
  private final TreeSet<Path> settled = new TreeSet<>();

  private FolderContents(Path dir) {
    this.dir = dir;
  }

  /**
   * @throws WritException {@code LED-085}
   */
  static FolderContents at(URI address) {
    boolean isPath =
        address.getPath() != null
            && address.getPath().startsWith("/")
            && (address.getAuthority() == null || address.getAuthority().isEmpty())
            && address.getQuery() == null
            && address.getFragment() == null;
    if (!isPath) {
      throw new WritException(
          LedgerError.CONTENTS_FOLDER, "write file:///PATH with the whole path of the folder");
    }
    return new FolderContents(Path.of(address.getPath()).normalize());
  }

  /** The same whatever path each machine has it under; {@link #requireClaimed} tells it. */
  @Override
  public String location() {
    return "a shared folder";
  }

  @Override
  public boolean isShared() {
    return true;
  }

  /** A folder that is not mounted has no mark, and misses every content. */
  @Override
  public void requireAsked(WritException failure) {
    requireMounted();
  }

  /**
   * It may be unmounted while a ledger is open: what is written then would lie below the mount, and
   * be hidden by the next one.
   */
  private void requireMounted() {
    Path file = dir.resolve(MARKER);
    if (!Files.exists(file)) {
      throw new WritException(LedgerError.CONTENTS_FOLDER, notMounted(file));
    }
  }

  @Override
  public void probe() {
    if (!Files.isDirectory(dir) || !Files.isWritable(dir)) {
      throw new WritException(
          LedgerError.CONTENTS_FOLDER, dir + " is no directory that may be written");
    }
  }

  @Override
  public boolean claim(byte[] marker) {
    probe();
    Path file = dir.resolve(MARKER);
    if (Files.exists(file)) {
      requireClaimed(marker);
      return false;
    }
    try {
      files.write(file, marker);
      return true;
    } catch (IOException e) {
      throw Failures.of("writing " + file, e);
    }
  }

  @Override
  public void requireClaimed(byte[] marker) {
    Path file = dir.resolve(MARKER);
    try {
      if (!Arrays.equals(Files.readAllBytes(file), marker)) {
        throw new WritException(
            LedgerError.CONTENTS_FOLDER, dir + " has the contents of another installation");
      }
    } catch (NoSuchFileException e) {
      throw new WritException(LedgerError.CONTENTS_FOLDER, notMounted(file), e);
    } catch (IOException e) {
      throw Failures.of("reading " + file, e);
    }
  }

  private static String notMounted(Path file) {
    return "there is no " + file + ": the folder is not mounted, or another one";
  }

  @Override
  public void unclaim() {
    try {
      Files.deleteIfExists(dir.resolve(MARKER));
    } catch (IOException e) {
      throw Failures.of("removing the mark of " + dir, e);
    }
  }

  private Path file(Digest digest, byte[] place) {
    String hex = digest.hex();
    return dir.resolve(hex.substring(0, 2)).resolve(hex + "." + ContentPlace.text(place));
  }

  @Override
  public byte[] keep(Spooled content, long epoch) throws IOException {
    byte[] place = ContentPlace.of(epoch, kept.incrementAndGet());
    keepAt(content, place);
    return place;
  }

  /**
   * Copies, since the home may be on another file system.
   *
   * @throws WritException {@code LED-085} where the folder is not mounted
   */
  @Override
  public void keepAt(Spooled content, byte[] place) throws IOException {
    content.channel().close();
    requireMounted();
    Path target = file(content.digest(), place);
    Path fresh = target.resolveSibling(target.getFileName() + SUFFIX_UNFINISHED);
    makeDirectory(target.getParent());
    try (InputStream in =
            new VerifyingStream(
                Files.newInputStream(content.file()), content.digest(), content.size());
        FileChannel out = files.createFile(fresh)) {
      byte[] buffer = new byte[1 << 16];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        files.write(out, ByteBuffer.wrap(buffer, 0, n), fresh);
      }
      files.sync(out, fresh);
    } catch (IOException | WritException e) {
      Files.deleteIfExists(fresh);
      throw e;
    }
    files.move(fresh, target);
    Files.deleteIfExists(content.file());
  }

  private void makeDirectory(Path directory) throws IOException {
    making.lock();
    try {
      if (!settled.contains(directory) || !Files.isDirectory(directory)) {
        files.settleDirectory(directory);
        settled.add(directory);
      }
    } finally {
      making.unlock();
    }
  }

  @Override
  public boolean has(Digest digest, byte[] place, long size) {
    try {
      return Files.size(file(digest, place)) == size;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public Optional<InputStream> open(Digest digest, byte[] place, long size) throws IOException {
    try {
      return Optional.of(Files.newInputStream(file(digest, place)));
    } catch (NoSuchFileException e) {
      requireMounted();
      return Optional.empty();
    }
  }

  @Override
  public void remove(Digest digest, byte[] place, BooleanSupplier isUnused) throws IOException {
    if (isUnused.getAsBoolean()) {
      Files.deleteIfExists(file(digest, place));
    }
  }

  @Override
  @Nondeterministic("the order does not matter")
  public void visit(StoredVisitor visitor) throws IOException {
    try (DirectoryStream<Path> directories = Files.newDirectoryStream(dir, Files::isDirectory)) {
      for (Path directory : directories) {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
          for (Path file : found) {
            visit(file.getFileName().toString(), visitor);
          }
        }
      }
    }
  }

  private static void visit(String name, StoredVisitor visitor) {
    int dot = name.indexOf('.');
    Optional<byte[]> place = ContentPlace.parse(name.substring(dot + 1));
    if (dot == 2 * Digest.LENGTH && place.isPresent()) {
      Digest digest = Digest.parse("sha256:" + name.substring(0, dot));
      visitor.stored(digest, place.get(), ContentPlace.epoch(place.get()));
    }
  }
}

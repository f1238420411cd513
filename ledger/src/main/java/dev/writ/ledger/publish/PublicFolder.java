package dev.writ.ledger.publish;

import dev.writ.canonicalize.disk.DurableFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Function;

/**
 * A folder that is there already. Its files are readable by everybody; a new one gets its name when
 * it is whole and on the disk, by a hard link, which fails where the name is taken.
 */
public final class PublicFolder implements PublicPlace {
  private final Path dir;

  public PublicFolder(Path dir) {
    this.dir = dir;
  }

  @Override
  public Optional<byte[]> read(String name) throws IOException {
    try (InputStream in = Files.newInputStream(dir.resolve(name))) {
      return Optional.of(in.readNBytes(BYTES_MAX + 1));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  @Override
  public boolean create(String name, byte[] content) throws IOException {
    Path draft = draft(name, content);
    try {
      Files.createLink(dir.resolve(name), draft);
    } catch (FileAlreadyExistsException e) {
      return read(name).filter(found -> Arrays.equals(found, content)).isPresent();
    } finally {
      Files.deleteIfExists(draft);
    }
    DurableFiles.REAL.syncDirectory(dir);
    return true;
  }

  /** Of two writers at once the later one wins; both have looked at what they replace. */
  @Override
  public boolean change(String name, Function<Optional<byte[]>, Optional<byte[]>> next)
      throws IOException {
    Optional<byte[]> content = next.apply(read(name));
    if (content.isPresent()) {
      Path draft = draft(name, content.get());
      try {
        DurableFiles.REAL.move(draft, dir.resolve(name));
      } finally {
        Files.deleteIfExists(draft);
      }
    }
    return true;
  }

  /** A file of its own for each writer, which is whole and on the disk. */
  private Path draft(String name, byte[] content) throws IOException {
    Path draft = Files.createTempFile(dir, "." + name + ".", ".new");
    boolean isWhole = false;
    try (FileChannel channel = FileChannel.open(draft, StandardOpenOption.WRITE)) {
      DurableFiles.REAL.write(channel, ByteBuffer.wrap(content), draft);
      if (draft.getFileSystem().supportedFileAttributeViews().contains("posix")) {
        Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rw-r--r--"));
      }
      DurableFiles.REAL.sync(channel, draft);
      isWhole = true;
      return draft;
    } finally {
      if (!isWhole) {
        Files.deleteIfExists(draft);
      }
    }
  }
}

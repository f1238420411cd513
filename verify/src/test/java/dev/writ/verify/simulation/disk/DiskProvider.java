package dev.writ.verify.simulation.disk;

import dev.writ.verify.simulation.disk.MemoryDisk.Content;
import dev.writ.verify.simulation.disk.MemoryDisk.Directory;
import dev.writ.verify.simulation.disk.MemoryDisk.Node;
import dev.writ.verify.simulation.disk.MemoryDisk.Operation;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.spi.FileSystemProvider;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The operations of a {@link MemoryDisk}. Reading neither fails nor lets anybody else come in. */
final class DiskProvider extends FileSystemProvider {
  private final MemoryDisk disk;

  DiskProvider(MemoryDisk disk) {
    this.disk = disk;
  }

  private Node require(Path path) throws NoSuchFileException {
    return disk.find(path).orElseThrow(() -> new NoSuchFileException(path.toString()));
  }

  private Directory parent(Path path) throws IOException {
    Path parent = path.toAbsolutePath().getParent();
    if (require(parent) instanceof Directory directory) {
      return directory;
    }
    throw new NotDirectoryException(parent.toString());
  }

  private static String name(Path path) {
    return path.getFileName().toString();
  }

  @Override
  public FileChannel newFileChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    disk.call(Operation.OPEN, path);
    Optional<Node> found = disk.find(path);
    if (found.isPresent() && options.contains(StandardOpenOption.CREATE_NEW)) {
      throw new FileAlreadyExistsException(path.toString());
    }
    Node node;
    if (found.isPresent()) {
      node = found.get();
    } else if (options.contains(StandardOpenOption.CREATE)
        || options.contains(StandardOpenOption.CREATE_NEW)) {
      node = new Content();
      parent(path).change(Optional.empty(), Optional.of(name(path)), node);
    } else {
      throw new NoSuchFileException(path.toString());
    }
    if (node instanceof Content content && options.contains(StandardOpenOption.TRUNCATE_EXISTING)) {
      content.truncate(0);
    }
    disk.faults.after(Operation.OPEN);
    return new DiskChannel(disk, node, path);
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return newFileChannel(path, options, attributes);
  }

  @Override
  public InputStream newInputStream(Path path, OpenOption... options) throws IOException {
    if (require(path) instanceof Content content) {
      return new ByteArrayInputStream(content.bytes());
    }
    throw new IOException("Is a directory");
  }

  @Override
  public DirectoryStream<Path> newDirectoryStream(
      Path path, DirectoryStream.Filter<? super Path> filter) throws IOException {
    if (!(require(path) instanceof Directory directory)) {
      throw new NotDirectoryException(path.toString());
    }
    List<Path> children =
        List.copyOf(directory.names.keySet()).stream().map(path::resolve).toList();
    return new DirectoryStream<>() {
      @Override
      public Iterator<Path> iterator() {
        return children.iterator();
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void createDirectory(Path path, FileAttribute<?>... attributes) throws IOException {
    disk.call(Operation.CREATE_DIRECTORY, path);
    link(path, new Directory());
    disk.faults.after(Operation.CREATE_DIRECTORY);
  }

  @Override
  public void createLink(Path link, Path existing) throws IOException {
    disk.call(Operation.LINK, link);
    link(link, require(existing));
    disk.faults.after(Operation.LINK);
  }

  private void link(Path path, Node node) throws IOException {
    Directory parent = parent(path);
    if (parent.names.containsKey(name(path))) {
      throw new FileAlreadyExistsException(path.toString());
    }
    parent.change(Optional.empty(), Optional.of(name(path)), node);
  }

  @Override
  public void delete(Path path) throws IOException {
    disk.call(Operation.DELETE, path);
    Node node = require(path);
    if (node instanceof Directory directory && !directory.names.isEmpty()) {
      throw new DirectoryNotEmptyException(path.toString());
    }
    parent(path).change(Optional.of(name(path)), Optional.empty(), node);
    disk.faults.after(Operation.DELETE);
  }

  /** Within a directory the old name and the new one change as one, else each for itself. */
  @Override
  public void move(Path from, Path to, CopyOption... options) throws IOException {
    disk.call(Operation.RENAME, to);
    Node node = require(from);
    Directory source = parent(from);
    Directory target = parent(to);
    if (source == target) {
      source.change(Optional.of(name(from)), Optional.of(name(to)), node);
    } else {
      target.change(Optional.empty(), Optional.of(name(to)), node);
      source.change(Optional.of(name(from)), Optional.empty(), node);
    }
    disk.faults.after(Operation.RENAME);
  }

  @Override
  public void checkAccess(Path path, AccessMode... modes) throws IOException {
    require(path);
  }

  @Override
  public <V extends FileAttributeView> V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    return type == PosixFileAttributeView.class
        ? type.cast(new DiskAttributes.View(disk.find(path)))
        : null;
  }

  @Override
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    return type.cast(new DiskAttributes(require(path)));
  }

  @Override
  public boolean isSameFile(Path one, Path other) throws IOException {
    return require(one) == require(other);
  }

  @Override
  public boolean isHidden(Path path) {
    return name(path).startsWith(".");
  }

  @Override
  public String getScheme() {
    return "memory";
  }

  @Override
  public FileSystem newFileSystem(URI uri, Map<String, ?> env) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileSystem getFileSystem(URI uri) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Path getPath(URI uri) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void copy(Path source, Path target, CopyOption... options) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileStore getFileStore(Path path) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String names, LinkOption... options) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void setAttribute(Path path, String name, Object value, LinkOption... options) {
    throw new UnsupportedOperationException();
  }
}

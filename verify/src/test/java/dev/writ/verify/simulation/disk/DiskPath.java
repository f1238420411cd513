package dev.writ.verify.simulation.disk;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;

/** A path on a {@link MemoryDisk}; its text is that of a path of the host. */
record DiskPath(DiskFileSystem system, Path text) implements Path {
  private DiskPath of(Path other) {
    return other == null ? null : new DiskPath(system, other);
  }

  private static Path text(Path other) {
    return ((DiskPath) other).text;
  }

  @Override
  public FileSystem getFileSystem() {
    return system;
  }

  @Override
  public boolean isAbsolute() {
    return text.isAbsolute();
  }

  @Override
  public Path getRoot() {
    return of(text.getRoot());
  }

  @Override
  public Path getFileName() {
    return of(text.getFileName());
  }

  @Override
  public Path getParent() {
    return of(text.getParent());
  }

  @Override
  public int getNameCount() {
    return text.getNameCount();
  }

  @Override
  public Path getName(int index) {
    return of(text.getName(index));
  }

  @Override
  public Path subpath(int from, int to) {
    return of(text.subpath(from, to));
  }

  @Override
  public boolean startsWith(Path other) {
    return text.startsWith(text(other));
  }

  @Override
  public boolean endsWith(Path other) {
    return text.endsWith(text(other));
  }

  @Override
  public Path normalize() {
    return of(text.normalize());
  }

  @Override
  public Path resolve(Path other) {
    return of(text.resolve(text(other)));
  }

  @Override
  public Path relativize(Path other) {
    return of(text.relativize(text(other)));
  }

  @Override
  public Path toAbsolutePath() {
    return isAbsolute() ? this : system.getPath("/").resolve(this);
  }

  @Override
  public Path toRealPath(LinkOption... options) throws IOException {
    return toAbsolutePath().normalize();
  }

  @Override
  public URI toUri() {
    throw new UnsupportedOperationException();
  }

  @Override
  public WatchKey register(
      WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int compareTo(Path other) {
    return text.compareTo(text(other));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DiskPath that && text.equals(that.text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  @Override
  public String toString() {
    return text.toString();
  }
}

package dev.writ.verify.simulation.disk;

import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.List;
import java.util.Set;

/** A {@link MemoryDisk} as {@link java.nio.file.Files} sees it. */
final class DiskFileSystem extends FileSystem {
  final MemoryDisk disk;
  private final DiskProvider provider;

  DiskFileSystem(MemoryDisk disk) {
    this.disk = disk;
    this.provider = new DiskProvider(disk);
  }

  @Override
  public FileSystemProvider provider() {
    return provider;
  }

  @Override
  public Path getPath(String first, String... more) {
    return new DiskPath(this, Path.of(first, more));
  }

  @Override
  public String getSeparator() {
    return "/";
  }

  @Override
  public Iterable<Path> getRootDirectories() {
    return List.of(getPath("/"));
  }

  /** Permissions are not simulated: every file is its owner's alone. */
  @Override
  public Set<String> supportedFileAttributeViews() {
    return Set.of("basic");
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public boolean isReadOnly() {
    return false;
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Iterable<FileStore> getFileStores() {
    throw new UnsupportedOperationException();
  }

  @Override
  public PathMatcher getPathMatcher(String syntaxAndPattern) {
    throw new UnsupportedOperationException();
  }

  @Override
  public UserPrincipalLookupService getUserPrincipalLookupService() {
    throw new UnsupportedOperationException();
  }

  @Override
  public WatchService newWatchService() {
    throw new UnsupportedOperationException();
  }
}

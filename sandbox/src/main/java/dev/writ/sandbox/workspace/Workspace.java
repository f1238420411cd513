package dev.writ.sandbox.workspace;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Modes;
import dev.writ.sandbox.host.Owners;
import dev.writ.sandbox.host.Trees;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;

/**
 * The files of a run, between its commands. Its content is hostile: no path is followed through a
 * link, nothing but regular files is opened, and nothing is read while a command runs in it.
 */
public final class Workspace {
  private final Path directory;
  private final Optional<Path> enclosure;
  private long owner;
  private boolean held;
  private boolean running;
  private volatile FileStore store;

  /**
   * @param directory its directory on the host
   * @param owner the user id that files are given to; negative to keep our own
   */
  public Workspace(Path directory, long owner) {
    this(directory, owner, Optional.empty());
  }

  /**
   * @param enclosure a directory around it that only its owner's group may pass through
   */
  Workspace(Path directory, long owner, Optional<Path> enclosure) {
    this.directory = directory;
    this.owner = owner;
    this.enclosure = enclosure;
  }

  /** Where it is on the host. */
  public Path directory() {
    return directory;
  }

  /** The user id that its files belong to. */
  public synchronized long owner() {
    return owner;
  }

  /**
   * Takes it for one sandbox.
   *
   * @throws WritException {@code SBX-042} where another has it
   */
  public synchronized void hold() {
    if (held) {
      throw busy();
    }
    held = true;
  }

  public synchronized void release() {
    held = false;
  }

  /** Whether a sandbox has it. */
  public synchronized boolean isHeld() {
    return held;
  }

  /** Marks whether a command runs in it. */
  public synchronized void running(boolean now) {
    running = now;
  }

  /** Changes the owner of all its files. */
  public void giveTo(long id) {
    giveTo(id, TreeLimits.STANDARD);
  }

  synchronized void giveTo(long id, TreeLimits limits) {
    if (id == owner) {
      return;
    }
    io(() -> {
      Owners.give(directory, id);
      for (Entry entry : TreeWalk.of(directory, limits)) {
        Owners.give(entry.path(), id);
      }
      if (enclosure.isPresent()) {
        Modes.letPass(enclosure.get(), id);
      }
      return null;
    });
    owner = id;
  }

  /**
   * The digest of its whole tree (spec/sandbox.md). Holes, and several names of one file, take room
   * in no storage and would take time here, which counts in no call: so no more is read than the
   * storage holds.
   *
   * @throws WritException as {@link #treeDigest(TreeLimits)}
   */
  public Digest treeDigest() {
    return treeDigest(TreeLimits.STANDARD.within(storage(FileStore::getTotalSpace)));
  }

  /**
   * @throws WritException {@code SBX-042} while a command runs, {@code SBX-046}
   */
  public synchronized Digest treeDigest(TreeLimits limits) {
    return io(() -> TreeDigest.of(TreeWalk.of(directory, limits)));
  }

  /** The regular files in it, as names that are UTF-8, sorted; others cannot be named. */
  public synchronized List<String> files(TreeLimits limits) {
    return io(() ->
        TreeWalk.of(directory, limits).stream()
            .filter(e -> e.kind() == 'f')
            .map(e -> Utf8.strict(e.name()))
            .flatMap(Optional::stream)
            .toList());
  }

  /** All entries, links as links; a directory precedes its content. */
  public synchronized List<TreeEntry> entries(TreeLimits limits) {
    return io(() ->
        TreeWalk.of(directory, limits).stream()
            .map(e ->
                new TreeEntry(e.kind(), e.size(), new String(e.name(), StandardCharsets.UTF_8)))
            .toList());
  }

  /**
   * A file's bytes.
   *
   * @param path relative, its parts separated by {@code /}
   * @throws WritException {@code SBX-042} to {@code SBX-046}; the last for more than {@code most}
   */
  public synchronized byte[] read(String path, long most) {
    return io(() -> {
      try (Inside at = Inside.at(directory, Inside.parts(path));
          SeekableByteChannel channel = at.read();
          InputStream in = Channels.newInputStream(channel)) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] buffer = new byte[1 << 16];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          bytes.write(buffer, 0, n);
          if (bytes.size() > most) {
            throw new WritException(
                SandboxError.TREE_LIMIT, "a file of more than " + most + " bytes");
          }
        }
        return bytes.toByteArray();
      }
    });
  }

  /**
   * Requires that a path is a directory that is not reached through a link.
   *
   * @throws WritException {@code SBX-042} to {@code SBX-045}
   */
  public synchronized void requireDirectory(String path) {
    List<Path> parts = Inside.parts(path);
    io(() -> {
      try (Inside at = Inside.at(directory, parts)) {
        if (!at.attributes().isDirectory()) {
          throw new WritException(SandboxError.PATH_KIND, "it is no directory");
        }
      }
      return null;
    });
  }

  /**
   * Makes a directory and its missing parents.
   *
   * @throws WritException {@code SBX-042}, {@code SBX-043}, {@code SBX-045}
   */
  public synchronized void makeDirectory(String path) {
    List<Path> parts = Inside.parts(path);
    io(() -> {
      makeDirectories(parts);
      makeDirectory(parts, "rwxr-xr-x");
      return null;
    });
  }

  /** Writes a file and its missing parent directories, replacing an existing file. */
  public synchronized void write(String path, byte[] bytes, boolean executable) {
    List<Path> parts = Inside.parts(path);
    io(() -> {
      makeDirectories(parts);
      put(parts, bytes, executable ? "rwxr-xr-x" : "rw-r--r--");
      return null;
    });
  }

  /**
   * Removes a file or a link, if it exists.
   *
   * @throws WritException {@code SBX-042}, {@code SBX-043}; {@code SBX-045} for a directory
   */
  public synchronized void remove(String path) {
    List<Path> parts = Inside.parts(path);
    io(() -> {
      try (Inside at = Inside.at(directory, parts)) {
        at.remove();
      }
      return null;
    });
  }

  void put(List<Path> parts, byte[] bytes, String permissions) throws IOException {
    try (Inside at = Inside.at(directory, parts)) {
      try (SeekableByteChannel channel = at.create()) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
          channel.write(buffer);
        }
      }
      own(join(parts), permissions);
    }
  }

  /** Makes the missing directories above the last part. */
  void makeDirectories(List<Path> parts) throws IOException {
    for (int depth = 1; depth < parts.size(); depth++) {
      makeDirectory(parts.subList(0, depth), "rwxr-xr-x");
    }
  }

  void makeDirectory(List<Path> parts, String permissions) throws IOException {
    try (Inside at = Inside.at(directory, parts)) {
      Path path = join(parts);
      if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
        Files.createDirectory(path);
        own(path, permissions);
      } else if (!at.attributes().isDirectory()) {
        throw new WritException(
            at.attributes().isSymbolicLink() ? SandboxError.PATH_ESCAPES : SandboxError.PATH_KIND,
            "part " + parts.size() + " is no directory");
      }
    }
  }

  void makeLink(List<Path> parts, Path target) throws IOException {
    Inside.at(directory, parts).close(); // refuses what is below a link
    Path path = join(parts);
    Files.createSymbolicLink(path, target);
    if (owner >= 0) {
      Owners.give(path, owner);
    }
  }

  private void own(Path path, String permissions) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
    if (owner >= 0) {
      Owners.give(path, owner);
    }
  }

  Path join(List<Path> parts) {
    Path path = directory;
    for (Path part : parts) {
      path = path.resolve(part);
    }
    return path;
  }

  /** Writes the whole tree as a tar archive; equal trees give equal bytes. */
  public synchronized void exportTar(OutputStream out, TreeLimits limits) {
    io(() -> {
      TarWriter.write(TreeWalk.of(directory, limits), out, Optional.empty());
      return null;
    });
  }

  /**
   * The same with long names as GNU tar writes them, for BusyBox.
   *
   * @param below what all names begin with, such as {@code workspace/}
   */
  public synchronized void exportGnuTar(OutputStream out, String below, TreeLimits limits) {
    io(() -> {
      TarWriter.writeGnu(TreeWalk.of(directory, limits), below, out);
      return null;
    });
  }

  /**
   * The same for one directory in it, with a filter for each file.
   *
   * @param path of the directory, {@code .} for all of it
   * @throws WritException {@code SBX-042} to {@code SBX-046}
   */
  public synchronized void exportTar(
      String path, OutputStream out, TreeLimits limits, TarFilter filter) {
    if (!path.equals(".")) {
      requireDirectory(path);
    }
    io(() -> {
      Path root = path.equals(".") ? directory : join(Inside.parts(path));
      TarWriter.write(TreeWalk.of(root, limits), out, Optional.of(filter));
      return null;
    });
  }

  /**
   * Unpacks an archive into it.
   *
   * @throws WritException {@code SBX-047} for what could reach outside or is no plain archive
   */
  public synchronized void importTar(InputStream in, TreeLimits limits) {
    io(() -> {
      new TarReader(this, limits).read(in);
      return null;
    });
  }

  /**
   * Puts the content of an archive in the place of all that is there.
   *
   * @throws WritException {@code SBX-046}, {@code SBX-047}; part of the archive may be there then
   */
  public synchronized void replaceByTar(InputStream in, TreeLimits limits) {
    io(() -> {
      Trees.clear(directory);
      new TarReader(this, limits).read(in);
      return null;
    });
  }

  /** How many bytes can still be written to it. */
  public long freeBytes() {
    return storage(FileStore::getUsableSpace);
  }

  /** A size of its storage. */
  @FunctionalInterface
  private interface Size {
    long of(FileStore store) throws IOException;
  }

  private long storage(Size size) {
    try {
      FileStore of = store;
      if (of == null) { // once: finding it means reading the host's table of mounts
        of = Files.getFileStore(directory);
        store = of;
      }
      return size.of(of);
    } catch (IOException e) {
      return Long.MAX_VALUE;
    }
  }

  /** Something done to the files. */
  @FunctionalInterface
  private interface Work<T> {
    T run() throws IOException;
  }

  private <T> T io(Work<T> work) {
    if (running) {
      throw busy();
    }
    try {
      return work.run();
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "the workspace cannot be read or written", e);
    }
  }

  private static WritException busy() {
    return new WritException(SandboxError.WORKSPACE_BUSY, "a sandbox works in it");
  }
}

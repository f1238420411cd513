package dev.writ.sandbox.workspace;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A directory that is held open, and everything below it. Each path is opened relative to the
 * directory before and never through a link, so that nobody who changes the tree meanwhile can lead
 * a read or a write out of it. Names are the bytes that they are, as ISO-8859-1, parts separated by
 * {@code /}.
 */
final class OpenTree implements AutoCloseable {
  /** What is being written lies here until it is whole; never part of a tree. */
  static final String PART = ".writ-part";

  private static final Path PART_PATH = Path.of(PART);
  private static final Set<PosixFilePermission> OWNER_ALONE =
      PosixFilePermissions.fromString("rwx------");

  private final DirectoryHandle directory;
  private final SecureDirectoryStream<Path> top;

  private OpenTree(DirectoryHandle directory) throws IOException {
    this.directory = directory;
    this.top = directory.stream();
  }

  /**
   * Opens a directory below a root.
   *
   * @param below its parts, none of which may be a link
   */
  static OpenTree at(Path root, List<Path> below) throws IOException {
    DirectoryHandle at = DirectoryHandle.of(root);
    try {
      for (Path part : below) {
        try (DirectoryHandle parent = at) {
          at = parent.in(part);
        }
      }
      return new OpenTree(at);
    } catch (IOException e) {
      at.close();
      throw e;
    }
  }

  /**
   * One entry.
   *
   * @param kind f, d or l
   * @param digest of a file's content
   * @param target of a link
   */
  record Item(
      char kind,
      Set<PosixFilePermission> permissions,
      Optional<Digest> digest,
      Optional<Path> target) {
    Item {
      permissions = Set.copyOf(permissions);
    }

    boolean isDirectory() {
      return kind == 'd';
    }

    Item withDigest(Digest other) {
      return new Item(kind, permissions, Optional.of(other), target);
    }
  }

  /**
   * What is in a tree.
   *
   * @param items by name; a directory precedes its content
   * @param others names of pipes, sockets and devices
   */
  record Content(SortedMap<String, Item> items, List<String> others) {}

  /**
   * @throws WritException {@code SBX-046}
   */
  Content read(TreeLimits limits) throws IOException {
    Reading reading = new Reading(limits);
    reading.directory(directory, "", 0);
    return new Content(reading.items, reading.others);
  }

  private static final class Reading {
    private final TreeLimits limits;
    private final TreeMap<String, Item> items = new TreeMap<>();
    private final List<String> others = new ArrayList<>();
    private long bytes;

    Reading(TreeLimits limits) {
      this.limits = limits;
    }

    void directory(DirectoryHandle directory, String prefix, int depth) throws IOException {
      if (depth > limits.depth()) {
        throw tooMuch("nested more than " + limits.depth() + " deep");
      }
      try (SecureDirectoryStream<Path> stream = directory.stream()) {
        List<Path> names = new ArrayList<>();
        for (Path entry : stream) {
          names.add(entry.getFileName());
          if (items.size() + names.size() > limits.entries()) {
            throw tooMuch("more than " + limits.entries() + " entries");
          }
        }
        for (Path name : names) {
          String text = new String(RawNames.bytes(name), StandardCharsets.ISO_8859_1);
          if (depth > 0 || !text.equals(PART)) {
            entry(directory, stream, name, prefix + text, depth);
          }
        }
      }
    }

    private void entry(
        DirectoryHandle directory,
        SecureDirectoryStream<Path> parent,
        Path name,
        String text,
        int depth)
        throws IOException {
      PosixFileAttributes found = view(parent, name).readAttributes();
      if (found.isSymbolicLink()) {
        Path target = Files.readSymbolicLink(directory.path().resolve(name));
        items.put(text, new Item('l', Set.of(), Optional.empty(), Optional.of(target)));
      } else if (found.isDirectory()) {
        items.put(text, new Item('d', found.permissions(), Optional.empty(), Optional.empty()));
        try (DirectoryHandle inner = directory.in(name)) {
          directory(inner, text + "/", depth + 1);
        }
      } else if (found.isRegularFile()) {
        bytes += found.size();
        if (bytes > limits.bytes()) {
          throw tooMuch("more than " + limits.bytes() + " bytes");
        }
        try (SeekableByteChannel in = open(parent, name)) {
          Digest digest = copy(in, null);
          items.put(
              text, new Item('f', found.permissions(), Optional.of(digest), Optional.empty()));
        }
      } else {
        others.add(text);
      }
    }

    private static WritException tooMuch(String found) {
      return new WritException(SandboxError.TREE_LIMIT, found);
    }
  }

  private static PosixFileAttributeView view(SecureDirectoryStream<Path> parent, Path name) {
    return parent.getFileAttributeView(
        name, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
  }

  private static SeekableByteChannel open(SecureDirectoryStream<Path> parent, Path name)
      throws IOException {
    return parent.newByteChannel(name, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
  }

  /** Copies a file, or only reads it where there is no output; returns the digest. */
  private static Digest copy(SeekableByteChannel in, SeekableByteChannel out) throws IOException {
    MessageDigest hash = Digest.newSha256();
    ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
    while (in.read(buffer) >= 0) {
      buffer.flip();
      hash.update(buffer.duplicate());
      while (out != null && buffer.hasRemaining()) {
        out.write(buffer);
      }
      buffer.clear();
    }
    return Digest.ofBytes(hash.digest());
  }

  @FunctionalInterface
  private interface InParent<T> {
    T run(SecureDirectoryStream<Path> parent, Path name) throws IOException;
  }

  /**
   * Opens the directory of an entry; an entry of the top itself is opened in a stream of its own.
   */
  private <T> T in(String name, InParent<T> work) throws IOException {
    List<Path> parts = parts(name);
    SecureDirectoryStream<Path> at =
        top.newDirectoryStream(Path.of("."), LinkOption.NOFOLLOW_LINKS);
    try {
      for (Path part : parts.subList(0, parts.size() - 1)) {
        SecureDirectoryStream<Path> next = at.newDirectoryStream(part, LinkOption.NOFOLLOW_LINKS);
        at.close();
        at = next;
      }
      return work.run(at, parts.getLast());
    } finally {
      at.close();
    }
  }

  private static List<Path> parts(String name) {
    List<Path> parts = new ArrayList<>();
    for (String part : name.split("/")) {
      parts.add(RawNames.path(part.getBytes(StandardCharsets.ISO_8859_1)));
    }
    return parts;
  }

  /** Removes what an interrupted write left. */
  void sweep() throws IOException {
    Optional<PosixFileAttributes> left = existing(PART);
    if (left.isPresent()) {
      remove(PART, left.get().isDirectory());
    }
  }

  /** Removes an entry, if it is still there; a directory must be empty. */
  void remove(String name, boolean isDirectory) throws IOException {
    try {
      in(
          name,
          (parent, last) -> {
            if (isDirectory) {
              parent.deleteDirectory(last);
            } else {
              parent.deleteFile(last);
            }
            return null;
          });
    } catch (NoSuchFileException e) {
      // so much the better
    }
  }

  /**
   * Makes a directory that only its owner may enter, if there is none; {@link #permit} opens it
   * once it is full.
   */
  void makeDirectory(String name) throws IOException {
    if (existing(name).filter(PosixFileAttributes::isDirectory).isPresent()) {
      return;
    }
    makePart();
    moveTo(name);
  }

  private void makePart() throws IOException {
    Files.createDirectory(
        directory.path().resolve(PART), PosixFilePermissions.asFileAttribute(OWNER_ALONE));
    own(Optional.empty());
  }

  /** Whether the directory itself has an entry of that name, a link too. */
  boolean has(Path name) throws IOException {
    return Files.exists(directory.path().resolve(name), LinkOption.NOFOLLOW_LINKS);
  }

  /** Makes an empty directory in this one, with its permissions and owner. */
  void makeTop(Path name) throws IOException {
    makePart();
    view(top, PART_PATH).setPermissions(view(top, Path.of(".")).readAttributes().permissions());
    top.move(PART_PATH, top, name);
  }

  void makeLink(String name, Path target) throws IOException {
    Path part = directory.path().resolve(PART);
    Files.createSymbolicLink(part, target);
    PosixFileAttributes around = view(top, Path.of(".")).readAttributes();
    give(
        Files.getFileAttributeView(part, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS),
        around);
    moveTo(name);
  }

  /**
   * Copies a file of another tree, whole or not at all. A file that is replaced keeps its owner.
   *
   * @return the digest of what was copied
   */
  Digest putFile(String name, OpenTree from, Item item) throws IOException {
    Digest digest =
        from.in(
            name,
            (parent, last) -> {
              try (SeekableByteChannel in = open(parent, last);
                  SeekableByteChannel out =
                      top.newByteChannel(
                          PART_PATH,
                          Set.of(
                              StandardOpenOption.WRITE,
                              StandardOpenOption.CREATE_NEW,
                              LinkOption.NOFOLLOW_LINKS),
                          PosixFilePermissions.asFileAttribute(OWNER_ALONE))) {
                return copy(in, out);
              }
            });
    own(existing(name));
    view(top, PART_PATH).setPermissions(item.permissions());
    moveTo(name);
    return digest;
  }

  void permit(String name, Set<PosixFilePermission> permissions) throws IOException {
    in(
        name,
        (parent, last) -> {
          view(parent, last).setPermissions(permissions);
          return null;
        });
  }

  private Optional<PosixFileAttributes> existing(String name) throws IOException {
    try {
      return Optional.of(in(name, (parent, last) -> view(parent, last).readAttributes()));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  private void own(Optional<PosixFileAttributes> like) throws IOException {
    PosixFileAttributes owner =
        like.isPresent() ? like.get() : view(top, Path.of(".")).readAttributes();
    give(view(top, PART_PATH), owner);
  }

  private static void give(PosixFileAttributeView view, PosixFileAttributes like)
      throws IOException {
    PosixFileAttributes now = view.readAttributes();
    if (!now.owner().equals(like.owner())) {
      view.setOwner(like.owner());
    }
    if (!now.group().equals(like.group())) {
      view.setGroup(like.group());
    }
  }

  private void moveTo(String name) throws IOException {
    in(
        name,
        (parent, last) -> {
          top.move(PART_PATH, parent, last);
          return null;
        });
  }

  @Override
  public void close() throws IOException {
    directory.close();
    top.close();
  }
}

package dev.writ.canonicalize.disk;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Nondeterministic;
import dev.writ.canonicalize.WritException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.URLConnection;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;

/**
 * Unpacks native libraries from jars into one directory that is private to the user of this
 * process, and loads them from there only. Left to themselves, libraries unpack into the shared
 * temporary directory, one more copy for each process that is killed.
 *
 * <p>The directory is the first of these that is private ({@link PrivateDirectory}): the one that
 * the property {@code writ.native} names, {@code $XDG_CACHE_HOME/writ/native}, {@code
 * ~/.cache/writ/native}, {@code /var/tmp/writ-USER/native}. A file that is there already is reused
 * if it is this user's own, has no other name, cannot be written by others, and has the length and
 * the CRC-32 that the jar's directory states. A checksum is enough: nobody else can write there, so
 * it has to find damage (a write that a power failure cut off), not forgery. The directory is
 * locked from the check until the library is loaded, so processes that start together make one
 * copy.
 */
public final class NativeLibraries {
  /** Names the directory to try first. */
  public static final String PROPERTY = "writ.native";

  private static final String LOCK = "lock";
  private static final String UNFINISHED = ".new";
  private static final String COPY = "copy-";

  /**
   * One object in all class loaders of this JVM, to which a file's lock belongs as a whole: a
   * second taker would not wait for it, but fail.
   */
  private static final Object OF_THE_JVM = "dev.writ.canonicalize.disk.NativeLibraries".intern();

  private static final int BUFFER_BYTES = 1 << 16;

  /** A library as its jar has it. */
  private record Packed(URL url, long length, long crc) {}

  /** Loads the library, while nobody else changes the directory. */
  @FunctionalInterface
  public interface Loader<E extends Exception> {
    void load(Path directory) throws E;
  }

  private NativeLibraries() {}

  /**
   * Unpacks one library, unless it is there, and has it loaded.
   *
   * @param beside a class of the jar that holds the library
   * @param resource its path in the jar, with no slash before it
   * @param name the name of the file that its loader looks for
   * @throws WritException {@code CAN-058}
   */
  public static <E extends Exception> void load(
      Class<?> beside, String resource, String name, Loader<E> loader) throws E {
    NativeLibraries.<E>locked(directory -> {
      unpack(beside, resource, directory.resolve(name));
      try {
        loader.load(directory);
      } catch (UnsatisfiedLinkError e) {
        if (!isOfAnotherClassLoader(e)) {
          throw e;
        }
        loadCopy(directory, beside, resource, name, loader);
      }
    });
  }

  /** The JVM gives a file to one class loader at a time, and has no other sign of that. */
  private static boolean isOfAnotherClassLoader(UnsatisfiedLinkError e) {
    return String.valueOf(e.getMessage()).contains("already loaded in another classloader");
  }

  /** Another file with the same bytes, which needs its name only until it is loaded. */
  @Nondeterministic("the name of a directory that is gone when this returns")
  private static <E extends Exception> void loadCopy(
      Path directory, Class<?> beside, String resource, String name, Loader<E> loader) throws E {
    clear(directory, COPY + "*"); // of a process that was killed
    try {
      Path own = Files.createTempDirectory(directory, COPY);
      unpack(beside, resource, own.resolve(name));
      loader.load(own);
    } catch (IOException e) {
      throw new WritException(CanonicalizeError.NATIVE_LIBRARY, directory + ": " + e, e);
    } finally {
      clear(directory, COPY + "*");
    }
  }

  /**
   * For a library that unpacks itself: hands its loader the private directory, without what a
   * killed process left of that library there.
   *
   * @param leftover how the names of what it unpacks begin
   * @throws WritException {@code CAN-058}
   */
  public static <E extends Exception> void loadSelfUnpacking(String leftover, Loader<E> loader)
      throws E {
    NativeLibraries.<E>locked(directory -> {
      clear(directory, leftover + "*");
      loader.load(directory);
    });
  }

  /** Whether {@link System#loadLibrary} looks into the directory that is used. */
  public static boolean onLibraryPath() {
    Path directory = directory();
    for (String entry : System.getProperty("java.library.path", "").split(File.pathSeparator)) {
      try {
        if (!entry.isEmpty() && Path.of(entry).toRealPath().equals(directory)) {
          return true;
        }
      } catch (IOException e) {
        // not there, so not ours
      }
    }
    return false;
  }

  private static <E extends Exception> void locked(Loader<E> action) throws E {
    synchronized (OF_THE_JVM) {
      Path directory = directory();
      try (FileChannel channel =
          FileChannel.open(
              directory.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        channel.lock(); // until the channel is closed
        action.load(directory);
      } catch (IOException e) {
        throw new WritException(CanonicalizeError.NATIVE_LIBRARY, directory + ": " + e, e);
      }
    }
  }

  private static Path directory() {
    List<String> refused = new ArrayList<>();
    try {
      UserPrincipal self = PrivateDirectory.self();
      for (Path candidate : candidates(self)) {
        try {
          return PrivateDirectory.require(candidate, self);
        } catch (IOException e) {
          refused.add(e.toString());
        }
      }
    } catch (IOException e) {
      refused.add(e.toString());
    }
    throw new WritException(CanonicalizeError.NATIVE_LIBRARY, String.join("; ", refused));
  }

  private static List<Path> candidates(UserPrincipal self) {
    List<Path> candidates = new ArrayList<>();
    String named = System.getProperty(PROPERTY, "");
    if (!named.isEmpty()) {
      candidates.add(Path.of(named));
    }
    String cache = System.getenv().getOrDefault("XDG_CACHE_HOME", "");
    if (cache.startsWith("/")) {
      candidates.add(Path.of(cache, "writ", "native"));
    }
    String home = System.getProperty("user.home", "");
    if (home.startsWith("/")) {
      candidates.add(Path.of(home, ".cache", "writ", "native"));
    }
    candidates.add(Path.of("/var/tmp", "writ-" + self.getName(), "native"));
    return candidates;
  }

  private static void unpack(Class<?> beside, String resource, Path file) {
    try {
      sweep(file.getParent(), "*" + UNFINISHED);
      Packed packed = packed(beside, resource);
      if (!isWhole(file, packed, PrivateDirectory.self())) {
        write(packed, file);
      }
    } catch (IOException e) {
      throw new WritException(CanonicalizeError.NATIVE_LIBRARY, resource + ": " + e, e);
    }
  }

  private static void clear(Path directory, String names) {
    try {
      sweep(directory, names);
    } catch (IOException e) {
      throw new WritException(CanonicalizeError.NATIVE_LIBRARY, directory + ": " + e, e);
    }
  }

  private static Packed packed(Class<?> beside, String resource) throws IOException {
    URL url = url(beside, resource);
    URLConnection connection = url.openConnection();
    if (connection instanceof JarURLConnection jar) {
      return new Packed(url, jar.getJarEntry().getSize(), jar.getJarEntry().getCrc());
    }
    try (InputStream in = connection.getInputStream()) {
      byte[] bytes = in.readAllBytes();
      CRC32 crc = new CRC32();
      crc.update(bytes);
      return new Packed(url, bytes.length, crc.getValue());
    }
  }

  /** In the jar of that class, so that not each jar before it on the class path is opened. */
  private static URL url(Class<?> beside, String resource) throws IOException {
    CodeSource source = beside.getProtectionDomain().getCodeSource();
    if (source != null && source.getLocation().getPath().endsWith(".jar")) {
      return URI.create("jar:" + source.getLocation() + "!/" + resource).toURL();
    }
    URL url = beside.getClassLoader().getResource(resource);
    if (url == null) {
      throw new NoSuchFileException(resource, null, "its jar has none for this system");
    }
    return url;
  }

  private static boolean isWhole(Path file, Packed packed, UserPrincipal self) throws IOException {
    PosixFileAttributes found;
    try {
      found = Files.readAttributes(file, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException e) {
      return false;
    }
    return found.isRegularFile()
        && found.owner().equals(self)
        && !found.permissions().contains(PosixFilePermission.GROUP_WRITE)
        && !found.permissions().contains(PosixFilePermission.OTHERS_WRITE)
        && (int) Files.getAttribute(file, "unix:nlink") == 1
        && found.size() == packed.length()
        && crc(file) == packed.crc();
  }

  private static long crc(Path file) throws IOException {
    CRC32 crc = new CRC32();
    ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
      while (channel.read(buffer) >= 0) {
        crc.update(buffer.flip());
        buffer.clear();
      }
    }
    return crc.getValue();
  }

  private static void write(Packed packed, Path file) throws IOException {
    Path fresh = file.resolveSibling(file.getFileName() + UNFINISHED);
    Files.createFile(
        fresh, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try (InputStream in = packed.url().openStream();
        OutputStream out = Files.newOutputStream(fresh, StandardOpenOption.WRITE)) {
      in.transferTo(out);
    }
    if (crc(fresh) != packed.crc()) {
      throw new IOException("other bytes were written than the jar has");
    }
    // Not synced: if a power failure cuts it off, its checksum shows that.
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
  }

  @Nondeterministic("everything is removed, in whatever order")
  private static void sweep(Path directory, String names) throws IOException {
    try (DirectoryStream<Path> left = Files.newDirectoryStream(directory, names)) {
      for (Path path : left) {
        DurableFiles.deleteTree(path);
      }
    }
  }
}

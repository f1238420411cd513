package dev.writ.tools.process;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.JsonPointers;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.rule.SecretGrant;
import dev.writ.sandbox.SecretFile;
import dev.writ.tools.error.FileTrouble;
import dev.writ.tools.error.ToolsError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The secrets of an installation, as files of a directory that are readable by its owner alone
 * (spec/secrets.md). A file or directory that others can read is refused, not repaired, since it
 * may have been read.
 */
public final class SecretDirectory implements SecretStore {
  /** The most bytes of a secret. */
  public static final int BYTES_MAX = 64 << 10;

  /** The most secrets of one call. */
  public static final int CALL_MAX = 16;

  /** Other processes wait for it; no secret has such a name. */
  private static final String LOCK = ".lock";

  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /** The lock of a file is one of the process. */
  private static final Object CHANGING = new Object();

  private final Path directory;

  /**
   * @param directory made when the first secret is stored
   */
  public SecretDirectory(Path directory) {
    this.directory = Objects.requireNonNull(directory);
  }

  @Override
  public List<SecretFile> granted(ToolManifest manifest, Invocation invocation) {
    List<SecretFile> files = new ArrayList<>();
    for (String name : named(manifest, invocation.params())) {
      files.add(new SecretFile(name, read(name)));
    }
    return files;
  }

  /**
   * The tool's own secrets and those that an effect's params name, sorted.
   *
   * @throws WritException {@code TOL-040} for what cannot be a secret's name
   */
  static TreeSet<String> named(ToolManifest manifest, JsonValue.Obj params) {
    TreeSet<String> names = new TreeSet<>(manifest.capabilities().ownSecrets());
    names.forEach(SecretDirectory::requireName);
    for (String pointer : manifest.capabilities().secrets()) {
      JsonPointers.find(params, pointer)
          .ifPresent(value -> {
            List<JsonValue> items =
                value instanceof JsonValue.Arr list ? list.items() : List.of(value);
            items.forEach(item -> names.add(name(item)));
          });
    }
    if (names.size() > CALL_MAX) {
      throw new WritException(
          ToolsError.SECRET_NAME, names.size() + " in one call, at most " + CALL_MAX);
    }
    return names;
  }

  private static String name(JsonValue item) {
    if (item instanceof JsonValue.Str text) {
      requireName(text.value());
      return text.value();
    }
    throw new WritException(ToolsError.SECRET_NAME, "a param that is no name");
  }

  private static void requireName(String name) {
    if (!SecretGrant.isName(name)) {
      throw new WritException(ToolsError.SECRET_NAME, "one of " + name.length() + " characters");
    }
  }

  /**
   * A secret.
   *
   * @throws WritException {@code TOL-040} to {@code TOL-044}
   */
  public byte[] read(String name) {
    requireName(name);
    Path file = directory.resolve(name);
    try {
      requireOwnersAlone(directory, true, "the directory of secrets");
      requireOwnersAlone(file, false, name);
      byte[] secret;
      try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
        secret = in.readNBytes(BYTES_MAX + 1);
      }
      requireOwnersAlone(file, false, name);
      requireSize(secret.length);
      return secret;
    } catch (NoSuchFileException e) {
      throw new WritException(ToolsError.SECRET_UNKNOWN, name, e);
    } catch (IOException e) {
      throw failed(directory.resolve(name), e);
    }
  }

  /**
   * Stores a secret, atomically replacing an earlier one of that name, whoever else stores one.
   *
   * @throws WritException {@code TOL-040}, {@code TOL-042} to {@code TOL-044}
   */
  public void put(String name, byte[] secret) {
    requireName(name);
    requireSize(secret.length);
    try {
      makeDirectory();
      requireOwnersAlone(directory, true, "the directory of secrets");
      DurableFiles.REAL.replace(directory.resolve(name), secret);
    } catch (IOException e) {
      throw failed(directory.resolve(name), e);
    }
  }

  private void makeDirectory() throws IOException {
    try {
      if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
        DurableFiles.REAL.createDirectory(directory);
      }
    } catch (FileAlreadyExistsException e) {
      // Somebody else may store the first one at the same time.
      if (!Files.isDirectory(directory)) {
        throw e;
      }
    }
  }

  /**
   * {@inheritDoc}
   *
   * @throws WritException {@code TOL-040} to {@code TOL-044}
   */
  @Override
  public byte[] change(String name, UnaryOperator<byte[]> change) {
    read(name); // so that a lock is made in a directory of ours alone
    synchronized (CHANGING) {
      try (FileChannel lock =
              FileChannel.open(directory.resolve(LOCK), Set.of(CREATE, WRITE), OWNER_ONLY);
          FileLock _ = lock.lock()) {
        byte[] before = read(name);
        byte[] after = change.apply(before);
        if (!Arrays.equals(before, after)) {
          put(name, after);
        }
        return after;
      } catch (IOException e) {
        throw failed(directory.resolve(name), e);
      }
    }
  }

  /** The names, sorted; never a value. */
  public List<String> list() {
    try (Stream<Path> files = Files.list(directory)) {
      requireOwnersAlone(directory, true, "the directory of secrets");
      return files
          .map(file -> file.getFileName().toString())
          .filter(SecretGrant::isName)
          .sorted()
          .toList();
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (IOException e) {
      throw failed(directory, e);
    }
  }

  /**
   * Why {@link #read} would refuse a secret that is listed; its value is not read.
   *
   * @return {@code TOL-041} to {@code TOL-044}; empty where it can be used
   */
  public Optional<WritException> fault(String name) {
    Path file = directory.resolve(name);
    try {
      requireOwnersAlone(file, false, name);
      requireSize((int) Math.min(Files.size(file), BYTES_MAX + 1));
      return Optional.empty();
    } catch (NoSuchFileException e) {
      return Optional.of(new WritException(ToolsError.SECRET_UNKNOWN, name, e));
    } catch (IOException e) {
      return Optional.of(failed(file, e));
    } catch (WritException e) {
      return Optional.of(e);
    }
  }

  /**
   * Removes a secret; running calls keep it.
   *
   * @throws WritException {@code TOL-040}, {@code TOL-041}, {@code TOL-044}
   */
  public void remove(String name) {
    requireName(name);
    try {
      Files.delete(directory.resolve(name));
      DurableFiles.REAL.syncDirectory(directory);
    } catch (NoSuchFileException e) {
      throw new WritException(ToolsError.SECRET_UNKNOWN, name, e);
    } catch (IOException e) {
      throw failed(directory.resolve(name), e);
    }
  }

  private static void requireSize(int length) {
    if (length < Masking.SECRET_BYTES_MIN || length > BYTES_MAX) {
      throw new WritException(
          ToolsError.SECRET_SIZE,
          length < Masking.SECRET_BYTES_MIN ? length + " bytes" : "more than " + BYTES_MAX);
    }
  }

  /** Attributes of the path itself: a link is refused, whatever its target. */
  private static void requireOwnersAlone(Path path, boolean isDirectory, String name)
      throws IOException {
    Map<String, Object> found =
        Files.readAttributes(
            path, "unix:mode,uid,isDirectory,isRegularFile", LinkOption.NOFOLLOW_LINKS);
    int us = (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    int mode = (Integer) found.get("mode") & 07777;
    boolean kind = (Boolean) found.get(isDirectory ? "isDirectory" : "isRegularFile");
    if (!kind || (mode & 07077) != 0 || (Integer) found.get("uid") != us) {
      throw new WritException(
          ToolsError.SECRET_EXPOSED,
          name
              + (kind
                  ? " has the mode " + Integer.toOctalString(mode) + " and user " + found.get("uid")
                  : " is no " + (isDirectory ? "directory" : "regular file")));
    }
  }

  private static WritException failed(Path at, IOException e) {
    return new WritException(ToolsError.SECRET_IO, FileTrouble.of(at, e), e);
  }
}

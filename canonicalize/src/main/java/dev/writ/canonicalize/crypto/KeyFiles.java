package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Private keys in files: PKCS#8 in PEM, encrypted under a passphrase, or plain and readable by the
 * owner alone (spec/keys.md). openssl reads and writes those of Ed25519 and ES256.
 */
public final class KeyFiles {
  /** Larger files are no keys. */
  private static final int BYTES_MAX = 64 << 10;

  private static final Set<PosixFilePermission> OWNERS =
      EnumSet.of(
          PosixFilePermission.OWNER_READ,
          PosixFilePermission.OWNER_WRITE,
          PosixFilePermission.OWNER_EXECUTE);

  private KeyFiles() {}

  /**
   * Writes a key into a new file of mode 0600, whole or not at all.
   *
   * @param passphrase encrypts the file; null leaves it plain
   * @param random for the salt and the initialization vector; not used where the file is plain
   * @throws WritException {@code CAN-071} where something of that name exists; {@code CAN-072} for
   *     a plain key where the file system has no permissions to protect it; {@code CAN-077} for an
   *     empty passphrase; {@code CAN-057} where the file cannot be written
   */
  public static void write(Path path, SigningKey key, char[] passphrase, SecureRandom random) {
    if (passphrase != null && passphrase.length == 0) {
      throw new WritException(CanonicalizeError.KEY_FILE_PASSPHRASE_MISSING, "it is empty");
    }
    byte[] plain = Pkcs8.encode(key.algorithm(), key.seed());
    byte[] pem = null;
    try {
      pem =
          passphrase == null
              ? new Pem(Pem.PLAIN, plain).toBytes()
              : new Pem(Pem.ENCRYPTED, Pbes2.encrypt(plain, passphrase, random)).toBytes();
      NewFile.write(path, pem, passphrase == null, DurableFiles.REAL);
    } catch (IOException e) {
      throw new WritException(CanonicalizeError.KEY_FILE, "writing " + path + ": " + reason(e), e);
    } finally {
      Arrays.fill(plain, (byte) 0);
      if (pem != null) {
        Arrays.fill(pem, (byte) 0);
      }
    }
  }

  /**
   * Writes a file that says which key it is and that somebody else keeps the secret, whole or not
   * at all: its public half, SubjectPublicKeyInfo in PEM.
   *
   * @throws WritException {@code CAN-071} where something of that name exists; {@code CAN-057}
   *     where the file cannot be written
   */
  public static void writePublicHalf(Path path, VerifyingKey key) {
    byte[] der = Pkcs8.subjectPublicKeyInfo(key);
    try {
      NewFile.write(path, new Pem(Pem.PUBLIC, der).toBytes(), false, DurableFiles.REAL);
    } catch (IOException e) {
      throw new WritException(CanonicalizeError.KEY_FILE, "writing " + path + ": " + reason(e), e);
    }
  }

  /**
   * The key of a file that has only its public half.
   *
   * @return empty for any other file, which {@link #read} judges
   * @throws WritException {@code CAN-070}, {@code CAN-073}, {@code CAN-057} as {@link #read};
   *     {@code CAN-075} for another algorithm; {@code CAN-05x} for no possible key
   */
  public static Optional<VerifyingKey> publicHalf(Path path) {
    byte[] content = null;
    try {
      attributes(path);
      content = content(path);
      Optional<Pem> pem = Pem.parse(content).filter(p -> p.label().equals(Pem.PUBLIC));
      if (pem.isEmpty()) {
        return Optional.empty();
      }
      return Optional.of(
          Pkcs8.publicKey(pem.get().der())
              .orElseThrow(() ->
                  new WritException(
                      CanonicalizeError.KEY_FILE_ALGORITHM,
                      path + " has a public key of neither Ed25519 nor P-256")));
    } catch (NoSuchFileException e) {
      throw new WritException(CanonicalizeError.KEY_FILE_MISSING, path.toString(), e);
    } catch (IOException e) {
      throw new WritException(CanonicalizeError.KEY_FILE, "reading " + path + ": " + reason(e), e);
    } finally {
      clear(content);
    }
  }

  /**
   * Copies a key file as it is into a new file of mode 0600, whole or not at all.
   *
   * @throws WritException as {@link #write}; {@code CAN-057} also where the old file cannot be read
   */
  public static void copy(Path from, Path to, DurableFiles disk) {
    byte[] content = null;
    try {
      content = content(from);
      boolean plain = Pem.parse(content).filter(pem -> pem.label().equals(Pem.PLAIN)).isPresent();
      NewFile.write(to, content, plain, disk);
    } catch (IOException e) {
      throw new WritException(CanonicalizeError.KEY_FILE, "writing " + to + ": " + reason(e), e);
    } finally {
      clear(content);
    }
  }

  /**
   * @throws WritException {@code CAN-072} for a plain file that others may read
   */
  public static void requireOwnersAlone(Path path) throws IOException {
    byte[] content = content(path);
    try {
      if (Pem.parse(content).filter(pem -> pem.label().equals(Pem.PLAIN)).isPresent()) {
        requireOwnersAlone(path, attributes(path));
      }
    } finally {
      clear(content);
    }
  }

  /**
   * Reads a key.
   *
   * @param passphrase asked only where the file is encrypted; null or empty means there is none.
   *     The array is the caller's to clear
   * @throws WritException {@code CAN-070} missing, {@code CAN-072} plain and not the owner's alone,
   *     {@code CAN-073} no regular file (a symbolic link among them), {@code CAN-074} no key file,
   *     {@code CAN-075} a key or encryption of another algorithm, {@code CAN-076} wrong passphrase,
   *     {@code CAN-077} no passphrase, {@code CAN-057} not readable
   */
  public static SigningKey read(Path path, Supplier<char[]> passphrase) {
    byte[] content = null;
    byte[] der = null;
    try {
      BasicFileAttributes before = attributes(path);
      content = content(path);
      requireUnchanged(path, before);
      if (Pem.hasSec1(content)) {
        throw new WritException(
            CanonicalizeError.KEY_FILE_MALFORMED,
            path
                + " is a key in SEC1 form (EC PRIVATE KEY), not PKCS#8: convert it by openssl pkcs8"
                + " -topk8 -nocrypt -in OLD -out NEW, without -nocrypt to have NEW encrypted");
      }
      Optional<Pem> pem = Pem.parse(content);
      if (pem.isEmpty()) {
        throw new WritException(
            CanonicalizeError.KEY_FILE_MALFORMED, path + " is not one whole PEM block");
      }
      der = pem.get().der();
      return switch (pem.get().label()) {
        case Pem.PLAIN -> {
          requireOwnersAlone(path, before);
          yield plain(path, der);
        }
        case Pem.ENCRYPTED -> encrypted(path, der, passphrase);
        default ->
            throw new WritException(
                CanonicalizeError.KEY_FILE_MALFORMED,
                path + " holds no " + Pem.PLAIN + " and no " + Pem.ENCRYPTED);
      };
    } catch (NoSuchFileException e) {
      throw new WritException(CanonicalizeError.KEY_FILE_MISSING, path.toString(), e);
    } catch (IOException e) {
      throw new WritException(CanonicalizeError.KEY_FILE, "reading " + path + ": " + reason(e), e);
    } finally {
      clear(content);
      clear(der);
    }
  }

  /**
   * Another secret in a file, such as the PIN of a token, under the rules for a plain key.
   *
   * @return the content as it is, the caller's to clear
   * @throws WritException {@code CAN-070} missing, {@code CAN-072} not the owner's alone, {@code
   *     CAN-073} no regular file, {@code CAN-057} not readable
   */
  public static byte[] secret(Path path) {
    try {
      BasicFileAttributes before = attributes(path);
      requireOwnersAlone(path, before);
      byte[] content = content(path);
      requireUnchanged(path, before);
      return content;
    } catch (NoSuchFileException e) {
      throw new WritException(CanonicalizeError.KEY_FILE_MISSING, path.toString(), e);
    } catch (IOException e) {
      throw new WritException(CanonicalizeError.KEY_FILE, "reading " + path + ": " + reason(e), e);
    }
  }

  private static SigningKey plain(Path path, byte[] der) {
    return Pkcs8.decode(der)
        .orElseThrow(() ->
            Pkcs8.looksLikePkcs8(der)
                ? new WritException(
                    CanonicalizeError.KEY_FILE_ALGORITHM,
                    path + " is PKCS#8, but not of Ed25519, P-256 or an ML-DSA-65 seed in our form")
                : new WritException(
                    CanonicalizeError.KEY_FILE_MALFORMED, path + " is not whole PKCS#8"));
  }

  private static SigningKey encrypted(Path path, byte[] der, Supplier<char[]> passphrase) {
    char[] secret = passphrase.get();
    if (secret == null || secret.length == 0) {
      throw new WritException(CanonicalizeError.KEY_FILE_PASSPHRASE_MISSING, path.toString());
    }
    byte[] plain = null;
    try {
      plain = Pbes2.decrypt(der, secret);
      if (!Pkcs8.looksLikePkcs8(plain)) {
        // CBC padding lets one wrong passphrase in 256 through; what it yields is noise.
        throw new Pbes2.WrongPassphraseException();
      }
      return plain(path, plain);
    } catch (Pbes2.WrongPassphraseException e) {
      throw new WritException(CanonicalizeError.KEY_FILE_PASSPHRASE, path.toString());
    } catch (Pbes2.MalformedException e) {
      throw new WritException(
          CanonicalizeError.KEY_FILE_MALFORMED, path + " is not a whole encrypted PKCS#8 key");
    } catch (Pbes2.UnsupportedException e) {
      throw new WritException(CanonicalizeError.KEY_FILE_ALGORITHM, path + ": " + e.getMessage());
    } finally {
      clear(plain);
    }
  }

  /** The attributes of the path itself, of a regular file that may be a key. */
  private static BasicFileAttributes attributes(Path path) throws IOException {
    BasicFileAttributes found =
        NewFile.hasPosix(path)
            ? Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
            : Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!found.isRegularFile()) {
      throw new WritException(
          CanonicalizeError.KEY_FILE_KIND,
          path
              + (found.isSymbolicLink()
                  ? " is a symbolic link"
                  : found.isDirectory() ? " is a directory" : " is a device or a pipe"));
    }
    if (found.size() > BYTES_MAX) {
      throw new WritException(
          CanonicalizeError.KEY_FILE_MALFORMED,
          path + " has " + found.size() + " bytes, more than " + BYTES_MAX);
    }
    return found;
  }

  private static byte[] content(Path path) throws IOException {
    try (var in = Files.newInputStream(path, LinkOption.NOFOLLOW_LINKS)) {
      return in.readNBytes(BYTES_MAX);
    }
  }

  /** Refuses where the path began to mean another file while it was being read. */
  private static void requireUnchanged(Path path, BasicFileAttributes before) throws IOException {
    BasicFileAttributes after = attributes(path);
    if (!Objects.equals(before.fileKey(), after.fileKey())
        || !before.lastModifiedTime().equals(after.lastModifiedTime())) {
      throw new WritException(
          CanonicalizeError.KEY_FILE, path + " changed while it was being read");
    }
  }

  private static void requireOwnersAlone(Path path, BasicFileAttributes attributes) {
    if (!(attributes instanceof PosixFileAttributes posix)) {
      throw new WritException(
          CanonicalizeError.KEY_FILE_EXPOSED,
          path + " is plain, on a file system that has no POSIX permissions");
    }
    if (!OWNERS.containsAll(posix.permissions())) {
      throw new WritException(
          CanonicalizeError.KEY_FILE_EXPOSED,
          path
              + " is plain and has the mode "
              + PosixFilePermissions.toString(posix.permissions()));
    }
  }

  private static String reason(IOException e) {
    return e.getClass().getSimpleName() + " " + e.getMessage();
  }

  private static void clear(byte[] secret) {
    if (secret != null) {
      Arrays.fill(secret, (byte) 0);
    }
  }
}

package dev.writ.ledger.seal;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.Nondeterministic;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The folder of content keys, beside the ledger's directory and never in it (spec/retention.md,
 * Sealed contents): a wrapping key for each tenant, and for each owner a key that is wrapped by it.
 * One writer; readers see what is there. Safe for use by many threads.
 */
public final class ContentKeys {
  /** The folder's name, beside the ledger's directory. */
  public static final String FOLDER = "content-keys";

  private static final String TENANTS = "tenants";
  private static final String CURRENT = "current";
  private static final String RETIRED = "retired";
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BITS = 128;
  private static final HexFormat HEX = HexFormat.of();

  /** How many current keys are remembered; more are read again. */
  private static final int REMEMBERED_MAX = 1024;

  private final DurableFiles files;
  private final Path dir;
  private final Optional<SecureRandom> secrets;
  private final ReentrantLock lock = new ReentrantLock();
  private final TreeMap<ContentOwner, ContentKey> remembered = new TreeMap<>();
  private final TreeMap<String, Integer> uses = new TreeMap<>();

  /** Guarded by {@link #lock}. */
  private boolean settled;

  private ContentKeys(DurableFiles files, Path dir, Optional<SecureRandom> secrets) {
    this.files = files;
    this.dir = dir;
    this.secrets = secrets;
  }

  /**
   * The folder that belongs to a ledger; it is made with the first key.
   *
   * @param secrets draws keys and their ids
   */
  public static ContentKeys beside(DurableFiles files, Path ledgerDir, SecureRandom secrets) {
    return new ContentKeys(files, ledgerDir.resolveSibling(FOLDER), Optional.of(secrets));
  }

  /** The same for who reads alone. */
  public static ContentKeys reading(Path ledgerDir) {
    return new ContentKeys(DurableFiles.REAL, ledgerDir.resolveSibling(FOLDER), Optional.empty());
  }

  /**
   * The owner's key, made if there is none. It is in use until {@link #release}: what is sealed
   * under it may not be named by a row yet.
   *
   * @throws WritException {@code LED-098}
   */
  public ContentKey use(ContentOwner owner) {
    lock.lock();
    try {
      ContentKey key = remembered.get(owner);
      if (key == null) {
        settle();
        key = current(owner).orElseGet(() -> make(owner));
        if (remembered.size() >= REMEMBERED_MAX) {
          remembered.clear();
        }
        remembered.put(owner, key);
      }
      uses.merge(key.id(), 1, Integer::sum);
      return key;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Once in a process: folders and keys that a process before this one made may have their names in
   * the cache alone, and what lies under such a key would be lost with the power.
   */
  private void settle() {
    if (settled) {
      return;
    }
    try {
      for (String folder : List.of(TENANTS, CURRENT, RETIRED)) {
        files.createDirectories(dir.resolve(folder));
        files.syncDirectory(dir.resolve(folder));
      }
      files.syncDirectory(dir);
      files.syncDirectory(dir.getParent());
      settled = true;
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /** Ends one use: the row that names what was sealed is durable, or never will be. */
  public void release(String id) {
    lock.lock();
    try {
      uses.computeIfPresent(id, (_, n) -> n == 1 ? null : n - 1);
    } finally {
      lock.unlock();
    }
  }

  public boolean isUsed(String id) {
    lock.lock();
    try {
      return uses.containsKey(id);
    } finally {
      lock.unlock();
    }
  }

  /**
   * A key that is not destroyed.
   *
   * @throws WritException {@code LED-098} where the folder cannot be read
   */
  public Optional<ContentKey> find(ContentOwner owner, String id) {
    return current(owner)
        .filter(key -> key.id().equals(id))
        .or(() -> read(dir.resolve(RETIRED).resolve(id)));
  }

  /** A key for one content that is being written. */
  public SpoolKey spoolKey() {
    return new SpoolKey(random(ContentKey.BYTES));
  }

  /** Has the owner get another key from now on; the one before opens what it sealed. */
  public void retire(ContentOwner owner) {
    lock.lock();
    try {
      remembered.remove(owner);
      Optional<ContentKey> key = current(owner);
      if (key.isPresent()) {
        settle();
        Path kept = dir.resolve(RETIRED).resolve(key.get().id());
        // It has both names first: a crash may bring one directory to the disk without the other.
        if (!Files.exists(kept)) {
          Files.createLink(kept, file(owner));
        }
        files.syncDirectory(kept.getParent());
        Files.delete(file(owner));
        files.syncDirectory(dir.resolve(CURRENT));
      }
    } catch (IOException e) {
      throw unusable(e);
    } finally {
      lock.unlock();
    }
  }

  /** Keys that were retired and are not destroyed, by id. */
  public List<ContentKey> retired() {
    return files(RETIRED, "").stream().map(this::read).flatMap(Optional::stream).toList();
  }

  /** Whether any owner of a kind has a key now. */
  public boolean has(String kind) {
    return !files(CURRENT, kind + "-").isEmpty();
  }

  @Nondeterministic("they are sorted")
  private List<Path> files(String folder, String prefix) {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(dir.resolve(folder))) {
      for (Path file : stream) {
        String name = file.getFileName().toString();
        if (name.startsWith(prefix) && !name.startsWith(".")) {
          found.add(file);
        }
      }
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (IOException e) {
      throw unusable(e);
    }
    return found.stream().sorted().toList();
  }

  /**
   * Destroys a retired key: its file is written over, removed, and its directory synced. Done
   * again, it does nothing.
   *
   * @throws WritException {@code LED-098} where the disk refuses; then it may still be there
   */
  public void destroy(String id) {
    Path file = dir.resolve(RETIRED).resolve(id);
    try {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        ByteBuffer zeros = ByteBuffer.allocate(Math.toIntExact(channel.size()));
        while (zeros.hasRemaining()) {
          channel.write(zeros);
        }
        channel.force(true);
      }
      Files.delete(file);
      files.syncDirectory(file.getParent());
    } catch (NoSuchFileException e) {
      return;
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  private Path file(ContentOwner owner) {
    String name = String.join("\u0000", owner.tenant(), owner.kind(), owner.name());
    String hex = Digest.sha256(name.getBytes(StandardCharsets.UTF_8)).hex();
    return dir.resolve(CURRENT).resolve(owner.kind() + "-" + hex);
  }

  /** The key that the owner has now, if any. */
  public Optional<ContentKey> current(ContentOwner owner) {
    return read(file(owner)).filter(key -> key.owner().equals(owner));
  }

  private ContentKey make(ContentOwner owner) {
    ContentKey key = new ContentKey(owner, HEX.formatHex(random(16)), random(ContentKey.BYTES));
    try {
      files.write(file(owner), wrapped(key));
    } catch (IOException e) {
      throw unusable(e);
    }
    return key;
  }

  private Path tenantFile(String tenant) {
    return dir.resolve(TENANTS)
        .resolve(Digest.sha256(tenant.getBytes(StandardCharsets.UTF_8)).hex());
  }

  /** The tenant's wrapping key, made if there is none. */
  private byte[] wrappingKey(String tenant) throws IOException {
    Path file = tenantFile(tenant);
    if (!Files.exists(file)) {
      files.write(file, random(ContentKey.BYTES));
    }
    return Files.readAllBytes(file);
  }

  private byte[] wrapped(ContentKey key) throws IOException {
    byte[] nonce = random(NONCE_BYTES);
    byte[] sealed =
        wrap(Cipher.ENCRYPT_MODE, wrappingKey(key.owner().tenant()), nonce, key, key.secret());
    return Jcs.write(
        JsonValue.object()
            .put("id", key.id())
            .put("kind", key.owner().kind())
            .put("name", key.owner().name())
            .put("tenant", key.owner().tenant())
            .put("wrapped", HEX.formatHex(nonce) + HEX.formatHex(sealed))
            .build());
  }

  private Optional<ContentKey> read(Path file) {
    byte[] stored;
    try {
      stored = Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw unusable(e);
    }
    try {
      Fields fields = Fields.of("key", Jcs.parse(stored));
      String id = fields.name("id");
      ContentOwner owner =
          new ContentOwner(fields.name("tenant"), fields.name("kind"), fields.name("name"));
      byte[] bytes = HEX.parseHex(fields.name("wrapped"));
      fields.end();
      byte[] nonce = Arrays.copyOf(bytes, NONCE_BYTES);
      byte[] sealed = Arrays.copyOfRange(bytes, NONCE_BYTES, bytes.length);
      byte[] wrapping = Files.readAllBytes(tenantFile(owner.tenant()));
      ContentKey named = new ContentKey(owner, id, new byte[0]);
      return Optional.of(
          new ContentKey(owner, id, wrap(Cipher.DECRYPT_MODE, wrapping, nonce, named, sealed)));
    } catch (IOException | WritException | IllegalArgumentException e) {
      throw new WritException(
          LedgerError.KEYS_UNUSABLE, file.getFileName() + ": " + e.getClass().getSimpleName(), e);
    }
  }

  private static byte[] wrap(int mode, byte[] wrapping, byte[] nonce, ContentKey of, byte[] bytes) {
    try {
      Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
      cipher.init(mode, new SecretKeySpec(wrapping, "AES"), new GCMParameterSpec(TAG_BITS, nonce));
      cipher.updateAAD(
          ("writ-content-key/1 " + of.id() + " " + of.owner()).getBytes(StandardCharsets.UTF_8));
      return cipher.doFinal(bytes);
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("its tag is wrong", e);
    }
  }

  private byte[] random(int length) {
    byte[] bytes = new byte[length];
    secrets.orElseThrow().nextBytes(bytes);
    return bytes;
  }

  private WritException unusable(IOException e) {
    return new WritException(LedgerError.KEYS_UNUSABLE, dir + ": " + e.getMessage(), e);
  }
}

package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.form.Keys;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The tenants' uploads: they count against the quota from the first byte, and are pinned while a
 * request that names them is at work. Thread safe. The stored rows are authoritative; this is a
 * summary of them.
 */
public final class Uploads {
  /**
   * Rows {@code digest 0x1f tenant}: when it was put last, its size, whether a document names it.
   */
  public static final String TABLE = "upload";

  /** The size that the smallest blob counts for: its rows take room, too. */
  static final long BYTES_MIN = 4096;

  /** One tenant's claim on a blob. */
  public record Claim(Instant at, long size, boolean named) {
    byte[] toBytes() {
      return ByteBuffer.allocate(17)
          .putLong(at.toEpochMilli())
          .putLong(size)
          .put((byte) (named ? 1 : 0))
          .array();
    }

    public static Claim parse(byte[] row) {
      if (row.length != 17) {
        throw new WritException(LedgerError.CORRUPT, "an upload's row of " + row.length + " bytes");
      }
      ByteBuffer bytes = ByteBuffer.wrap(row);
      return new Claim(
          Instant.ofEpochMilli(bytes.getLong()), bytes.getLong(), bytes.get() == (byte) 1);
    }

    long counted() {
      return Math.max(size, BYTES_MIN);
    }
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final TreeMap<String, Claim> claims = new TreeMap<>();
  private final TreeMap<String, StorageUse> used = new TreeMap<>();
  private final TreeMap<String, Long> reserved = new TreeMap<>();
  private final TreeMap<String, Integer> pins = new TreeMap<>();
  private Optional<Mentions> watching = Optional.empty();

  static Uploads load(LedgerState ledger) {
    Uploads uploads = new Uploads();
    ledger.scan(
        TABLE,
        "",
        (key, row) -> {
          digest(key);
          uploads.put(key, Claim.parse(row));
          return true;
        });
    return uploads;
  }

  static String key(Digest digest, String tenant) {
    return digest.hex() + Keys.SEPARATOR + tenant;
  }

  /** The digest of a stored key. */
  public static Digest digest(String key) {
    if (key.length() <= 2 * Digest.LENGTH || key.charAt(2 * Digest.LENGTH) != Keys.SEPARATOR) {
      throw new WritException(
          LedgerError.CORRUPT, "an upload's key of " + key.length() + " characters");
    }
    return Digest.parse("sha256:" + hex(key));
  }

  static String hex(String key) {
    return key.substring(0, 2 * Digest.LENGTH);
  }

  static String tenant(String key) {
    return key.substring(2 * Digest.LENGTH + 1);
  }

  /** After the row is durable. */
  void put(String key, Claim claim) {
    lock.lock();
    try {
      remove(key);
      claims.put(key, claim);
      used.merge(tenant(key), new StorageUse(claim.counted(), 1), StorageUse::plus);
    } finally {
      lock.unlock();
    }
  }

  /** After the row is gone. */
  void remove(String key) {
    lock.lock();
    try {
      Claim before = claims.remove(key);
      if (before != null) {
        used.merge(tenant(key), new StorageUse(-before.counted(), -1), StorageUse::plus);
      }
    } finally {
      lock.unlock();
    }
  }

  /** By tenant, what is stored. */
  TreeMap<String, StorageUse> used() {
    lock.lock();
    try {
      return new TreeMap<>(used);
    } finally {
      lock.unlock();
    }
  }

  /** The bytes reserved for one upload, taken as they arrive and released by {@link #close}. */
  final class Reservation implements AutoCloseable {
    private final String tenant;
    private final long quota;
    private final Optional<Digest> content;
    private long bytes;

    private Reservation(String tenant, long quota, Optional<Digest> content) {
      this.tenant = tenant;
      this.quota = quota;
      this.content = content;
    }

    /**
     * @throws WritException {@code LED-080} where it would be more than the quota
     */
    void reach(long size) {
      long more = Math.max(size, BYTES_MIN) - bytes;
      if (more <= 0) {
        return;
      }
      lock.lock();
      try {
        long stored = used.getOrDefault(tenant, StorageUse.NONE).bytes() - replaced();
        long coming = reserved.getOrDefault(tenant, 0L);
        if (stored + coming + more > quota) {
          throw new WritException(
              LedgerError.QUOTA,
              stored + " bytes are stored, " + (coming + more) + " are coming, at most " + quota);
        }
        reserved.merge(tenant, more, Long::sum);
        bytes += more;
      } finally {
        lock.unlock();
      }
    }

    /** What the same content counts for already, if it is there: it counts once. */
    private long replaced() {
      return content.map(digest -> claims.get(key(digest, tenant))).map(Claim::counted).orElse(0L);
    }

    @Override
    public void close() {
      lock.lock();
      try {
        reserved.merge(tenant, -bytes, Long::sum);
        reserved.remove(tenant, 0L);
        bytes = 0;
      } finally {
        lock.unlock();
      }
    }
  }

  /**
   * @param content what comes, where that is known, and compared before it is stored
   */
  Reservation reserve(String tenant, long quota, Optional<Digest> content) {
    return new Reservation(tenant, quota, content);
  }

  /** Keeps these from being collected until it is closed. */
  Ledger.Pin pin(Collection<Digest> digests) {
    lock.lock(); // waits for a collection that is removing
    try {
      digests.forEach(digest -> pins.merge(digest.hex(), 1, Integer::sum));
    } finally {
      lock.unlock();
    }
    return () -> {
      lock.lock();
      try {
        digests.forEach(
            digest -> pins.computeIfPresent(digest.hex(), (_, n) -> n == 1 ? null : n - 1));
      } finally {
        lock.unlock();
      }
    };
  }

  boolean isPinned(String hex) {
    return pins.containsKey(hex);
  }

  Claim claim(String key) {
    return claims.get(key);
  }

  /** Keys of all claims on that content. */
  List<String> ofContent(String hex) {
    return new ArrayList<>(
        claims.subMap(hex + Keys.SEPARATOR, hex + (char) (Keys.SEPARATOR + 1)).keySet());
  }

  /** The first claims that no document is known to name and that are older than a time. */
  List<String> unnamedBefore(Instant before, int max) {
    lock.lock();
    try {
      return claims.entrySet().stream()
          .filter(e -> !e.getValue().named() && e.getValue().at().isBefore(before))
          .limit(max)
          .map(Map.Entry::getKey)
          .toList();
    } finally {
      lock.unlock();
    }
  }

  /** Searches documents that are written from now on for these. */
  void watch(Optional<Mentions> mentions) {
    lock.lock();
    try {
      watching = mentions;
    } finally {
      lock.unlock();
    }
  }

  /** A document is about to be written. */
  void written(byte[] payload) {
    lock.lock();
    try {
      watching.ifPresent(mentions -> mentions.look(payload));
    } finally {
      lock.unlock();
    }
  }

  /** Runs a step that excludes pins and uploads. */
  void exclusively(Runnable step) {
    lock.lock();
    try {
      step.run();
    } finally {
      lock.unlock();
    }
  }
}

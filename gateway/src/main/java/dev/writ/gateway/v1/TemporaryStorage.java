package dev.writ.gateway.v1;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * The room on disk for bundles that are made or sent. The temporary directory may lie on the disk
 * of the ledger, and a client decides how long its bundle lies there. So a quarter of what is free
 * stays free, and a tenant's bundles take half of the rest at most. Thread safe.
 */
final class TemporaryStorage {
  /** What is asked for at once, so that not every write asks the file system. */
  private static final long STEP_BYTES = 1 << 20;

  private final Usable usable;
  private final Map<String, Long> taken = new HashMap<>();
  private long all;

  /** How many bytes a file system still has. */
  interface Usable {
    long bytes() throws IOException;
  }

  TemporaryStorage(Usable usable) {
    this.usable = usable;
  }

  /** That of the host's temporary directory. */
  static TemporaryStorage ofHost() {
    Path directory = Path.of(System.getProperty("java.io.tmpdir"));
    return new TemporaryStorage(() -> Files.getFileStore(directory).getUsableSpace());
  }

  /** What one bundle takes, until it is closed. */
  final class Lease implements AutoCloseable {
    private final String tenant;
    private long granted;
    private long used;

    private Lease(String tenant) {
      this.tenant = tenant;
    }

    /**
     * The bundle is about to grow.
     *
     * @throws WritException {@code GWY-051}, {@code GWY-050}
     */
    void grow(long bytes) {
      used += bytes;
      if (used > granted) {
        long more = Math.max(used - granted, STEP_BYTES);
        take(tenant, more);
        granted += more;
      }
    }

    @Override
    public void close() {
      free(tenant, granted);
      granted = 0;
    }
  }

  Lease lease(String tenant) {
    return new Lease(tenant);
  }

  private synchronized void take(String tenant, long bytes) {
    long free;
    try {
      free = usable.bytes();
    } catch (IOException e) {
      throw new WritException(GatewayError.STORAGE, e.getClass().getSimpleName(), e);
    }
    long room = (all + free) / 4 * 3; // what lies there is no longer free
    long own = taken.getOrDefault(tenant, 0L);
    if (all + bytes > room || own + bytes > room / 2) {
      throw new WritException(
          GatewayError.STORAGE_BUSY,
          own + bytes + " bytes for the tenant, at most " + room / 2 + "; in all at most " + room);
    }
    taken.put(tenant, own + bytes);
    all += bytes;
  }

  private synchronized void free(String tenant, long bytes) {
    taken.computeIfPresent(tenant, (_, own) -> own == bytes ? null : Long.valueOf(own - bytes));
    all -= bytes;
  }
}

package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import java.util.List;
import java.util.Optional;

/**
 * What one call holds of the server until its answer is out: a place and memory. Before its
 * credential is verified that is taken from what is set aside for such calls, afterwards from what
 * its tenant and its credential may use. Thread safe.
 */
public final class HttpAdmission implements AutoCloseable {
  /** A body is held, parsed, written canonically and decoded: about so many times at once. */
  private static final int COPIES = 4;

  /** What the parsed form of one element of a JSON document takes at most. */
  private static final int BYTES_PER_ELEMENT = 96;

  private final ConcurrencyLimiter places;
  private final Runnable evicted;
  private ConcurrencyLimiter.Held place = ConcurrencyLimiter.Held.NONE;
  private List<Shares.Share> memory = List.of();
  private long bytes;
  private Optional<WritException> over = Optional.empty();

  /**
   * @param evicted called when the call lost what it held to a newer one
   */
  HttpAdmission(ConcurrencyLimiter places, Runnable evicted) {
    this.places = places;
    this.evicted = evicted;
  }

  /**
   * From now on it is a call of that tenant and credential.
   *
   * @throws WritException {@code GWY-025} to {@code GWY-027}, {@code GWY-035}, {@code GWY-038}
   */
  public synchronized void admit(String tenant, String credential) {
    requireHeld();
    places.known(this);
    release(); // one place at a time: the last one of a tenant may be its own
    long held = bytes;
    bytes = 0;
    place = places.work(tenant, credential);
    memory = places.memory(tenant, credential);
    take(held);
  }

  /** Nobody has said yet whose call it is. */
  synchronized void unverified(ConcurrencyLimiter.Held of, List<Shares.Share> memoryOf) {
    place = of;
    memory = memoryOf;
  }

  /**
   * Takes memory.
   *
   * @throws WritException {@code GWY-037}, {@code GWY-038}, {@code GWY-047}
   */
  public void reserve(long more) {
    places.reserve(this, more);
  }

  /** The same, without anybody's making room for it. */
  synchronized void take(long more) {
    requireHeld();
    for (Shares.Share share : memory) {
      if (bytes + more > share.max()) {
        throw new WritException(
            GatewayError.MEMORY_NEEDED, bytes + more + " bytes, at most " + share.max());
      }
    }
    places.memory().take(memory, more);
    bytes += more;
  }

  /**
   * Takes the memory that reading a JSON document needs. Elements are counted as if none stood in a
   * text, which is never too few.
   *
   * @throws WritException {@code GWY-037}, {@code GWY-038}, {@code GWY-047}
   */
  public void weigh(byte[] json) {
    long elements = 0;
    for (byte b : json) {
      if (b == ',' || b == '[' || b == '{' || b == ':') {
        elements++;
      }
    }
    reserve((long) COPIES * json.length + BYTES_PER_ELEMENT * elements);
  }

  /**
   * Its answer is a stream: it gives back its place and takes one of those.
   *
   * @throws WritException {@code GWY-039}, {@code GWY-042}
   */
  synchronized void stream() {
    requireHeld();
    ConcurrencyLimiter.Held other = places.stream(place);
    place.free();
    place = other;
  }

  /**
   * The work is done and the answer, counted as memory, is about to be sent. The place is free
   * before the caller can know that: its next call may come with the last byte.
   */
  synchronized void answered() {
    place = place.left();
  }

  /** It loses what it holds. */
  void evict(WritException why) {
    synchronized (this) {
      if (over.isPresent()) {
        return;
      }
      over = Optional.of(why);
      release();
    }
    evicted.run();
  }

  /** Why it lost what it held. */
  synchronized Optional<WritException> over() {
    return over;
  }

  private void requireHeld() {
    if (over.isPresent()) {
      throw over.get();
    }
  }

  private void release() {
    place.free();
    place = ConcurrencyLimiter.Held.NONE;
    places.memory().free(memory, bytes);
    memory = List.of();
  }

  @Override
  public void close() {
    places.known(this);
    synchronized (this) {
      release();
      bytes = 0;
      over = over.or(() -> Optional.of(new WritException(GatewayError.SERVER_BUSY, "it is over")));
    }
  }
}

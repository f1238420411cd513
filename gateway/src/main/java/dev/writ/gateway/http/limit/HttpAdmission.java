package dev.writ.gateway.http.limit;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import java.util.List;
import java.util.Optional;

/**
 * The place and the memory that one call holds until its answer is sent. Before its credential is
 * verified they count against the limits for unverified calls, afterwards against those of its
 * tenant and credential. Thread safe.
 */
public final class HttpAdmission implements AutoCloseable {
  /**
   * A body is held raw, parsed, in canonical form and decoded: up to about so many copies at once.
   */
  private static final int COPIES = 4;

  /** The most memory that the parsed form of one JSON element takes, in bytes. */
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
  public HttpAdmission(ConcurrencyLimiter places, Runnable evicted) {
    this.places = places;
    this.evicted = evicted;
  }

  /**
   * Counts the call against the limits of that tenant and credential from now on.
   *
   * @throws WritException {@code GWY-025} to {@code GWY-027}, {@code GWY-035}, {@code GWY-038}
   */
  public synchronized void admit(String tenant, String credential) {
    requireHeld();
    places.known(this);
    release(); // before taking another: a tenant with one free place needs it
    long held = bytes;
    bytes = 0;
    place = places.work(tenant, credential);
    memory = places.memory(tenant, credential);
    take(held);
  }

  /** Counts the call as unverified. */
  public synchronized void unverified(ConcurrencyLimiter.Held of, List<Shares.Share> memoryOf) {
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

  /** The same, without ending older calls to make room. */
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

  /** Gives back some of the memory that it took. */
  public synchronized void giveBack(long less) {
    long given = Math.min(less, bytes);
    places.memory().free(memory, given);
    bytes -= given;
  }

  /**
   * Takes the memory that parsing a JSON document needs. Separators inside strings count as
   * elements, too, so the estimate is never too low.
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
   * Exchanges its place for one of streams, for a streamed answer.
   *
   * @throws WritException {@code GWY-039}, {@code GWY-042}
   */
  public synchronized void stream() {
    requireHeld();
    ConcurrencyLimiter.Held other = places.stream(place);
    place.free();
    place = other;
  }

  /**
   * Frees the place before the answer is sent; the memory of the answer stays counted. It must be
   * free before the caller sees the answer, because the caller's next call may come right after the
   * last byte.
   */
  public synchronized void answered() {
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
  public synchronized Optional<WritException> over() {
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

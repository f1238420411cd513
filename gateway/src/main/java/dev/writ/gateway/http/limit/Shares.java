package dev.writ.gateway.http.limit;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts the use of a limited resource under several names at once: the server, an address, a
 * tenant, a credential. A name that uses nothing takes no memory. Thread safe.
 */
public final class Shares {
  private final Map<String, Long> used = new HashMap<>();

  /**
   * The limit for one name.
   *
   * @param full the refusal if the limit is reached
   */
  record Share(String name, long max, GatewayError full) {}

  /**
   * Takes an amount under every name, or under none.
   *
   * @throws WritException the refusal of the first share that has not enough left
   */
  synchronized void take(List<Share> shares, long amount) {
    for (Share share : shares) {
      long now = used(share.name());
      if (amount > share.max() - now) {
        throw new WritException(
            share.full(), now + " and " + amount + " more, at most " + share.max());
      }
    }
    shares.forEach(share -> used.merge(share.name(), amount, Long::sum));
  }

  /** Gives back what was taken. */
  synchronized void free(List<Share> shares, long amount) {
    for (Share share : shares) {
      used.computeIfPresent(share.name(), (_, now) -> now == amount ? null : now - amount);
    }
    notifyAll();
  }

  /** What is in use under a name. */
  synchronized long used(String name) {
    return used.getOrDefault(name, 0L);
  }
}

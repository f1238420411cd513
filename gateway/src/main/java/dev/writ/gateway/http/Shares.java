package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts what is in use of something limited, under several names at once: the server's, an
 * address's, a tenant's, a credential's. A name that uses nothing takes no memory. Thread safe.
 */
final class Shares {
  private final Map<String, Long> used = new HashMap<>();

  /**
   * What may be in use under one name.
   *
   * @param full the refusal where it is used up
   */
  record Share(String name, long max, GatewayError full) {}

  /**
   * Takes an amount under every name, or under none.
   *
   * @throws WritException the first share's refusal that has not so much left
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

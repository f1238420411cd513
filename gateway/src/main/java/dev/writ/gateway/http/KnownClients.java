package dev.writ.gateway.http;

import dev.writ.gateway.http.auth.Caller;
import java.util.TreeMap;

/**
 * How many connections each tenant and each credential has shown itself on. Whoever has more than
 * its part keeps none of them from others. Not thread safe.
 */
final class KnownClients {
  /** The parts of all connections, those that tenant and credential have of calls at work. */
  private static final int OF_TENANT = 4;

  private static final int OF_CREDENTIAL = 8;

  private final int connectionsMax;
  private final TreeMap<String, Integer> open = new TreeMap<>();

  /**
   * @param connectionsMax open at once in all
   */
  KnownClients(int connectionsMax) {
    this.connectionsMax = connectionsMax;
  }

  void add(Caller caller) {
    open.merge(tenant(caller), 1, Integer::sum);
    open.merge(credential(caller), 1, Integer::sum);
  }

  void remove(Caller caller) {
    remove(tenant(caller));
    remove(credential(caller));
  }

  private void remove(String name) {
    open.computeIfPresent(name, (_, count) -> count == 1 ? null : count - 1);
  }

  /** Whether its credential has more than its part. */
  boolean credentialHasMany(Caller caller) {
    return open.getOrDefault(credential(caller), 0) > connectionsMax / OF_CREDENTIAL;
  }

  /** Whether its tenant has more than its part. */
  boolean tenantHasMany(Caller caller) {
    return open.getOrDefault(tenant(caller), 0) > connectionsMax / OF_TENANT;
  }

  private static String tenant(Caller caller) {
    return "tenant " + caller.tenant();
  }

  private static String credential(Caller caller) {
    return "credential " + caller.credential();
  }
}

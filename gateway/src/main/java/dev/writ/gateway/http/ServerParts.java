package dev.writ.gateway.http;

import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;

/**
 * What every exchange of a server uses.
 *
 * @param hosts by which names it may be called
 * @param doors who may come in, which can change
 * @param failures is told what no code foresees; nothing of it goes out
 */
record ServerParts(
    HttpLimits limits,
    Router router,
    Hosts hosts,
    AtomicReference<IngressPolicy> doors,
    ConcurrencyLimiter places,
    Observer observer,
    BiConsumer<TraceContext, Throwable> failures,
    InstantSource clock,
    SecureRandom random) {

  /** For a caller that brings none. */
  TraceContext newTrace() {
    byte[] ids = new byte[24];
    random.nextBytes(ids);
    String hex = HexFormat.of().formatHex(ids);
    return new TraceContext(hex.substring(0, 32), hex.substring(32), "00", Optional.empty(), false);
  }
}

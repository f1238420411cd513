package dev.writ.gateway.http;

import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;

/**
 * The parts that all exchanges of a server share.
 *
 * @param hosts the host names that it accepts
 * @param doors who may call; can change
 * @param failures gets unexpected exceptions; clients see nothing of them
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

  /** A new trace context, for a caller that sends none. */
  TraceContext newTrace() {
    byte[] ids = new byte[24];
    random.nextBytes(ids);
    String hex = HexFormat.of().formatHex(ids);
    return new TraceContext(hex.substring(0, 32), hex.substring(32), "00", Optional.empty(), false);
  }
}

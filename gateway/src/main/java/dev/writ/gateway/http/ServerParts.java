package dev.writ.gateway.http;

import dev.writ.gateway.http.limit.ConcurrencyLimiter;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.message.Headers;
import dev.writ.gateway.http.message.TraceContext;
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
 * @param cells what it knows of the installation's cells
 * @param failures gets unexpected exceptions; clients see nothing of them
 */
public record ServerParts(
    HttpLimits limits,
    Router router,
    Hosts hosts,
    AtomicReference<IngressPolicy> doors,
    ConcurrencyLimiter places,
    TenantCells cells,
    Observer observer,
    BiConsumer<TraceContext, Throwable> failures,
    InstantSource clock,
    SecureRandom random) {

  /** The span of a call: in its caller's trace, or else in a new one. */
  TraceContext trace(Headers headers) {
    return TraceContext.of(headers, this::newSpan).orElseGet(this::newTrace);
  }

  private String newSpan() {
    byte[] id = new byte[8];
    random.nextBytes(id);
    return HexFormat.of().formatHex(id);
  }

  /** A trace that begins here. */
  public TraceContext newTrace() {
    byte[] ids = new byte[24];
    random.nextBytes(ids);
    String hex = HexFormat.of().formatHex(ids);
    String traceId = hex.substring(0, 32);
    return new TraceContext(
        traceId,
        hex.substring(32),
        observer.isSampled(traceId) ? "01" : "00",
        Optional.empty(),
        Optional.empty());
  }
}

package dev.writ.grpc;

import dev.writ.gateway.http.IngressCall;
import io.grpc.Context;
import io.grpc.Metadata;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What a call holds, until both gRPC and the work on it are done with it: a client that goes away
 * frees no place while its effect still runs. Thread safe.
 */
final class HeldCall {
  /** The call of the current context. */
  static final Context.Key<HeldCall> KEY = Context.key("writ-call");

  private final IngressCall call;
  private final Metadata trailers = new Metadata();
  private final AtomicInteger holders = new AtomicInteger(1);

  HeldCall(IngressCall call) {
    this.call = call;
  }

  IngressCall call() {
    return call;
  }

  /** A further holder, who releases it. */
  HeldCall hold() {
    holders.incrementAndGet();
    return this;
  }

  void release() {
    if (holders.decrementAndGet() == 0) {
      call.close();
    }
  }

  /** Adds trailing metadata; before the call's end is sent. */
  synchronized void trailer(String name, String value) {
    trailers.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
  }

  synchronized void addTrailers(Metadata to) {
    to.merge(trailers);
  }
}

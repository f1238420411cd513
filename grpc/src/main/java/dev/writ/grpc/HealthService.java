package dev.writ.grpc;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Ingress;
import dev.writ.gateway.http.IngressCall;
import dev.writ.grpc.proto.ToolGatewayGrpc;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.TreeMap;

/** {@code grpc.health.v1}: serving while {@code GET /ready} answers 200. */
final class HealthService extends HealthGrpc.HealthImplBase {
  private static final long LOOK_AGAIN_MS = 1_000;

  /** Watches need no credential, so there are few. */
  private static final int WATCHES_MAX = 64;

  /** Nobody takes all of them with one host. */
  private static final int WATCHES_OF_HOST_MAX = 16;

  /** The whole server, and its service. */
  private static final List<String> KNOWN = List.of("", ToolGatewayGrpc.SERVICE_NAME);

  private final Ingress ingress;

  /** How many each host has. */
  private final TreeMap<String, Integer> watches = new TreeMap<>();

  /** Notified where a watch should look before its time. */
  private final Object look = new Object();

  private boolean closing;

  HealthService(Ingress ingress) {
    this.ingress = ingress;
  }

  @Override
  public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> out) {
    if (!KNOWN.contains(request.getService())) {
      out.onError(Status.NOT_FOUND.withDescription("no such service").asRuntimeException());
      return;
    }
    out.onNext(response(now()));
    out.onCompleted();
  }

  @Override
  public void watch(HealthCheckRequest request, StreamObserver<HealthCheckResponse> observer) {
    var out = (ServerCallStreamObserver<HealthCheckResponse>) observer;
    IngressCall call = HeldCall.KEY.get().call();
    String host = call.remote();
    try {
      take(host);
    } catch (WritException e) {
      out.onError(GrpcStatuses.refusal(e, call.trace()));
      return;
    }
    out.setOnCancelHandler(this::lookNow);
    boolean known = KNOWN.contains(request.getService());
    Thread.ofVirtual()
        .name("writ-grpc-health")
        .start(() -> {
          try {
            watch(known, out);
          } finally {
            giveBack(host);
          }
        });
  }

  private void take(String host) {
    synchronized (watches) {
      int ofHost = watches.getOrDefault(host, 0);
      int all = watches.values().stream().mapToInt(Integer::intValue).sum();
      if (ofHost >= WATCHES_OF_HOST_MAX || all >= WATCHES_MAX) {
        throw new WritException(
            GatewayError.ALL_STREAMS_BUSY, all + " watches, " + ofHost + " of this host");
      }
      watches.put(host, ofHost + 1);
    }
  }

  private void giveBack(String host) {
    synchronized (watches) {
      watches.computeIfPresent(host, (_, count) -> count == 1 ? null : count - 1);
    }
  }

  private void watch(boolean known, ServerCallStreamObserver<HealthCheckResponse> out) {
    ServingStatus told = ServingStatus.UNKNOWN;
    while (!out.isCancelled()) {
      ServingStatus now = known ? now() : ServingStatus.SERVICE_UNKNOWN;
      if (now != told) {
        out.onNext(response(now));
        told = now;
      }
      synchronized (look) {
        if (closing) {
          out.onError(Status.UNAVAILABLE.withDescription("the server closes").asRuntimeException());
          return;
        }
        try {
          look.wait(LOOK_AGAIN_MS);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
      }
    }
  }

  /** Tells the watches what has changed. */
  void lookNow() {
    synchronized (look) {
      look.notifyAll();
    }
  }

  /** Ends the watches. */
  void close() {
    synchronized (look) {
      closing = true;
      look.notifyAll();
    }
  }

  private ServingStatus now() {
    return ingress.isReady() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  }

  private static HealthCheckResponse response(ServingStatus status) {
    return HealthCheckResponse.newBuilder().setStatus(status).build();
  }
}

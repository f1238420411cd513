package dev.writ.grpc;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Ingress;
import dev.writ.gateway.http.IngressCall;
import dev.writ.gateway.http.Problems;
import dev.writ.gateway.http.message.Headers;
import dev.writ.grpc.proto.ToolGatewayGrpc;
import dev.writ.surfaces.tools.ToolsSurface;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCall;
import io.grpc.ForwardingServerCallListener;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.net.SocketAddress;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/**
 * Authenticates each call by its metadata and takes its place, before gRPC asks the client for the
 * message. Health and reflection need no credential.
 */
final class AdmittingInterceptor implements ServerInterceptor {
  private final Ingress ingress;
  private final ScheduledExecutorService timers;

  /**
   * @param timers end calls whose message does not arrive in time
   */
  AdmittingInterceptor(Ingress ingress, ScheduledExecutorService timers) {
    this.ingress = ingress;
    this.timers = timers;
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata metadata, ServerCallHandler<Q, A> next) {
    boolean open =
        !ToolGatewayGrpc.SERVICE_NAME.equals(call.getMethodDescriptor().getServiceName());
    HeldCall held = new HeldCall(begin(call, metadata, open));
    try {
      admit(held.call(), open);
    } catch (WritException e) {
      return refused(call, held, e);
    } catch (RuntimeException e) {
      return refused(call, held, held.call().unforeseen(e));
    }
    ServerCall<Q, A> told = new TellingCall<>(call, held);
    AtomicBoolean whole = new AtomicBoolean();
    Future<?> timer =
        timers.schedule(
            () -> tooSlow(told, held, whole, open),
            ingress.limits().bodyWithin().toMillis(),
            TimeUnit.MILLISECONDS);
    Context context = Context.current().withValue(HeldCall.KEY, held);
    return new AdmittedListener<>(
        Contexts.interceptCall(context, told, metadata, next), held, timer, whole, open);
  }

  private <Q, A> IngressCall begin(ServerCall<Q, A> call, Metadata metadata, boolean open) {
    return ingress.call(
        open ? GrpcSurface.NAME : ToolsSurface.NAME,
        "POST",
        "/" + call.getMethodDescriptor().getFullMethodName(),
        headers(call, metadata),
        certificates(call),
        remote(call));
  }

  private static void admit(IngressCall call, boolean open) {
    if (open) {
      call.open();
    } else {
      call.admit();
    }
    call.expect(ToolsSurface.BODY_BYTES_MAX);
  }

  private static <Q, A> ServerCall.Listener<Q> refused(
      ServerCall<Q, A> call, HeldCall held, WritException e) {
    StatusRuntimeException told = GrpcStatuses.refusal(e, held.call().trace());
    ended(held, e);
    held.release();
    call.close(told.getStatus(), told.getTrailers());
    return new ServerCall.Listener<>() {};
  }

  /** Tells the observers of a call that no service got. */
  private static void ended(HeldCall held, WritException e) {
    held.call().begun();
    held.call()
        .finished(
            Problems.status(e.code()),
            Optional.of(e.code().code()),
            0,
            Optional.empty(),
            Optional.empty());
  }

  private static void tooSlow(
      ServerCall<?, ?> call, HeldCall held, AtomicBoolean whole, boolean open) {
    if (whole.compareAndSet(false, true)) {
      WritException tooSlow = new WritException(GatewayError.TOO_SLOW, "");
      StatusRuntimeException told = GrpcStatuses.refusal(tooSlow, held.call().trace());
      if (!open) { // of those the listener tells
        ended(held, tooSlow);
      }
      call.close(told.getStatus(), told.getTrailers());
    }
  }

  /** Metadata in the form of header fields; what is binary is left out. */
  private static Headers headers(ServerCall<?, ?> call, Metadata metadata) {
    List<Map.Entry<String, String>> pairs = new ArrayList<>();
    if (call.getAuthority() != null) {
      pairs.add(Map.entry("host", call.getAuthority()));
    }
    for (String name : metadata.keys()) {
      if (!name.endsWith(Metadata.BINARY_HEADER_SUFFIX) && !name.equals("host")) {
        Iterable<String> values =
            metadata.getAll(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
        values.forEach(value -> pairs.add(Map.entry(name, value)));
      }
    }
    return Headers.of(pairs);
  }

  private static List<X509Certificate> certificates(ServerCall<?, ?> call) {
    SSLSession session = call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
    if (session == null) {
      return List.of();
    }
    try {
      return Arrays.stream(session.getPeerCertificates()).map(X509Certificate.class::cast).toList();
    } catch (SSLPeerUnverifiedException e) {
      return List.of();
    }
  }

  private static SocketAddress remote(ServerCall<?, ?> call) {
    return call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
  }

  /** Adds the trailing metadata of a call that the service states. */
  private static final class TellingCall<Q, A>
      extends ForwardingServerCall.SimpleForwardingServerCall<Q, A> {
    private final HeldCall held;

    TellingCall(ServerCall<Q, A> call, HeldCall held) {
      super(call);
      this.held = held;
    }

    @Override
    public void close(Status status, Metadata trailers) {
      held.addTrailers(trailers);
      super.close(status, trailers);
    }
  }

  /** Follows a call until gRPC is done with it. */
  private static final class AdmittedListener<Q>
      extends ForwardingServerCallListener.SimpleForwardingServerCallListener<Q> {
    private final HeldCall held;
    private final Future<?> timer;
    private final AtomicBoolean whole;
    private final boolean open;

    AdmittedListener(
        ServerCall.Listener<Q> next,
        HeldCall held,
        Future<?> timer,
        AtomicBoolean whole,
        boolean open) {
      super(next);
      this.held = held;
      this.timer = timer;
      this.whole = whole;
      this.open = open;
    }

    @Override
    public void onHalfClose() {
      timer.cancel(false);
      if (whole.compareAndSet(false, true)) {
        held.call().arrived();
        super.onHalfClose();
      }
    }

    @Override
    public void onComplete() {
      over();
      super.onComplete();
    }

    @Override
    public void onCancel() {
      over();
      super.onCancel();
    }

    private void over() {
      timer.cancel(false);
      if (open) {
        held.call().begun();
        held.call().finished(200, Optional.empty(), -1, Optional.empty(), Optional.empty());
      }
      held.release();
    }
  }
}

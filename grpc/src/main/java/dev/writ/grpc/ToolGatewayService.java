package dev.writ.grpc;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Ingress;
import dev.writ.gateway.http.IngressCall;
import dev.writ.gateway.http.Problems;
import dev.writ.grpc.proto.ToolGatewayGrpc;
import dev.writ.grpc.proto.ToolGatewayProto.EventsRequest;
import dev.writ.grpc.proto.ToolGatewayProto.ExecEvent;
import dev.writ.grpc.proto.ToolGatewayProto.ExecRequest;
import dev.writ.grpc.proto.ToolGatewayProto.ExecResponse;
import dev.writ.surfaces.tools.ExecCalls;
import dev.writ.surfaces.tools.ToolsSurface;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;

/**
 * Seed 002's calls. The work is done on threads of its own, since gRPC tells of a cancelled call
 * only once the method has returned.
 */
final class ToolGatewayService extends ToolGatewayGrpc.ToolGatewayImplBase {
  private final ToolsSurface tools;
  private final Ingress ingress;
  private volatile boolean closing;

  ToolGatewayService(ToolsSurface tools, Ingress ingress) {
    this.tools = tools;
    this.ingress = ingress;
  }

  /** Ends the streams that follow. */
  void close() {
    closing = true;
    tools.stream().wake();
  }

  private boolean ends() {
    return closing || ingress.isDraining();
  }

  @Override
  public void exec(ExecRequest request, StreamObserver<ExecResponse> observer) {
    ServerCallStreamObserver<ExecResponse> out = (ServerCallStreamObserver<ExecResponse>) observer;
    HeldCall held = HeldCall.KEY.get().hold();
    Cancellation cancellation = new Cancellation(tools.calls(), held.call().caller());
    out.setOnCancelHandler(cancellation::cancel);
    Thread.ofVirtual()
        .name("writ-grpc")
        .start(() -> work(held, out, () -> exec(request, held, cancellation, out)));
  }

  @Override
  public void events(EventsRequest request, StreamObserver<ExecEvent> observer) {
    ServerCallStreamObserver<ExecEvent> out = (ServerCallStreamObserver<ExecEvent>) observer;
    HeldCall held = HeldCall.KEY.get().hold();
    EventSink sink = new EventSink(out, () -> ends() || !held.call().isLetIn());
    Thread.ofVirtual()
        .name("writ-grpc")
        .start(() -> work(held, out, () -> events(request, held.call(), sink, out)));
  }

  /** What ends a call, and what the observers are told of it. */
  private interface Work {
    Outcome run() throws IOException;
  }

  /**
   * How a call ended.
   *
   * @param send sends it, once the call's place is free
   * @param status in HTTP
   */
  private record Outcome(
      int status,
      Optional<String> code,
      long bytes,
      Optional<String> request,
      Optional<String> receipt,
      Runnable send) {}

  private static void work(HeldCall held, StreamObserver<?> out, Work work) {
    IngressCall call = held.call();
    call.begun();
    Outcome outcome;
    try {
      outcome = work.run();
    } catch (WritException e) {
      outcome = refused(e, call, out);
    } catch (IOException | RuntimeException | StackOverflowError e) {
      outcome = refused(call.unforeseen(e), call, out);
    }
    try {
      call.answered();
      outcome.send().run();
    } catch (RejectedExecutionException e) {
      // The server has stopped: nobody is left to be told.
    } finally {
      call.finished(
          outcome.status(), outcome.code(), outcome.bytes(), outcome.request(), outcome.receipt());
      held.release();
    }
  }

  private static Outcome refused(WritException e, IngressCall call, StreamObserver<?> out) {
    return ended(
        Problems.status(e.code()), e.code().code(), GrpcStatuses.refusal(e, call.trace()), out);
  }

  private static Outcome ended(
      int status, String code, StatusRuntimeException told, StreamObserver<?> out) {
    return new Outcome(
        status, Optional.of(code), 0, Optional.empty(), Optional.empty(), () -> out.onError(told));
  }

  private Outcome exec(
      ExecRequest request,
      HeldCall held,
      Cancellation cancellation,
      StreamObserver<ExecResponse> out) {
    IngressCall call = held.call();
    byte[] body = ExecMessages.json(request);
    call.weigh(body);
    ExecCalls.Asked asked = new ExecCalls.Asked(call.caller(), body, call.trace());
    return switch (tools.calls().exec(asked, cancellation::begins)) {
      case ExecCalls.Ended.Denied denied -> {
        denied
            .signed()
            .ifPresent(signed -> {
              held.trailer("writ-request", signed.request().toString());
              held.trailer("writ-decision", signed.decision().toString());
            });
        yield ended(denied.status(), denied.code(), GrpcStatuses.denial(denied, call.trace()), out);
      }
      case ExecCalls.Ended.Executed done -> executed(done, held, out);
    };
  }

  private static Outcome executed(
      ExecCalls.Ended.Executed done, HeldCall held, StreamObserver<ExecResponse> out) {
    ExecResponse response = ExecMessages.response(done.response());
    String request = done.request().toString();
    String receipt = done.receipt().toString();
    held.trailer("writ-request", request);
    held.trailer("writ-receipt", receipt);
    return new Outcome(
        200,
        Optional.empty(),
        response.getSerializedSize(),
        Optional.of(request),
        Optional.of(receipt),
        () -> {
          out.onNext(response);
          out.onCompleted();
        });
  }

  private Outcome events(
      EventsRequest request, IngressCall call, EventSink sink, StreamObserver<ExecEvent> out)
      throws IOException {
    if (request.hasLastEventId()
        && (request.getLastEventId() < 0 || request.getLastEventId() == Long.MAX_VALUE)) {
      throw new WritException(GatewayError.PARAMETER, "last_event_id is no place in the log");
    }
    long from = request.hasLastEventId() ? request.getLastEventId() + 1 : 0;
    boolean follows = !request.hasFollow() || request.getFollow();
    tools.stream().requireInLog(from);
    call.stream();
    tools.stream().follow(call.caller(), from, follows, sink);
    if (ends()) {
      throw new WritException(GatewayError.DRAINING, "");
    }
    if (!call.isLetIn()) {
      throw new WritException(GatewayError.NOT_AUTHENTICATED, "as it was when the stream began");
    }
    return new Outcome(
        200, Optional.empty(), -1, Optional.empty(), Optional.empty(), out::onCompleted);
  }
}

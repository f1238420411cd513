package dev.writ.grpc;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.grpc.proto.ToolGatewayProto.ExecEvent;
import dev.writ.surfaces.tools.ExecStream;
import io.grpc.stub.ServerCallStreamObserver;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.function.BooleanSupplier;

/**
 * Sends entries as fast as the client reads. While gRPC holds as much as it may for this call, the
 * next entry is not read from the journal.
 */
final class EventSink implements ExecStream.Receiver {
  private static final long LOOK_AGAIN_MS = 1_000;

  private final ServerCallStreamObserver<ExecEvent> out;
  private final BooleanSupplier ends;

  /**
   * To be made before the service's method returns.
   *
   * @param ends whether the server drains or closes, or the caller would not be let in any more
   */
  EventSink(ServerCallStreamObserver<ExecEvent> out, BooleanSupplier ends) {
    this.out = out;
    this.ends = ends;
    out.setOnReadyHandler(this::wake);
    out.setOnCancelHandler(this::wake);
  }

  private synchronized void wake() {
    notifyAll();
  }

  @Override
  public void entry(long index, JsonValue.Obj fields) throws IOException {
    awaitReady();
    if (!isClosing()) {
      out.onNext(ExecMessages.event(index, fields));
    }
  }

  private synchronized void awaitReady() throws IOException {
    while (!out.isReady() && !isClosing()) {
      try {
        wait(LOOK_AGAIN_MS); // a drain wakes nobody
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException();
      }
    }
  }

  @Override
  public void waiting() {}

  @Override
  public boolean isClosing() {
    return out.isCancelled() || ends.getAsBoolean();
  }
}

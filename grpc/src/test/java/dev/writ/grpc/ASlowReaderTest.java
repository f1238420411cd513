package dev.writ.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.gateway.http.Listen;
import dev.writ.grpc.proto.ToolGatewayGrpc;
import dev.writ.grpc.proto.ToolGatewayProto.EventsRequest;
import dev.writ.grpc.proto.ToolGatewayProto.ExecEvent;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A reader that stands still holds little of the server and loses nothing. */
class ASlowReaderTest {
  private static final int ENTRIES = 40;

  @TempDir private Path dir;

  /** Bytes between client and server, counted. */
  private static final class Wire implements AutoCloseable {
    final ServerSocket accepting = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    final AtomicLong toClient = new AtomicLong();
    private final int port;

    Wire(int port) throws IOException {
      this.port = port;
      Thread.ofVirtual().start(this::accept);
    }

    private void accept() {
      try {
        Socket client = accepting.accept();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
        Thread.ofVirtual().start(() -> copy(client, server, new AtomicLong()));
        Thread.ofVirtual().start(() -> copy(server, client, toClient));
      } catch (IOException e) {
        // closed
      }
    }

    private static void copy(Socket from, Socket to, AtomicLong count) {
      byte[] buffer = new byte[8192];
      try (InputStream in = from.getInputStream();
          OutputStream out = to.getOutputStream()) {
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          count.addAndGet(n);
          out.write(buffer, 0, n);
        }
      } catch (IOException e) {
        // one side has gone
      }
    }

    @Override
    public void close() throws IOException {
      accepting.close();
    }
  }

  /** Asks for one entry at a time. */
  private static final class Reader implements ClientResponseObserver<EventsRequest, ExecEvent> {
    final BlockingQueue<ExecEvent> read = new LinkedBlockingQueue<>();
    final BlockingQueue<Status> ended = new LinkedBlockingQueue<>();
    ClientCallStreamObserver<EventsRequest> call;

    @Override
    public void beforeStart(ClientCallStreamObserver<EventsRequest> stream) {
      call = stream;
      stream.disableAutoRequestWithInitial(0);
    }

    @Override
    public void onNext(ExecEvent event) {
      read.add(event);
    }

    @Override
    public void onError(Throwable e) {
      ended.add(Status.fromThrowable(e));
    }

    @Override
    public void onCompleted() {
      ended.add(Status.OK);
    }

    ExecEvent next() throws InterruptedException {
      call.request(1);
      ExecEvent event = read.poll(60, TimeUnit.SECONDS);
      assertThat(event).isNotNull();
      return event;
    }
  }

  @Test
  void aReaderThatStandsStillIsSentNoMoreThanItsWindowAndLosesNothing() throws Exception {
    try (GrpcToolServer server = new GrpcToolServer(dir, Listen.loopback(0));
        Wire wire = new Wire(server.port())) {
      server.does("x".repeat(4_000), "y".repeat(4_000));
      List<String> done = new ArrayList<>();
      for (int i = 0; i < ENTRIES; i++) {
        done.add(server.as("alice").exec(GrpcToolServer.example().build()).getExecId());
      }
      ManagedChannel channel =
          NettyChannelBuilder.forAddress("127.0.0.1", wire.accepting.getLocalPort())
              .usePlaintext()
              .flowControlWindow(65_535)
              .build();
      Reader reader = new Reader();
      GrpcToolServer.with(ToolGatewayGrpc.newStub(channel), "Bearer token-of-alice")
          .events(EventsRequest.getDefaultInstance(), reader);
      ExecEvent first = reader.next();
      assertThat(first.getExecId()).isEqualTo(done.getFirst());
      // Another reader reads all of it meanwhile, so the first one had the time to be sent all.
      assertThat(server.as("alice").events(EventsRequest.newBuilder().setFollow(false).build()))
          .toIterable()
          .hasSize(ENTRIES);
      assertThat(wire.toClient.get()).as("of " + ENTRIES * 8_000L).isLessThan(2 * 65_535L);
      List<String> read = new ArrayList<>(List.of(first.getExecId()));
      ExecEvent last = first;
      while (read.size() < ENTRIES / 2) {
        last = reader.next();
        read.add(last.getExecId());
      }
      reader.call.cancel("it goes on elsewhere", null);
      Reader resumed = new Reader();
      GrpcToolServer.with(ToolGatewayGrpc.newStub(channel), "Bearer token-of-alice")
          .events(EventsRequest.newBuilder().setLastEventId(last.getId()).build(), resumed);
      while (read.size() < ENTRIES) {
        read.add(resumed.next().getExecId());
      }
      assertThat(read).containsExactlyElementsOf(done);

      // A drain ends what follows, and says so.
      server.seed.drain();
      resumed.call.request(1);
      Status ended = resumed.ended.poll(60, TimeUnit.SECONDS);
      assertThat(ended.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(ended.getDescription()).startsWith("GWY-027");
      assertThatThrownBy(() -> server.as("alice").exec(GrpcToolServer.example().build()))
          .isInstanceOfSatisfying(
              StatusRuntimeException.class,
              e -> assertThat(GrpcToolServer.code(e)).isEqualTo("GWY-027"));
      channel.shutdownNow();
    }
  }
}

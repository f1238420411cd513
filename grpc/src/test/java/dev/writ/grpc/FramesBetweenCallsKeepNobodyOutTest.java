package dev.writ.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.limit.HttpLimits;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a client sends between its calls is no incomplete head of a request: it takes nothing of
 * what all such heads may take together, in which other clients would find no room.
 */
class FramesBetweenCallsKeepNobodyOutTest {
  private static final int FRAME_BYTES = 16_000;
  private static final int DATA = 0;
  private static final int HEADERS = 1;
  private static final int SETTINGS = 4;
  private static final int PING = 6;

  /** A kind of frame that a server has to ignore (RFC 9113, 4.1). */
  private static final int UNKNOWN = 0x55;

  private static final int END_STREAM = 1;
  private static final int ACK = 1;
  private static final int END_HEADERS = 4;

  @TempDir private Path dir;

  @Test
  void aKnownClientThatFloodsTakesNothingFromOthers() throws Exception {
    try (GrpcToolServer server = new GrpcToolServer(dir, Listen.loopback(0));
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.setSoTimeout(60_000);
      OutputStream out = socket.getOutputStream();
      DataInputStream in = new DataInputStream(socket.getInputStream());
      out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      frame(out, SETTINGS, 0, 0, new byte[0]);
      frame(out, HEADERS, END_HEADERS, 1, call());
      frame(out, DATA, END_STREAM, 1, new byte[5]); // an empty message
      awaitFrame(in, HEADERS, END_STREAM);

      for (long sent = 0; sent < 2 * HttpLimits.DEFAULT.memoryMax() / 64; sent += FRAME_BYTES) {
        frame(out, UNKNOWN, 0, 0, new byte[FRAME_BYTES]);
      }
      frame(out, PING, 0, 0, new byte[8]);
      awaitFrame(in, PING, ACK); // all of it was read, and it has not lost its connection

      assertThat(server.as("alice").exec(GrpcToolServer.example().build()).getExitCode()).isZero();
    }
  }

  /** The head of a call, in literals (RFC 7541, 6.2.2). */
  private static byte[] call() {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    for (Map.Entry<String, String> field :
        List.of(
            Map.entry(":method", "POST"),
            Map.entry(":scheme", "http"),
            Map.entry(":path", "/writ.tools.v1.ToolGateway/Exec"),
            Map.entry(":authority", "localhost"),
            Map.entry("content-type", "application/grpc"),
            Map.entry("te", "trailers"),
            Map.entry("authorization", "Bearer token-of-alice"))) {
      head.write(0);
      for (String text : List.of(field.getKey(), field.getValue())) {
        head.write(text.length());
        head.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
      }
    }
    return head.toByteArray();
  }

  private static void frame(OutputStream out, int kind, int flags, int stream, byte[] payload)
      throws IOException {
    int length = payload.length;
    ByteArrayOutputStream frame = new ByteArrayOutputStream();
    frame.writeBytes(new byte[] {(byte) (length >> 16), (byte) (length >> 8), (byte) length});
    frame.writeBytes(new byte[] {(byte) kind, (byte) flags, 0, 0, 0, (byte) stream});
    frame.writeBytes(payload);
    out.write(frame.toByteArray());
  }

  /** Reads until such a frame has come. */
  private static void awaitFrame(DataInputStream in, int kind, int flag) throws IOException {
    boolean found = false;
    while (!found) {
      int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
      int read = in.readUnsignedByte();
      int flags = in.readUnsignedByte();
      in.readInt();
      in.readNBytes(length);
      found = read == kind && (flags & flag) != 0;
    }
  }
}

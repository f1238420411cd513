package dev.writ.sandbox.docker;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Any bytes whatever from a service: a head that reads back as itself when it is written, a body
 * within its bound, and frames within theirs; or SBX-009.
 */
class ResponseFuzzTest {
  private static final int MOST = 1 << 16;

  static Stream<byte[]> seeds() {
    return Stream.of(
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\nx: z\r\n\r\n{}",
            "HTTP/1.1 500 \r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nT: u\r\n\r\n",
            "HTTP/1.1 101 UPGRADED\r\n\r\n\1\0\0\0\0\0\0\2ab\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\3abc",
            "HTTP/1.1 200\r\n\r\n[1, 2]")
        .map(text -> text.getBytes(StandardCharsets.ISO_8859_1));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void isReadWithinItsBoundsOrRefused(byte[] bytes) throws IOException {
    InputStream in = new ByteArrayInputStream(bytes);
    try {
      ResponseHead head = ResponseHead.read(in);
      requireSame(head);
      if (head.status() == 101) {
        frames(in);
      } else {
        byte[] body = ResponseBody.read(head, in, MOST);
        if (body.length > MOST || head.bodiless() && body.length > 0) {
          throw new AssertionError("a body beyond its bound");
        }
        DockerAnswer.read(body).text("message");
      }
    } catch (WritException e) {
      if (e.code() != SandboxError.ENGINE_ANSWER) {
        throw e;
      }
    }
  }

  private static void requireSame(ResponseHead head) throws IOException {
    StringBuilder text = new StringBuilder("HTTP/1.1 " + head.status() + " \r\n");
    head.headers()
        .forEach((name, value) -> text.append(name).append(": ").append(value).append("\r\n"));
    byte[] written = (text + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
    if (!ResponseHead.read(new ByteArrayInputStream(written)).equals(head)) {
      throw new AssertionError("a head that changes when it is written");
    }
  }

  private static void frames(InputStream in) throws IOException {
    for (Optional<FrameHead> head = FrameHead.read(in);
        head.isPresent();
        head = FrameHead.read(in)) {
      int stream = head.get().stream();
      if (stream != 1 && stream != 2 || head.get().length() < 0) {
        throw new AssertionError("a frame of no stream");
      }
      in.skipNBytes(Math.min(head.get().length(), in.available()));
    }
  }
}

package dev.writ.sandbox.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AnswersAreReadStrictlyTest {
  private static final int MOST = 1_000;

  private static InputStream in(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  private static String body(String text) throws Exception {
    InputStream in = in(text);
    byte[] body = ResponseBody.read(ResponseHead.read(in), in, MOST);
    return new String(body, StandardCharsets.ISO_8859_1);
  }

  @Test
  void bodiesEndAsTheirHeadsSay() throws Exception {
    assertThat(body("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd")).isEqualTo("abc");
    assertThat(
            body(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
                    + "2;x\r\nab\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nmore"))
        .isEqualTo("ab0123456789");
    assertThat(body("HTTP/1.1 200\r\n\r\nto the end")).isEqualTo("to the end");
    assertThat(body("HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc")).isEmpty();
    assertThat(ResponseHead.read(in("HTTP/1.1 200 OK\r\nX:  a \t\r\nx:b\r\n\r\n")).headers())
        .isEqualTo(Map.of("x", "a,b"));
  }

  @Test
  void whatIsMalformedIsNeverGuessedAt() {
    String ok = "HTTP/1.1 200 OK\r\n";
    for (String bad :
        List.of(
            "",
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.1 200 OK\n\n",
            "HTTP/2 200 OK\r\n\r\n",
            "HTTP/1.1 99 OK\r\n\r\n",
            "HTTP/1.1 2000 OK\r\n\r\n",
            "SSH-2.0-OpenSSH\r\n\r\n",
            ok + "No colon\r\n\r\n",
            ok + " folded: x\r\n\r\n",
            ok + "A : b\r\n\r\n",
            ok + "A: b\nC: d\r\n\r\n",
            ok + "A: \0\r\n\r\n",
            ok + "A: " + "x".repeat(20_000) + "\r\n\r\n",
            ok + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na",
            ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na",
            ok + "Transfer-Encoding: gzip, chunked\r\n\r\n",
            ok + "Content-Length: -1\r\n\r\n",
            ok + "Content-Length: +1\r\n\r\na",
            ok + "Content-Length: 1, 1\r\n\r\na",
            ok + "Content-Length: 9999999999999999999\r\n\r\n",
            ok + "Content-Length: 2\r\n\r\na",
            ok + "Content-Length: 1001\r\n\r\n" + "a".repeat(1_001),
            ok + "\r\n" + "a".repeat(1_001),
            ok + "Transfer-Encoding: chunked\r\n\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n-1\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n3E9\r\n" + "a".repeat(1_001) + "\r\n0\r\n\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\na",
            ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + "T: u\r\n".repeat(40) + "\r\n")) {
      assertThatThrownBy(() -> body(bad)).as(bad).hasMessageContaining("SBX-009");
    }
  }

  @Test
  void framesAreOfStdoutOrStderrAndWhole() throws Exception {
    assertThat(FrameHead.read(in("\1\0\0\0\0\0\1\2"))).hasValue(new FrameHead(1, 258));
    assertThat(FrameHead.read(in("\2\0\0\0\0\0\0\0"))).hasValue(new FrameHead(2, 0));
    assertThat(FrameHead.read(in(""))).isEmpty();
    for (String bad :
        List.of(
            "\1\0\0\0\0\0\1",
            "\0\0\0\0\0\0\0\1",
            "\3\0\0\0\0\0\0\1",
            "\1\0\1\0\0\0\0\1",
            "\1\0\0\0\1\0\0\1",
            "\1\0\0\0\u00ff\0\0\1",
            "HTTP/1.1")) {
      assertThatThrownBy(() -> FrameHead.read(in(bad))).as(bad).hasMessageContaining("SBX-009");
    }
  }

  @Test
  void anAnswerHasWhatIsAskedForInItsKindOrIsRefused() {
    DockerAnswer answer =
        DockerAnswer.read(
            "{\"a\":\"x\",\"b\":null,\"n\":1.5,\"l\":[1]}".getBytes(StandardCharsets.US_ASCII));
    assertThat(answer.text("a")).isEqualTo("x");
    assertThat(answer.text("b")).isEmpty();
    assertThat(answer.text("absent")).isEmpty();
    assertThatThrownBy(() -> answer.number("a")).hasMessageContaining("SBX-009");
    assertThatThrownBy(() -> answer.number("n")).hasMessageContaining("SBX-009");
    assertThatThrownBy(() -> answer.flag("a")).hasMessageContaining("SBX-009");
    assertThatThrownBy(() -> answer.texts("l")).hasMessageContaining("SBX-009");
    assertThatThrownBy(() -> answer.inner("a")).hasMessageContaining("SBX-009");
    for (String bad : List.of("", "[]", "{", "{\"a\":1,\"a\":2}", "null")) {
      assertThatThrownBy(() -> DockerAnswer.read(bad.getBytes(StandardCharsets.US_ASCII)))
          .as(bad)
          .hasMessageContaining("SBX-009");
    }
  }

  @Test
  void aServiceThatSaysWhatWouldBeAnotherPathIsRefused(@TempDir Path folder) throws Exception {
    Path socket = folder.resolve("s");
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(socket));
      Thread service = Thread.ofVirtual().start(() -> serve(server));
      assertThatThrownBy(() -> ApiClient.at(socket))
          .hasMessageContaining("SBX-009")
          .hasMessageContaining("version");
      service.join();
    }
    assertThatThrownBy(() -> ApiClient.at(folder.resolve("nobody")))
        .hasMessageContaining("SBX-009");
  }

  private static void serve(ServerSocketChannel server) {
    String body = "{\"ApiVersion\":\"1.41/../x\"}";
    String text = "HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
    try (var one = server.accept()) {
      one.read(ByteBuffer.allocate(1_024)); // else the connection is reset
      one.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void socketsAreLookedForWhereTheEnvironmentSays(@TempDir Path folder) throws Exception {
    Path one = Files.createFile(folder.resolve("one"));
    Path other = Files.createDirectories(folder.resolve("podman")).resolve("podman.sock");
    Files.createFile(other);
    assertThat(
            Sockets.look(
                Map.of("DOCKER_HOST", "unix://" + one, "XDG_RUNTIME_DIR", folder.toString())))
        .startsWith(one)
        .endsWith(other);
    assertThat(Sockets.look(Map.of("CONTAINER_HOST", "unix://" + one))).startsWith(one);
    assertThat(Sockets.look(Map.of("DOCKER_HOST", "tcp://127.0.0.1:2375")))
        .isEqualTo(Sockets.look(Map.of()));
  }
}

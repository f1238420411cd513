package dev.writ.sandbox.egress;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Any bytes whatever from a hostile program: a host and a port that are such, and lines for the
 * origin that are each exactly one and say nothing of the connection; or malformed.
 */
class ProxyRequestFuzzTest {
  private static final int MOST = 1 << 16;
  private static final List<String> OURS =
      List.of("connection:", "content-length:", "host:", "transfer-encoding:", "upgrade:");

  static Stream<byte[]> seeds() {
    return Stream.of(
            "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n",
            "GET http://a.test:80/x?y HTTP/1.1\r\nHost: b.test\r\nA: b\r\nProxy-X: c\r\n\r\n",
            "POST http://[::1] HTTP/1.0\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\n",
            "GET http://a.test/\nHost: b.test HTTP/1.1\r\nX: a\rb\nc\r\n\r\n",
            "PUT http://a.test HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
            "GET http://a.test?q HTTP/1.1\r\n\r\n")
        .map(text -> text.getBytes(StandardCharsets.ISO_8859_1));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void isOneRequestToOneHostOrMalformed(byte[] bytes) {
    ProxyRequest request;
    try {
      request = ProxyRequest.of(HttpHead.read(new ByteArrayInputStream(bytes), MOST));
    } catch (Malformed | EOFException e) {
      return;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (!request.host().matches("[a-z0-9._:-]{1,253}")
        || request.port() < 1
        || request.port() > 65_535) {
      throw new AssertionError("no host or no port");
    }
    if (!request.tunnel() && !request.target().matches("/[!-~]*")) {
      throw new AssertionError("a target that is no path");
    }
    requirePlain(HeaderRules.request(request));
    requirePlain(HeaderRules.brokeredRequest(request));
  }

  private static void requirePlain(List<String> lines) {
    for (String line : lines) {
      if (line.chars().anyMatch(c -> c < ' ' && c != '\t' || c == 0x7f)) {
        throw new AssertionError("a line within a line");
      }
      if (OURS.stream().anyMatch(name -> line.regionMatches(true, 0, name, 0, name.length()))) {
        throw new AssertionError("a line about the connection");
      }
    }
  }
}

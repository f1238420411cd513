package dev.writ.sandbox.egress;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Any bytes whatever from a hostile program: a host and a port that are such, and a head for the
 * origin that is exactly one request, with one Host and no other line than those that were checked;
 * or malformed.
 */
class ProxyRequestFuzzTest {

  static Stream<byte[]> seeds() {
    return Stream.of(
            "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n",
            "GET http://a.test:80/x?y#z HTTP/1.1\r\nHost: b.test\r\nA: b\r\nProxy-X: c\r\n\r\n",
            "POST http://[::1] HTTP/1.0\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\n",
            "GET http://a.test/\nHost: b.test HTTP/1.1\r\nX: a\rb\nc\r\n\r\n",
            "GET http://a.test?q HTTP/1.1\r\n\r\n")
        .map(text -> text.getBytes(StandardCharsets.ISO_8859_1));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void isOneRequestToOneHostOrMalformed(byte[] bytes) {
    ProxyRequest request;
    try {
      request = ProxyRequest.parse(new String(bytes, StandardCharsets.ISO_8859_1));
    } catch (ProxyRequest.Malformed e) {
      return;
    }
    if (!request.host().matches("[a-z0-9._:-]{1,253}")
        || request.port() < 1
        || request.port() > 65_535) {
      throw new AssertionError("no host or no port");
    }
    if (request.tunnel() != (request.head().length == 0)) {
      throw new AssertionError("a tunnel with a head, or a request without one");
    }
    if (!request.tunnel()) {
      requireOne(new String(request.head(), StandardCharsets.ISO_8859_1));
    }
  }

  private static void requireOne(String head) {
    if (!head.endsWith("\r\n\r\n") || head.indexOf("\r\n\r\n") != head.length() - 4) {
      throw new AssertionError("a head that ends early, or not");
    }
    if (head.replace("\r\n", "").chars().anyMatch(c -> c < ' ' && c != '\t' || c == 0x7f)) {
      throw new AssertionError("a line within a line");
    }
    List<String> lines = head.lines().map(l -> l.toLowerCase(Locale.ROOT)).toList();
    for (String once : List.of("host:", "connection:")) {
      if (lines.stream().filter(l -> l.startsWith(once)).count() != 1) {
        throw new AssertionError(once + " not once");
      }
    }
    if (lines.stream().anyMatch(l -> l.startsWith("proxy-"))
        || !lines.getFirst().matches("[a-z]+ /[^ ]* http/1\\.1")) {
      throw new AssertionError("a line that goes nowhere, or no request line");
    }
  }
}

package dev.writ.sandbox.egress;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The proxy reads the rest of what it refuses: a connection that is closed with bytes unread is
 * reset, and the answer is lost.
 */
class ARefusedCommandReadsItsAnswerTest {
  /** Fits into the buffers of a socket, and is more than the proxy reads for the head. */
  private static final int MORE = 1 << 17;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "POST http://nowhere.test/ HTTP/1.1\r\nContent-Length: 131072\r\n\r\n",
        "CONNECT nowhere.test:443 HTTP/1.1\r\n\r\n",
        "nonsense\r\n\r\n"
      })
  void thatHasMoreToSay(String head, @TempDir Path directory) throws IOException {
    Path socket = directory.resolve("p");
    byte[] all = Arrays.copyOf(head.getBytes(StandardCharsets.US_ASCII), head.length() + MORE);
    EgressProxy proxy = EgressProxy.open(socket, List.of(), _ -> List.of(), () -> null);
    try (proxy;
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.connect(UnixDomainSocketAddress.of(socket));
      ByteBuffer left = ByteBuffer.wrap(all);
      while (left.hasRemaining()) {
        channel.write(left);
      }
      channel.shutdownOutput();
      byte[] answer = Channels.newInputStream(channel).readAllBytes();
      assertThat(new String(answer, StandardCharsets.US_ASCII))
          .matches("(?s)HTTP/1.1 40[03] .*\r\n\r\nwrit: egress: .+\n");
    }
  }
}

package dev.writ.embed.signer;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.SignerError;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;

/** One message to an agent and its answer, each behind its length, over a Unix socket. */
final class AgentSocket {
  /** What agents take, and what is taken of them. */
  static final int MESSAGE_MAX = 256 << 10;

  private AgentSocket() {}

  /**
   * @param patience the longest time for all of it: people may be asked, or have to touch a device
   * @throws WritException {@code SGN-001} where nobody listens, {@code SGN-007} where the agent
   *     ends or says nothing in time, {@code SGN-006} for an answer of no possible length
   */
  static byte[] exchange(Path socket, byte[] message, Duration patience) {
    SocketChannel channel = connected(socket);
    try (channel;
        Selector selector = Selector.open()) {
      long until = System.nanoTime() + patience.toNanos();
      channel.configureBlocking(false);
      SelectionKey key = channel.register(selector, SelectionKey.OP_WRITE);
      ByteBuffer out = ByteBuffer.allocate(Integer.BYTES + message.length);
      out.putInt(message.length).put(message).flip();
      while (out.hasRemaining()) {
        await(selector, until);
        channel.write(out);
      }
      key.interestOps(SelectionKey.OP_READ);
      ByteBuffer length = read(channel, selector, Integer.BYTES, until);
      int size = length.getInt();
      if (size < 1 || size > MESSAGE_MAX) {
        throw new WritException(SignerError.GARBAGE, "an answer of " + size + " bytes");
      }
      return read(channel, selector, size, until).array();
    } catch (IOException e) {
      throw new WritException(SignerError.LOST, socket + ": " + e.getMessage(), e);
    }
  }

  private static SocketChannel connected(Path socket) {
    try {
      SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
      try {
        channel.connect(UnixDomainSocketAddress.of(socket));
        return channel;
      } catch (IOException | RuntimeException e) {
        channel.close();
        throw e;
      }
    } catch (IOException | UnsupportedOperationException e) {
      throw new WritException(SignerError.NO_AGENT, socket + ": " + e.getMessage(), e);
    }
  }

  private static ByteBuffer read(SocketChannel channel, Selector selector, int size, long until)
      throws IOException {
    ByteBuffer in = ByteBuffer.allocate(size);
    while (in.hasRemaining()) {
      await(selector, until);
      if (channel.read(in) < 0) {
        throw new WritException(SignerError.LOST, "it closed the connection");
      }
    }
    return in.flip();
  }

  private static void await(Selector selector, long until) throws IOException {
    long left = Duration.ofNanos(until - System.nanoTime()).toMillis();
    if (left <= 0 || selector.select(left) == 0) {
      throw new WritException(SignerError.LOST, "nothing came in time");
    }
    selector.selectedKeys().clear();
  }
}

package dev.writ.sandbox.egress;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;

/**
 * One end of a connection through the proxy.
 *
 * @param channel the underlying channel, which closing ends
 */
record Peer(SocketChannel channel, InputStream in, OutputStream out) {
  private static final int BUFFER = 1 << 14;

  static Peer of(SocketChannel channel) {
    return new Peer(
        channel,
        new BufferedInputStream(Channels.newInputStream(channel), BUFFER),
        Channels.newOutputStream(channel));
  }

  /** The same channel with a layer in between, such as TLS. */
  Peer through(InputStream input, OutputStream output) {
    return new Peer(channel, new BufferedInputStream(input, BUFFER), output);
  }

  void write(byte[] bytes) throws IOException {
    out.write(bytes);
    out.flush();
  }
}

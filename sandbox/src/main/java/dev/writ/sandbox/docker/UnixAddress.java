package dev.writ.sandbox.docker;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/** A Unix socket. */
final class UnixAddress extends ServiceAddress {
  private final Path socket;

  UnixAddress(Path socket) {
    this.socket = socket;
  }

  @Override
  ApiConnection open() throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.connect(UnixDomainSocketAddress.of(socket));
      return new ApiConnection(
          this,
          Channels.newInputStream(channel),
          Channels.newOutputStream(channel),
          channel::shutdownOutput,
          channel);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  @Override
  public String toString() {
    return socket.toString();
  }
}

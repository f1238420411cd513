package dev.writ.gateway.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.internal.SocketUtils;
import io.vertx.core.impl.transports.NioTransport;
import io.vertx.core.transport.Transport;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The JDK's sockets with a limit on accepted connections; one over the limit is closed at once, in
 * the accepting thread. Vert.x reports a connection on another thread, too late to stop a burst
 * from taking every descriptor of the process.
 */
final class BoundedTransport implements Transport {
  private final int connectionsMax;
  private final AtomicInteger open = new AtomicInteger();

  BoundedTransport(int connectionsMax) {
    this.connectionsMax = connectionsMax;
  }

  @Override
  public String name() {
    return "bounded nio";
  }

  @Override
  public boolean available() {
    return true;
  }

  @Override
  public Throwable unavailabilityCause() {
    return null;
  }

  @Override
  public io.vertx.core.spi.transport.Transport implementation() {
    return new NioTransport() {
      @Override
      public ChannelFactory<? extends ServerChannel> serverChannelFactory(boolean domainSocket) {
        return domainSocket ? super.serverChannelFactory(true) : Server::new;
      }
    };
  }

  /** A new accepting socket, for a server that Vert.x does not run. */
  ServerChannel server() {
    return new Server();
  }

  private final class Server extends NioServerSocketChannel {
    @Override
    protected int doReadMessages(List<Object> accepted) throws Exception {
      if (open.get() >= connectionsMax) {
        try (SocketChannel _ = SocketUtils.accept(javaChannel())) {
          return 0;
        }
      }
      int count = super.doReadMessages(accepted);
      if (count > 0) {
        open.incrementAndGet();
        ((Channel) accepted.getLast()).closeFuture().addListener(_ -> open.decrementAndGet());
      }
      return count;
    }
  }
}

package dev.writ.grpc;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Ingress;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.surfaces.tools.ToolsSurface;
import io.grpc.Codec;
import io.grpc.DecompressorRegistry;
import io.grpc.Server;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Serves the tool gateway over gRPC, on a port of its own beside HTTP's. */
public final class GrpcSurface implements Surface {
  public static final String NAME = "grpc";

  private static final int CALLS_PER_CONNECTION_MAX = 100;
  private static final int RESETS_MAX = 200;
  private static final int RESETS_WITHIN_S = 30;
  private static final int PING_EVERY_S = 120;
  private static final int PING_ANSWERED_WITHIN_S = 20;
  private static final int PINGS_OF_CLIENTS_EVERY_S = 10;
  private static final int IDLE_MAX_S = 300;
  private static final int STOPS_WITHIN_S = 5;

  /** Held, since a logger that nobody holds forgets its level. */
  private static final Logger LIBRARY = Logger.getLogger("io.grpc");

  static {
    LIBRARY.setLevel(Level.OFF); // it logs a stack for what clients do wrong; observers see calls
  }

  private final ToolsSurface tools;
  private final int port;
  private Optional<Running> running = Optional.empty();

  /**
   * @param tools the same surface over HTTP
   * @param port 0 for any free one
   */
  public GrpcSurface(ToolsSurface tools, int port) {
    this.tools = tools;
    this.port = port;
  }

  /** What its threads are. */
  private record Threads(
      EventLoopGroup loops, ScheduledExecutorService timers, ExecutorService handlers) {
    Threads() {
      this(
          new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory()),
          Executors.newSingleThreadScheduledExecutor(
              Thread.ofPlatform().daemon().name("writ-grpc-timers").factory()),
          Executors.newVirtualThreadPerTaskExecutor());
    }

    void end() {
      timers.shutdownNow();
      handlers.shutdown();
      loops.shutdownGracefully(0, STOPS_WITHIN_S, TimeUnit.SECONDS);
    }
  }

  private record Running(
      Server server, Threads threads, ToolGatewayService service, HealthService health) {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<Route> routes() {
    return List.of();
  }

  @Override
  public synchronized Optional<String> listen(Ingress ingress) {
    Threads threads = new Threads();
    String host = ingress.address().host();
    try {
      ToolGatewayService service = new ToolGatewayService(tools, ingress);
      HealthService health = new HealthService(ingress);
      Server server =
          builder(ingress, threads, host).addService(service).addService(health).build().start();
      running = Optional.of(new Running(server, threads, service, health));
      return Optional.of(url(ingress, host, server.getPort()));
    } catch (IOException e) {
      threads.end();
      throw new WritException(
          GatewayError.LISTEN_FAILED, host + ":" + port + ": " + e.getMessage(), e);
    }
  }

  private NettyServerBuilder builder(Ingress ingress, Threads threads, String host)
      throws IOException {
    HttpLimits limits = ingress.limits();
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(new InetSocketAddress(host, port))
            .channelFactory(ingress::serverChannel)
            .bossEventLoopGroup(threads.loops())
            .workerEventLoopGroup(threads.loops())
            .executor(threads.handlers())
            .maxInboundMessageSize(ToolsSurface.BODY_BYTES_MAX)
            .maxInboundMetadataSize(limits.headBytesMax())
            .maxConcurrentCallsPerConnection(CALLS_PER_CONNECTION_MAX)
            .maxRstFramesPerWindow(RESETS_MAX, RESETS_WITHIN_S)
            .handshakeTimeout(limits.headWithin().toMillis(), TimeUnit.MILLISECONDS)
            .flowControlWindow(NettyServerBuilder.DEFAULT_FLOW_CONTROL_WINDOW)
            .keepAliveTime(PING_EVERY_S, TimeUnit.SECONDS)
            .keepAliveTimeout(PING_ANSWERED_WITHIN_S, TimeUnit.SECONDS)
            .permitKeepAliveTime(PINGS_OF_CLIENTS_EVERY_S, TimeUnit.SECONDS)
            .maxConnectionIdle(IDLE_MAX_S, TimeUnit.SECONDS)
            .decompressorRegistry(
                DecompressorRegistry.emptyInstance().with(Codec.Identity.NONE, true))
            .intercept(new AdmittingInterceptor(ingress, threads.timers()))
            .addService(ProtoReflectionServiceV1.newInstance());
    Optional<SslContextBuilder> tls = ingress.tls();
    if (tls.isPresent()) {
      builder.sslContext(GrpcSslContexts.configure(tls.get(), SslProvider.JDK).build());
    }
    return builder;
  }

  private static String url(Ingress ingress, String host, int port) {
    String scheme = ingress.tls().isPresent() ? "grpcs" : "grpc";
    return scheme + "://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  /** The port that it listens on. */
  public synchronized int port() {
    return running.orElseThrow().server().getPort();
  }

  @Override
  public synchronized void drains() {
    running.ifPresent(started -> started.health().lookNow());
  }

  @Override
  public synchronized void close() {
    running.ifPresent(started -> {
      Server server = started.server().shutdown();
      started.service().close();
      started.health().close();
      try {
        if (!server.awaitTermination(STOPS_WITHIN_S, TimeUnit.SECONDS)) {
          server.shutdownNow();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        server.shutdownNow();
      }
      started.threads().end();
    });
    running = Optional.empty();
  }
}

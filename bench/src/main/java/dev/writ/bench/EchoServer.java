package dev.writ.bench;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import java.util.concurrent.atomic.AtomicInteger;

/** The floor of HTTP: Vert.x, its event loops, and nothing else. */
final class EchoServer implements AutoCloseable {
  private final Vertx vertx = Vertx.vertx();
  private final AtomicInteger port = new AtomicInteger();

  EchoServer() {
    vertx
        .deployVerticle(
            Echo::new,
            new DeploymentOptions().setInstances(Runtime.getRuntime().availableProcessors()))
        .toCompletionStage()
        .toCompletableFuture()
        .join();
  }

  private final class Echo extends VerticleBase {
    @Override
    public Future<?> start() {
      return vertx
          .createHttpServer(new HttpServerOptions().setHost("127.0.0.1").setPort(0))
          .requestHandler(request -> request.body().onSuccess(request.response()::end))
          .listen()
          .onSuccess(server -> port.set(server.actualPort()));
    }
  }

  int port() {
    return port.get();
  }

  @Override
  public void close() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }
}

package dev.writ.gateway.http;

import io.netty.bootstrap.ServerBootstrap;
import io.vertx.core.transport.Transport;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/**
 * Sockets that ask {@link Connections} at each accept, since Vert.x reports a connection only after
 * its TLS handshake.
 */
final class GuardedTransport implements Transport {
  private final Transport bounded;
  private final Connections connections;

  /**
   * @param bounded sockets with a hard limit
   */
  GuardedTransport(Transport bounded, Connections connections) {
    this.bounded = bounded;
    this.connections = connections;
  }

  @Override
  public String name() {
    return bounded.name();
  }

  @Override
  public boolean available() {
    return bounded.available();
  }

  @Override
  public Throwable unavailabilityCause() {
    return bounded.unavailabilityCause();
  }

  /**
   * Delegates everything to the JDK transport, and adds the guard to a server's bootstrap once it
   * is configured.
   */
  @Override
  public io.vertx.core.spi.transport.Transport implementation() {
    io.vertx.core.spi.transport.Transport sockets = bounded.implementation();
    Class<?> type = io.vertx.core.spi.transport.Transport.class;
    return (io.vertx.core.spi.transport.Transport)
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) -> {
              Object result;
              try {
                result = method.invoke(sockets, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
              if (method.getName().equals("configure")
                  && arguments[arguments.length - 1] instanceof ServerBootstrap bootstrap) {
                connections.guard(bootstrap);
              }
              return result;
            });
  }
}

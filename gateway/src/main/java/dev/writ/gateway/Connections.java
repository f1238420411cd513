package dev.writ.gateway;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The open connections. It closes those beyond the limits, and those that stand without a request
 * for too long: who sends a head byte by byte never gets further (slow loris).
 */
final class Connections {
  private final Limits limits;
  private final TreeMap<String, Integer> byAddress = new TreeMap<>();
  private final ConcurrentHashMap<HttpConnection, Watch> watches = new ConcurrentHashMap<>();
  private int open;

  Connections(Limits limits) {
    this.limits = limits;
  }

  /** One connection's clock, which runs while no request of it is being answered. */
  static final class Watch {
    private final HttpConnection connection;
    private final Timer timer;
    private final Limits limits;
    private int answering;
    private volatile TlsFiles.Trust letInBy;

    Watch(HttpConnection connection, Vertx vertx, Limits limits) {
      this.connection = connection;
      this.timer = new Timer(vertx);
      this.limits = limits;
      idle();
    }

    private void idle() {
      timer.set(limits.headWithin(), connection::close);
    }

    /** Under which trust in clients' certificates its own was verified last; null before. */
    TlsFiles.Trust letInBy() {
      return letInBy;
    }

    void letInBy(TlsFiles.Trust trust) {
      letInBy = trust;
    }

    void begin() {
      answering++;
      timer.cancel();
    }

    void end() {
      if (--answering == 0) {
        idle();
      }
    }
  }

  /** On the connection's event loop. */
  void opened(HttpConnection connection, Vertx vertx) {
    String address = address(connection);
    if (!enter(address)) {
      connection.close();
      return;
    }
    Watch watch = new Watch(connection, vertx, limits);
    watches.put(connection, watch);
    connection.closeHandler(_ -> {
      watch.timer.cancel();
      watches.remove(connection);
      leave(address);
    });
  }

  /** The watch of a connection; a new one's, that nobody asks again, where it is closing. */
  Watch watch(HttpConnection connection, Vertx vertx) {
    Watch watch = watches.get(connection);
    return watch != null ? watch : new Watch(connection, vertx, limits);
  }

  static String address(HttpConnection connection) {
    var remote = connection.remoteAddress();
    return remote == null || remote.hostAddress() == null ? "-" : remote.hostAddress();
  }

  private synchronized boolean enter(String address) {
    int ofAddress = byAddress.getOrDefault(address, 0);
    if (open >= limits.connectionsMax() || ofAddress >= limits.connectionsPerAddressMax()) {
      return false;
    }
    open++;
    byAddress.put(address, ofAddress + 1);
    return true;
  }

  private synchronized void leave(String address) {
    open--;
    byAddress.computeIfPresent(address, (_, count) -> count == 1 ? null : count - 1);
  }

  synchronized int open() {
    return open;
  }
}

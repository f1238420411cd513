package dev.writ.gateway.http;

import io.vertx.core.Vertx;
import java.time.Duration;

/** One timer that can be set again or cancelled. Used on one event loop. */
final class Timer {
  private final Vertx vertx;
  private long id = -1;

  Timer(Vertx vertx) {
    this.vertx = vertx;
  }

  void set(Duration after, Runnable action) {
    cancel();
    id =
        vertx.setTimer(
            after.toMillis(),
            _ -> {
              id = -1;
              action.run();
            });
  }

  void cancel() {
    if (id >= 0) {
      vertx.cancelTimer(id);
      id = -1;
    }
  }
}

package dev.writ.gateway;

import java.time.Duration;
import java.util.Optional;

/** Is told of every call that ended. It sees no payload and no credential. */
@FunctionalInterface
public interface Observer {

  /**
   * @param surface the surface's name; {@code server} where none was reached
   * @param route the route's path with its placeholders; {@code -} where none was found
   * @param code what it was refused with
   * @param bytes length of the answer's body; negative for a stream
   */
  record Finished(
      String surface,
      String method,
      String route,
      int status,
      Optional<String> code,
      Duration took,
      long bytes,
      String remote,
      Optional<Caller> caller,
      TraceContext trace,
      Optional<String> request,
      Optional<String> receipt) {}

  void finished(Finished call);
}

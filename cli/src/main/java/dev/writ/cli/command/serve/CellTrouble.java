package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.ops.JsonLog;
import java.util.Optional;

/**
 * What is in the way of something that a gateway does again and again: told when it begins and when
 * it changes. Whatever it is, the gateway tries again, since nobody else would.
 */
final class CellTrouble {
  private final JsonLog log;
  private final String event;
  private volatile Optional<String> told = Optional.empty();

  CellTrouble(JsonLog log, String event) {
    this.log = log;
    this.event = event;
  }

  /** An exception as one with a code; the message of one that nobody foresaw may hold anything. */
  static WritException of(RuntimeException e) {
    return e instanceof WritException refusal
        ? refusal
        : new WritException(GatewayError.INTERNAL, e.getClass().getName(), e);
  }

  void is(RuntimeException e) {
    WritException why = of(e);
    Optional<String> code = Optional.of(why.code().code());
    if (!told.equals(code)) {
      log.refused(event, why);
    }
    told = code;
  }

  /** Whether it is in the way now. */
  boolean lasts() {
    return told.isPresent();
  }

  void isOver() {
    told = Optional.empty();
  }
}

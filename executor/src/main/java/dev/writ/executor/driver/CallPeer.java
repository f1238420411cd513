package dev.writ.executor.driver;

import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;

/**
 * The client whose call an operation is part of: what a tool that speaks with others may tell it
 * and ask it while the call runs. Its answers are no input of the operation, so a driver that uses
 * one observes its digest. Thread safe.
 */
public interface CallPeer {
  /** Nobody: nothing is heard, and nothing is answered. */
  CallPeer NONE = new CallPeer() {};

  /** Whether it wants to hear of progress. */
  default boolean wantsProgress() {
    return false;
  }

  /** The least level of messages of a log that it wants; empty for none. */
  default Optional<String> logLevel() {
    return Optional.empty();
  }

  /** Tells it something; returns at once, and it may be lost. */
  default void tell(String method, JsonValue.Obj params) {}

  /** Whether it said that it answers such questions. */
  default boolean answers(String method, JsonValue.Obj params) {
    return false;
  }

  /**
   * Asks it, and waits.
   *
   * @return its result; empty where it refused, was late, or is gone
   */
  default Optional<JsonValue.Obj> ask(String method, JsonValue.Obj params, long atMostMs) {
    return Optional.empty();
  }
}

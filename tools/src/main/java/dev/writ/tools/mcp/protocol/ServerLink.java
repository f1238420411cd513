package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;

/** A server that can be reached: a process of this host, or a place elsewhere. */
public interface ServerLink extends PeerExchange, AutoCloseable {

  /**
   * What a server has used so far.
   *
   * @param cpuMs processor time; 0 for a server elsewhere
   * @param memoryPeakBytes memory; 0 for a server elsewhere
   */
  record Used(long cpuMs, long memoryPeakBytes) {
    public static final Used NOTHING = new Used(0, 0);
  }

  Used used();

  /** What it failed with; empty while it can be called. */
  Optional<WritException> failure();

  /**
   * Requires that what it keeps is not full.
   *
   * @throws WritException {@code TOL-308}
   */
  default void requireRoom() {
    // a server elsewhere keeps what it likes
  }

  /** The name of its sandbox; empty for a server elsewhere. */
  Optional<String> sandbox();

  /** Where a server elsewhere is, for the observations. */
  default Optional<JsonValue.Obj> where() {
    return Optional.empty();
  }

  /** The last that it wrote where people look, without secrets; empty where there is nothing. */
  String lastWords();

  /** Ends it, or the session with it. */
  @Override
  void close();
}

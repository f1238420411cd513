package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;
import java.util.List;

/** The versions of the protocol that this release speaks. */
public final class ProtocolVersion {
  /** The version without sessions: each request says what it is. */
  public static final String STATELESS = "2026-07-28";

  /** Those that begin with a handshake, from the newest on. */
  public static final List<String> ALL =
      List.of("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05");

  /** What a client proposes in a handshake. */
  public static final String NEWEST = ALL.getFirst();

  private ProtocolVersion() {}

  /**
   * Requires a version that this release speaks.
   *
   * @throws WritException {@code TOL-234}
   */
  static String require(String found) {
    if (!ALL.contains(found)) {
      throw new WritException(
          ToolsError.UPSTREAM_VERSION,
          "it answers with a version of " + found.length() + " letters; known are " + ALL);
    }
    return found;
  }
}

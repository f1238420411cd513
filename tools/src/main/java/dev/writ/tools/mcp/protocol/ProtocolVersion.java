package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;
import java.util.List;

/** The versions of the protocol that begin with a handshake, as this release speaks them. */
public final class ProtocolVersion {
  /** From the newest on. */
  public static final List<String> ALL =
      List.of("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05");

  /** What a client proposes. */
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

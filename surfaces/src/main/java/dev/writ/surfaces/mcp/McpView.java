package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.WritException;
import java.util.Optional;

/**
 * What a client sees: every tool that it may use, or one MCP server of somebody else under that
 * server's own names.
 *
 * @param server the server's name; absent for all tools
 */
public record McpView(Optional<String> server) {
  /** All tools. */
  public static final McpView ALL = new McpView(Optional.empty());

  /**
   * Only that server.
   *
   * @throws WritException {@code GWY-208} for what no server is named
   */
  public static McpView of(String server) {
    if (!server.matches("[a-z][a-z0-9-]{0,47}")) {
      throw new WritException(McpRefusal.SERVER_UNKNOWN, "");
    }
    return new McpView(Optional.of(server));
  }

  /** Where it is served over HTTP. */
  public String path() {
    return McpSurface.PATH + server.map(name -> "/" + name).orElse("");
  }

  /** The name by which the protocol's handshake calls us. */
  String name() {
    return "writ" + server.map(name -> "/" + name).orElse("");
  }
}

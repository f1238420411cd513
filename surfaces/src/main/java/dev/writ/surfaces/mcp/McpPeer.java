package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;

/**
 * What a client said of itself: once for a session, or with each request.
 *
 * @param showsForms whether a person beside it can be asked (elicitation)
 * @param opensLinks whether that person can be sent to an address
 */
public record McpPeer(McpVersion version, boolean showsForms, boolean opensLinks) {

  /** Of a client that said nothing yet. */
  public static final McpPeer UNKNOWN = new McpPeer(McpVersion.V2025_03_26, false, false);

  /** An empty {@code elicitation} means forms. */
  static McpPeer of(McpVersion version, JsonValue.Obj capabilities) {
    if (!(capabilities.get("elicitation") instanceof JsonValue.Obj elicitation)
        || version.isBefore(McpVersion.V2025_06_18)) {
      return new McpPeer(version, false, false);
    }
    boolean links =
        elicitation.get("url") instanceof JsonValue.Obj
            && !version.isBefore(McpVersion.V2025_11_25);
    return new McpPeer(version, elicitation.get("form") instanceof JsonValue.Obj || !links, links);
  }

  boolean canBeAsked() {
    return showsForms || opensLinks;
  }
}

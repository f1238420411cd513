package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;

/**
 * What a client said of itself: once for a session, or with each request.
 *
 * @param showsForms whether a person beside it can be asked (elicitation)
 * @param opensLinks whether that person can be sent to an address
 * @param samples whether it has a model that can be asked
 * @param tellsRoots whether it says in which directories it works
 */
public record McpPeer(
    McpVersion version,
    boolean showsForms,
    boolean opensLinks,
    boolean samples,
    boolean tellsRoots) {

  /** Of a client that said nothing yet. */
  public static final McpPeer UNKNOWN =
      new McpPeer(McpVersion.V2025_03_26, false, false, false, false);

  /** An empty {@code elicitation} means forms. */
  static McpPeer of(McpVersion version, JsonValue.Obj capabilities) {
    boolean samples = capabilities.get("sampling") instanceof JsonValue.Obj;
    boolean roots = capabilities.get("roots") instanceof JsonValue.Obj;
    if (!(capabilities.get("elicitation") instanceof JsonValue.Obj elicitation)
        || version.isBefore(McpVersion.V2025_06_18)) {
      return new McpPeer(version, false, false, samples, roots);
    }
    boolean links =
        elicitation.get("url") instanceof JsonValue.Obj
            && !version.isBefore(McpVersion.V2025_11_25);
    return new McpPeer(
        version, elicitation.get("form") instanceof JsonValue.Obj || !links, links, samples, roots);
  }

  boolean canBeAsked() {
    return showsForms || opensLinks || samples || tellsRoots;
  }
}

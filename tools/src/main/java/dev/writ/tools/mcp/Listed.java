package dev.writ.tools.mcp;

import dev.writ.canonicalize.json.JsonValue;

/** Something that a server lists and that is pinned: a tool, a prompt, a template. */
public sealed interface Listed permits ListedTool, ListedOffer {
  /** As it is pinned. */
  JsonValue.Obj toJson();
}

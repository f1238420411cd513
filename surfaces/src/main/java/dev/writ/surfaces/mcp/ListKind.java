package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;

/** A list of the protocol whose changes a client can be told. */
enum ListKind {
  TOOLS("tools"),
  PROMPTS("prompts");

  private final String text;

  ListKind(String text) {
    this.text = text;
  }

  /** The capability that it belongs to. */
  String text() {
    return text;
  }

  /** Under which a client without sessions asks to be told. */
  String filter() {
    return text + "ListChanged";
  }

  /** That it is another now; without {@code params}. */
  JsonValue.Obj changed() {
    return notification().build();
  }

  /**
   * The same of one subscription.
   *
   * @param params of the notification
   */
  JsonValue.Obj changed(JsonValue.Obj params) {
    return notification().put("params", params).build();
  }

  private ObjectBuilder notification() {
    return JsonValue.object()
        .put("jsonrpc", "2.0")
        .put("method", "notifications/" + text + "/list_changed");
  }
}

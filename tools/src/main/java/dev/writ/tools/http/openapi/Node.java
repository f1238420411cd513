package dev.writ.tools.http.openapi;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Located;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A value of the document with its place.
 *
 * @param pointer JSON Pointer of the value, as a fragment
 */
record Node(String pointer, Located value) {
  private static final int SHOWN = 200;

  /** The member of a mapping; empty where there is none. */
  Optional<Node> get(String key) {
    return value instanceof Located.Map map && map.members().containsKey(key)
        ? Optional.of(new Node(pointer + "/" + escaped(key), map.members().get(key).value()))
        : Optional.empty();
  }

  private static String escaped(String key) {
    return key.replace("~", "~0").replace("/", "~1");
  }

  boolean isMap() {
    return value instanceof Located.Map;
  }

  /** The members in the order of the file, without extensions. */
  Map<String, Node> members() {
    if (!(value instanceof Located.Map map)) {
      throw refuse(ToolsError.OPENAPI_FORM, "not a mapping");
    }
    LinkedHashMap<String, Node> members = new LinkedHashMap<>();
    for (String key : map.members().keySet()) {
      if (!key.startsWith("x-")) {
        members.put(key, get(key).orElseThrow());
      }
    }
    return members;
  }

  List<Node> items() {
    if (!(value instanceof Located.Seq seq)) {
      throw refuse(ToolsError.OPENAPI_FORM, "not a list");
    }
    List<Node> items = new ArrayList<>();
    for (int i = 0; i < seq.items().size(); i++) {
      items.add(new Node(pointer + "/" + i, seq.items().get(i)));
    }
    return items;
  }

  /** The items of a list that may be left out. */
  List<Node> list(String key) {
    return get(key).map(Node::items).orElse(List.of());
  }

  String text() {
    if (value instanceof Located.Scalar scalar && scalar.value() instanceof JsonValue.Str text) {
      return text.value();
    }
    throw refuse(ToolsError.OPENAPI_FORM, "not a text");
  }

  Optional<String> text(String key) {
    return get(key).map(Node::text);
  }

  /** A member that has to be there. */
  String required(String key) {
    return text(key).orElseThrow(() -> refuse(ToolsError.OPENAPI_FORM, "has no `" + key + "`"));
  }

  boolean is(String key) {
    Optional<Node> found = get(key);
    if (found.isEmpty()) {
      return false;
    }
    if (found.get().value instanceof Located.Scalar scalar
        && scalar.value() instanceof JsonValue.Bool bool) {
      return bool.value();
    }
    throw found.get().refuse(ToolsError.OPENAPI_FORM, "not true or false");
  }

  /** A refusal that names line and pointer. */
  WritException refuse(ErrorCode code, String found) {
    return new WritException(code, place() + ": " + found);
  }

  String place() {
    Located.Place at = value.at();
    String shown = pointer.length() <= SHOWN ? pointer : pointer.substring(0, SHOWN) + "…";
    return (at.line() == 0 ? "" : "line " + at.line() + ", ") + (shown.isEmpty() ? "#" : shown);
  }
}

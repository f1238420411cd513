package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import java.util.List;
import java.util.TreeMap;

/**
 * A prompt or a template of resources as its server lists it; the texts are the server's own.
 *
 * @param key the prompt's name, or the template
 * @param content the members that are pinned
 */
public record ListedOffer(String key, JsonValue.Obj content) implements Listed {
  private static final int KEY_MAX = 1_024;
  private static final List<String> TEXTS = List.of("description", "mimeType", "name", "title");

  /**
   * Reads one of a server's prompts. Members that are not pinned are left out.
   *
   * @throws WritException {@code TOL-235}
   */
  static ListedOffer prompt(JsonValue.Obj listed) {
    TreeMap<String, JsonValue> content = texts(listed);
    content.remove("mimeType");
    switch (listed.get("arguments")) {
      case null -> {
        // it has none
      }
      case JsonValue.Arr all ->
          content.put(
              "arguments", JsonValue.of(all.items().stream().map(ListedOffer::argument).toList()));
      default -> throw refuse("a prompt whose arguments are no list");
    }
    return new ListedOffer(key(listed, "name"), new JsonValue.Obj(content));
  }

  private static JsonValue argument(JsonValue value) {
    if (!(value instanceof JsonValue.Obj argument)) {
      throw refuse("a prompt's argument that is no object");
    }
    key(argument, "name");
    TreeMap<String, JsonValue> content = texts(argument);
    content.remove("mimeType");
    if (argument.get("required") instanceof JsonValue.Bool required) {
      content.put("required", required);
    }
    return new JsonValue.Obj(content);
  }

  /**
   * Reads one of a server's templates.
   *
   * @throws WritException {@code TOL-235}
   */
  static ListedOffer template(JsonValue.Obj listed) {
    TreeMap<String, JsonValue> content = texts(listed);
    String template = key(listed, "uriTemplate");
    key(listed, "name");
    content.put("uriTemplate", JsonValue.of(template));
    return new ListedOffer(template, new JsonValue.Obj(content));
  }

  private static TreeMap<String, JsonValue> texts(JsonValue.Obj listed) {
    TreeMap<String, JsonValue> content = new TreeMap<>();
    for (String name : TEXTS) {
      switch (listed.get(name)) {
        case null -> {
          // it says nothing of it
        }
        case JsonValue.Null _ -> {
          // nor here
        }
        case JsonValue.Str text -> content.put(name, text);
        default -> throw refuse("a " + name + " that is no text");
      }
    }
    return content;
  }

  private static String key(JsonValue.Obj listed, String name) {
    if (listed.get(name) instanceof JsonValue.Str text
        && !text.value().isEmpty()
        && text.value().length() <= KEY_MAX) {
      return text.value();
    }
    throw refuse("a prompt, an argument or a template without " + name);
  }

  private static WritException refuse(String found) {
    return new WritException(ToolsError.UPSTREAM_MESSAGE, found);
  }

  @Override
  public JsonValue.Obj toJson() {
    return content;
  }
}

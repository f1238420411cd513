package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A method of a server beside tools/call: an operation of its package, so that nothing reaches the
 * server without a decision and a receipt.
 */
enum PassedMethod {
  COMPLETION("completion/complete", Passes.COMPLETION),
  PROMPTS_GET("prompts/get", Passes.PROMPTS),
  RESOURCES_LIST("resources/list", Passes.RESOURCES),
  RESOURCES_READ("resources/read", Passes.RESOURCES);

  private static final String JSON = "application/json";
  private static final long URI_MAX = 4_096;
  private static final long TEXT_MAX = 65_536;
  private static final int DECODED_MAX = 5;

  private final String method;
  private final String passes;

  PassedMethod(String method, String passes) {
    this.method = method;
    this.passes = passes;
  }

  String method() {
    return method;
  }

  /** The method of an operation; empty for a tool. */
  static Optional<PassedMethod> of(String operation) {
    return List.of(values()).stream().filter(m -> m.method.equals(operation)).findFirst();
  }

  /** Those that a package has. */
  static List<PassedMethod> of(Passes passes) {
    return List.of(values()).stream().filter(m -> passes.has(m.passes)).toList();
  }

  /** As an operation that is judged by its params. */
  ToolManifest.Operation operation(PinnedOffers offers) {
    JsonValue.Obj input =
        switch (this) {
          case COMPLETION ->
              object(
                  List.of("argument", "ref"),
                  "argument",
                  object(List.of("name", "value"), "name", text(1_024), "value", text(TEXT_MAX)),
                  "context",
                  any(),
                  "ref",
                  any());
          case PROMPTS_GET ->
              object(
                  List.of("name"),
                  "arguments",
                  JsonValue.object()
                      .put("type", "object")
                      .put("additionalProperties", text(TEXT_MAX))
                      .build(),
                  "name",
                  named(offers));
          case RESOURCES_LIST -> object(List.of(), "cursor", text(URI_MAX));
          case RESOURCES_READ -> object(List.of("uri"), "uri", text(URI_MAX));
        };
    return new ToolManifest.Operation(method, input, Optional.of(output()), JSON);
  }

  private JsonValue.Obj output() {
    return switch (this) {
      case COMPLETION -> object(List.of("completion"), "completion", any());
      case PROMPTS_GET ->
          object(List.of("messages"), "description", text(TEXT_MAX), "messages", objects());
      case RESOURCES_LIST ->
          object(List.of("resources"), "nextCursor", text(URI_MAX), "resources", objects());
      case RESOURCES_READ -> object(List.of("contents"), "contents", objects());
    };
  }

  private static JsonValue.Obj named(PinnedOffers offers) {
    return offers.prompts().isEmpty()
        ? text(URI_MAX)
        : JsonValue.object()
            .put("type", "string")
            .putList("enum", List.copyOf(offers.prompts().keySet()), JsonValue::of)
            .build();
  }

  private static JsonValue.Obj text(long most) {
    return JsonValue.object().put("type", "string").put("maxLength", most).build();
  }

  private static JsonValue.Obj any() {
    return JsonValue.object().put("type", "object").build();
  }

  private static JsonValue.Obj objects() {
    return JsonValue.object().put("type", "array").put("items", any()).build();
  }

  /** Of those members and no others. */
  private static JsonValue.Obj object(List<String> required, Object... members) {
    var properties = JsonValue.object();
    for (int i = 0; i < members.length; i += 2) {
      properties.put((String) members[i], (JsonValue.Obj) members[i + 1]);
    }
    var schema =
        JsonValue.object()
            .put("type", "object")
            .put("additionalProperties", false)
            .put("properties", properties.build());
    return required.isEmpty()
        ? schema.build()
        : schema.putList("required", required, JsonValue::of).build();
  }

  /**
   * Requires that an address means what it says, so that a rule of policy about its beginning
   * holds: absolute, no dot segments in any encoding, nothing that cannot be seen, and not ours.
   *
   * @throws WritException {@code TOL-245}
   */
  void requireAddress(JsonValue.Obj params) {
    if (this != RESOURCES_READ) {
      return;
    }
    String uri = params.get("uri") instanceof JsonValue.Str text ? text.value() : "";
    if (!uri.matches("[A-Za-z][A-Za-z0-9+.-]{0,63}:.+")) {
      throw address("no absolute address");
    }
    if (uri.regionMatches(true, 0, "writ:", 0, 5)) {
      throw address("an address of Writ's own");
    }
    if (uri.contains(" ")) {
      throw address("a space");
    }
    String decoded = uri;
    for (int i = 0; ; i++) {
      if (decoded.codePoints().anyMatch(c -> ToolChange.isHidden(c) || c < ' ')) {
        throw address("characters that nobody can see");
      }
      for (String segment : decoded.split("[/\\\\?#:]", -1)) {
        if (segment.equals(".") || segment.equals("..")) {
          throw address("a segment that is . or ..");
        }
      }
      String next = decoded(decoded);
      if (next.equals(decoded)) {
        return;
      }
      if (i == DECODED_MAX) {
        throw address("more than " + DECODED_MAX + " encodings of one another");
      }
      decoded = next;
    }
  }

  /** Percent-encoding undone once; a plus stays what it is. */
  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return text; // a percent sign that encodes nothing
    }
  }

  private static WritException address(String found) {
    return new WritException(ToolsError.UPSTREAM_ADDRESS, found);
  }

  /**
   * The result as output: what the protocol has, and nothing else that a server sends along.
   *
   * @throws WritException {@code TOL-235}
   */
  JsonValue.Obj output(JsonValue.Obj result) {
    return switch (this) {
      case COMPLETION -> JsonValue.object().put("completion", completion(result)).build();
      case PROMPTS_GET -> prompt(result);
      case RESOURCES_LIST -> {
        var output = JsonValue.object().put("resources", list(result, "resources", this::resource));
        if (result.get("nextCursor") instanceof JsonValue.Str cursor) {
          output.put("nextCursor", cursor);
        }
        yield output.build();
      }
      case RESOURCES_READ ->
          JsonValue.object().put("contents", list(result, "contents", this::content)).build();
    };
  }

  private JsonValue.Obj prompt(JsonValue.Obj result) {
    var output = JsonValue.object().put("messages", list(result, "messages", this::message));
    if (result.get("description") instanceof JsonValue.Str text) {
      output.put("description", text);
    }
    return output.build();
  }

  private JsonValue message(JsonValue.Obj message) {
    if (!(message.get("role") instanceof JsonValue.Str role)
        || !List.of("assistant", "user").contains(role.value())) {
      throw malformed("a message of neither user nor assistant");
    }
    return JsonValue.object()
        .put("role", role)
        .put("content", ToolAnswer.block(message.get("content")))
        .build();
  }

  private JsonValue resource(JsonValue.Obj resource) {
    require(resource, "uri");
    require(resource, "name");
    return without(resource);
  }

  private JsonValue content(JsonValue.Obj content) {
    if (!ToolAnswer.isContent(content)) {
      throw malformed("a resource with neither text nor blob");
    }
    return without(content);
  }

  private JsonValue completion(JsonValue.Obj result) {
    if (!(result.get("completion") instanceof JsonValue.Obj completion)
        || !(completion.get("values") instanceof JsonValue.Arr values)
        || values.items().size() > 100
        || !values.items().stream().allMatch(value -> value instanceof JsonValue.Str)) {
      throw malformed("a completion without its values, or of more than 100");
    }
    var output = JsonValue.object().put("values", values);
    if (completion.get("total") instanceof JsonValue.Num total) {
      output.put("total", total);
    }
    if (completion.get("hasMore") instanceof JsonValue.Bool more) {
      output.put("hasMore", more);
    }
    return output.build();
  }

  /** What reads one object of a list. */
  private interface Reading {
    JsonValue read(JsonValue.Obj object);
  }

  private JsonValue list(JsonValue.Obj result, String name, Reading each) {
    if (!(result.get(name) instanceof JsonValue.Arr list)) {
      throw malformed("a result without " + name);
    }
    List<JsonValue> all = new ArrayList<>();
    for (JsonValue item : list.items()) {
      if (!(item instanceof JsonValue.Obj object)) {
        throw malformed(name + " with one that is no object");
      }
      all.add(each.read(object));
    }
    return JsonValue.of(all);
  }

  private void require(JsonValue.Obj object, String name) {
    if (!(object.get(name) instanceof JsonValue.Str)) {
      throw malformed("one without " + name);
    }
  }

  private static JsonValue without(JsonValue.Obj object) {
    TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
    members.remove("_meta");
    return new JsonValue.Obj(members);
  }

  private WritException malformed(String found) {
    return new WritException(ToolsError.UPSTREAM_MESSAGE, method + ": " + found);
  }
}

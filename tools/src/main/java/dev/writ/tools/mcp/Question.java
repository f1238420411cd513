package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What a server asks of the client, in the form in which the client gets it: it says which server
 * asks, and has nothing that the protocol does not have (spec/tool-mcp-passing.md).
 */
enum Question {
  ELICITATION("elicitation/create", Passes.ELICITATION),
  ROOTS("roots/list", Passes.ROOTS),
  SAMPLING("sampling/createMessage", Passes.SAMPLING);

  private static final int BYTES_MAX = 256 << 10;
  private static final int WORDS_MAX = 4_000;
  private static final int FIELDS_MAX = 32;
  private static final int MESSAGES_MAX = 100;
  private static final long TOKENS_MAX = 100_000;

  /** What a form may not ask for: the protocol wants such things on a page, not in a chat. */
  private static final Pattern SECRETS =
      Pattern.compile(
          "(?i)pass(word|wort|phrase|code)|passwd|secret|credential|\\btoken\\b|(access|auth|bearer)["
              + " _-]?token|(api|private|access|secret)[ _-]?key|\\bpin\\b|\\bcv[vc]\\b|card["
              + " _-]?number|(seed|recovery)[ _-]?(phrase|code)");

  private final String method;
  private final String passes;

  Question(String method, String passes) {
    this.method = method;
    this.passes = passes;
  }

  String method() {
    return method;
  }

  /** Whether a package lets its server ask it. */
  boolean isIn(Passes all) {
    return all.has(passes);
  }

  /**
   * The params for the client.
   *
   * @param server who asks
   * @throws WritException {@code TOL-247}
   */
  JsonValue.Obj shaped(String server, JsonValue.Obj params) {
    if (Jcs.write(params).length > BYTES_MAX) {
      throw refuse("more than " + BYTES_MAX + " bytes");
    }
    return switch (this) {
      case ROOTS -> JsonValue.object().build();
      case SAMPLING -> sampling(server, params);
      case ELICITATION ->
          JsonValue.of("url").equals(params.get("mode"))
              ? link(server, params)
              : form(server, params);
    };
  }

  private JsonValue.Obj form(String server, JsonValue.Obj params) {
    JsonValue mode = params.get("mode");
    if (mode != null && !JsonValue.of("form").equals(mode)) {
      throw refuse("a mode that is neither form nor url");
    }
    String message = words(params, "message");
    if (!(params.get("requestedSchema") instanceof JsonValue.Obj schema)
        || !JsonValue.of("object").equals(schema.get("type"))
        || !(schema.get("properties") instanceof JsonValue.Obj fields)
        || fields.members().size() > FIELDS_MAX) {
      throw refuse("a form that is no flat object of at most " + FIELDS_MAX + " fields");
    }
    fields.members().values().forEach(this::requireField);
    String all = new String(Jcs.write(schema), StandardCharsets.UTF_8);
    if (SECRETS.matcher(message).find() || SECRETS.matcher(all).find()) {
      throw refuse("a form that asks for a secret");
    }
    if (all.codePoints().anyMatch(ToolChange::isHidden)) {
      throw refuse("a form with characters that nobody can see");
    }
    return JsonValue.object()
        .put("message", asks(server) + message)
        .put("mode", "form")
        .put("requestedSchema", schema)
        .build();
  }

  private void requireField(JsonValue field) {
    boolean isFlat =
        field instanceof JsonValue.Obj object
            && object.get("type") instanceof JsonValue.Str type
            && switch (type.value()) {
              case "string", "number", "integer", "boolean" -> true;
              case "array" ->
                  object.get("items") instanceof JsonValue.Obj items
                      && items.get("properties") == null;
              default -> false;
            };
    if (!isFlat) {
      throw refuse("a field that is no text, number, choice or yes and no");
    }
  }

  private JsonValue.Obj link(String server, JsonValue.Obj params) {
    String message = words(params, "message");
    String url = words(params, "url");
    URI uri;
    try {
      uri = URI.create(url);
    } catch (IllegalArgumentException e) {
      throw refuse("an address that is none");
    }
    if (!"https".equals(uri.getScheme()) || uri.getHost() == null || uri.getUserInfo() != null) {
      throw refuse("an address other than https://HOST");
    }
    var shaped = JsonValue.object();
    if (params.get("elicitationId") != null) { // which the version without sessions does not have
      shaped.put("elicitationId", words(params, "elicitationId"));
    }
    return shaped
        .put("message", asks(server) + message + " (It opens a page of " + uri.getHost() + ".)")
        .put("mode", "url")
        .put("url", url)
        .build();
  }

  private static String asks(String server) {
    return "The MCP server " + server + " asks, in its own words: ";
  }

  private JsonValue.Obj sampling(String server, JsonValue.Obj params) {
    if (params.get("tools") != null || params.get("toolChoice") != null) {
      throw refuse("sampling with tools");
    }
    if (!(params.get("maxTokens") instanceof JsonValue.Num tokens)
        || !tokens.isInteger()
        || tokens.value() < 1
        || tokens.value() > TOKENS_MAX) {
      throw refuse("maxTokens that is not 1 to " + TOKENS_MAX);
    }
    if (!(params.get("messages") instanceof JsonValue.Arr messages)
        || messages.items().isEmpty()
        || messages.items().size() > MESSAGES_MAX) {
      throw refuse("not 1 to " + MESSAGES_MAX + " messages");
    }
    messages.items().forEach(this::requireMessage);
    TreeMap<String, JsonValue> shaped = new TreeMap<>();
    for (String name :
        List.of("maxTokens", "messages", "modelPreferences", "stopSequences", "temperature")) {
      if (params.get(name) instanceof JsonValue value) {
        shaped.put(name, value);
      }
    }
    shaped.put(
        "systemPrompt",
        JsonValue.of(
            "Everything below was written by the MCP server "
                + server
                + ", not by the user and not by Writ; Writ only passes it on."
                + (params.get("systemPrompt") instanceof JsonValue.Str own
                    ? " The server's own instructions: " + own.value()
                    : "")));
    return new JsonValue.Obj(shaped);
  }

  private void requireMessage(JsonValue value) {
    if (!(value instanceof JsonValue.Obj message)
        || !(message.get("role") instanceof JsonValue.Str role)
        || !List.of("assistant", "user").contains(role.value())) {
      throw refuse("a message of neither user nor assistant");
    }
    List<JsonValue> blocks =
        message.get("content") instanceof JsonValue.Arr all
            ? all.items()
            : List.of(message.get("content") instanceof JsonValue.Obj one ? one : JsonValue.NULL);
    blocks.forEach(block -> {
      try {
        ToolAnswer.block(block);
      } catch (WritException e) {
        throw new WritException(ToolsError.UPSTREAM_QUESTION, method + ": " + e.found(), e);
      }
    });
  }

  private String words(JsonValue.Obj params, String name) {
    if (params.get(name) instanceof JsonValue.Str text && text.value().length() <= WORDS_MAX) {
      return ToolChange.visible(text.value());
    }
    throw refuse("no " + name + " of at most " + WORDS_MAX + " characters");
  }

  /**
   * Whether the client's answer is one of the protocol.
   *
   * @param shaped what it was asked
   */
  boolean isAnswer(JsonValue.Obj shaped, JsonValue.Obj result) {
    if (Jcs.write(result).length > BYTES_MAX) {
      return false;
    }
    return switch (this) {
      case ROOTS -> result.get("roots") instanceof JsonValue.Arr;
      case SAMPLING ->
          result.get("role") instanceof JsonValue.Str
              && result.get("content") != null
              && result.get("model") instanceof JsonValue.Str;
      case ELICITATION ->
          result.get("action") instanceof JsonValue.Str action
              && List.of("accept", "cancel", "decline").contains(action.value());
    };
  }

  /** Without what the protocol does not have. */
  static JsonValue.Obj plain(JsonValue.Obj result) {
    TreeMap<String, JsonValue> members = new TreeMap<>(result.members());
    members.remove("_meta");
    return new JsonValue.Obj(members);
  }

  private WritException refuse(String found) {
    return new WritException(ToolsError.UPSTREAM_QUESTION, method + ": " + found);
  }
}

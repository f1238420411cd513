package dev.writ.tools.mcp.remote;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.egress.EgressClient.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;

/** Parts of a request that the version without sessions repeats in header fields. */
public final class HeaderText {
  private static final String NOTE = "x-mcp-header";
  private static final String OPEN = "=?base64?";
  private static final String CLOSE = "?=";
  private static final int DEPTH_MAX = 60;
  private static final double SAFE = 9_007_199_254_740_991d;

  private HeaderText() {}

  /** A text as a field's value; base64 where it could not stand there. */
  static String encode(String text) {
    boolean plain =
        text.matches("([!-~]([ -~\\t]*[!-~])?)?")
            && !text.isEmpty()
            && !(text.startsWith(OPEN) && text.endsWith(CLOSE));
    return plain
        ? text
        : OPEN + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8)) + CLOSE;
  }

  /** The fields of a request without sessions: its method, and what it is about. */
  static List<Field> of(String method, JsonValue.Obj params) {
    List<Field> fields = new ArrayList<>();
    fields.add(new Field("Mcp-Method", encode(method)));
    String about =
        switch (method) {
          case "tools/call", "prompts/get" -> "name";
          case "resources/read" -> "uri";
          default -> "";
        };
    if (params.get(about) instanceof JsonValue.Str name) {
      fields.add(new Field("Mcp-Name", encode(name.value())));
    }
    return fields;
  }

  /** The fields for arguments that a tool's schema marks. */
  static List<Field> arguments(JsonValue.Obj schema, JsonValue arguments) {
    List<Field> fields = new ArrayList<>();
    collect(schema, arguments, fields, 0);
    return fields;
  }

  private static void collect(
      JsonValue.Obj schema, JsonValue value, List<Field> fields, int depth) {
    if (depth > DEPTH_MAX
        || !(schema.get("properties") instanceof JsonValue.Obj properties)
        || !(value instanceof JsonValue.Obj object)) {
      return;
    }
    properties
        .members()
        .forEach((name, below) -> {
          JsonValue at = object.get(name);
          if (at == null || !(below instanceof JsonValue.Obj property)) {
            return;
          }
          if (property.get(NOTE) instanceof JsonValue.Str header) {
            text(at)
                .ifPresent(t -> fields.add(new Field("Mcp-Param-" + header.value(), encode(t))));
          }
          collect(property, at, fields, depth + 1);
        });
  }

  private static Optional<String> text(JsonValue value) {
    return switch (value) {
      case JsonValue.Str text -> Optional.of(text.value());
      case JsonValue.Bool flag -> Optional.of(flag.value() ? "true" : "false");
      case JsonValue.Num number ->
          Optional.of(new String(Jcs.write(number), StandardCharsets.US_ASCII));
      default -> Optional.empty();
    };
  }

  /**
   * Why the marks of a schema are none that the protocol has; empty where they are. A tool with
   * such a schema is left out of its server's list.
   */
  public static Optional<String> refusal(JsonValue.Obj schema) {
    return refusal(schema, true, new TreeSet<>(), 0);
  }

  private static Optional<String> refusal(
      JsonValue value, boolean reachable, TreeSet<String> seen, int depth) {
    if (depth > DEPTH_MAX) {
      return Optional.empty();
    }
    if (value instanceof JsonValue.Arr list) {
      return list.items().stream()
          .map(item -> refusal(item, false, seen, depth + 1))
          .flatMap(Optional::stream)
          .findFirst();
    }
    if (!(value instanceof JsonValue.Obj schema)) {
      return Optional.empty();
    }
    for (var member : schema.members().entrySet()) {
      boolean named = member.getKey().equals("properties");
      if (named && member.getValue() instanceof JsonValue.Obj properties) {
        for (JsonValue property : properties.members().values()) {
          Optional<String> why = property(property, reachable, seen, depth + 1);
          if (why.isPresent()) {
            return why;
          }
        }
      } else if (!List.of("const", "default", "enum", "examples").contains(member.getKey())) {
        Optional<String> why = property(member.getValue(), false, seen, depth + 1);
        if (why.isPresent()) {
          return why;
        }
      }
    }
    return Optional.empty();
  }

  private static Optional<String> property(
      JsonValue value, boolean reachable, TreeSet<String> seen, int depth) {
    if (value instanceof JsonValue.Obj schema && schema.get(NOTE) != null) {
      if (!reachable) {
        return Optional.of("a mark below something else than properties");
      }
      if (!(schema.get(NOTE) instanceof JsonValue.Str name)
          || !name.value().matches("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")) {
        return Optional.of("a mark that is no name of a header");
      }
      if (!seen.add(name.value().toLowerCase(Locale.ROOT))) {
        return Optional.of("two marks of one name");
      }
      boolean plain =
          schema.get("type") instanceof JsonValue.Str type
              && List.of("integer", "string", "boolean").contains(type.value());
      if (!plain) {
        return Optional.of("a mark at what is neither text, integer nor boolean");
      }
      boolean safe =
          List.of("minimum", "maximum").stream()
              .map(schema::get)
              .allMatch(
                  bound -> !(bound instanceof JsonValue.Num n) || Math.abs(n.value()) <= SAFE);
      if (!safe) {
        return Optional.of("a mark at an integer beyond what JSON holds exactly");
      }
    }
    return refusal(value, reachable, seen, depth);
  }
}

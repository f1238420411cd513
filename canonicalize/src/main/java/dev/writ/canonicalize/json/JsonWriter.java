package dev.writ.canonicalize.json;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Writes values in the canonical form of RFC 8785, 3.2. */
final class JsonWriter {
  private final StringBuilder out = new StringBuilder();

  byte[] write(JsonValue value) {
    append(value);
    return out.toString().getBytes(StandardCharsets.UTF_8);
  }

  private void append(JsonValue value) {
    switch (value) {
      case JsonValue.Obj object -> {
        out.append('{');
        String separator = "";
        for (var member : object.members().entrySet()) {
          out.append(separator);
          string(member.getKey());
          out.append(':');
          append(member.getValue());
          separator = ",";
        }
        out.append('}');
      }
      case JsonValue.Arr array -> {
        out.append('[');
        String separator = "";
        for (JsonValue item : array.items()) {
          out.append(separator);
          append(item);
          separator = ",";
        }
        out.append(']');
      }
      case JsonValue.Str text -> string(text.value());
      case JsonValue.Num number -> out.append(EcmaNumbers.format(number.value()));
      case JsonValue.Bool bool -> out.append(bool.value());
      case JsonValue.Null _ -> out.append("null");
    }
  }

  private void string(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\b' -> out.append("\\b");
        case '\f' -> out.append("\\f");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        default -> {
          if (c < 0x20) {
            out.append("\\u00").append(HexFormat.of().toHexDigits((byte) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }
}

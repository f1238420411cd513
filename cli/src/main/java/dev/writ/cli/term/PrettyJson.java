package dev.writ.cli.term;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** JSON for people: indented by two spaces, members in canonical order. */
public final class PrettyJson {
  private final List<String> lines = new ArrayList<>();

  private PrettyJson() {}

  public static List<String> lines(JsonValue value) {
    PrettyJson pretty = new PrettyJson();
    pretty.add("", value, 0, "");
    return pretty.lines;
  }

  private void add(String key, JsonValue value, int depth, String comma) {
    String head = "  ".repeat(depth) + key;
    switch (value) {
      case JsonValue.Obj object when !object.members().isEmpty() -> {
        lines.add(head + "{");
        int left = object.members().size();
        for (var member : object.members().entrySet()) {
          add(
              scalar(JsonValue.of(member.getKey())) + ": ",
              member.getValue(),
              depth + 1,
              --left > 0 ? "," : "");
        }
        lines.add("  ".repeat(depth) + "}" + comma);
      }
      case JsonValue.Arr array when !array.items().isEmpty() -> {
        lines.add(head + "[");
        int left = array.items().size();
        for (JsonValue item : array.items()) {
          add("", item, depth + 1, --left > 0 ? "," : "");
        }
        lines.add("  ".repeat(depth) + "]" + comma);
      }
      default -> lines.add(head + scalar(value) + comma);
    }
  }

  private static String scalar(JsonValue value) {
    return Text.printable(new String(Jcs.write(value), StandardCharsets.UTF_8));
  }
}

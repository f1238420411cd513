package dev.writ.cli.setup;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;

/** A value of JSON with comments, for comparing. */
final class JsoncWords {
  private JsoncWords() {}

  /** Whether a text of it says the same as a value. */
  static boolean same(String text, JsonValue value) {
    String canonical = new String(Jcs.write(value), StandardCharsets.UTF_8);
    return compact(text).equals(compact(canonical));
  }

  /** Members sorted by name, without blanks and comments. */
  private static String compact(String text) {
    String holder = "{\"v\":" + text + "}";
    JsoncText.ObjectNode root = JsoncText.read("", holder);
    return compact(holder, root.members().getFirst().value());
  }

  private static String compact(String text, JsoncText.Node node) {
    return switch (node) {
      case JsoncText.ObjectNode object ->
          object.members().stream()
              .map(member -> quoted(member.name()) + ":" + compact(text, member.value()))
              .sorted()
              .toList()
              .toString();
      case JsoncText.ListNode list ->
          "list" + list.items().stream().map(item -> compact(text, item)).toList();
      case JsoncText.TextNode string -> quoted(string.value());
      case JsoncText.WordNode word -> text.substring(word.begin(), word.end());
    };
  }

  private static String quoted(String name) {
    return new String(Jcs.write(JsonValue.of(name)), StandardCharsets.UTF_8);
  }
}

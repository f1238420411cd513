package dev.writ.cli.doctor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.guardian.yaml.Located;
import dev.writ.guardian.yaml.PlainYaml;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server's configuration as it may be shown to anybody: its form, its numbers, and the few words
 * that are the same in every installation. Any other text is left out, whatever it is.
 */
final class TameConfiguration {
  /** What a setting can say, and what this machine is called everywhere. */
  private static final List<String> WORDS =
      List.of(
          "0.0.0.0",
          "127.0.0.1",
          "::",
          "::1",
          "browser",
          "cloudevents",
          "cose-receipt",
          "exec",
          "file",
          "in-toto",
          "javascript",
          "js",
          "large",
          "localhost",
          "mail",
          "medium",
          "neo4j",
          "none",
          "ocsf",
          "offered",
          "own",
          "proxy",
          "python",
          "redis",
          "required",
          "scitt",
          "slack",
          "small",
          "sql",
          "tlog-proof",
          "wasm",
          "webhook");

  /** A name without digits, as settings, surfaces and sinks have; a random word rarely is one. */
  private static final Pattern NAME = Pattern.compile("[a-z][a-z_.-]{0,31}");

  /** Under such a name not even a number is shown. */
  private static final Pattern OF_SECRETS =
      Pattern.compile("(?i).*(pass|secret|token|pin|credential).*");

  private static final Pattern ADDRESS =
      Pattern.compile("([a-z][a-z0-9+]{0,15})://[^/]*?(:\\d{1,5})?(/.*)?");

  private TameConfiguration() {}

  /**
   * Reads a file.
   *
   * @return what may be shown; of a file that is no such YAML, the code of the refusal alone
   */
  static JsonValue of(byte[] yaml) {
    try {
      return tame(PlainYaml.read(yaml, "gateway.yaml"), false);
    } catch (WritException e) {
      return JsonValue.object().put("code", e.code().code()).build();
    }
  }

  private static JsonValue tame(Located value, boolean isSecret) {
    return switch (value) {
      case Located.Map map -> members(map, isSecret);
      case Located.Seq seq ->
          JsonValue.of(seq.items().stream().map(item -> tame(item, isSecret)).toList());
      case Located.Scalar scalar -> scalar(scalar.value(), isSecret);
    };
  }

  /** A name that is none of ours is numbered. */
  private static JsonValue members(Located.Map map, boolean isSecret) {
    ObjectBuilder members = JsonValue.object();
    int number = 0;
    for (var member : map.members().entrySet()) {
      number++;
      String name = member.getKey();
      boolean isOfSecret = isSecret || OF_SECRETS.matcher(name).matches();
      members.put(
          NAME.matcher(name).matches() ? name : "(name " + number + ")",
          tame(member.getValue().value(), isOfSecret));
    }
    return members.build();
  }

  private static JsonValue scalar(JsonValue value, boolean isSecret) {
    if (value instanceof JsonValue.Str text) {
      return JsonValue.of(shown(text.value(), isSecret));
    }
    return isSecret ? JsonValue.of("(a value)") : value;
  }

  private static String shown(String text, boolean isSecret) {
    if (!isSecret && WORDS.contains(text)) {
      return text;
    }
    Matcher address = ADDRESS.matcher(text);
    if (!isSecret && address.matches()) {
      String port = address.group(2) == null ? "" : address.group(2);
      return "(an address: " + address.group(1) + "://…" + port + ")";
    }
    return "(a text of " + text.length() + " characters)";
  }
}

package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The answers that the seeds show, each under the example of the demo that it answers. In {@code
 * seed-answers.json} a text in angle brackets stands for any value of that form, and a member whose
 * name ends in {@code ?} is none of the seed's: the page of the surface names it as an addition.
 */
final class SeedAnswers {
  private static final Map<String, Pattern> FORMS =
      Map.of(
          "<uuid>",
          Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
          "<time>",
          Pattern.compile(
              "20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9](:[0-5][0-9]){2}(\\.[0-9]+)?Z"),
          "<text>",
          Pattern.compile("(?s).+"),
          "<any>",
          Pattern.compile("(?s).*"),
          "<digits>",
          Pattern.compile("[0-9]+"),
          "<exec>",
          Pattern.compile("exec-[0-9a-f]+"),
          "<image>",
          Pattern.compile("[^@]+@sha256:[0-9a-f]{64}"),
          "<trace>",
          Pattern.compile("[0-9a-f]{32}"));

  private final TreeMap<String, JsonValue> answers;

  private SeedAnswers(TreeMap<String, JsonValue> answers) {
    this.answers = answers;
  }

  static SeedAnswers read() throws IOException {
    try (InputStream in = SeedAnswers.class.getResourceAsStream("seed-answers.json")) {
      return new SeedAnswers(
          new TreeMap<>(((JsonValue.Obj) Jcs.parse(in.readAllBytes())).members()));
    }
  }

  /** Examples that were not compared yet. */
  TreeSet<String> left() {
    return new TreeSet<>(answers.keySet());
  }

  /** Compares field by field; an example that no seed has is passed over. */
  void compare(String what, List<JsonValue> given) {
    JsonValue expected = answers.remove(what);
    if (expected != null) {
      List<String> differences = new ArrayList<>();
      compare(
          "",
          expected,
          given.size() == 1 ? given.getFirst() : new JsonValue.Arr(given),
          differences);
      assertThat(differences).as("%s: %s", what, given).isEmpty();
    }
  }

  private static void compare(
      String field, JsonValue expected, JsonValue given, List<String> differences) {
    switch (expected) {
      case JsonValue.Obj object when given instanceof JsonValue.Obj other -> {
        TreeSet<String> unexpected = new TreeSet<>(other.members().keySet());
        object
            .members()
            .forEach((name, member) -> {
              String plain = name.endsWith("?") ? name.substring(0, name.length() - 1) : name;
              unexpected.remove(plain);
              JsonValue value = other.get(plain);
              if (value != null) {
                compare(field + "/" + plain, member, value, differences);
              } else if (plain.equals(name)) {
                differences.add(field + "/" + name + " is missing");
              }
            });
        unexpected.forEach(name -> differences.add(field + "/" + name + " is no member of it"));
      }
      case JsonValue.Arr array
          when given instanceof JsonValue.Arr other
              && array.items().size() == other.items().size() -> {
        for (int i = 0; i < array.items().size(); i++) {
          compare(field + "/" + i, array.items().get(i), other.items().get(i), differences);
        }
      }
      case JsonValue.Str form when form.value().equals("<integer>") -> {
        if (!(given instanceof JsonValue.Num number && number.isInteger())) {
          differences.add(field + " is no integer: " + given);
        }
      }
      case JsonValue.Str form when form.value().equals("<object>") -> {
        if (!(given instanceof JsonValue.Obj)) {
          differences.add(field + " is no object: " + given);
        }
      }
      case JsonValue.Str form when FORMS.containsKey(form.value()) -> {
        if (!(given instanceof JsonValue.Str text
            && FORMS.get(form.value()).matcher(text.value()).matches())) {
          differences.add(field + " is not of the form " + form.value() + ": " + given);
        }
      }
      default -> {
        if (!expected.equals(given)) {
          differences.add(field + " is " + given + " and not " + expected);
        }
      }
    }
  }
}

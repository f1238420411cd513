package dev.writ.conform.run;

import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.ConformError;
import dev.writ.conform.adapter.AdapterAnswer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * One golden vector: one answer that an implementation must give.
 *
 * @param name its path under golden-vectors/ without {@code .json}
 * @param about why it succeeds or fails
 * @param op the operation
 * @param input of the operation
 * @param expect the output; or {@code {"code": …}} alone for a refusal, {@code {"codes": […]}}
 *     where the specification leaves open which of several reasons is found first
 * @param promise the number of the promise (spec/invariants.md) that it attacks
 */
public record Vector(
    String name,
    String about,
    String op,
    JsonValue.Obj input,
    JsonValue.Obj expect,
    Optional<Long> promise) {

  private static final String FILE = "_file";

  /**
   * @param files content of the file of that name beside it, for an input's {@code …_file}
   * @throws WritException {@code CNF-005}
   */
  static Vector read(String name, byte[] file, Function<String, byte[]> files) {
    try {
      Fields fields = Fields.of(name, Jcs.parse(file));
      Vector vector =
          new Vector(
              name,
              fields.name("about"),
              fields.name("op"),
              withFiles(fields.obj("input"), files),
              fields.obj("expect"),
              fields.optional("promise", fields::integer));
      // The text of our own implementation's refusal; not part of conformance.
      fields.optional("found", fields::string);
      fields.end();
      return vector;
    } catch (WritException e) {
      if (e.code() instanceof ConformError) {
        throw e;
      }
      throw new WritException(
          ConformError.VECTOR_MALFORMED, name + ": " + e.code().code() + " " + e.found(), e);
    }
  }

  /** {@code x_file} names a file whose bytes the operation gets as {@code x_b64}. */
  private static JsonValue.Obj withFiles(JsonValue.Obj input, Function<String, byte[]> files) {
    TreeMap<String, JsonValue> members = new TreeMap<>();
    input
        .members()
        .forEach((key, value) -> {
          if (key.endsWith(FILE) && value instanceof JsonValue.Str file) {
            members.put(
                key.substring(0, key.length() - FILE.length()) + "_b64",
                JsonValue.of(StrictBase64.encode(files.apply(file.value()))));
          } else {
            members.put(key, value);
          }
        });
    return new JsonValue.Obj(members);
  }

  public String suite() {
    return name.substring(0, name.indexOf('/'));
  }

  /** The codes of refusals that pass; empty if an output is expected. */
  List<String> refusals() {
    if (expect.members().size() != 1) {
      return List.of();
    }
    if (expect.get("code") instanceof JsonValue.Str code) {
      return List.of(code.value());
    }
    return expect.get("codes") instanceof JsonValue.Arr codes
        ? codes.items().stream().map(code -> Fields.stringItem(name, code)).toList()
        : List.of();
  }

  /** What is wrong with an answer; empty if it is the expected one. */
  Optional<String> difference(AdapterAnswer answer) {
    return switch (answer) {
      case AdapterAnswer.Output(JsonValue.Obj output) ->
          output.equals(expect)
              ? Optional.empty()
              : Optional.of("expected " + shown(expect) + ", got " + shown(output));
      case AdapterAnswer.Refused(String code, String message) ->
          refusals().contains(code)
              ? Optional.empty()
              : Optional.of(
                  "expected " + shown(expect) + ", refused with " + code + ": " + message);
    };
  }

  private static String shown(JsonValue value) {
    String text = new String(Jcs.write(value), StandardCharsets.UTF_8);
    return text.length() <= 600 ? text : text.substring(0, 600) + "…";
  }
}

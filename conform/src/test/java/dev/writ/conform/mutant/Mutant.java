package dev.writ.conform.mutant;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.Ours;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.adapter.AdapterAnswer;
import dev.writ.conform.run.Implementation;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * This implementation with one operation broken: an adapter around the real one.
 *
 * @param name what it gets wrong
 * @param suites where it must be caught
 * @param hints words in what a vector expects that is likely to catch it; those are tried first
 */
record Mutant(
    String name,
    List<String> suites,
    String op,
    List<String> hints,
    Function<JsonValue.Obj, AdapterAnswer> broken)
    implements Implementation {
  private static final Adapter REAL = new Adapter(Ours.OPERATIONS);

  /** A change of an object's members. */
  interface Change extends UnaryOperator<TreeMap<String, JsonValue>> {}

  static final JsonValue.Obj VALID = JsonValue.object().put("valid", true).build();

  @Override
  public AdapterAnswer ask(String asked, JsonValue.Obj input) {
    return asked.equals(op) ? broken.apply(input) : REAL.ask(asked, input);
  }

  /** Another function in its place; what that refuses is refused. */
  static Mutant of(
      String suite, String op, String name, Function<JsonValue.Obj, JsonValue.Obj> instead) {
    return new Mutant(
        name,
        List.of(suite.split(" ")),
        op,
        List.of(),
        input -> {
          try {
            return new AdapterAnswer.Output(instead.apply(input));
          } catch (WritException e) {
            return new AdapterAnswer.Refused(e.code().code(), e.getMessage());
          }
        });
  }

  private static Mutant around(
      String suite, String op, String name, Function<AdapterAnswer, AdapterAnswer> change) {
    return new Mutant(
        name, List.of(suite.split(" ")), op, List.of(), input -> change.apply(REAL.ask(op, input)));
  }

  /** Says yes where the real one refuses with that code. */
  static Mutant accepting(String suite, String op, String code, String name) {
    return around(
        suite,
        op,
        name,
        answer ->
            answer instanceof AdapterAnswer.Refused refused && refused.code().equals(code)
                ? new AdapterAnswer.Output(VALID)
                : answer);
  }

  /** Refuses rightly, with the wrong code. */
  static Mutant confusing(String suite, String op, String code, String other) {
    return around(
        suite,
        op,
        op + " gives " + other + " for " + code,
        answer ->
            answer instanceof AdapterAnswer.Refused refused && refused.code().equals(code)
                ? new AdapterAnswer.Refused(other, refused.message())
                : answer);
  }

  /** Looks at another input than it was given: what it ignores is put right. */
  static Mutant ignoring(String suite, String op, String name, Change change) {
    return new Mutant(
        name,
        List.of(suite.split(" ")),
        op,
        List.of(),
        input -> REAL.ask(op, new JsonValue.Obj(change.apply(new TreeMap<>(input.members())))));
  }

  /** Says something else than it found. */
  static Mutant telling(String suite, String op, String name, Change change) {
    return around(
        suite,
        op,
        name,
        answer ->
            answer instanceof AdapterAnswer.Output(JsonValue.Obj output)
                ? new AdapterAnswer.Output(
                    new JsonValue.Obj(change.apply(new TreeMap<>(output.members()))))
                : answer);
  }

  /** The same, tried first on vectors that expect one of these words. */
  Mutant hinting(String... words) {
    return new Mutant(name, suites, op, List.of(words), broken);
  }

  /** The real one's answer, for a mutant that asks it about something else. */
  static AdapterAnswer real(String op, JsonValue.Obj input) {
    return REAL.ask(op, input);
  }
}

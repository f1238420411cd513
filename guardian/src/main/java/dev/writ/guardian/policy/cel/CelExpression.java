package dev.writ.guardian.policy.cel;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.error.GuardianError;
import java.util.List;
import java.util.Optional;

/**
 * One CEL expression over a request: compiled and type-checked once, evaluated under a cost limit.
 * {@code &&} and {@code ||} are strict from the left: an error on the left is an error of the whole
 * ({@link StrictLogic}). Regular expressions run on RE2, in linear time.
 *
 * <p>cel-java compiles and evaluates it, unless it is a {@link PlainExpression}, which has the same
 * value and needs a thousand classes less. Where that has no answer, cel-java is asked.
 */
public final class CelExpression {
  /** The most steps that one evaluation may take; part of the kernel version (protocol rule 10). */
  public static final int COST_MAX = 1_000_000;

  static final int SOURCE_MAX = 4_096;

  private static final RecentExpressions COMPILED = new RecentExpressions();

  private final String source;
  private final Optional<PlainExpression> plain;
  private final List<String> params;

  /** Null until it is needed; two threads may both compile it. */
  private volatile CelProgram program;

  private CelExpression(String source, PlainExpression plain) {
    this.source = source;
    this.plain = Optional.of(plain);
    this.params = plain.params();
  }

  private CelExpression(String source, CelProgram program) {
    this.source = source;
    this.plain = Optional.empty();
    this.params = program.params();
    this.program = program;
  }

  /**
   * @throws WritException {@code GRD-509} with the position inside the expression
   */
  public static CelExpression compile(String source) {
    if (source.length() > SOURCE_MAX) {
      throw refuse(source.length() + " characters, at most " + SOURCE_MAX);
    }
    return COMPILED.get(source, CelExpression::compiled);
  }

  private static CelExpression compiled(String source) {
    Optional<PlainExpression> plain = PlainExpression.parse(source);
    return plain.isPresent()
        ? new CelExpression(source, plain.get())
        : new CelExpression(source, CelProgram.compile(source));
  }

  static WritException refuse(String found) {
    return new WritException(GuardianError.POLICY_CEL, found);
  }

  /** The names of the parameters that it reads, sorted. */
  public List<String> params() {
    return params;
  }

  /** Patterns in it that cannot be looked for, so that it is an error each time; sorted. */
  public List<String> uselessPatterns() {
    return plain.isPresent() ? List.of() : program.uselessPatterns();
  }

  /** As the policy writes it. */
  public String source() {
    return source;
  }

  /**
   * The result of an evaluation.
   *
   * @param value empty if it failed
   * @param error a stable word for the failure, empty where there was none
   */
  public record Result(Optional<Boolean> value, String error) {}

  /** Evaluates it. It sees nothing but these variables. */
  public Result evaluate(CelVariables variables) {
    if (plain.isPresent()) {
      Optional<Result> result = plain.get().evaluate(variables);
      if (result.isPresent()) {
        return result.get();
      }
    }
    CelProgram compiled = program;
    if (compiled == null) {
      compiled = CelProgram.compile(source);
      program = compiled;
    }
    return compiled.evaluate(variables);
  }

  @Override
  public String toString() {
    return source;
  }
}

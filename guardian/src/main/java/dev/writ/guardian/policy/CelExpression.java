package dev.writ.guardian.policy;

import com.google.common.collect.ImmutableList;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelIssue;
import dev.cel.common.CelOptions;
import dev.cel.common.CelValidationException;
import dev.cel.common.CelValidationResult;
import dev.cel.common.types.CelType;
import dev.cel.common.types.ListType;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.error.GuardianError;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * One CEL expression over a request: compiled and type-checked once, evaluated under a cost limit.
 * {@code &&} and {@code ||} are strict from the left: an error on the left is an error of the whole
 * ({@link StrictLogic}). Regular expressions run on RE2, in linear time.
 */
public final class CelExpression {
  /** The most steps that one evaluation may take; part of the kernel version (protocol rule 10). */
  public static final int COST_MAX = 1_000_000;

  private static final int SOURCE_MAX = 4_096;
  private static final CelType ANY_MAP = MapType.create(SimpleType.STRING, SimpleType.DYN);
  private static final CelOptions OPTIONS =
      CelOptions.current()
          .maxExpressionCodePointSize(SOURCE_MAX)
          .maxParseRecursionDepth(64)
          .maxParseExpressionNodeCount(1_000)
          .maxRegexProgramSize(1_000)
          .comprehensionMaxIterations(10_000)
          .enableHeterogeneousNumericComparisons(true)
          .errorOnDuplicateMapKeys(true)
          .build();
  private static final CelCompiler COMPILER = compiler();
  private static final CelRuntime RUNTIME =
      CelRuntimeFactory.standardCelRuntimeBuilder().setOptions(OPTIONS).build();

  private static final RecentExpressions COMPILED = new RecentExpressions();

  private final String source;
  private final List<String> params;
  private final CelRuntime.Program program;

  private CelExpression(String source, List<String> params, CelRuntime.Program program) {
    this.source = source;
    this.params = params;
    this.program = program;
  }

  private static CelCompiler compiler() {
    return CelCompilerFactory.standardCelCompilerBuilder()
        .setOptions(OPTIONS)
        .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
        .addVar("effect", ANY_MAP)
        .addVar("params", ANY_MAP)
        .addVar("inputs", ListType.create(ANY_MAP))
        .addVar("request", ANY_MAP)
        .addVar("tenant", SimpleType.STRING)
        .addVar("run", SimpleType.STRING)
        .addVar("subject", SimpleType.STRING)
        .addVar("roles", ListType.create(SimpleType.STRING))
        .addVar("time", SimpleType.TIMESTAMP)
        .addVar("artifacts", ListType.create(ANY_MAP))
        .addVar("evidence", ListType.create(SimpleType.STRING))
        .addVar("consumes", ListType.create(SimpleType.STRING))
        .build();
  }

  /**
   * @throws WritException {@code GRD-509} with the position inside the expression
   */
  static CelExpression compile(String source) {
    if (source.length() > SOURCE_MAX) {
      throw refuse(source.length() + " characters, at most " + SOURCE_MAX);
    }
    return COMPILED.get(source, CelExpression::compiled);
  }

  private static CelExpression compiled(String source) {
    try {
      CelAbstractSyntaxTree parsed = require(COMPILER.parse(source));
      CelAbstractSyntaxTree checked = require(COMPILER.check(StrictLogic.rewrite(parsed)));
      if (!checked.getResultType().equals(SimpleType.BOOL)) {
        throw refuse(
            "it gives "
                + checked.getResultType().name()
                + " instead of bool; compare it, as in x"
                + " == true");
      }
      return new CelExpression(
          source, ParamsRead.of(parsed.getExpr()), RUNTIME.createProgram(checked));
    } catch (CelValidationException | CelEvaluationException e) {
      throw refuse(firstLine(e.getMessage()));
    }
  }

  private static CelAbstractSyntaxTree require(CelValidationResult result)
      throws CelValidationException {
    ImmutableList<CelIssue> errors = result.getErrors();
    if (!errors.isEmpty()) {
      CelIssue first = errors.getFirst();
      throw refuse(
          "line "
              + first.getSourceLocation().getLine()
              + ", column "
              + (first.getSourceLocation().getColumn() + 1)
              + " of the expression: "
              + firstLine(first.getMessage()));
    }
    return result.getAst();
  }

  static WritException refuse(String found) {
    return new WritException(GuardianError.POLICY_CEL, found);
  }

  private static String firstLine(String text) {
    return text.lines().findFirst().orElse("");
  }

  /** The names of the parameters that it reads, sorted. */
  public List<String> params() {
    return params;
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
    CelCost cost = new CelCost(COST_MAX);
    try {
      Object value = program.trace(variables::resolve, cost);
      return value instanceof Boolean b
          ? new Result(Optional.of(b), "")
          : new Result(Optional.empty(), "no bool");
    } catch (CelCost.Exceeded e) {
      return new Result(Optional.empty(), "cost limit");
    } catch (CelEvaluationException e) {
      return new Result(
          Optional.empty(),
          CelCost.exceededWithin(e)
              ? "cost limit"
              : e.getErrorCode().name().toLowerCase(Locale.ROOT).replace('_', ' '));
    }
  }

  @Override
  public String toString() {
    return source;
  }
}

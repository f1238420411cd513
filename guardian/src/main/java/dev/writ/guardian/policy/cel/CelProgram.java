package dev.writ.guardian.policy.cel;

import com.google.common.collect.ImmutableList;
import com.google.re2j.PatternSyntaxException;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelIssue;
import dev.cel.common.CelOptions;
import dev.cel.common.CelValidationException;
import dev.cel.common.CelValidationResult;
import dev.cel.common.exceptions.CelInvalidArgumentException;
import dev.cel.common.types.CelType;
import dev.cel.common.types.ListType;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelFunctionBinding;
import dev.cel.runtime.CelLateFunctionBindings;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import dev.cel.runtime.CelStandardFunctions;
import dev.cel.runtime.CelStandardFunctions.StandardFunction;
import dev.writ.canonicalize.WritException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * An expression compiled by cel-java. The only class that needs that library, with those that it
 * uses, so that what {@link PlainExpression} answers loads none of it.
 *
 * @param params the names of the parameters that it reads, sorted
 * @param uselessPatterns patterns in it that cannot be looked for, sorted
 */
public record CelProgram(
    List<String> params, List<String> uselessPatterns, CelRuntime.Program program) {
  private static final CelType ANY_MAP = MapType.create(SimpleType.STRING, SimpleType.DYN);
  static final String MATCHES = "matches";

  /** How many instructions the program of a pattern may have. */
  static final int PATTERN_SIZE_MAX = 1_000;

  private static final CelOptions OPTIONS =
      CelOptions.current()
          .maxExpressionCodePointSize(CelExpression.SOURCE_MAX)
          .maxParseRecursionDepth(64)
          .maxParseExpressionNodeCount(1_000)
          .comprehensionMaxIterations(10_000)
          .enableHeterogeneousNumericComparisons(true)
          .errorOnDuplicateMapKeys(true)
          .build();
  private static final CelCompiler COMPILER = compiler();

  /** Its own {@code matches} counts no work, and compiles patterns of any size. */
  private static final CelRuntime RUNTIME =
      CelRuntimeFactory.standardCelRuntimeBuilder()
          .setOptions(OPTIONS)
          .setStandardEnvironmentEnabled(false)
          .setStandardFunctions(
              CelStandardFunctions.newBuilder().excludeFunctions(StandardFunction.MATCHES).build())
          .build();

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
  public static CelProgram compile(String source) {
    try {
      CelAbstractSyntaxTree parsed = require(COMPILER.parse(source));
      CelAbstractSyntaxTree checked = require(COMPILER.check(StrictLogic.rewrite(parsed)));
      if (!checked.getResultType().equals(SimpleType.BOOL)) {
        throw CelExpression.refuse(
            "it gives "
                + checked.getResultType().name()
                + " instead of bool; compare it, as in x"
                + " == true");
      }
      return new CelProgram(
          ParamsRead.of(parsed.getExpr()),
          UselessPatterns.of(parsed.getExpr()),
          RUNTIME.createProgram(checked));
    } catch (CelValidationException | CelEvaluationException e) {
      throw CelExpression.refuse(firstLine(e.getMessage()));
    }
  }

  private static CelAbstractSyntaxTree require(CelValidationResult result)
      throws CelValidationException {
    ImmutableList<CelIssue> errors = result.getErrors();
    if (!errors.isEmpty()) {
      CelIssue first = errors.getFirst();
      throw CelExpression.refuse(
          "line "
              + first.getSourceLocation().getLine()
              + ", column "
              + (first.getSourceLocation().getColumn() + 1)
              + " of the expression: "
              + firstLine(first.getMessage()));
    }
    return result.getAst();
  }

  private static CelLateFunctionBindings matches(CelCost cost) {
    return CelLateFunctionBindings.from(
        CelFunctionBinding.from(
            MATCHES, String.class, String.class, (text, pattern) -> matches(text, pattern, cost)),
        CelFunctionBinding.from(
            "matches_string",
            String.class,
            String.class,
            (text, pattern) -> matches(text, pattern, cost)));
  }

  private static boolean matches(String text, String source, CelCost cost) {
    LinearPattern pattern;
    try {
      pattern =
          LinearPattern.compile(source, PATTERN_SIZE_MAX)
              .orElseThrow(() -> new CelInvalidArgumentException("the pattern is too large"));
    } catch (PatternSyntaxException e) {
      throw new CelInvalidArgumentException(e);
    }
    cost.spend(CelCost.matching(pattern, text));
    return pattern.isIn(text);
  }

  private static String firstLine(String text) {
    return text.lines().findFirst().orElse("");
  }

  public CelExpression.Result evaluate(CelVariables variables) {
    CelCost cost = new CelCost(CelExpression.COST_MAX);
    try {
      Object value = program.trace(variables::resolve, matches(cost), cost);
      return value instanceof Boolean b
          ? new CelExpression.Result(Optional.of(b), "")
          : new CelExpression.Result(Optional.empty(), "no bool");
    } catch (CelCost.Exceeded e) {
      return new CelExpression.Result(Optional.empty(), "cost limit");
    } catch (CelEvaluationException e) {
      return new CelExpression.Result(
          Optional.empty(),
          CelCost.exceededWithin(e)
              ? "cost limit"
              : e.getErrorCode().name().toLowerCase(Locale.ROOT).replace('_', ' '));
    }
  }
}

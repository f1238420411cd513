package dev.writ.guardian.policy.cel;

import com.google.common.collect.ImmutableList;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import java.util.List;
import java.util.Optional;

/**
 * Makes {@code a && b} mean {@code a ? b : false} and {@code a || b} mean {@code a ? true : b}. CEL
 * itself lets a false right side swallow an error on the left, so that {@code params.missing &&
 * false} would be an answer; here it is an error, and an error refuses. Also refuses the functions
 * that read the time zone tables of the machine.
 */
public final class StrictLogic {
  private long nextId = 1L << 40;

  private StrictLogic() {}

  static CelAbstractSyntaxTree rewrite(CelAbstractSyntaxTree parsed) {
    return CelAbstractSyntaxTree.newParsedAst(
        new StrictLogic().strict(parsed.getExpr()), parsed.getSource());
  }

  private CelExpr strict(CelExpr e) {
    return switch (e.getKind()) {
      case CALL -> call(e);
      case SELECT ->
          CelExpr.ofSelect(
              e.id(), strict(e.select().operand()), e.select().field(), e.select().testOnly());
      case LIST -> CelExpr.ofList(e.id(), strict(e.list().elements()), e.list().optionalIndices());
      case MAP -> CelExpr.ofMap(e.id(), entries(e.map()));
      case COMPREHENSION -> {
        CelExpr.CelComprehension c = e.comprehension();
        yield e.toBuilder()
            .setComprehension(
                c.toBuilder()
                    .setIterRange(strict(c.iterRange()))
                    .setAccuInit(strict(c.accuInit()))
                    .setLoopStep(strict(c.loopStep()))
                    .setResult(strict(c.result()))
                    .build())
            .build();
      }
      case STRUCT -> throw CelExpression.refuse("messages cannot be made here");
      case CONSTANT, IDENT, NOT_SET -> e;
    };
  }

  private ImmutableList<CelExpr> strict(List<CelExpr> list) {
    return list.stream().map(this::strict).collect(ImmutableList.toImmutableList());
  }

  private ImmutableList<CelExpr.CelMap.Entry> entries(CelExpr.CelMap map) {
    return map.entries().stream()
        .map(m -> CelExpr.ofMapEntry(m.id(), strict(m.key()), strict(m.value()), m.optionalEntry()))
        .collect(ImmutableList.toImmutableList());
  }

  private CelExpr call(CelExpr e) {
    ImmutableList<CelExpr> args = strict(e.call().args());
    String function = e.call().function();
    return switch (function) {
      case "_&&_" -> choice(e, args.get(0), args.get(1), constant(false));
      case "_||_" -> choice(e, args.get(0), constant(true), args.get(1));
      default -> {
        if (function.startsWith("get") && !args.isEmpty()) {
          throw CelExpression.refuse(function + " takes no time zone here; times are UTC");
        }
        yield CelExpr.ofCall(e.id(), e.call().target().map(this::strict), function, args);
      }
    };
  }

  private CelExpr constant(boolean value) {
    return CelExpr.ofConstant(nextId++, CelConstant.ofValue(value));
  }

  private static CelExpr choice(CelExpr e, CelExpr condition, CelExpr yes, CelExpr no) {
    return CelExpr.ofCall(e.id(), Optional.empty(), "_?_:_", ImmutableList.of(condition, yes, no));
  }
}

package dev.writ.guardian.policy.cel;

import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The parameters of a request that an expression reads by their names. */
public final class ParamsRead {
  private static final String PARAMS = "params";

  private ParamsRead() {}

  /** Their names, sorted; {@code params.a.b} reads {@code a}. */
  static List<String> of(CelExpr expression) {
    TreeSet<String> names = new TreeSet<>();
    collect(expression, names);
    return List.copyOf(names);
  }

  private static void collect(CelExpr e, TreeSet<String> names) {
    name(e).ifPresent(names::add);
    children(e).forEach(child -> collect(child, names));
  }

  private static Optional<String> name(CelExpr e) {
    return switch (e.getKind()) {
      case SELECT ->
          isParams(e.select().operand()) ? Optional.of(e.select().field()) : Optional.empty();
      case CALL -> {
        List<CelExpr> args = e.call().args();
        yield e.call().function().equals("_[_]") && isParams(args.getFirst())
            ? constant(args.getLast())
            : e.call().function().equals("@in") && isParams(args.getLast())
                ? constant(args.getFirst())
                : Optional.empty();
      }
      default -> Optional.empty();
    };
  }

  private static boolean isParams(CelExpr e) {
    return e.getKind() == CelExpr.ExprKind.Kind.IDENT && e.ident().name().equals(PARAMS);
  }

  static Optional<String> constant(CelExpr e) {
    return e.getKind() == CelExpr.ExprKind.Kind.CONSTANT
            && e.constant().getKind() == CelConstant.Kind.STRING_VALUE
        ? Optional.of(e.constant().stringValue())
        : Optional.empty();
  }

  static Stream<CelExpr> children(CelExpr e) {
    return switch (e.getKind()) {
      case SELECT -> Stream.of(e.select().operand());
      case CALL -> Stream.concat(e.call().target().stream(), e.call().args().stream());
      case LIST -> e.list().elements().stream();
      case MAP -> e.map().entries().stream().flatMap(m -> Stream.of(m.key(), m.value()));
      case COMPREHENSION ->
          Stream.of(
              e.comprehension().iterRange(),
              e.comprehension().accuInit(),
              e.comprehension().loopCondition(),
              e.comprehension().loopStep(),
              e.comprehension().result());
      case STRUCT, CONSTANT, IDENT, NOT_SET -> Stream.empty();
    };
  }
}

package dev.writ.conform.mutant;

import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.BlockTree;
import com.sun.source.tree.CaseTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.ForLoopTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.IfTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.ThrowTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Puts every mutant of some methods of a Java source into one copy of it. In the copy, {@link
 * MutantOn#number} says which of them is on.
 */
final class JavaMutator extends TreeScanner<Void, Void> {
  /** One that can be on. */
  record Change(int id, String key) {}

  private static final Map<Tree.Kind, String> BOUNDARY =
      Map.of(
          Tree.Kind.LESS_THAN, "<=",
          Tree.Kind.LESS_THAN_EQUAL, "<",
          Tree.Kind.GREATER_THAN, ">=",
          Tree.Kind.GREATER_THAN_EQUAL, ">");

  /** Methods of {@code Instant}: not before is the same or after. */
  private static final Map<String, String> TIMES =
      Map.of("isBefore", "isAfter", "isAfter", "isBefore");

  private static final Set<String> PREDICATES =
      Set.of("filter", "removeIf", "anyMatch", "noneMatch", "allMatch");

  private static final Set<String> DURATIONS =
      Set.of("IN_FLIGHT", "SKEW", "LATE_MAX", "LIFE_MAX", "Admission.SKEW", "Intent.LIFE_MAX");

  /** What is said to people, and counted for them. */
  private static final Set<String> SAID =
      Set.of(
          "order",
          "signer",
          "problem",
          "late",
          "verified",
          "notVerified",
          "progress",
          "otherReceipt",
          "at");

  private final String file;
  private final String source;
  private final SourcePositions positions;
  private final CompilationUnitTree unit;
  private final List<String> areas;
  private final List<Change> all;
  private final TreeMap<String, Integer> keys = new TreeMap<>();
  private final TreeSet<String> seen = new TreeSet<>();
  private final List<Edit> edits = new ArrayList<>();
  private final List<Tree> path = new ArrayList<>();
  private String method = "";
  private String type = "";
  private boolean said;
  private final TreeSet<String> later = new TreeSet<>();

  /** Text put before and behind a piece of the source. */
  private record Edit(int from, int to, String before, String behind) {}

  /**
   * @param areas names of methods, {@code Type.*}, or {@code *} for all
   * @param all is added to; ids go on from its size
   */
  JavaMutator(
      String file,
      String source,
      CompilationUnitTree unit,
      SourcePositions positions,
      List<String> areas,
      List<Change> all) {
    this.file = file;
    this.source = source;
    this.unit = unit;
    this.positions = positions;
    this.areas = areas;
    this.all = all;
  }

  /** The copy, on as many lines. */
  String copy() {
    scan(unit, null);
    TreeSet<String> missing = new TreeSet<>(areas);
    missing.removeAll(seen);
    if (!missing.isEmpty()) {
      throw new IllegalStateException(file + ": no such method: " + missing);
    }
    // Outer edits come first where two begin together, and end last.
    TreeMap<Integer, StringBuilder> at = new TreeMap<>();
    edits.sort(Comparator.comparingInt((Edit e) -> e.to - e.from));
    for (Edit edit : edits) {
      at.computeIfAbsent(edit.to, _ -> new StringBuilder()).append(edit.behind);
    }
    TreeMap<Integer, StringBuilder> begin = new TreeMap<>();
    for (Edit edit : edits) {
      begin.computeIfAbsent(edit.from, _ -> new StringBuilder()).insert(0, edit.before);
    }
    StringBuilder out = new StringBuilder();
    for (int i = 0; i <= source.length(); i++) {
      if (at.containsKey(i)) {
        out.append(at.get(i));
      }
      if (begin.containsKey(i)) {
        out.append(begin.get(i));
      }
      if (i < source.length()) {
        out.append(source.charAt(i));
      }
    }
    return out.toString();
  }

  private int from(Tree tree) {
    return (int) positions.getStartPosition(unit, tree);
  }

  private int to(Tree tree) {
    return (int) positions.getEndPosition(unit, tree);
  }

  private String text(Tree tree) {
    return source.substring(from(tree), to(tree));
  }

  private boolean here() {
    return !method.isEmpty() && !said;
  }

  private int add(String kind, Tree tree) {
    String text = text(tree).replaceAll("\\s+", " ");
    String shown =
        file + " " + method + ": " + kind + ": " + text.substring(0, Math.min(140, text.length()));
    int times = keys.merge(shown, 1, Integer::sum);
    int id = all.size() + 1;
    all.add(new Change(id, times == 1 ? shown : shown + " (" + times + ")"));
    return id;
  }

  private static String on(int id) {
    return MutantOn.class.getName() + ".is(" + id + ")";
  }

  private void instead(String kind, Tree tree, String change) {
    if (here()) {
      int id = add(kind, tree);
      edits.add(new Edit(from(tree), to(tree), "(" + on(id) + " ? " + change + " : (", "))"));
    }
  }

  /** An edit that is added later is inside of those before it; a piece of text has several. */
  private void either(Tree tree, String first, String second, String one, String other) {
    if (here()) {
      int a = add(first, tree);
      int b = add(second, tree);
      String before = "(" + on(a) + " ? " + one + " : " + on(b) + " ? " + other + " : (";
      edits.add(new Edit(from(tree), to(tree), before, "))"));
    }
  }

  @Override
  public Void scan(Tree tree, Void p) {
    if (tree == null) {
      return null;
    }
    path.add(tree);
    super.scan(tree, p);
    path.removeLast();
    return null;
  }

  private Tree parent() {
    return path.get(path.size() - 2);
  }

  @Override
  public Void visitClass(ClassTree tree, Void p) {
    String before = type;
    type = tree.getSimpleName().toString();
    super.visitClass(tree, p);
    type = before;
    return null;
  }

  @Override
  public Void visitMethod(MethodTree tree, Void p) {
    String name = tree.getName().toString();
    boolean constructor = name.equals("<init>");
    String shown = constructor ? type : name;
    for (String area : List.of(shown, type + ".*", "*")) {
      if (areas.contains(area) && tree.getBody() != null) {
        seen.add(area);
        method = shown;
      }
    }
    later.clear();
    super.visitMethod(tree, p);
    method = "";
    return null;
  }

  @Override
  public Void visitVariable(VariableTree tree, Void p) {
    if (tree.getInitializer() == null) {
      later.add(tree.getName().toString());
    }
    return super.visitVariable(tree, p);
  }

  /** A pattern's variable is known behind the condition only where nothing stands around it. */
  private static boolean binds(Tree condition) {
    return condition
        .toString()
        .matches("(?s).*instanceof [A-Za-z.<>?]+ [a-z].*|.*instanceof.*\\(.*");
  }

  private void condition(ExpressionTree condition, boolean refuses) {
    Tree inner = condition instanceof ParenthesizedTree in ? in.getExpression() : condition;
    if (binds(inner)) {
      return;
    }
    if (refuses) {
      instead("never", inner, "false");
    } else {
      either(inner, "never", "always", "false", "true");
    }
  }

  /** That a refusal is no answer to everything, any vector shows. */
  private static boolean refuses(IfTree tree) {
    return tree.getThenStatement() instanceof BlockTree block
        && !block.getStatements().isEmpty()
        && block.getStatements().getFirst() instanceof ThrowTree;
  }

  @Override
  public Void visitIf(IfTree tree, Void p) {
    condition(tree.getCondition(), refuses(tree));
    return super.visitIf(tree, p);
  }

  @Override
  public Void visitConditionalExpression(ConditionalExpressionTree tree, Void p) {
    condition(tree.getCondition(), false);
    return super.visitConditionalExpression(tree, p);
  }

  @Override
  public Void visitBinary(BinaryTree tree, Void p) {
    String left = text(tree.getLeftOperand());
    String right = text(tree.getRightOperand());
    if ((tree.getKind() == Tree.Kind.CONDITIONAL_AND || tree.getKind() == Tree.Kind.CONDITIONAL_OR)
        && !binds(tree)) {
      either(tree, "left alone", "right alone", left, right);
    } else if (BOUNDARY.containsKey(tree.getKind())) {
      instead("boundary", tree, left + " " + BOUNDARY.get(tree.getKind()) + " " + right);
    }
    return super.visitBinary(tree, p);
  }

  @Override
  public Void visitReturn(ReturnTree tree, Void p) {
    boolean isBoolean =
        path.stream()
            .filter(MethodTree.class::isInstance)
            .reduce((_, last) -> last)
            .filter(m -> "boolean".equals(String.valueOf(((MethodTree) m).getReturnType())))
            .isPresent();
    boolean inLambda = path.stream().anyMatch(LambdaExpressionTree.class::isInstance);
    if (isBoolean && !inLambda && !text(tree.getExpression()).matches("true|false")) {
      either(tree.getExpression(), "false", "true", "false", "true");
    }
    return super.visitReturn(tree, p);
  }

  private static String name(MethodInvocationTree call) {
    return switch (call.getMethodSelect()) {
      case MemberSelectTree select -> select.getIdentifier().toString();
      case IdentifierTree identifier -> identifier.getName().toString();
      default -> "";
    };
  }

  @Override
  public Void visitMethodInvocation(MethodInvocationTree tree, Void p) {
    String name = name(tree);
    if (TIMES.containsKey(name) && tree.getMethodSelect() instanceof MemberSelectTree select) {
      String other = text(select.getExpression()) + "." + TIMES.get(name);
      instead("boundary", tree, "!" + other + "(" + text(tree.getArguments().getFirst()) + ")");
    }
    if (PREDICATES.contains(name)) {
      predicate(tree.getArguments().getFirst());
    }
    boolean before = said;
    said |= SAID.contains(name) || name.equals("orElseThrow");
    super.visitMethodInvocation(tree, p);
    said = before;
    return null;
  }

  private void predicate(ExpressionTree argument) {
    if (argument instanceof LambdaExpressionTree lambda
        && lambda.getBodyKind() == LambdaExpressionTree.BodyKind.EXPRESSION
        && !binds(lambda.getBody())) {
      either(lambda.getBody(), "false", "true", "false", "true");
    } else if (argument instanceof MemberReferenceTree) {
      either(argument, "false", "true", "(mutant -> false)", "(mutant -> true)");
    }
  }

  @Override
  public Void visitNewClass(NewClassTree tree, Void p) {
    boolean before = said;
    said |= tree.getIdentifier().toString().endsWith("Exception");
    super.visitNewClass(tree, p);
    said = before;
    return null;
  }

  @Override
  public Void visitMemberSelect(MemberSelectTree tree, Void p) {
    if (DURATIONS.contains(tree.toString())) {
      instead("longer", tree, text(tree) + ".plusMillis(1)");
    }
    return super.visitMemberSelect(tree, p);
  }

  @Override
  public Void visitIdentifier(IdentifierTree tree, Void p) {
    if (DURATIONS.contains(tree.toString())) {
      instead("longer", tree, text(tree) + ".plusMillis(1)");
    }
    return super.visitIdentifier(tree, p);
  }

  @Override
  public Void visitExpressionStatement(ExpressionStatementTree tree, Void p) {
    if (here() && !(parent() instanceof ForLoopTree) && canGo(tree.getExpression())) {
      int id = add("gone", tree);
      boolean isCase = parent() instanceof CaseTree;
      edits.add(
          new Edit(
              from(tree),
              to(tree),
              (isCase ? "{" : "") + "if (!(" + on(id) + ")) {",
              "}" + (isCase ? "}" : "")));
    }
    return super.visitExpressionStatement(tree, p);
  }

  private boolean canGo(ExpressionTree expression) {
    return switch (expression) {
      case MethodInvocationTree call ->
          !SAID.contains(name(call))
              && !name(call).equals("super")
              && !call.getMethodSelect().toString().matches("rows\\..*");
      case AssignmentTree assignment ->
          !later.contains(assignment.getVariable().toString())
              && !assignment.getVariable().toString().startsWith("this.");
      default -> false;
    };
  }
}

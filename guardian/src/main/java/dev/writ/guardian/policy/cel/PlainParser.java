package dev.writ.guardian.policy.cel;

import dev.writ.guardian.policy.cel.PlainExpression.Node;
import dev.writ.guardian.policy.cel.PlainExpression.NotPlain;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Parses and type-checks a {@link PlainExpression}, and gives up at the first thing that it does
 * not know. What it takes, cel-java takes too, and finds to be a bool.
 */
public final class PlainParser {
  /** Far within what cel-java allows, since its form of an expression has more parts. */
  private static final int SOURCE_MAX = 1_000;

  private static final int DEPTH_MAX = 8;
  private static final int NODES_MAX = 100;
  private static final int DIGITS_MAX = 18;

  private enum Type {
    ANY,
    TEXT,
    INTEGER,
    TRUTH,
    TIME,
    TEXTS,
    MAPS,
    MAP
  }

  /** Words that CEL keeps to itself, and names that it knows. */
  private static final List<String> TAKEN =
      List.of(
          "as",
          "bool",
          "break",
          "bytes",
          "cel",
          "const",
          "continue",
          "double",
          "duration",
          "dyn",
          "else",
          "exists",
          "false",
          "for",
          "function",
          "google",
          "has",
          "if",
          "import",
          "in",
          "int",
          "let",
          "list",
          "loop",
          "map",
          "namespace",
          "null",
          "null_type",
          "optional_type",
          "package",
          "return",
          "size",
          "string",
          "timestamp",
          "true",
          "type",
          "uint",
          "var",
          "void",
          "while");

  private record Typed(Node node, Type type) {}

  private final String source;
  private final TreeSet<String> params;
  private int at;
  private int depth;
  private int nodes;
  private String itemName = "";
  private Type itemType = Type.ANY;

  /**
   * @param params gets the names of the parameters that are read
   */
  PlainParser(String source, TreeSet<String> params) {
    this.source = source;
    this.params = params;
  }

  Node whole() {
    require(source.length() <= SOURCE_MAX);
    Node node = truth(or());
    space();
    require(at == source.length());
    return node;
  }

  private static void require(boolean plain) {
    if (!plain) {
      throw NotPlain.INSTANCE;
    }
  }

  private Typed made(Node node, Type type) {
    require(++nodes <= NODES_MAX);
    return new Typed(node, type);
  }

  private static Node truth(Typed found) {
    require(found.type == Type.TRUTH);
    return found.node;
  }

  private Typed or() {
    require(++depth <= DEPTH_MAX);
    Typed left = and();
    while (takes("||")) {
      left = made(new PlainExpression.Or(truth(left), truth(and())), Type.TRUTH);
    }
    depth--;
    return left;
  }

  private Typed and() {
    Typed left = relation();
    while (takes("&&")) {
      left = made(new PlainExpression.And(truth(left), truth(relation())), Type.TRUTH);
    }
    return left;
  }

  /** One comparison: CEL reads several in a row from the left, which nobody means. */
  private Typed relation() {
    if (word("type")) {
      return ofType();
    }
    Typed left = unary();
    for (String operator : List.of("==", "!=", "<=", ">=", "<", ">")) {
      if (takes(operator)) {
        return compared(operator, left, unary());
      }
    }
    if (word("in")) {
      Typed place = takes("[") ? texts() : unary();
      require(left.type == Type.TEXT || left.type == Type.ANY);
      require(place.type == Type.TEXTS || place.type == Type.MAP);
      if (isParams(place.node) && left.node instanceof PlainExpression.Constant text) {
        params.add((String) text.constant());
      }
      return made(new PlainExpression.In(left.node, place.node), Type.TRUTH);
    }
    return left;
  }

  /** {@code type(X) == TYPE}, of what has no type before it is evaluated. */
  private Typed ofType() {
    require(takes("("));
    Typed of = or();
    require(takes(")") && of.type == Type.ANY);
    boolean wanted = takes("==");
    require(wanted || takes("!="));
    String type = name();
    require(PlainExpression.OfType.TYPES.contains(type));
    return made(new PlainExpression.OfType(of.node, type, wanted), Type.TRUTH);
  }

  /** The rest of a list of texts. */
  private Typed texts() {
    List<String> texts = new ArrayList<>();
    do {
      space();
      require(at < source.length() && (source.charAt(at) == '\'' || source.charAt(at) == '"'));
      texts.add(text(source.charAt(at)));
      require(++nodes <= NODES_MAX);
    } while (takes(","));
    require(takes("]"));
    return made(new PlainExpression.Constant(List.copyOf(texts)), Type.TEXTS);
  }

  private Typed compared(String operator, Typed left, Typed right) {
    boolean equality = operator.equals("==") || operator.equals("!=");
    List<Type> kinds =
        equality
            ? List.of(Type.ANY, Type.TEXT, Type.INTEGER, Type.TRUTH)
            : List.of(Type.ANY, Type.INTEGER);
    require(kinds.contains(left.type) && kinds.contains(right.type));
    require(left.type == right.type || left.type == Type.ANY || right.type == Type.ANY);
    return made(
        equality
            ? new PlainExpression.Equal(left.node, right.node, operator.equals("=="))
            : new PlainExpression.Ordered(operator, left.node, right.node),
        Type.TRUTH);
  }

  private Typed unary() {
    if (takes("!")) {
      require(++depth <= DEPTH_MAX);
      Typed negated = made(new PlainExpression.Not(truth(unary())), Type.TRUTH);
      depth--;
      return negated;
    }
    return member();
  }

  private Typed member() {
    Typed found = primary();
    for (int i = 0; takes("."); i++) {
      require(i < DEPTH_MAX);
      String name = name();
      found =
          switch (name) {
            case "exists" -> amongItems(found, true);
            case "all" -> amongItems(found, false);
            case "matches" -> matches(found);
            case "contains", "endsWith", "startsWith" -> ofText(found, name);
            default -> selected(found, name);
          };
    }
    return found;
  }

  private Typed selected(Typed from, String name) {
    require(!TAKEN.contains(name));
    space();
    require(at == source.length() || source.charAt(at) != '('); // a method
    require(from.type == Type.MAP || from.type == Type.ANY);
    if (isParams(from.node)) {
      params.add(name);
    }
    return made(new PlainExpression.Member(from.node, name), Type.ANY);
  }

  private static boolean isParams(Node node) {
    return node instanceof PlainExpression.Variable variable && variable.name().equals("params");
  }

  private Typed ofText(Typed text, String method) {
    require(takes("(") && isText(text));
    Typed argument = or();
    require(takes(")") && isText(argument));
    return made(new PlainExpression.TextMethod(method, text.node, argument.node), Type.TRUTH);
  }

  private Typed matches(Typed text) {
    require(takes("(") && isText(text));
    Typed pattern = or();
    require(takes(")") && pattern.node instanceof PlainExpression.Constant);
    require(pattern.type == Type.TEXT);
    String stated = (String) ((PlainExpression.Constant) pattern.node).constant();
    LinearPattern linear =
        LinearPattern.usable(stated, CelProgram.PATTERN_SIZE_MAX)
            .orElseThrow(() -> NotPlain.INSTANCE);
    return made(new PlainExpression.Matches(text.node, linear), Type.TRUTH);
  }

  private static boolean isText(Typed found) {
    return found.type == Type.TEXT || found.type == Type.ANY;
  }

  private Typed amongItems(Typed items, boolean decides) {
    require(List.of(Type.TEXTS, Type.MAPS, Type.MAP, Type.ANY).contains(items.type));
    require(takes("(") && itemName.isEmpty());
    String name = name();
    require(!TAKEN.contains(name) && variable(name).isEmpty() && takes(","));
    itemName = name;
    itemType =
        switch (items.type) {
          case TEXTS, MAP -> Type.TEXT;
          case MAPS -> Type.MAP;
          default -> Type.ANY;
        };
    Node holds = truth(or());
    itemName = "";
    require(takes(")"));
    return made(new PlainExpression.AmongItems(items.node, name, holds, decides), Type.TRUTH);
  }

  private Typed primary() {
    space();
    require(at < source.length());
    char c = source.charAt(at);
    if (takes("(")) {
      Typed inner = or();
      require(takes(")"));
      return inner;
    }
    if (c == '\'' || c == '"') {
      return made(new PlainExpression.Constant(text(c)), Type.TEXT);
    }
    if (isDigit(c)) {
      return made(new PlainExpression.Constant(integer()), Type.INTEGER);
    }
    return named(name());
  }

  private Typed named(String name) {
    switch (name) {
      case "true", "false" -> {
        return made(new PlainExpression.Constant(name.equals("true")), Type.TRUTH);
      }
      case "size" -> {
        require(takes("("));
        Typed of = or();
        require(takes(")"));
        require(List.of(Type.ANY, Type.TEXT, Type.TEXTS, Type.MAPS, Type.MAP).contains(of.type));
        return made(new PlainExpression.Size(of.node), Type.INTEGER);
      }
      case "has" -> {
        require(takes("("));
        Typed of = member();
        require(takes(")"));
        require(of.node instanceof PlainExpression.Member);
        PlainExpression.Member member = (PlainExpression.Member) of.node;
        return made(new PlainExpression.Has(member.of(), member.name()), Type.TRUTH);
      }
      default -> {
        if (name.equals(itemName)) {
          return made(new PlainExpression.Variable(name), itemType);
        }
        Type type = variable(name).orElseThrow(() -> NotPlain.INSTANCE);
        return made(new PlainExpression.Variable(name), type);
      }
    }
  }

  private String text(char quote) {
    int end = ++at;
    while (end < source.length() && source.charAt(end) != quote) {
      char c = source.charAt(end++);
      require(c >= ' ' && c < 0x7f && c != '\\');
    }
    require(end < source.length());
    String text = source.substring(at, end);
    at = end + 1;
    // Three quotes begin another kind of text.
    require(at == source.length() || source.charAt(at) != '\'' && source.charAt(at) != '"');
    return text;
  }

  private long integer() {
    int end = at;
    while (end < source.length() && isDigit(source.charAt(end))) {
      end++;
    }
    require(end - at <= DIGITS_MAX && (source.charAt(at) != '0' || end == at + 1));
    // Not 1.5, 1e5, 1u or 0x1.
    require(end == source.length() || source.charAt(end) != '.' && !isOfName(source.charAt(end)));
    long number = Long.parseLong(source.substring(at, end));
    at = end;
    return number;
  }

  private String name() {
    space();
    int end = at;
    while (end < source.length() && isOfName(source.charAt(end))) {
      end++;
    }
    require(end > at && !isDigit(source.charAt(at)) && source.charAt(at) != '_');
    // A letter before a quote makes another kind of text of it.
    require(end == source.length() || source.charAt(end) != '\'' && source.charAt(end) != '"');
    String name = source.substring(at, end);
    at = end;
    return name;
  }

  /** The type of a variable that {@link CelProgram} declares; nothing where there is none. */
  private static Optional<Type> variable(String name) {
    return switch (name) {
      case "effect", "params", "request" -> Optional.of(Type.MAP);
      case "inputs", "artifacts" -> Optional.of(Type.MAPS);
      case "tenant", "run", "subject" -> Optional.of(Type.TEXT);
      case "roles", "evidence", "consumes" -> Optional.of(Type.TEXTS);
      case "time" -> Optional.of(Type.TIME);
      default -> Optional.empty();
    };
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  private static boolean isOfName(char c) {
    return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || isDigit(c);
  }

  private void space() {
    while (at < source.length() && (source.charAt(at) == ' ' || source.charAt(at) == '\n')) {
      at++;
    }
  }

  private boolean takes(String sign) {
    space();
    boolean there = source.startsWith(sign, at);
    if (there) {
      at += sign.length();
    }
    return there;
  }

  private boolean word(String word) {
    space();
    int end = at + word.length();
    boolean there =
        source.startsWith(word, at) && (end == source.length() || !isOfName(source.charAt(end)));
    if (there) {
      at = end;
    }
    return there;
  }
}

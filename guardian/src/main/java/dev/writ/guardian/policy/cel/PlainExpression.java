package dev.writ.guardian.policy.cel;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * An expression of the small part of CEL that most policies are written in: variables and their
 * members, {@code has}, {@code size}, {@code type}, {@code exists}, {@code all}, {@code in},
 * comparisons of texts, integers and truths, what a text begins with, ends with, contains and
 * matches, and strict logic. Its result is what cel-java gives, or it has none and cel-java is
 * asked: for anything that it cannot parse, any error but a member that is missing, any type or
 * size that is out of the ordinary. So it can refuse nothing; a test holds it against cel-java.
 *
 * @param params the names of the parameters that it reads, sorted
 */
public record PlainExpression(Node root, List<String> params) {
  /**
   * The most steps, counted as {@link CelCost} does but for those that cel-java's own form of the
   * expression adds; with a factor of eight for these no expression near the limit is answered.
   */
  private static final int COST_MAX = CelExpression.COST_MAX / 8;

  private static final int ITEMS_MAX = 1_000;

  /** A part of an expression; its value is a text, integer, truth, time, list or map. */
  sealed interface Node {
    Object value(Evaluation in);
  }

  /** The expression, or empty where it is not plain. */
  public static Optional<PlainExpression> parse(String source) {
    try {
      TreeSet<String> params = new TreeSet<>();
      Node root = new PlainParser(source, params).whole();
      return Optional.of(new PlainExpression(root, List.copyOf(params)));
    } catch (NotPlain e) {
      return Optional.empty();
    }
  }

  /** Its result, or empty where cel-java is to be asked. */
  public Optional<CelExpression.Result> evaluate(CelVariables variables) {
    try {
      boolean value = (Boolean) new Evaluation(variables).of(root);
      return Optional.of(new CelExpression.Result(Optional.of(value), ""));
    } catch (Missing e) {
      return Optional.of(new CelExpression.Result(Optional.empty(), "attribute not found"));
    } catch (NotPlain e) {
      return Optional.empty();
    }
  }

  /** Says that cel-java is to be asked. */
  static final class NotPlain extends RuntimeException {
    private static final long serialVersionUID = 1L;
    static final NotPlain INSTANCE = new NotPlain();

    private NotPlain() {
      super("not plain", null, false, false);
    }
  }

  /** Says that a map lacks a member: an error of the whole, since logic is strict. */
  static final class Missing extends RuntimeException {
    private static final long serialVersionUID = 1L;
    static final Missing INSTANCE = new Missing();

    private Missing() {
      super("attribute not found", null, false, false);
    }
  }

  /** One evaluation: the variables, and what is left of the cost. */
  static final class Evaluation {
    private final CelVariables variables;
    private String itemName = "";
    private Object item;
    private long left = COST_MAX;

    Evaluation(CelVariables variables) {
      this.variables = variables;
    }

    Object of(Node node) {
      Object value = node.value(this);
      charge(value);
      return value;
    }

    boolean truth(Node node) {
      return (Boolean) of(node); // the parser has seen to it
    }

    private void charge(Object value) {
      spend(1);
      if (value instanceof String text) {
        spend(text.length() / CelCost.CHARACTERS_PER_STEP);
      } else if (value instanceof List<?> list) {
        for (Object each : list) {
          charge(each);
        }
      } else if (value instanceof Map<?, ?> map) {
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          charge(entry.getKey());
          charge(entry.getValue());
        }
      }
    }

    private void spend(long steps) {
      left -= steps;
      if (left < 0) {
        throw NotPlain.INSTANCE;
      }
    }
  }

  record Constant(Object constant) implements Node {
    @Override
    public Object value(Evaluation in) {
      return constant;
    }
  }

  record Variable(String name) implements Node {
    @Override
    public Object value(Evaluation in) {
      return in.itemName.equals(name)
          ? in.item
          : in.variables.resolve(name).orElseThrow(() -> NotPlain.INSTANCE);
    }
  }

  record Member(Node of, String name) implements Node {
    @Override
    public Object value(Evaluation in) {
      if (in.of(of) instanceof Map<?, ?> map) {
        Object member = map.get(name);
        if (member == null) {
          throw Missing.INSTANCE;
        }
        return member;
      }
      throw NotPlain.INSTANCE;
    }
  }

  record Has(Node of, String name) implements Node {
    @Override
    public Object value(Evaluation in) {
      if (in.of(of) instanceof Map<?, ?> map) {
        return map.containsKey(name);
      }
      throw NotPlain.INSTANCE;
    }
  }

  record Size(Node of) implements Node {
    @Override
    public Object value(Evaluation in) {
      Object value = in.of(of);
      if (value instanceof String text) {
        return (long) text.codePointCount(0, text.length());
      }
      if (value instanceof List<?> list) {
        return (long) list.size();
      }
      if (value instanceof Map<?, ?> map) {
        return (long) map.size();
      }
      throw NotPlain.INSTANCE;
    }
  }

  record Equal(Node left, Node right, boolean wanted) implements Node {
    @Override
    public Object value(Evaluation in) {
      Object a = in.of(left);
      Object b = in.of(right);
      boolean alike =
          a instanceof String && b instanceof String
              || a instanceof Long && b instanceof Long
              || a instanceof Boolean && b instanceof Boolean;
      if (!alike) {
        throw NotPlain.INSTANCE;
      }
      return a.equals(b) == wanted;
    }
  }

  /** Of integers alone. */
  record Ordered(String operator, Node left, Node right) implements Node {
    @Override
    public Object value(Evaluation in) {
      if (in.of(left) instanceof Long a && in.of(right) instanceof Long b) {
        return switch (operator) {
          case "<" -> a < b;
          case "<=" -> a <= b;
          case ">" -> a > b;
          default -> a >= b;
        };
      }
      throw NotPlain.INSTANCE;
    }
  }

  /** A text in a list of texts, or as a key of a map. */
  record In(Node text, Node of) implements Node {
    @Override
    public Object value(Evaluation in) {
      Object sought = in.of(text);
      Object place = in.of(of);
      if (sought instanceof String && place instanceof Map<?, ?> map) {
        return map.containsKey(sought);
      }
      if (sought instanceof String && place instanceof List<?> list) {
        return among(sought, list);
      }
      throw NotPlain.INSTANCE;
    }

    private static boolean among(Object sought, List<?> list) {
      boolean found = false;
      for (Object each : list) {
        if (!(each instanceof String)) {
          throw NotPlain.INSTANCE;
        }
        found |= each.equals(sought);
      }
      return found;
    }
  }

  /** Whether a value is of a type, of those whose values look alike in every runtime. */
  record OfType(Node of, String type, boolean wanted) implements Node {
    static final List<String> TYPES = List.of("bool", "int", "string");

    @Override
    public Object value(Evaluation in) {
      String found =
          switch (in.of(of)) {
            case Boolean _ -> "bool";
            case Long _ -> "int";
            case String _ -> "string";
            default -> throw NotPlain.INSTANCE;
          };
      return found.equals(type) == wanted;
    }
  }

  /** What is asked of a text by a method; the argument is a text, too. */
  record TextMethod(String method, Node text, Node argument) implements Node {
    @Override
    public Object value(Evaluation in) {
      if (in.of(text) instanceof String a && in.of(argument) instanceof String b) {
        return switch (method) {
          case "contains" -> a.contains(b);
          case "endsWith" -> a.endsWith(b);
          default -> a.startsWith(b);
        };
      }
      throw NotPlain.INSTANCE;
    }
  }

  /** Whether a pattern, which the policy states, is anywhere in a text. */
  record Matches(Node text, LinearPattern pattern) implements Node {
    @Override
    public Object value(Evaluation in) {
      if (in.of(text) instanceof String found) {
        in.spend(CelCost.matching(pattern, found));
        return pattern.isIn(found);
      }
      throw NotPlain.INSTANCE;
    }
  }

  record Not(Node of) implements Node {
    @Override
    public Object value(Evaluation in) {
      return !in.truth(of);
    }
  }

  record And(Node left, Node right) implements Node {
    @Override
    public Object value(Evaluation in) {
      return in.truth(left) && in.truth(right);
    }
  }

  record Or(Node left, Node right) implements Node {
    @Override
    public Object value(Evaluation in) {
      return in.truth(left) || in.truth(right);
    }
  }

  /**
   * {@code exists}, or {@code all}: over a list, or the keys of a map.
   *
   * @param decides the truth of one item that decides for the whole
   */
  record AmongItems(Node items, String name, Node holds, boolean decides) implements Node {
    @Override
    public Object value(Evaluation in) {
      Collection<?> all =
          switch (in.of(items)) {
            case List<?> list -> list;
            case Map<?, ?> map -> map.keySet();
            default -> throw NotPlain.INSTANCE;
          };
      if (all.size() > ITEMS_MAX) {
        throw NotPlain.INSTANCE;
      }
      in.itemName = name; // the parser lets none stand within another
      try {
        for (Object item : all) {
          in.item = item;
          if (in.truth(holds) == decides) {
            return decides;
          }
        }
        return !decides;
      } catch (Missing e) {
        throw NotPlain.INSTANCE; // another item may decide all the same
      } finally {
        in.itemName = "";
      }
    }
  }
}

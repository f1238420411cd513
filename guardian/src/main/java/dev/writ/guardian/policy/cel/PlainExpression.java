package dev.writ.guardian.policy.cel;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * An expression of the small part of CEL that most policies are written in: variables and their
 * members, {@code has}, {@code size}, {@code exists}, {@code in}, comparisons of texts, integers
 * and truths, and strict logic. Its value is what cel-java gives, or it has none and cel-java is
 * asked: for anything that it cannot parse, any error, any type or size that is out of the
 * ordinary. So it can refuse nothing and fail at nothing; a test holds it against cel-java.
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

  /** Its value, or empty where cel-java is to be asked. */
  public Optional<Boolean> evaluate(CelVariables variables) {
    try {
      return Optional.of((Boolean) new Evaluation(variables).of(root));
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

  /** One evaluation: the variables, and what is left of the cost. */
  static final class Evaluation {
    private final CelVariables variables;
    private String itemName = "";
    private Object item;
    private int left = COST_MAX;

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

    private void spend(int steps) {
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
      Object member = in.of(of) instanceof Map<?, ?> map ? map.get(name) : null;
      if (member == null) {
        throw NotPlain.INSTANCE;
      }
      return member;
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

  record Exists(Node list, String name, Node holds) implements Node {
    @Override
    public Object value(Evaluation in) {
      if (!(in.of(list) instanceof List<?> items) || items.size() > ITEMS_MAX) {
        throw NotPlain.INSTANCE;
      }
      in.itemName = name; // the parser lets none stand within another
      try {
        for (Object item : items) {
          in.item = item;
          if (in.truth(holds)) {
            return true;
          }
        }
        return false;
      } finally {
        in.itemName = "";
      }
    }
  }
}

package dev.writ.replay.proposal;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What the arguments of several calls have in common, as conditions in CEL that hold for each of
 * them (spec/propose.md, Shapes).
 */
final class ArgumentShape {
  /** Objects are described member by member down to this depth. */
  private static final int DEPTH_MAX = 3;

  /** With more names than this, or more places, nothing is enumerated. */
  private static final int NAMES_MAX = 64;

  /** A longer condition on one member is left out; an expression has 4,096 characters at most. */
  private static final int EXPRESSION_MAX = 3_000;

  private static final int WORDS_MAX = 8;
  private static final int PLACES_MAX = 16;

  /** From how many calls on a boolean that was always the same is taken for a rule. */
  private static final int ALWAYS = 3;

  private static final Pattern WORD = Pattern.compile("[A-Za-z0-9_.-]{1,40}");
  private static final Pattern SPACE = Pattern.compile("\\s");

  /** An identifier of CEL that is none of its reserved words. */
  private static final Pattern IDENTIFIER =
      Pattern.compile(
          "(?!(?:as|break|const|continue|else|false|for|function|if|import|in|let|loop|namespace"
              + "|null|package|return|true|var|void|while)$)[A-Za-z_][A-Za-z0-9_]*");

  private ArgumentShape() {}

  /** Conditions on {@code params}: on its members' names, then on each member. */
  static List<String> of(List<JsonValue.Obj> params) {
    return object("params", params, 1);
  }

  private static List<String> object(String at, List<JsonValue.Obj> seen, int depth) {
    List<String> conditions = new ArrayList<>();
    TreeMap<String, List<JsonValue>> values = new TreeMap<>();
    for (JsonValue.Obj object : seen) {
      object
          .members()
          .forEach(
              (name, value) -> values.computeIfAbsent(name, _ -> new ArrayList<>()).add(value));
    }
    if (values.isEmpty() || values.size() > NAMES_MAX) {
      return List.of("size(" + at + ") <= " + values.size());
    }
    String key = "k" + depth;
    conditions.add(at + ".all(" + key + ", " + key + " in " + list(values.keySet()) + ")");
    values.forEach(
        (name, of) -> conditions.add(member(at, name, of, of.size() == seen.size(), depth)));
    return conditions;
  }

  private static String member(
      String at, String name, List<JsonValue> seen, boolean always, int depth) {
    boolean identifier = IDENTIFIER.matcher(name).matches();
    String value = identifier ? at + "." + name : at + "[" + text(name) + "]";
    String there = identifier ? "has(" + value + ")" : text(name) + " in " + at;
    String holds = all(value(value, seen, depth));
    if (holds.length() > EXPRESSION_MAX) {
      holds = type(value, kinds(seen));
    }
    return always ? there + " && " + holds : "!(" + there + ") || " + holds;
  }

  private static String all(List<String> conditions) {
    return conditions.size() == 1
        ? inParentheses(conditions.getFirst())
        : conditions.stream().map(ArgumentShape::inParentheses).collect(Collectors.joining(" && "));
  }

  private static String inParentheses(String condition) {
    return condition.contains(" || ") ? "(" + condition + ")" : condition;
  }

  private enum Kind {
    STRING("string"),
    INT("int"),
    DOUBLE("double"),
    BOOL("bool"),
    NULL("null_type"),
    LIST("list"),
    MAP("map");

    private final String cel;

    Kind(String cel) {
      this.cel = cel;
    }

    static Kind of(JsonValue value) {
      return switch (value) {
        case JsonValue.Str _ -> STRING;
        case JsonValue.Num number -> number.isInteger() ? INT : DOUBLE;
        case JsonValue.Bool _ -> BOOL;
        case JsonValue.Null _ -> NULL;
        case JsonValue.Arr _ -> LIST;
        case JsonValue.Obj _ -> MAP;
      };
    }
  }

  private static TreeSet<Kind> kinds(List<JsonValue> seen) {
    return seen.stream().map(Kind::of).collect(Collectors.toCollection(TreeSet::new));
  }

  private static String type(String at, TreeSet<Kind> kinds) {
    return inParentheses(
        kinds.stream()
            .map(kind -> "type(" + at + ") == " + kind.cel)
            .collect(Collectors.joining(" || ")));
  }

  /** What holds for a value that is there. */
  private static List<String> value(String at, List<JsonValue> seen, int depth) {
    TreeSet<Kind> kinds = kinds(seen);
    List<String> conditions = new ArrayList<>();
    conditions.add(type(at, kinds));
    if (kinds.equals(new TreeSet<>(List.of(Kind.INT, Kind.DOUBLE)))) {
      conditions.addAll(range(at, seen));
    } else if (kinds.size() == 1) {
      conditions.addAll(ofKind(kinds.first(), at, seen, depth));
    }
    return conditions;
  }

  private static List<String> ofKind(Kind kind, String at, List<JsonValue> seen, int depth) {
    return switch (kind) {
      case STRING ->
          List.of(string(at, seen.stream().map(value -> ((JsonValue.Str) value).value()).toList()));
      case INT, DOUBLE -> range(at, seen);
      case BOOL -> {
        boolean same = seen.size() >= ALWAYS && seen.stream().distinct().count() == 1;
        yield same ? List.of(at + " == " + json(seen.getFirst())) : List.of();
      }
      case NULL -> List.of();
      case LIST ->
          items(at, seen.stream().map(value -> ((JsonValue.Arr) value).items()).toList(), depth);
      case MAP ->
          depth >= DEPTH_MAX
              ? List.of()
              : object(at, seen.stream().map(value -> (JsonValue.Obj) value).toList(), depth + 1);
    };
  }

  private static List<String> items(String at, List<List<JsonValue>> seen, int depth) {
    int most = seen.stream().mapToInt(List::size).max().orElse(0);
    List<JsonValue> all = seen.stream().flatMap(List::stream).toList();
    String size = "size(" + at + ") <= " + roundedUp(most);
    if (all.isEmpty() || depth >= DEPTH_MAX) {
      return List.of(size);
    }
    String each = "v" + depth;
    return List.of(size, at + ".all(" + each + ", " + all(value(each, all, depth + 1)) + ")");
  }

  // Numbers.

  /** None for numbers beyond what an integer of CEL holds exactly. */
  private static List<String> range(String at, List<JsonValue> seen) {
    double least = seen.stream().mapToDouble(v -> ((JsonValue.Num) v).value()).min().orElse(0);
    double most = seen.stream().mapToDouble(v -> ((JsonValue.Num) v).value()).max().orElse(0);
    return Math.max(-least, most) > JsonValue.Num.MAX_INTEGER
        ? List.of()
        : List.of(at + " >= " + -magnitude(-least) + " && " + at + " <= " + magnitude(most));
  }

  /** The least power of ten that is not less, 2^53 - 1 at most; 0 for what is not above 0. */
  private static long magnitude(double value) {
    long power = value <= 0 ? 0 : 1;
    while (power < value) {
      power *= 10;
    }
    return Math.min(power, JsonValue.Num.MAX_INTEGER);
  }

  /** The least power of two that is not less. */
  private static int roundedUp(int count) {
    return count <= 1 ? count : Integer.highestOneBit(count - 1) << 1;
  }

  // Texts.

  private static String string(String at, List<String> seen) {
    TreeSet<String> different = new TreeSet<>(seen);
    boolean words = different.stream().allMatch(text -> WORD.matcher(text).matches());
    if (words && different.size() <= WORDS_MAX && seen.size() >= 2 * different.size()) {
      return at + " in " + list(different);
    }
    return hosts(at, different)
        .or(() -> directory(at, different))
        .orElseGet(() -> {
          int most =
              different.stream().mapToInt(t -> t.codePointCount(0, t.length())).max().orElse(0);
          return "size(" + at + ") <= " + Math.max(16, roundedUp(most));
        });
  }

  /** Where all are addresses of the web: scheme, host and port. */
  private static Optional<String> hosts(String at, TreeSet<String> seen) {
    TreeSet<String> places = new TreeSet<>();
    for (String text : seen) {
      Optional<String> place = place(text);
      if (place.isEmpty()) {
        return Optional.empty();
      }
      places.add(place.get());
    }
    if (places.size() > PLACES_MAX) {
      return Optional.empty();
    }
    String any = places.stream().map(ArgumentShape::literally).collect(Collectors.joining("|"));
    return Optional.of(at + ".matches(" + text("^(" + any + ")([/?#]|$)") + ")");
  }

  private static Optional<String> place(String text) {
    try {
      URI uri = new URI(text);
      boolean web =
          uri.getHost() != null
              && uri.getRawUserInfo() == null
              && List.of("http", "https").contains(uri.getScheme());
      return web ? Optional.of(uri.getScheme() + "://" + uri.getRawAuthority()) : Optional.empty();
    } catch (URISyntaxException e) {
      return Optional.empty();
    }
  }

  /** A text as a regular expression. */
  private static String literally(String text) {
    return text.replaceAll("([^A-Za-z0-9/:-])", "\\\\$1");
  }

  /** Where all are paths below one directory: that, and no way out of it. */
  private static Optional<String> directory(String at, TreeSet<String> seen) {
    boolean paths =
        seen.stream()
            .allMatch(text ->
                text.contains("/")
                    && !text.contains("..")
                    && !text.contains("//")
                    && !SPACE.matcher(text).find());
    if (!paths) {
      return Optional.empty();
    }
    String common = seen.first().substring(0, seen.first().lastIndexOf('/'));
    for (String text : seen) {
      while (!common.isEmpty() && !text.startsWith(common + "/")) {
        common = common.contains("/") ? common.substring(0, common.lastIndexOf('/')) : "";
      }
    }
    return common.isEmpty()
        ? Optional.empty()
        : Optional.of(
            at + ".startsWith(" + text(common + "/") + ") && !" + at + ".contains(\"..\")");
  }

  // Writing.

  private static String list(Collection<String> texts) {
    return texts.stream().map(ArgumentShape::text).collect(Collectors.joining(", ", "[", "]"));
  }

  /** A literal of CEL: its escapes have those of JSON among them. */
  private static String text(String value) {
    return json(JsonValue.of(value));
  }

  private static String json(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }
}

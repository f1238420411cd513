package dev.writ.conform.mutant;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A canonicalizer as people write them before they read RFC 8785: each {@link Flaw} is one way in
 * which it is wrong. It is given well-formed JSON alone.
 */
final class LooseJson {
  /** One thing that it gets wrong. */
  enum Flaw {
    CODE_POINT_ORDER,
    INSERTION_ORDER,
    REVERSE_ORDER,
    CASE_INSENSITIVE_ORDER,
    OUTERMOST_ORDER_ONLY,
    NUMBER_LITERALS,
    NUMBERS_AS_JAVA,
    NUMBERS_AS_DECIMALS,
    NUMBERS_WITH_15_DIGITS,
    INTEGERS_AS_LONGS,
    MINUS_ZERO,
    CAPITAL_EXPONENT,
    EXPONENT_WITHOUT_PLUS,
    ESCAPED_SLASH,
    ESCAPED_NON_ASCII,
    ESCAPED_DELETE,
    CAPITAL_HEX,
    NO_SHORT_ESCAPES,
    NORMALIZED_STRINGS,
    SPACES_AFTER_COMMAS,
    LINE_END
  }

  private final String text;
  private final EnumSet<Flaw> flaws;
  private int at;

  private LooseJson(byte[] json, Flaw flaw) {
    this.text = new String(json, StandardCharsets.UTF_8);
    this.flaws = EnumSet.of(flaw);
  }

  static byte[] canonicalize(byte[] json, Flaw flaw) {
    Jcs.parse(json); // refused as it should be; the flaw is in the writing
    LooseJson loose = new LooseJson(json, flaw);
    StringBuilder out = new StringBuilder();
    loose.write(loose.value(), out, true);
    return (out + (flaw == Flaw.LINE_END ? "\n" : "")).getBytes(StandardCharsets.UTF_8);
  }

  private boolean has(Flaw flaw) {
    return flaws.contains(flaw);
  }

  // ---- reading: maps, lists, strings, and numbers as their literals

  private record Literal(String text) {}

  private char peek() {
    while (" \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    return text.charAt(at);
  }

  private Object value() {
    switch (peek()) {
      case '{' -> {
        at++;
        Map<String, Object> members = new LinkedHashMap<>();
        while (peek() != '}') {
          String key = string();
          peek();
          at++;
          members.put(key, value());
          if (peek() == ',') {
            at++;
          }
        }
        at++;
        return members;
      }
      case '[' -> {
        at++;
        List<Object> items = new ArrayList<>();
        while (peek() != ']') {
          items.add(value());
          if (peek() == ',') {
            at++;
          }
        }
        at++;
        return items;
      }
      case '"' -> {
        return string();
      }
      default -> {
        int from = at;
        while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
          at++;
        }
        return new Literal(text.substring(from, at));
      }
    }
  }

  private String string() {
    peek();
    int from = at++;
    while (text.charAt(at) != '"') {
      at += text.charAt(at) == '\\' ? 2 : 1;
    }
    at++;
    JsonValue parsed = Jcs.parse(text.substring(from, at).getBytes(StandardCharsets.UTF_8));
    return ((JsonValue.Str) parsed).value();
  }

  // ---- writing

  private void write(Object value, StringBuilder out, boolean outermost) {
    switch (value) {
      case Map<?, ?> members -> object(members, out, outermost);
      case List<?> items -> {
        out.append('[');
        String separator = "";
        for (Object item : items) {
          out.append(separator);
          write(item, out, false);
          separator = has(Flaw.SPACES_AFTER_COMMAS) ? ", " : ",";
        }
        out.append(']');
      }
      case Literal(String literal) ->
          out.append(literal.matches("[tfn].*") ? literal : number(literal));
      default -> string((String) value, out);
    }
  }

  private void object(Map<?, ?> members, StringBuilder out, boolean outermost) {
    List<String> keys = new ArrayList<>();
    members.keySet().forEach(key -> keys.add((String) key));
    if (!has(Flaw.INSERTION_ORDER) && (outermost || !has(Flaw.OUTERMOST_ORDER_ONLY))) {
      keys.sort(order());
    }
    out.append('{');
    String separator = "";
    for (String key : keys) {
      out.append(separator);
      string(key, out);
      out.append(':');
      write(members.get(key), out, false);
      separator = has(Flaw.SPACES_AFTER_COMMAS) ? ", " : ",";
    }
    out.append('}');
  }

  private Comparator<String> order() {
    if (has(Flaw.CODE_POINT_ORDER)) {
      return (a, b) -> Arrays.compare(a.codePoints().toArray(), b.codePoints().toArray());
    }
    if (has(Flaw.CASE_INSENSITIVE_ORDER)) {
      return String.CASE_INSENSITIVE_ORDER;
    }
    return has(Flaw.REVERSE_ORDER) ? Comparator.reverseOrder() : Comparator.naturalOrder();
  }

  private String number(String literal) {
    double value = Double.parseDouble(literal);
    String right = new String(Jcs.write(new JsonValue.Num(value)), StandardCharsets.UTF_8);
    if (has(Flaw.NUMBER_LITERALS)) {
      return literal;
    }
    if (has(Flaw.NUMBERS_AS_JAVA)) {
      return String.valueOf(value);
    }
    if (has(Flaw.NUMBERS_AS_DECIMALS)) {
      return new BigDecimal(literal).stripTrailingZeros().toPlainString();
    }
    if (has(Flaw.NUMBERS_WITH_15_DIGITS)) {
      double rounded = Double.parseDouble(String.format(Locale.ROOT, "%.14e", value));
      return new String(Jcs.write(new JsonValue.Num(rounded)), StandardCharsets.UTF_8);
    }
    if (has(Flaw.INTEGERS_AS_LONGS) && literal.matches("-?[0-9]{1,18}")) {
      return String.valueOf(Long.parseLong(literal));
    }
    if (has(Flaw.MINUS_ZERO) && value == 0 && literal.startsWith("-")) {
      return "-0";
    }
    if (has(Flaw.CAPITAL_EXPONENT)) {
      return right.replace('e', 'E');
    }
    return has(Flaw.EXPONENT_WITHOUT_PLUS) ? right.replace("e+", "e") : right;
  }

  private void string(String value, StringBuilder out) {
    String text =
        has(Flaw.NORMALIZED_STRINGS)
            ? java.text.Normalizer.normalize(value, java.text.Normalizer.Form.NFC)
            : value;
    out.append('"');
    for (char c : text.toCharArray()) {
      String named =
          "\b\t\n\f\r".indexOf(c) >= 0 ? "btnfr".charAt("\b\t\n\f\r".indexOf(c)) + "" : "";
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (!named.isEmpty() && !has(Flaw.NO_SHORT_ESCAPES)) {
        out.append('\\').append(named);
      } else if (c < 0x20
          || c == 0x7f && has(Flaw.ESCAPED_DELETE)
          || c > 0x7e && has(Flaw.ESCAPED_NON_ASCII)) {
        String hex = String.format(Locale.ROOT, "%04x", (int) c);
        out.append("\\u").append(has(Flaw.CAPITAL_HEX) ? hex.toUpperCase(Locale.ROOT) : hex);
      } else if (c == '/' && has(Flaw.ESCAPED_SLASH)) {
        out.append("\\/");
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }
}

package dev.writ.tools.http;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A path with places for values, {@code /pets/{id}/toys}. Whatever the values are, the result has
 * as many segments as the template, none of them empty, {@code .} or {@code ..}, also for a server
 * that decodes it more than once.
 */
public final class PathTemplate {
  private static final int CHARS_MAX = 1_000;

  /** How often a value is decoded to see what a careless server would see. */
  private static final int DECODINGS = 4;

  private static final Pattern NAME = Pattern.compile("\\{([A-Za-z0-9_.-]{1,64})\\}");
  private static final String LITERAL = "[A-Za-z0-9._~!$&'()*+,;=:@-]";
  private static final Pattern FORM =
      Pattern.compile("(?:/(?:" + LITERAL + "|\\{[A-Za-z0-9_.-]{1,64}\\})*+)++");

  private final String text;
  private final List<String> names;

  private PathTemplate(String text, List<String> names) {
    this.text = text;
    this.names = List.copyOf(names);
  }

  /** Empty for what is no template: percent signs, empty segments but the last, dots, a query. */
  public static Optional<PathTemplate> parse(String text) {
    if (text.length() > CHARS_MAX || !FORM.matcher(text).matches()) {
      return Optional.empty();
    }
    List<String> names = new ArrayList<>();
    Matcher found = NAME.matcher(text);
    while (found.find()) {
      if (names.contains(found.group(1))) {
        return Optional.empty();
      }
      names.add(found.group(1));
    }
    // A value stands for at least one character, so that a segment of dots is none with a value.
    return segmentsHold(found.replaceAll("x"))
        ? Optional.of(new PathTemplate(text, names))
        : Optional.empty();
  }

  /** Whether a text is a path without places; the empty one is. */
  static boolean isLiteral(String path) {
    return path.isEmpty() || parse(path).filter(t -> t.names.isEmpty()).isPresent();
  }

  private static boolean segmentsHold(String path) {
    String[] segments = path.substring(1).split("/", -1);
    for (int i = 0; i < segments.length; i++) {
      boolean last = i == segments.length - 1;
      if (segments[i].isEmpty() && !last || isDots(segments[i])) {
        return false;
      }
    }
    return true;
  }

  private static boolean isDots(String segment) {
    String name = segment.replaceFirst(";.*", ""); // some servers take parameters off a segment
    return name.equals(".") || name.equals("..");
  }

  /** As it was written. */
  public String text() {
    return text;
  }

  /** The names of the places, in their order. */
  public List<String> names() {
    return names;
  }

  /** Why a value cannot stand in a path; empty if it can. */
  public static Optional<String> refusal(String value) {
    if (value.isEmpty()) {
      return Optional.of("it is empty");
    }
    String seen = value;
    for (int i = 0; i <= DECODINGS; i++) {
      if (seen.codePoints().anyMatch(c -> c < 0x20 || c == 0x7f)) {
        return Optional.of("a control character");
      }
      if (seen.indexOf('/') >= 0 || seen.indexOf('\\') >= 0) {
        return Optional.of("a slash or backslash");
      }
      if (isDots(seen)) {
        return Optional.of("a path of dots");
      }
      seen = decoded(seen);
    }
    return Optional.empty();
  }

  /** Percent-encoding undone once, as far as it is well-formed. */
  private static String decoded(String text) {
    Matcher found = Pattern.compile("%([0-9A-Fa-f]{2})").matcher(text);
    return found.replaceAll(
        m -> Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(m.group(1), 16))));
  }

  /**
   * The path with these values, percent-encoded.
   *
   * @param values of all names, each without a {@link #refusal}
   * @return empty where a whole segment could not stand in a path as a value: two values, or one
   *     and what stands beside it, may be a slash together
   */
  public Optional<String> fill(SortedMap<String, String> values) {
    List<String> segments = new ArrayList<>();
    for (String segment : text.substring(1).split("/", -1)) {
      String whole = filled(segment, values::get);
      if (!segment.isEmpty() && refusal(whole).isPresent()) {
        return Optional.empty();
      }
      segments.add(filled(segment, name -> encoded(values.get(name))));
    }
    return Optional.of("/" + String.join("/", segments));
  }

  private static String filled(String segment, UnaryOperator<String> value) {
    return NAME.matcher(segment).replaceAll(m -> Matcher.quoteReplacement(value.apply(m.group(1))));
  }

  /** All bytes but the unreserved characters of RFC 3986, percent-encoded. */
  public static String encoded(String value) {
    StringBuilder out = new StringBuilder();
    for (byte b : value.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xff);
      boolean unreserved =
          c >= 'a' && c <= 'z'
              || c >= 'A' && c <= 'Z'
              || c >= '0' && c <= '9'
              || "-._~".indexOf(c) >= 0;
      if (unreserved) {
        out.append(c);
      } else {
        out.append('%').append(String.format(Locale.ROOT, "%02X", (int) c));
      }
    }
    return out.toString();
  }

  @Override
  public String toString() {
    return text;
  }
}

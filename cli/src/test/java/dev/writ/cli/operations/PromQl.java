package dev.writ.cli.operations;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Reads a PromQL expression as far as names go: which series it selects, by which labels, and by
 * which labels it groups or matches.
 */
final class PromQl {
  private static final List<String> GROUPING =
      List.of("by", "without", "on", "ignoring", "group_left", "group_right");
  private static final List<String> WORDS =
      List.of("and", "or", "unless", "bool", "offset", "atan2", "inf", "nan");

  private static final Pattern MADE =
      Pattern.compile("(?s)label_replace\\(.*?,\\s*\"(\\w+)\",\\s*\"[^\"]*\",\\s*\"");

  /** Labels that it selects by, for each name of a series. */
  final TreeMap<String, TreeSet<String>> selected = new TreeMap<>();

  /** Labels that it groups or matches by. */
  final TreeSet<String> grouping = new TreeSet<>();

  /** Labels that it gives its result. */
  final TreeSet<String> made = new TreeSet<>();

  private final String text;
  private int at;

  PromQl(String text) {
    this.text = text;
    MADE.matcher(text).results().forEach(replaced -> made.add(replaced.group(1)));
    while (skipBlanks()) {
      char c = text.charAt(at);
      if (c == '"' || c == '\'' || c == '`') {
        string();
      } else if (c == '[') {
        at = text.indexOf(']', at) + 1;
      } else if (Character.isDigit(c) || c == '.') {
        at++;
        while (at < text.length()
            && (Character.isLetterOrDigit(text.charAt(at)) || text.charAt(at) == '.')) {
          at++;
        }
      } else if (isNamePart(c)) {
        name();
      } else if (c == '{') {
        throw new AssertionError("a selector without a name: " + text);
      } else {
        at++;
      }
    }
  }

  private boolean skipBlanks() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    return at < text.length();
  }

  private static boolean isNamePart(char c) {
    return c == '_' || c == ':' || Character.isLetterOrDigit(c);
  }

  private String word() {
    int from = at;
    while (at < text.length() && isNamePart(text.charAt(at))) {
      at++;
    }
    return text.substring(from, at);
  }

  private void string() {
    char quote = text.charAt(at++);
    while (text.charAt(at) != quote) {
      at += text.charAt(at) == '\\' ? 2 : 1;
    }
    at++;
  }

  private void name() {
    String name = word();
    boolean more = skipBlanks();
    if (GROUPING.contains(name)) {
      if (more && text.charAt(at) == '(') {
        at++;
        grouping.addAll(labels(')'));
      }
    } else if (!WORDS.contains(name) && !(more && text.charAt(at) == '(') && !isAggregation()) {
      TreeSet<String> labels = selected.computeIfAbsent(name, _ -> new TreeSet<>());
      if (more && text.charAt(at) == '{') {
        at++;
        labels.addAll(labels('}'));
      }
    }
  }

  /** Whether {@code by} or {@code without} comes next: what was read is an aggregation's name. */
  private boolean isAggregation() {
    int here = at;
    String next = word();
    at = here;
    return next.equals("by") || next.equals("without");
  }

  /** Names of labels up to a bracket, with or without what they are compared to. */
  private List<String> labels(char end) {
    List<String> labels = new ArrayList<>();
    while (skipBlanks() && text.charAt(at) != end) {
      char c = text.charAt(at);
      if (c == '"' || c == '\'' || c == '`') {
        string();
      } else if (isNamePart(c)) {
        labels.add(word());
      } else {
        at++;
      }
    }
    at++;
    return labels;
  }
}

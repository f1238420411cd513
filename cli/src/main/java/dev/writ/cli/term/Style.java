package dev.writ.cli.term;

/** How a text looks on a terminal that shows colours; the text alone must say the same. */
public enum Style {
  PLAIN(""),
  BOLD("1"),
  DIM("2"),
  GOOD("32"),
  WARN("33"),
  BAD("31"),
  NAME("36");

  private final String code;

  Style(String code) {
    this.code = code;
  }

  /** The text between escape sequences of ECMA-48 (SGR). */
  String paint(String text) {
    return this == PLAIN || text.isEmpty() ? text : "\u001b[" + code + "m" + text + "\u001b[0m";
  }
}

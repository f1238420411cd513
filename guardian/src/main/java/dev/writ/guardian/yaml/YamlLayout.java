package dev.writ.guardian.yaml;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;

/**
 * Refuses YAML that the parser accepts although YAML 1.2 forbids it, or that YAML 1.1 and 1.2 read
 * differently: a comment with no blank before it, lines within brackets or quotes that are indented
 * less than the block around them, characters that are line ends in only one version, and
 * directives. It gets the parser's events in order, and examines the text in and between them.
 */
final class YamlLayout {
  private static final Pattern VERSION = Pattern.compile("%YAML[ \\t]+1\\.2[ \\t]*([ \\t]#.*)?");
  private static final int BYTE_ORDER_MARK = 0xFEFF;

  /** Makes a refusal of a place and what was found there. */
  interface Refusal extends BiFunction<Located.Place, String, RuntimeException> {}

  private final int[] text;
  private final Refusal syntax;

  /** The columns of the block collections that are open, the innermost first. */
  private final Deque<Integer> blocks = new ArrayDeque<>();

  /** How many flow collections are open. */
  private int flows;

  /** The end of the text that has been examined. */
  private int at;

  YamlLayout(String text, Refusal syntax, Refusal feature) {
    this.text = text.codePoints().toArray();
    this.syntax = syntax;
    requireCharacters();
    requireDirectives(text, feature);
  }

  /** Characters that may stand in quotes as escapes, and nowhere as they are. */
  private void requireCharacters() {
    for (int i = 0; i < text.length; i++) {
      int c = text[i];
      if (c == 0x85 || c == 0x2028 || c == 0x2029) {
        throw syntax.apply(
            place(i),
            "U+"
                + HexFormat.of().withUpperCase().toHexDigits((char) c)
                + ", a line end in YAML 1.1 alone");
      }
      if (c == BYTE_ORDER_MARK && i > 0) {
        throw syntax.apply(place(i), "a byte order mark that is not at the beginning");
      }
    }
  }

  private static void requireDirectives(String file, Refusal feature) {
    int line = 0;
    for (String text : file.substring(file.startsWith("\uFEFF") ? 1 : 0).lines().toList()) {
      line++;
      if (text.startsWith("%") && !VERSION.matcher(text).matches()) {
        throw feature.apply(new Located.Place(line, 1), "a directive other than %YAML 1.2");
      }
      if (!text.isBlank() && !text.startsWith("%") && !text.stripLeading().startsWith("#")) {
        return;
      }
    }
  }

  /** Examines the text up to and in an event. */
  void accept(Event event) {
    Optional<Mark> start = event.getStartMark();
    between(start.isPresent() ? start.get().getIndex() : text.length);
    switch (event) {
      case ScalarEvent scalar -> {
        within(scalar.getEndMark().map(Mark::getIndex).orElse(at), scalar.getScalarStyle());
      }
      case CollectionStartEvent collection when collection.isFlow() -> flows++;
      case CollectionStartEvent _ -> blocks.push(start.map(Mark::getColumn).orElse(0));
      default -> {
        if (event.getEventId() == Event.ID.StreamEnd) {
          between(text.length);
        } else if (event.getEventId() == Event.ID.MappingEnd
            || event.getEventId() == Event.ID.SequenceEnd) {
          end();
        }
      }
    }
  }

  private void end() {
    if (flows > 0) {
      flows--;
    } else {
      blocks.pop();
    }
  }

  /** Indicators, blanks and comments. */
  private void between(int end) {
    while (at < end) {
      if (text[at] == '#') {
        if (at > 0 && !isBlank(text[at - 1]) && text[at - 1] != BYTE_ORDER_MARK) {
          throw syntax.apply(place(at), "a comment with no blank before it");
        }
        while (at < text.length && !isLineEnd(text[at])) {
          at++;
        }
      } else {
        at++;
        if (flows > 0 && isLineStart(at)) {
          requireIndented(at, true);
        }
      }
    }
  }

  private void within(int end, ScalarStyle style) {
    boolean quoted = style == ScalarStyle.SINGLE_QUOTED || style == ScalarStyle.DOUBLE_QUOTED;
    while (at < end) {
      at++;
      if ((quoted || flows > 0) && isLineStart(at)) {
        requireIndented(at, false);
      }
    }
  }

  private void requireIndented(int lineStart, boolean commentsMayStandAnywhere) {
    int first = lineStart;
    while (first < text.length && text[first] == ' ') {
      first++;
    }
    int needed = blocks.isEmpty() ? 0 : blocks.peek() + 1;
    int shown = first;
    while (shown < text.length && text[shown] == '\t') {
      shown++;
    }
    boolean empty =
        shown == text.length
            || isLineEnd(text[shown])
            || (commentsMayStandAnywhere && text[shown] == '#');
    if (!empty && first - lineStart < needed) {
      throw syntax.apply(
          place(first),
          "a line within brackets or quotes that begins with "
              + (first - lineStart)
              + " spaces, where the block around it asks for "
              + needed);
    }
  }

  private boolean isLineStart(int index) {
    return index < text.length
        && isLineEnd(text[index - 1])
        && !(text[index - 1] == '\r' && text[index] == '\n');
  }

  private static boolean isLineEnd(int c) {
    return c == '\n' || c == '\r';
  }

  private static boolean isBlank(int c) {
    return c == ' ' || c == '\t' || isLineEnd(c);
  }

  private Located.Place place(int index) {
    int line = 1;
    int column = 1;
    for (int i = 0; i < index; i++) {
      boolean ends = isLineStart(i + 1);
      line += ends ? 1 : 0;
      column = ends ? 1 : column + 1;
    }
    return new Located.Place(line, column);
  }
}

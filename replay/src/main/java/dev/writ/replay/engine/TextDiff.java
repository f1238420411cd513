package dev.writ.replay.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A unified diff of two texts, by Myers' greedy algorithm ("An O(ND) Difference Algorithm", 1986).
 * JSON, whose canonical form is one line, is indented first. For texts that are large or differ too
 * much, the middle is shown as one removal and one addition.
 */
public final class TextDiff {
  private static final int CONTEXT = 3;
  private static final int BYTES_MAX = 1 << 20;
  private static final int EDITS_MAX = 1_000;
  private static final int LINES_SHOWN_MAX = 400;

  private TextDiff() {}

  /** Empty where one of them is no text, or too large. */
  public static Optional<String> of(String mediaType, byte[] recorded, byte[] replayed) {
    if (recorded.length > BYTES_MAX || replayed.length > BYTES_MAX) {
      return Optional.empty();
    }
    Optional<List<String>> one = lines(mediaType, recorded);
    Optional<List<String>> other = lines(mediaType, replayed);
    if (one.isEmpty() || other.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(unified(one.get(), other.get()));
  }

  private static Optional<List<String>> lines(String mediaType, byte[] bytes) {
    if (mediaType.equals("application/json")) {
      try {
        List<String> lines = new ArrayList<>();
        layOut("", "", Jcs.parse(bytes), "", lines);
        return Optional.of(lines);
      } catch (WritException e) {
        // raw output that is no JSON is shown as text
      }
    }
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      boolean binary = text.chars().anyMatch(c -> c < 0x20 && c != '\n' && c != '\t' && c != '\r');
      return binary ? Optional.empty() : Optional.of(Arrays.asList(text.split("\n", -1)));
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }

  private static void layOut(
      String indent, String name, JsonValue value, String comma, List<String> out) {
    switch (value) {
      case JsonValue.Obj object when !object.members().isEmpty() -> {
        out.add(indent + name + "{");
        int left = object.members().size();
        for (var member : object.members().entrySet()) {
          String key = FieldDifferences.json(JsonValue.of(member.getKey())) + ": ";
          layOut(indent + "  ", key, member.getValue(), --left > 0 ? "," : "", out);
        }
        out.add(indent + "}" + comma);
      }
      case JsonValue.Arr list when !list.items().isEmpty() -> {
        out.add(indent + name + "[");
        int left = list.items().size();
        for (JsonValue item : list.items()) {
          layOut(indent + "  ", "", item, --left > 0 ? "," : "", out);
        }
        out.add(indent + "]" + comma);
      }
      default -> out.add(indent + name + FieldDifferences.json(value) + comma);
    }
  }

  /** One line of the result: common, only in the recorded text, or only in the replayed one. */
  private record Edit(char sign, String line) {}

  /** The texts as a unified diff without the two lines that name files. */
  static String unified(List<String> recorded, List<String> replayed) {
    List<Edit> edits = edits(recorded, replayed);
    StringBuilder out = new StringBuilder();
    int shown = 0;
    int at = 0;
    while (at < edits.size()) {
      int from = next(edits, at);
      if (from == edits.size()) {
        break;
      }
      int begin = Math.max(at, from - CONTEXT);
      int end = end(edits, from);
      header(out, edits, begin, end);
      for (Edit edit : edits.subList(begin, end)) {
        if (++shown > LINES_SHOWN_MAX) {
          return out.append("…\n").toString();
        }
        out.append(edit.sign()).append(edit.line()).append('\n');
      }
      at = end;
    }
    return out.toString();
  }

  private static int next(List<Edit> edits, int from) {
    int i = from;
    while (i < edits.size() && edits.get(i).sign() == ' ') {
      i++;
    }
    return i;
  }

  /** A hunk ends where twice the context follows without a difference. */
  private static int end(List<Edit> edits, int from) {
    int last = from;
    int i = from;
    while (i < edits.size() && i - last <= 2 * CONTEXT) {
      if (edits.get(i).sign() != ' ') {
        last = i;
      }
      i++;
    }
    return Math.min(edits.size(), last + 1 + CONTEXT);
  }

  private static void header(StringBuilder out, List<Edit> edits, int begin, int end) {
    out.append("@@ -")
        .append(range(edits, begin, end, '-'))
        .append(" +")
        .append(range(edits, begin, end, '+'))
        .append(" @@\n");
  }

  private static String range(List<Edit> edits, int begin, int end, char sign) {
    long before = count(edits.subList(0, begin), sign);
    long lines = count(edits.subList(begin, end), sign);
    return before + 1 + "," + lines; // at least one: an empty text is one empty line
  }

  private static long count(List<Edit> edits, char sign) {
    return edits.stream().filter(e -> e.sign() == ' ' || e.sign() == sign).count();
  }

  /** What to do with each item: keep {@code ' '}, remove {@code '-'} or add {@code '+'}. */
  static List<Character> script(List<String> one, List<String> other) {
    return edits(one, other).stream().map(Edit::sign).toList();
  }

  private static List<Edit> edits(List<String> a, List<String> b) {
    int head = 0;
    while (head < a.size() && head < b.size() && a.get(head).equals(b.get(head))) {
      head++;
    }
    int tail = 0;
    while (tail < a.size() - head
        && tail < b.size() - head
        && a.get(a.size() - 1 - tail).equals(b.get(b.size() - 1 - tail))) {
      tail++;
    }
    List<Edit> edits = new ArrayList<>();
    a.subList(0, head).forEach(line -> edits.add(new Edit(' ', line)));
    middle(a.subList(head, a.size() - tail), b.subList(head, b.size() - tail), edits);
    a.subList(a.size() - tail, a.size()).forEach(line -> edits.add(new Edit(' ', line)));
    return edits;
  }

  private static void middle(List<String> a, List<String> b, List<Edit> edits) {
    Optional<List<int[]>> trace = search(a, b);
    if (trace.isEmpty()) {
      a.forEach(line -> edits.add(new Edit('-', line)));
      b.forEach(line -> edits.add(new Edit('+', line)));
      return;
    }
    List<Edit> reversed = new ArrayList<>();
    int x = a.size();
    int y = b.size();
    for (int d = trace.get().size() - 1; d >= 0; d--) {
      int[] v = trace.get().get(d);
      int k = x - y;
      boolean down = k == -d || k != d && at(v, k - 1) < at(v, k + 1);
      int fromX = d == 0 ? 0 : at(v, down ? k + 1 : k - 1);
      int fromY = d == 0 ? 0 : fromX - (down ? k + 1 : k - 1);
      while (x > fromX && y > fromY) {
        reversed.add(new Edit(' ', a.get(--x)));
        y--;
      }
      if (d > 0) {
        reversed.add(down ? new Edit('+', b.get(--y)) : new Edit('-', a.get(--x)));
      }
    }
    edits.addAll(reversed.reversed());
  }

  /** The furthest reaching points before each step; empty where it takes too many. */
  private static Optional<List<int[]>> search(List<String> a, List<String> b) {
    List<int[]> trace = new ArrayList<>();
    int[] v = new int[3];
    for (int d = 0; d <= EDITS_MAX; d++) {
      int[] before = v;
      trace.add(before);
      v = new int[2 * d + 3];
      for (int k = -d; k <= d; k += 2) {
        boolean down = k == -d || k != d && at(before, k - 1) < at(before, k + 1);
        int x = d == 0 ? 0 : down ? at(before, k + 1) : at(before, k - 1) + 1;
        while (x < a.size() && x - k < b.size() && a.get(x).equals(b.get(x - k))) {
          x++;
        }
        v[k + d + 1] = x;
        if (x >= a.size() && x - k >= b.size()) {
          return Optional.of(trace);
        }
      }
    }
    return Optional.empty();
  }

  /** The value on diagonal k of an array that is centred on its middle. */
  private static int at(int[] v, int k) {
    return v[k + v.length / 2];
  }
}

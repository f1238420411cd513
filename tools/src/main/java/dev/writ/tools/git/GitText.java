package dev.writ.tools.git;

import dev.writ.canonicalize.json.JsonValue;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Parses git's output for programs. It comes from untrusted repositories, so data in an unexpected
 * form is left out, never guessed.
 */
final class GitText {
  /** The fields of a commit, each followed by NUL; the message is the last. */
  static final String LOG_FORMAT = "%H%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B";

  private static final int LOG_FIELDS = 9;

  private GitText() {}

  /**
   * @param commit that diff-tree names; empty where it names none
   * @param files each with path, status, and lines added and deleted (null for binary files)
   */
  record Changes(String commit, List<JsonValue> files, String patch) {}

  /** A file of a change. */
  private record Changed(String path, String status) {
    JsonValue toJson(Optional<String[]> lines) {
      return JsonValue.object()
          .put("path", path)
          .put("status", status)
          .put("added", lines.map(l -> count(l[0])).orElse(JsonValue.NULL))
          .put("deleted", lines.map(l -> count(l[1])).orElse(JsonValue.NULL))
          .build();
    }
  }

  private static JsonValue count(String text) {
    return text.matches("[0-9]{1,9}") ? JsonValue.of(Long.parseLong(text)) : JsonValue.NULL;
  }

  /** Reads {@code --raw --numstat -z} and the patch that follows. */
  static Changes changes(String text) {
    Cursor at = new Cursor(text);
    String commit = "";
    int end = text.indexOf('\0');
    if (end > 0 && text.substring(0, end).matches("[0-9a-f]{40}|[0-9a-f]{64}")) {
      commit = at.next();
    }
    List<Changed> raw = new ArrayList<>();
    while (at.startsWith(":")) {
      String meta = at.next();
      String status = meta.substring(meta.lastIndexOf(' ') + 1);
      raw.add(new Changed(at.next(), status));
    }
    TreeMap<String, String[]> lines = new TreeMap<>();
    while (at.more() && !at.startsWith("\0")) {
      String[] numbers = at.next().split("\t", 3);
      if (numbers.length == 3) {
        lines.put(numbers[2], numbers);
      }
    }
    if (at.more()) {
      at.next(); // skip the empty field before the patch
    }
    List<JsonValue> files =
        raw.stream().map(f -> f.toJson(Optional.ofNullable(lines.get(f.path())))).toList();
    return new Changes(commit, files, at.rest());
  }

  /** The beginning of a text, never through the middle of a character. */
  static String cut(String text, int most) {
    if (text.length() <= most) {
      return text;
    }
    boolean half = most > 0 && Character.isHighSurrogate(text.charAt(most - 1));
    return text.substring(0, half ? most - 1 : most);
  }

  static List<JsonValue> entries(String text) {
    String[] fields = text.split("\0", -1);
    List<JsonValue> entries = new ArrayList<>();
    for (int at = 0; at + LOG_FIELDS <= fields.length; at += LOG_FIELDS) {
      var parents =
          fields[at + 1].isEmpty() ? List.<String>of() : List.of(fields[at + 1].split(" "));
      entries.add(
          JsonValue.object()
              .put("commit", fields[at])
              .putList("parents", parents, JsonValue::of)
              .put("author", person(fields, at + 2))
              .put("committer", person(fields, at + 5))
              .put("message", fields[at + 8])
              .build());
    }
    return entries;
  }

  private static JsonValue person(String[] fields, int at) {
    return JsonValue.object()
        .put("name", fields[at])
        .put("email", fields[at + 1])
        .put("time", time(fields[at + 2]))
        .build();
  }

  /** A commit may claim any time, even an invalid one. */
  private static JsonValue time(String seconds) {
    if (!seconds.matches("-?[0-9]{1,12}")) {
      return JsonValue.NULL;
    }
    try {
      return JsonValue.of(Instant.ofEpochSecond(Long.parseLong(seconds)).toString());
    } catch (DateTimeException e) {
      return JsonValue.NULL;
    }
  }

  /**
   * @param commit that is checked out; null where there is none
   * @param branch null where a commit is checked out
   */
  record Status(JsonValue commit, JsonValue branch, List<JsonValue> entries) {}

  /** Reads {@code --porcelain=v2 --branch -z} without renames. */
  static Status status(String text) {
    JsonValue commit = JsonValue.NULL;
    JsonValue branch = JsonValue.NULL;
    List<JsonValue> entries = new ArrayList<>();
    for (Cursor at = new Cursor(text); at.more(); ) {
      String line = at.next();
      if (line.startsWith("# branch.oid ") && !line.endsWith("(initial)")) {
        commit = JsonValue.of(line.substring("# branch.oid ".length()));
      } else if (line.startsWith("# branch.head ") && !line.endsWith("(detached)")) {
        branch = JsonValue.of(line.substring("# branch.head ".length()));
      } else if (line.startsWith("? ")) {
        entries.add(entry(line.substring(2), "??"));
      } else if (line.startsWith("1 ") || line.startsWith("u ")) {
        String[] fields = line.split(" ", line.startsWith("1 ") ? 9 : 11);
        entries.add(entry(fields[fields.length - 1], fields[1]));
      }
    }
    return new Status(commit, branch, entries);
  }

  private static JsonValue entry(String path, String both) {
    return JsonValue.object()
        .put("path", path)
        .put("index", both.substring(0, 1))
        .put("worktree", both.substring(1))
        .build();
  }

  /** Reads {@code git push --porcelain}: the result for each reference. */
  static JsonValue updates(String text) {
    List<JsonValue> updates = new ArrayList<>();
    for (String line : text.split("\n")) {
      String[] fields = line.split("\t", 3);
      int colon = fields.length == 3 ? fields[1].indexOf(':') : -1;
      if (fields.length == 3 && fields[0].length() == 1 && colon >= 0) {
        updates.add(
            JsonValue.object()
                .put("flag", fields[0])
                .put("from", fields[1].substring(0, colon))
                .put("to", fields[1].substring(colon + 1))
                .put("summary", fields[2])
                .build());
      }
    }
    return JsonValue.of(updates);
  }

  /** Iterates over NUL-terminated strings. */
  private static final class Cursor {
    private final String text;
    private int at;

    Cursor(String text) {
      this.text = text;
    }

    boolean more() {
      return at < text.length();
    }

    boolean startsWith(String prefix) {
      return text.startsWith(prefix, at);
    }

    String next() {
      int end = text.indexOf('\0', at);
      String found = end < 0 ? rest() : text.substring(at, end);
      at = end < 0 ? text.length() : end + 1;
      return found;
    }

    String rest() {
      return text.substring(Math.min(at, text.length()));
    }
  }
}

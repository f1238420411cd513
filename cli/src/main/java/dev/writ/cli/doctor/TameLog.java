package dev.writ.cli.doctor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.gateway.ops.LogEvent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The last lines of a server's log as they may be shown to anybody: of the members that {@link
 * LogEvent} lists those that neither a caller nor a configuration words, and each only in the form
 * that it has.
 */
final class TameLog {
  private static final int LINES_MAX = 2_000;
  private static final int BYTES_MAX = 4 << 20;

  private static final Pattern WORD = Pattern.compile("[A-Za-z][A-Za-z_-]{0,39}");
  private static final Pattern CODE = Pattern.compile("[A-Z]{3}-[0-9]{3}");
  private static final Pattern DIGEST = Pattern.compile("sha256:[0-9a-f]{64}");
  private static final Pattern TRACE = Pattern.compile("[0-9a-f]{16}|[0-9a-f]{32}");
  private static final Pattern ROUTE = Pattern.compile("[A-Za-z0-9/{}._*:-]{1,100}");
  private static final Pattern CLASS = Pattern.compile("[A-Za-z_$][A-Za-z0-9_.$]{0,150}");
  private static final Pattern FRAMES = Pattern.compile("[A-Za-z0-9_.$/@<>() :,-]{0,4000}");
  private static final Pattern TIME = Pattern.compile("[0-9TZ:.-]{20,24}");

  /** What is shown, and the form that it must have where it is a text; numbers are numbers. */
  private static final SortedMap<String, Pattern> SHOWN = new TreeMap<>();

  static {
    SHOWN.put("at", TIME);
    SHOWN.put("level", WORD);
    SHOWN.put("event", WORD);
    for (String word :
        new String[] {
          "surface", "method", "outcome", "stage", "language", "workload", "sink", "states"
        }) {
      SHOWN.put(word, WORD);
    }
    SHOWN.put("code", CODE);
    SHOWN.put("request", DIGEST);
    SHOWN.put("receipt", DIGEST);
    SHOWN.put("trace_id", TRACE);
    SHOWN.put("span_id", TRACE);
    SHOWN.put("route", ROUTE);
    SHOWN.put("type", CLASS);
    SHOWN.put("logger", CLASS);
    SHOWN.put("at_code", FRAMES);
    for (String number :
        new String[] {
          "status",
          "micros",
          "exit_code",
          "duration_ms",
          "queue_ms",
          "cpu_ms",
          "memory_bytes",
          "count",
          "size",
          "signatures",
          "position"
        }) {
      SHOWN.put(number, Pattern.compile("")); // never a text
    }
  }

  private TameLog() {}

  /**
   * The last lines of a file, one event of {@link LogEvent} each; what is none of them is counted
   * and not shown.
   *
   * @throws IOException where it cannot be read
   */
  static byte[] of(Path file) throws IOException {
    ArrayDeque<JsonValue.Obj> lines = new ArrayDeque<>();
    long leftOut = 0;
    for (String line : (Iterable<String>) end(file).lines()::iterator) {
      Optional<JsonValue.Obj> tame = tame(line);
      if (tame.isEmpty()) {
        leftOut++;
        continue;
      }
      lines.add(tame.get());
      if (lines.size() > LINES_MAX) {
        lines.removeFirst();
      }
    }
    StringBuilder text = new StringBuilder();
    lines.forEach(line -> text.append(text(line)).append('\n'));
    if (leftOut > 0) {
      text.append(text(JsonValue.object().put("lines_left_out", leftOut).build())).append('\n');
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static String text(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }

  private static String end(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      long begin = Math.max(0, channel.size() - BYTES_MAX);
      ByteBuffer bytes = ByteBuffer.allocate((int) (channel.size() - begin));
      channel.position(begin);
      while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
        // on to the end
      }
      return new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
    }
  }

  private static Optional<JsonValue.Obj> tame(String line) {
    // The journal of systemd may have its own words in front.
    int begin = line.indexOf('{');
    JsonValue value;
    try {
      value = Jcs.parse(line.substring(Math.max(begin, 0)).getBytes(StandardCharsets.UTF_8));
    } catch (WritException e) {
      return Optional.empty();
    }
    if (!(value instanceof JsonValue.Obj whole)
        || !(whole.get("event") instanceof JsonValue.Str name)
        || LogEvent.of(name.value()).isEmpty()) {
      return Optional.empty();
    }
    ObjectBuilder shown = JsonValue.object();
    whole
        .members()
        .forEach((member, found) -> {
          Pattern form = SHOWN.get(member);
          if (form != null && isTame(found, form)) {
            shown.put(member, found);
          }
        });
    return Optional.of(shown.build());
  }

  private static boolean isTame(JsonValue found, Pattern form) {
    return switch (found) {
      case JsonValue.Num _ -> true;
      case JsonValue.Str text -> form.matcher(text.value()).matches();
      case JsonValue.Arr list -> list.items().stream().allMatch(item -> isTame(item, form));
      default -> false;
    };
  }
}

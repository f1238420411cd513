package dev.writ.cli.command.run;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.cli.base.Report;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What {@code writ top} shows at a time.
 *
 * @param statistics the server's answer, minutes of an hour
 * @param waiting how many requests wait for an approval
 * @param longest since when the first of them does
 */
record TopFrame(
    URI server, Instant at, JsonValue.Obj statistics, long waiting, Optional<Instant> longest)
    implements Report {
  private static final int TOOLS = 10;

  @Override
  public JsonValue toJson() {
    return JsonValue.object()
        .put("server", server.toString())
        .put("at", at)
        .put("statistics", statistics)
        .put("waiting", waiting)
        .putIfPresent("waiting_since", longest, since -> JsonValue.of(Timestamps.format(since)))
        .build();
  }

  List<String> lines(Terminal terminal) {
    int width = terminal.width();
    List<JsonValue.Obj> minutes = list("series");
    List<String> lines = new ArrayList<>();
    lines.add("writ top   " + Text.printable(server.toString()) + "   " + Timestamps.format(at));
    lines.add(
        "calls      "
            + sum(minutes, "calls")
            + " in an hour, "
            + (minutes.isEmpty() ? 0 : number(minutes.getLast(), "calls").orElse(0L))
            + " in this minute");
    lines.add(
        "verdicts   "
            + sum(minutes, "allowed")
            + " allowed, "
            + sum(minutes, "denied")
            + " denied, "
            + sum(minutes, "waiting")
            + " escalated, "
            + sum(minutes, "failed")
            + " failed");
    lines.add("latency    " + latency(minutes));
    lines.add(
        "queue      "
            + waiting
            + " for an approval"
            + longest
                .map(since -> ", the first for " + WaitingHere.length(Duration.between(since, at)))
                .orElse(""));
    lines.add("");
    lines.replaceAll(line -> Text.cut(line, width));
    lines.addAll(tools().lines(width, terminal.outHasColour()));
    return lines;
  }

  /** Of the latest minute in which an effect ended. */
  private static String latency(List<JsonValue.Obj> minutes) {
    return minutes.reversed().stream()
        .filter(minute -> number(minute, "p50_ms").isPresent())
        .findFirst()
        .map(minute -> "p50 " + ms(minute, "p50_ms") + " ms, p99 " + ms(minute, "p99_ms") + " ms")
        .orElse("–");
  }

  private Table tools() {
    Table table =
        new Table()
            .column("tool", Table.Fit.CUT)
            .column("version", Table.Fit.CUT)
            .numbers("calls")
            .numbers("denied")
            .numbers("failed")
            .numbers("p50 ms")
            .numbers("p99 ms");
    list("tools").stream()
        .sorted(Comparator.comparing(tool -> -number(tool, "calls").orElse(0L)))
        .limit(TOOLS)
        .forEach(tool ->
            table.row(
                Table.cell(text(tool, "tool"), Style.NAME),
                Table.cell(text(tool, "version")),
                Table.cell(ms(tool, "calls")),
                Table.cell(ms(tool, "denied")),
                Table.cell(ms(tool, "failed")),
                Table.cell(ms(tool, "p50_ms")),
                Table.cell(ms(tool, "p99_ms"))));
    return table;
  }

  private List<JsonValue.Obj> list(String key) {
    return statistics.get(key) instanceof JsonValue.Arr array
        ? array.items().stream()
            .filter(JsonValue.Obj.class::isInstance)
            .map(JsonValue.Obj.class::cast)
            .toList()
        : List.of();
  }

  private static long sum(List<JsonValue.Obj> minutes, String key) {
    return minutes.stream().mapToLong(minute -> number(minute, key).orElse(0L)).sum();
  }

  private static Optional<Long> number(JsonValue.Obj of, String key) {
    return of.get(key) instanceof JsonValue.Num number
        ? Optional.of((long) number.value())
        : Optional.empty();
  }

  private static String ms(JsonValue.Obj of, String key) {
    return number(of, key).map(String::valueOf).orElse("–");
  }

  private static String text(JsonValue.Obj of, String key) {
    return of.get(key) instanceof JsonValue.Str text ? text.value() : "";
  }
}

package dev.writ.gateway.statistics;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The last day of one tenant: minutes, and tools, subjects and codes in spans of ten. For one
 * thread.
 */
final class Ring {
  static final int MINUTES = 24 * 60;
  static final int SPAN = 10;

  /** Tools, subjects and codes of a span; the rest is counted together. */
  private static final int NAMES_MAX = 128;

  private final Cell[] minutes = new Cell[MINUTES];
  private final long[] minuteOf = new long[MINUTES];
  private final Span[] spans = new Span[MINUTES / SPAN + 1];

  /** Ten minutes. */
  private static final class Span {
    private final long number;
    private final TreeMap<Happened.Tool, Cell> tools = new TreeMap<>();
    private final TreeMap<String, Cell> subjects = new TreeMap<>();
    private final TreeMap<String, Cell> codes = new TreeMap<>();

    Span(long number) {
      this.number = number;
    }

    int cells() {
      return tools.size() + subjects.size() + codes.size();
    }
  }

  private int cells;
  private Instant since;
  private Instant namedSince;

  /**
   * @param since what happened from then on is counted here
   */
  Ring(Instant since) {
    this.since = since;
    this.namedSince = since;
  }

  /** What happened before was counted as well. */
  void reachesBackTo(Instant time) {
    namedSince = namedSince.equals(since) ? time : namedSince; // or else names were forgotten
    since = time;
  }

  /** How many cells it has. */
  int cells() {
    return cells;
  }

  /** Forgets the names of all but the last hour. */
  void forgetNames() {
    long newest = Long.MIN_VALUE;
    for (Span span : spans) {
      newest = span == null ? newest : Math.max(newest, span.number);
    }
    long kept = newest - 60 / SPAN;
    for (int i = 0; i < spans.length; i++) {
      if (spans[i] != null && spans[i].number <= kept) {
        cells -= spans[i].cells();
        spans[i] = null;
        namedSince = begin(kept + 1);
      }
    }
  }

  private static Instant begin(long span) {
    return Instant.ofEpochSecond(60 * SPAN * span);
  }

  private static long minute(Instant at) {
    return Math.floorDiv(at.getEpochSecond(), 60);
  }

  /** Counts it, unless something of a day later was counted at its place. */
  void add(Happened happened) {
    long minute = minute(happened.at());
    int place = (int) Math.floorMod(minute, (long) MINUTES);
    if (minutes[place] == null || minuteOf[place] < minute) {
      cells += minutes[place] == null ? 1 : 0;
      minutes[place] = new Cell();
      minuteOf[place] = minute;
    }
    if (minuteOf[place] == minute) {
      minutes[place].add(happened);
      named(Math.floorDiv(minute, (long) SPAN), happened);
    }
  }

  private void named(long number, Happened happened) {
    int place = (int) Math.floorMod(number, (long) spans.length);
    if (spans[place] == null || spans[place].number < number) {
      cells -= spans[place] == null ? 0 : spans[place].cells();
      spans[place] = new Span(number);
    }
    Span span = spans[place];
    if (span.number == number) {
      int before = span.cells();
      cell(span.tools, happened.tool(), Happened.Tool.OTHER).add(happened);
      cell(span.subjects, happened.subject(), "").add(happened);
      happened.code().ifPresent(code -> cell(span.codes, code, "").add(happened));
      cells += span.cells() - before;
    }
  }

  private static <K> Cell cell(TreeMap<K, Cell> cells, K name, K other) {
    boolean room = cells.size() < NAMES_MAX || cells.containsKey(name);
    return cells.computeIfAbsent(room ? name : other, _ -> new Cell());
  }

  /** Steps of so many minutes, the last of which holds that time. */
  StatisticsTable table(Instant now, int step, int steps) {
    long end = (Math.floorDiv(minute(now), (long) step) + 1) * step;
    long begin = end - (long) step * steps;
    List<StatisticsTable.Step> series = new ArrayList<>();
    for (long from = begin; from < end; from += step) {
      Cell sum = new Cell();
      for (long minute = from; minute < from + step; minute++) {
        int place = (int) Math.floorMod(minute, (long) MINUTES);
        if (minutes[place] != null && minuteOf[place] == minute) {
          sum.add(minutes[place]);
        }
      }
      series.add(new StatisticsTable.Step(Instant.ofEpochSecond(60 * from), sum.counts()));
    }
    long firstSpan = Math.floorDiv(begin, (long) SPAN);
    Instant namedFrom = begin(firstSpan);
    return new StatisticsTable(
        step,
        since,
        series,
        namedFrom.isAfter(namedSince) ? namedFrom : namedSince,
        sums(firstSpan, span -> span.tools),
        sums(firstSpan, span -> span.subjects),
        sums(firstSpan, span -> span.codes));
  }

  /** The sums of a name, the most used first. */
  private <K extends Comparable<K>> List<Map.Entry<K, Counts>> sums(
      long firstSpan, Function<Span, TreeMap<K, Cell>> of) {
    TreeMap<K, Cell> sums = new TreeMap<>();
    for (Span span : spans) {
      if (span != null && span.number >= firstSpan) {
        of.apply(span)
            .forEach((name, cell) -> sums.computeIfAbsent(name, _ -> new Cell()).add(cell));
      }
    }
    return sums.entrySet().stream()
        .map(entry -> Map.entry(entry.getKey(), entry.getValue().counts()))
        .sorted(
            Comparator.comparing((Map.Entry<K, Counts> entry) -> -entry.getValue().calls())
                .thenComparing(Map.Entry::getKey))
        .toList();
  }
}

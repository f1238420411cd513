package dev.writ.replay.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** Counts what was executed again, what was only checked, and what was neither, with the reason. */
final class ReplayTally {
  long judged;
  long intents;
  long refused;
  long effects;
  long live;
  long doubts;
  long closings;
  long resolutions;
  private final TreeMap<String, Long> checked = new TreeMap<>();
  private final TreeMap<String, Long> neither = new TreeMap<>();

  void checked(String what) {
    checked.merge(what, 1L, Long::sum);
  }

  void neither(String what) {
    neither.merge(what, 1L, Long::sum);
  }

  List<String> reexecuted() {
    List<String> lines = new ArrayList<>();
    add(lines, judged, "decisions: admitted and judged by all four checks");
    add(lines, intents, "intents: issued, with seeds derived from the run's");
    add(lines, effects, "effects: through all eight stages, on the recorded outcome of the tool");
    add(lines, live, "effects: their tool ran again, and stages 4 to 7 on what it gave");
    add(lines, refused, "refusals: by the same stage with the same code");
    add(lines, doubts, "receipts in doubt: made by recovery");
    add(lines, resolutions, "resolutions: taken as the kernel takes them");
    add(lines, closings, "closings: events, receipts and run hash counted again");
    return lines;
  }

  private static void add(List<String> lines, long count, String what) {
    if (count > 0) {
      lines.add(count + " " + what);
    }
  }

  List<String> checkedLines() {
    return lines(checked);
  }

  List<String> neitherLines() {
    return lines(neither);
  }

  private static List<String> lines(TreeMap<String, Long> counts) {
    return counts.entrySet().stream().map(e -> e.getValue() + " " + e.getKey()).toList();
  }
}

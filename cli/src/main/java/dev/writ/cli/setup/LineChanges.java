package dev.writ.cli.setup;

import java.util.ArrayList;
import java.util.List;

/** The lines that differ between two texts, between the first and the last that do. */
final class LineChanges {
  private LineChanges() {}

  /** Each with a sign: {@code -} for one that goes, {@code +} for one that comes. */
  static List<String> of(String before, String after) {
    List<String> old = before.lines().toList();
    List<String> now = after.lines().toList();
    int head = 0;
    while (head < Math.min(old.size(), now.size()) && old.get(head).equals(now.get(head))) {
      head++;
    }
    int tail = 0;
    while (tail < Math.min(old.size(), now.size()) - head
        && old.get(old.size() - 1 - tail).equals(now.get(now.size() - 1 - tail))) {
      tail++;
    }
    List<String> lines = new ArrayList<>();
    old.subList(head, old.size() - tail).forEach(line -> lines.add("- " + line));
    now.subList(head, now.size() - tail).forEach(line -> lines.add("+ " + line));
    return lines;
  }
}

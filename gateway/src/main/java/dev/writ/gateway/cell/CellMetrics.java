package dev.writ.gateway.cell;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SortedMap;

/**
 * One scrape out of those of several cells in one process: what a cell counts gets the label {@code
 * cell}. The format is that of Prometheus, version 0.0.4.
 */
public final class CellMetrics {
  private static final String COMMENT = "# ";

  private CellMetrics() {}

  /** The comments and the samples of one metric. */
  private record Family(List<String> comments, List<String> samples) {}

  /**
   * @param own of the gateway, unchanged
   * @param cells the scrape of each cell, by its number
   */
  public static String joined(String own, SortedMap<Integer, String> cells) {
    LinkedHashMap<String, Family> families = new LinkedHashMap<>();
    add(families, own, "");
    cells.forEach((cell, text) -> add(families, text, "cell=\"" + cell + "\""));
    StringBuilder joined = new StringBuilder();
    families
        .values()
        .forEach(family -> {
          family.comments().forEach(line -> joined.append(line).append('\n'));
          family.samples().forEach(line -> joined.append(line).append('\n'));
        });
    return joined.toString();
  }

  private static void add(LinkedHashMap<String, Family> families, String text, String label) {
    Family family = new Family(new ArrayList<>(), new ArrayList<>());
    boolean isKnown = false;
    String name = "";
    for (String line : text.lines().toList()) {
      if (line.startsWith(COMMENT)) {
        String named = line.split(" ", 4)[2];
        if (!named.equals(name)) {
          name = named;
          isKnown = families.containsKey(name);
          family =
              families.computeIfAbsent(name, _ -> new Family(new ArrayList<>(), new ArrayList<>()));
        }
        if (!isKnown) {
          family.comments().add(line);
        }
      } else if (!line.isEmpty()) {
        family.samples().add(labelled(line, label));
      }
    }
  }

  private static String labelled(String line, String label) {
    if (label.isEmpty()) {
      return line;
    }
    int space = line.indexOf(' ');
    int brace = line.indexOf('{');
    if (brace < 0 || brace > space) {
      return line.substring(0, space) + "{" + label + "}" + line.substring(space);
    }
    String rest = line.substring(brace + 1);
    return line.substring(0, brace + 1) + label + (rest.startsWith("}") ? "" : ",") + rest;
  }
}

package dev.writ.gateway.config;

import dev.writ.guardian.yaml.Section;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The thresholds of alerts ({@code spec/incidents.md}), by their names. {@code /metrics} shows
 * them, and the rules that are released compare with what it shows.
 */
public record AlertThresholds(SortedMap<String, Long> values) {
  /** What holds where the configuration says nothing. */
  public static final AlertThresholds DEFAULT =
      new AlertThresholds(
          new TreeMap<>(
              Map.of(
                  "consecutive_failures", 5L,
                  "resource_percent", 90L,
                  "suspicious_commands", 3L,
                  "sandbox_failures", 1L,
                  "cpu_objective_permille", 990L,
                  "io_objective_permille", 950L)));

  private static final long MAX = 1_000_000;
  private static final long PERMILLE_MAX = 999;

  public AlertThresholds {
    values = Collections.unmodifiableSortedMap(new TreeMap<>(values));
  }

  static AlertThresholds read(Section section) {
    TreeMap<String, Long> values = new TreeMap<>(DEFAULT.values);
    for (String name : DEFAULT.values.keySet()) {
      long most = name.endsWith("_permille") ? PERMILLE_MAX : MAX;
      section
          .optional(name, key -> section.between(key, 1, most))
          .ifPresent(value -> values.put(name, value));
    }
    section.end();
    return new AlertThresholds(values);
  }
}

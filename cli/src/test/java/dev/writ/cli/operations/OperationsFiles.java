package dev.writ.cli.operations;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The rules and dashboards of {@code ops}, held against what a server really measures. */
public final class OperationsFiles {
  /** The folder of Prometheus's files. */
  public static final Path PROMETHEUS = folder().resolve("prometheus");

  private static final Pattern SAMPLE =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)})? \\S+");
  private static final Pattern LABEL = Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"");
  private static final Pattern VALUES = Pattern.compile("label_values\\((.+), *(\\w+)\\)");

  /** Labels that Prometheus itself adds to each series, and series that it makes itself. */
  private static final List<String> ITS_LABELS = List.of("instance", "job");

  private static final String ITS_SERIES = "up";

  /** Series of a server that speaks TLS alone. */
  private static final String OF_TLS = "writ_tls_certificate_end_seconds";

  private OperationsFiles() {}

  private static Path folder() {
    Path here = Path.of("").toAbsolutePath();
    return (Files.isDirectory(here.resolve("ops")) ? here : here.getParent()).resolve("ops");
  }

  /** Files with rules. */
  public static List<Path> rules() throws IOException {
    try (Stream<Path> files = Files.list(PROMETHEUS)) {
      return files
          .filter(file -> file.getFileName().toString().matches("writ-(alerts|slo)\\.yml"))
          .sorted()
          .toList();
    }
  }

  /** The names in a scrape with the labels of each. */
  static TreeMap<String, TreeSet<String>> series(String scrape) {
    TreeMap<String, TreeSet<String>> series = new TreeMap<>();
    for (String line : scrape.lines().filter(line -> !line.startsWith("#")).toList()) {
      Matcher sample = SAMPLE.matcher(line);
      assertThat(sample.matches()).as(line).isTrue();
      TreeSet<String> labels = series.computeIfAbsent(sample.group(1), _ -> new TreeSet<>());
      if (sample.group(2) != null) {
        LABEL.matcher(sample.group(2)).results().forEach(label -> labels.add(label.group(1)));
      }
    }
    return series;
  }

  /** Requires that the scrape has each metric and each label of every rule and every panel. */
  public static void requireAllIn(String scrape) throws IOException {
    TreeMap<String, TreeSet<String>> series = series(scrape);
    series.put(ITS_SERIES, new TreeSet<>());
    series.putIfAbsent(OF_TLS, specified("Metrics of the server's parts").get(OF_TLS));
    int checked = 0;
    for (Path file : rules()) {
      for (Map<?, ?> rule : rulesOf(file)) {
        TreeSet<String> labels = require(series, (String) rule.get("expr"), file.toString());
        checked++;
        if (rule.get("record") instanceof String record) {
          series.put(record, labels);
        }
      }
    }
    try (Stream<Path> dashboards = Files.list(folder().resolve("grafana"))) {
      for (Path file : dashboards.sorted().toList()) {
        for (String query : queries(Jcs.parse(Files.readAllBytes(file)))) {
          require(series, query, file.toString());
          checked++;
        }
      }
    }
    assertThat(checked).as("expressions").isGreaterThan(40);
  }

  /** The metrics of a section of spec/telemetry.md, with the labels of each. */
  public static TreeMap<String, TreeSet<String>> specified(String section) throws IOException {
    String page = Files.readString(folder().resolveSibling("spec").resolve("telemetry.md"));
    int begin = page.indexOf("\n## " + section + "\n");
    assertThat(begin).as(section).isPositive();
    String text = page.substring(begin, page.indexOf("\n## ", begin + 1));
    TreeMap<String, TreeSet<String>> metrics = new TreeMap<>();
    Matcher row = Pattern.compile("(?m)^\\| `(writ_\\w+)` \\| ([^|]+) \\|").matcher(text);
    while (row.find()) {
      TreeSet<String> labels = new TreeSet<>();
      Pattern.compile("`(\\w+)`")
          .matcher(row.group(2))
          .results()
          .forEach(l -> labels.add(l.group(1)));
      assertThat(metrics.put(row.group(1), labels)).as("twice: " + row.group(1)).isNull();
    }
    assertThat(metrics).as(section).hasSizeGreaterThan(10);
    return metrics;
  }

  /**
   * Requires that each metric of effects that the specification has is there, that none is there
   * that it does not have, and that all have exactly its labels.
   */
  public static void requireAsSpecified(String scrape) throws IOException {
    TreeMap<String, TreeSet<String>> series = series(scrape);
    TreeMap<String, TreeSet<String>> all = specified("Metrics");
    all.keySet()
        .forEach(name ->
            assertThat(series.containsKey(name) ? name : name + "_count").isIn(series.keySet()));
    all.putAll(specified("Metrics of the server's parts"));
    series.forEach((name, labels) -> {
      String metric =
          all.containsKey(name) ? name : name.replaceFirst("_(bucket|count|sum|max)$", "");
      labels.remove("le");
      assertThat(all).as("metrics of spec/telemetry.md").containsKey(metric);
      assertThat(labels).as(name).isEqualTo(all.get(metric));
    });
  }

  private static TreeSet<String> require(
      TreeMap<String, TreeSet<String>> series, String query, String where) {
    Matcher values = VALUES.matcher(query);
    boolean asksForValues = values.matches();
    String text = asksForValues ? values.group(1) : query.replace("$__rate_interval", "5m");
    PromQl read = new PromQl(text);
    assertThat(read.selected).as(where + ": " + query).isNotEmpty();
    TreeSet<String> all = new TreeSet<>(ITS_LABELS);
    read.selected.forEach((name, labels) -> {
      assertThat(series).as(where + ": " + query).containsKey(name);
      TreeSet<String> known = new TreeSet<>(series.get(name));
      known.addAll(ITS_LABELS);
      assertThat(known).as(where + ": labels of " + name).containsAll(labels);
      all.addAll(known);
    });
    all.addAll(read.made);
    assertThat(all).as(where + ": " + query).containsAll(read.grouping);
    if (asksForValues) {
      assertThat(all).as(where + ": " + query).contains(values.group(2));
    }
    return all;
  }

  private static List<Map<?, ?>> rulesOf(Path file) throws IOException {
    Map<?, ?> read =
        (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(Files.readString(file));
    return ((List<?>) read.get("groups"))
        .stream()
            .flatMap(group -> ((List<?>) ((Map<?, ?>) group).get("rules")).stream())
            .<Map<?, ?>>map(rule -> (Map<?, ?>) rule)
            .toList();
  }

  /** Every expression of a dashboard: of its panels, and of its variables. */
  private static List<String> queries(JsonValue value) {
    return switch (value) {
      case JsonValue.Obj object ->
          object.members().entrySet().stream()
              .flatMap(member ->
                  member.getValue() instanceof JsonValue.Str text
                          && (member.getKey().equals("expr")
                              || text.value().startsWith("label_values("))
                      ? Stream.of(text.value())
                      : queries(member.getValue()).stream())
              .toList();
      case JsonValue.Arr list ->
          list.items().stream().flatMap(item -> queries(item).stream()).toList();
      default -> List.of();
    };
  }

  /** Runs promtool; returns what it said, and requires that it was content. */
  public static String promtool(String input, String... arguments) throws Exception {
    List<String> command = Stream.concat(Stream.of("promtool"), Stream.of(arguments)).toList();
    Process process =
        new ProcessBuilder(command)
            .directory(PROMETHEUS.toFile())
            .redirectErrorStream(true)
            .start();
    try (var stdin = process.getOutputStream()) {
      stdin.write(input.getBytes(StandardCharsets.UTF_8));
    }
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(command + "\n" + said).isZero();
    return said;
  }

  /** The names of all alerts. */
  static TreeSet<String> alerts() throws IOException {
    TreeSet<String> names = new TreeSet<>();
    for (Path file : rules()) {
      rulesOf(file).stream()
          .filter(rule -> rule.get("alert") != null)
          .forEach(rule -> names.add((String) rule.get("alert")));
    }
    return names;
  }
}

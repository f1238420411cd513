package dev.writ.cli.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.operations.OperationsFiles;
import dev.writ.gateway.ops.LogEvent;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * spec/telemetry.md names each metric, each event of the log and each member of its lines, and
 * nothing else. That a metric has the labels of the page shows where a server is scraped ({@link
 * OperationsFiles#requireAsSpecified}); that a line has no other members, where any test makes one
 * ({@code JsonLog.write}).
 */
class TelemetryIsDocumentedTest {
  private static final Path ROOT = Project.root();
  private static final Pattern METRIC =
      Pattern.compile("(?:builder|gauge|counter|timer|summary)\\(\\s*\"(writ\\.[a-z.]*[a-z])\"");
  private static final Pattern OF_SINK =
      Pattern.compile("(?:gauge|counter)\\(\\s*gateway,\\s*feeder,\\s*\"([a-z.]+)\"");
  private static final Pattern EVENT =
      Pattern.compile(
          "(?:log\\.(?:event|refused)\\(|line\\(\"(?:info|error)\",|\\.put\\(\"event\",)\\s*\"([a-z-]+)\"");
  private static final Pattern MEMBER =
      Pattern.compile("\\b(?:put|putIfPresent|putList)\\(\\s*\"([A-Za-z_]+)\"");

  /** What makes whole lines of the log; all else gives an event and words for people. */
  private static final List<String> MAKERS =
      List.of(
          "gateway/src/main/java/dev/writ/gateway/ops/JsonLog.java",
          "gateway/src/main/java/dev/writ/gateway/ops/EffectTelemetry.java",
          "sinks/src/main/java/dev/writ/sinks/SinkLog.java",
          "cli/src/main/java/dev/writ/cli/publish/PublishingLog.java");

  private static List<Path> sources(String module) {
    return Project.files(ROOT.resolve(module).resolve("src/main/java"), ".java");
  }

  private static TreeSet<String> found(Pattern pattern, String text) {
    TreeSet<String> found = new TreeSet<>();
    pattern.matcher(text).results().forEach(match -> found.add(match.group(1)));
    return found;
  }

  /** The suffixes by which Prometheus's names say the kind and the unit. */
  private static String plain(String metric) {
    return metric.replaceFirst("(_(total|seconds|bytes))+$", "");
  }

  @Test
  void thePageHasTheMetricsThatTheCodeHas() throws IOException {
    TreeSet<String> ofCode = new TreeSet<>();
    for (String module : Project.modulesWithSources()) {
      for (Path source : sources(module)) {
        String text = Project.read(source);
        found(METRIC, text).forEach(name -> ofCode.add(plain(name.replace('.', '_'))));
        found(OF_SINK, text)
            .forEach(name -> ofCode.add(plain("writ_sink_" + name.replace('.', '_'))));
      }
    }
    TreeSet<String> ofPage = new TreeSet<>();
    TreeMap<String, TreeSet<String>> metrics = OperationsFiles.specified("Metrics");
    metrics.putAll(OperationsFiles.specified("Metrics of the server's parts"));
    metrics.keySet().forEach(name -> ofPage.add(plain(name)));
    assertThat(ofPage).isEqualTo(ofCode).hasSizeGreaterThan(60);
  }

  @Test
  void thePageHasTheLinesThatAreListed() {
    TreeMap<String, List<String>> ofPage = new TreeMap<>();
    String page = Project.read(ROOT.resolve("spec/telemetry.md"));
    Matcher row = Pattern.compile("(?m)^\\| `([a-z-]+)` \\| ([^|]+) \\|").matcher(page);
    while (row.find()) {
      TreeSet<String> members = found(Pattern.compile("`([A-Za-z_]+)`"), row.group(2));
      assertThat(ofPage.put(row.group(1), List.copyOf(members))).as(row.group(1)).isNull();
    }
    TreeMap<String, List<String>> listed = new TreeMap<>();
    Arrays.stream(LogEvent.values()).forEach(event -> listed.put(event.text(), event.members()));
    assertThat(ofPage).isEqualTo(listed);
  }

  @Test
  void theListHasTheEventsOfTheCode() {
    TreeSet<String> ofCode = new TreeSet<>();
    TreeSet<String> anywhere = new TreeSet<>();
    for (String module : List.of("gateway", "surfaces", "console", "sinks", "grpc", "cli")) {
      for (Path source : sources(module)) {
        if (source.endsWith("LogEvent.java")) {
          continue;
        }
        String text = Project.read(source);
        anywhere.addAll(found(Pattern.compile("\"([a-z-]+)\""), text));
        if (text.contains("JsonLog") || MAKERS.contains(ROOT.relativize(source).toString())) {
          ofCode.addAll(found(EVENT, text));
        }
      }
    }
    TreeSet<String> listed = new TreeSet<>();
    Arrays.stream(LogEvent.values()).forEach(event -> listed.add(event.text()));
    assertThat(listed).containsAll(ofCode);
    assertThat(anywhere).as("an event that no code has").containsAll(listed);
    assertThat(ofCode).hasSizeGreaterThan(20);
  }

  @Test
  void theListHasTheMembersOfTheCode() {
    TreeSet<String> ofCode = new TreeSet<>();
    MAKERS.forEach(maker -> ofCode.addAll(found(MEMBER, Project.read(ROOT.resolve(maker)))));
    TreeSet<String> ofSurfaces = new TreeSet<>();
    for (Path source : sources("surfaces")) {
      Matcher names =
          Pattern.compile("(?s)namesOf\\(Digest id, Request request\\) \\{(.*?)\\n  }")
              .matcher(Project.read(source));
      while (names.find()) {
        ofSurfaces.addAll(found(MEMBER, names.group(1)));
      }
    }
    assertThat(ofSurfaces).isNotEmpty();
    ofCode.addAll(ofSurfaces);
    ofCode.add("correlationId"); // named by a constant
    TreeSet<String> listed = new TreeSet<>(LogEvent.OF_ALL);
    Arrays.stream(LogEvent.values()).forEach(event -> listed.addAll(event.members()));
    assertThat(listed).isEqualTo(ofCode);
  }
}

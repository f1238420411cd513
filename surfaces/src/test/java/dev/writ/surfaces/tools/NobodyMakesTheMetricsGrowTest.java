package dev.writ.surfaces.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.schedule.Lane;
import dev.writ.surfaces.engine.EngineSurface;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.verify.bundle.BundleExport;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A caller that sends new words in every place gets no series of its own. */
class NobodyMakesTheMetricsGrowTest {
  private static final int WAVES = Integer.getInteger("writ.rounds", 6);

  @TempDir Path dir;
  private SeedServer server;

  /** One call of each kind, with a word that no call before had. */
  private void wave(int number) {
    String word = "word" + number;
    server.post(
        "alice",
        "/v1/tools/exec",
        """
        {"role":"developer","case_id":"WORD","cmd":"pytest WORD","timeout_sec":60,
         "limits":{"cpu":1.0,"mem_mb":512}}
        """
            .replace("WORD", word));
    for (String role : List.of("developer", word)) {
      for (String command : List.of(word, "pytest --" + word, "sh -c " + word)) {
        server.post(
            "alice",
            "/v1/tools/exec",
            """
            {"role":"ROLE","case_id":"WORD","subtask_id":"WORD","cmd":"COMMAND","cwd":"/workspace/WORD",
             "env":{"WORD":"WORD"},"timeout_sec":60,"limits":{"cpu":1.0,"mem_mb":512}}
            """
                .replace("ROLE", role)
                .replace("COMMAND", command)
                .replace("WORD", word));
      }
    }
    for (String tool : List.of("words", word)) {
      for (String resources : List.of("small", word)) {
        server.post(
            "alice",
            EngineSurface.PATH,
            """
            {"toolId":"TOOL","operation":"WORD","requestId":"WORD-TOOL-CLASS","correlationId":"WORD",
             "toolVersion":"WORD","resourceClass":"CLASS","inputPayload":{"WORD":"WORD"}}
            """
                .replace("TOOL", tool)
                .replace("CLASS", resources)
                .replace("WORD", word));
      }
    }
    server.get("alice", EngineSurface.PATH + "/" + word);
    server.get("alice", "/" + word + "?" + word);
    server.get(word, "/v1/" + word);
    server.send(
        server
            .to("/v1/tools/exec")
            .header("Authorization", "Bearer token-of-alice")
            .header(
                "traceparent", "00-" + "a".repeat(31) + number % 10 + "-" + "b".repeat(16) + "-01")
            .header("User-Agent", word)
            .method(word.toUpperCase(java.util.Locale.ROOT), HttpRequest.BodyPublishers.noBody()));
  }

  private TreeSet<String> series() {
    TreeSet<String> names = new TreeSet<>();
    server
        .metrics
        .text()
        .lines()
        .filter(line -> !line.startsWith("#"))
        .forEach(line -> names.add(line.substring(0, line.lastIndexOf(' '))));
    return names;
  }

  @Test
  void theSeriesAreTheSameAfterManyWordsAsAfterOne() {
    SeedServer started =
        new SeedServer(
            dir,
            EveryExecutionIsCountedAndLoggedTest.POLICY,
            (seed, pipeline) ->
                List.of(
                    new ToolsSurface(pipeline, Optional.empty()),
                    new EngineSurface(
                        pipeline,
                        BundleExport.Packages.of(seed.home.tools)::manifest,
                        Lane.DIRECT)),
            HttpLimits.DEFAULT);
    server = started;
    try (started) {
      wave(0);
      TreeSet<String> once = series();
      assertThat(once)
          .anyMatch(name -> name.contains("role=\"other\""))
          .anyMatch(name -> name.contains("command=\"pytest\""))
          .anyMatch(name -> name.contains("tool=\"other\""))
          .anyMatch(name -> name.contains("method=\"other\""))
          .noneMatch(name -> name.contains("word0"));
      for (int i = 1; i < WAVES; i++) {
        wave(i);
      }
      assertThat(series()).isEqualTo(once);
    }
  }
}

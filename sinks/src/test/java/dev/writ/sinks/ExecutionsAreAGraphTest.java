package dev.writ.sinks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.sinks.feed.SinkOrder;
import dev.writ.sinks.feed.SinkOrder.Action;
import dev.writ.sinks.testing.Neo4jServer;
import dev.writ.sinks.testing.Relay;
import dev.writ.sinks.testing.SinkScene;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.neo4j.driver.Record;
import org.neo4j.driver.Value;

/**
 * Seed 002's projection in a real Neo4j, which is emptied and cut off; {@code -Dwrit.campaign=long}
 * kills it, too, which takes it as long as all the rest.
 */
class ExecutionsAreAGraphTest {
  private static final boolean LONG = "long".equals(System.getProperty("writ.campaign"));

  @TempDir static Path disk;
  private static Neo4jServer neo4j;
  private static Relay relay;

  @TempDir Path dir;
  @TempDir Path folder;
  private SinkScene scene;

  @BeforeAll
  static void startServer() {
    neo4j = new Neo4jServer(disk);
    neo4j.start();
    relay = new Relay(neo4j.port());
  }

  @AfterAll
  static void stopServer() {
    neo4j.close();
    relay.close();
  }

  @BeforeEach
  void start() {
    relay.mend();
    empty();
    scene =
        new SinkScene(
            dir,
            folder,
            "graph: { kind: neo4j, url: \"bolt://127.0.0.1:" + relay.port() + "\" }\n");
  }

  @AfterEach
  void stop() {
    scene.close();
  }

  private static void empty() {
    neo4j.ask("MATCH (n) DETACH DELETE n", Map.of());
  }

  private static long count(String match) {
    return neo4j
        .ask("MATCH " + match + " RETURN count(*) AS n", Map.of())
        .getFirst()
        .get("n")
        .asLong();
  }

  @Test
  void theSeedsExampleIsANodeWithTheSeedsPropertiesAndRelations() {
    neo4j.ask("CREATE (:Case {case_id: 'case-123', title: 'of another system'})", Map.of());
    String id = scene.exec("pytest -q");
    assertThat(scene.denied("kubectl get pods")).isEqualTo(403);
    scene.awaitAll();
    Record found =
        neo4j
            .ask(
                "MATCH (s:Subtask)<-[:EXECUTED_FOR]-(e:ExecResult)-[:EXECUTED_FOR]->(c:Case)"
                    + " RETURN e, c.title AS title, s.subtask_id AS subtask",
                Map.of())
            .getFirst();
    Value e = found.get("e");
    assertThat(e.get("exec_id").asString()).isEqualTo(id);
    assertThat(e.get("role").asString()).isEqualTo("developer");
    assertThat(e.get("case_id").asString()).isEqualTo("case-123");
    assertThat(e.get("cmd").asString()).isEqualTo("pytest -q");
    assertThat(e.get("exit_code").asLong()).isZero();
    assertThat(e.get("duration_ms").asLong()).isNotNegative();
    assertThat(e.get("timestamp").asDouble()).isGreaterThan(1.7e9);
    assertThat(e.get("receipt").asString()).startsWith("sha256:");
    assertThat(found.get("title").asString()).isEqualTo("of another system");
    assertThat(found.get("subtask").asString()).isEqualTo("DEV-123");
    assertThat(count("(:ExecDenial {code: 'GRD-714', subject: 'alice'})-[:DENIED_FOR]->(:Case)"))
        .isEqualTo(1);
  }

  @Test
  void aSecondRunAddsNothing() {
    scene.exec("pytest -q");
    scene.exec("case-9", "", "python -V");
    scene.denied("kubectl get pods");
    scene.awaitAll();
    long nodes = count("(n)");
    long relations = count("()-[r]->()");
    scene.orders.leave("graph", new SinkOrder(Action.REPLAY, 0));
    scene.awaitLine("ordered REPLAY");
    scene.awaitAll();
    assertThat(scene.sink().state().delivered()).isEqualTo(6);
    assertThat(count("(n)")).isEqualTo(nodes);
    assertThat(count("()-[r]->()")).isEqualTo(relations);
  }

  @Test
  void killedCutOffAndEmptiedItIsWholeAgain() {
    scene.exec("pytest -q");
    scene.awaitAll();
    int executed = 1;
    if (LONG) {
      neo4j.kill();
    } else {
      relay.cut();
    }
    for (; executed < 6; executed++) {
      scene.exec("python " + executed);
    }
    scene.awaitLine("SNK-001");
    relay.mend();
    relay.cutAfter(2_000); // within the first delivery that comes through
    if (LONG) {
      neo4j.start();
    }
    scene.forget();
    scene.awaitLine("SNK-001");
    relay.mend();
    scene.awaitAll();
    assertThat(count("(:ExecResult)")).isEqualTo(executed);
    assertThat(count("(:ExecResult)-[:EXECUTED_FOR]->(:Case)")).isEqualTo(executed);
    relay.cut();
    empty();
    relay.mend();
    scene.exec("node -v");
    scene.awaitLine("rewound 0");
    scene.awaitAll();
    assertThat(count("(:ExecResult)")).isEqualTo(executed + 1);
  }

  private static List<Record> asked(String question, Map<String, Object> parameters) {
    try {
      String page = Files.readString(Path.of(System.getProperty("writ.root"), "spec/sinks.md"));
      Matcher cypher =
          Pattern.compile("```cypher " + question + "\n(.*?)```", Pattern.DOTALL).matcher(page);
      assertThat(cypher.find()).as(question).isTrue();
      return neo4j.ask(cypher.group(1), parameters);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<String> texts(List<Record> records, String... names) {
    return records.stream()
        .map(record ->
            String.join(
                " ",
                List.of(names).stream()
                    .map(name -> record.get(name).asObject())
                    .map(String::valueOf)
                    .toList()))
        .toList();
  }

  @Test
  void anAuditorsQuestionsHaveAnswers() {
    scene.ends(1, "1 failed\n");
    scene.exec("pytest -q");
    scene.exec("python broken.py");
    scene.denied("kubectl get pods");
    scene.ends(0, "1 passed\n");
    String passed = scene.exec("pytest -q");
    scene.exec("case-9", "", "node -v");
    scene.awaitAll();
    assertThat(
            texts(
                asked("commands", Map.of("role", "developer", "case_id", "case-123")),
                "cmd",
                "exit_code",
                "subject"))
        .containsExactly("pytest -q 1 alice", "python broken.py 1 alice", "pytest -q 0 alice");
    assertThat(texts(asked("before", Map.of("exec_id", passed)), "cmd", "exit_code", "code"))
        .containsExactly("pytest -q 1 null", "python broken.py 1 null", "null null GRD-714");
    assertThat(
            texts(
                asked("touched", Map.of("tenant", "acme", "subject", "alice")),
                "kind",
                "id",
                "executed",
                "denied"))
        .containsExactly("Case case-123 3 1", "Case case-9 1 0", "Subtask DEV-123 3 1");
    assertThat(texts(asked("denied", Map.of()), "subject", "code", "times"))
        .containsExactly("alice GRD-714 1");
    assertThat(texts(asked("unmended", Map.of("subtask_id", "DEV-123")), "cmd", "exit_code"))
        .containsExactly("python broken.py 1");
  }
}

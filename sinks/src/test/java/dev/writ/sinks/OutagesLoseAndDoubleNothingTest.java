package dev.writ.sinks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.sinks.testing.Neo4jServer;
import dev.writ.sinks.testing.RedisServer;
import dev.writ.sinks.testing.Relay;
import dev.writ.sinks.testing.SinkScene;
import dev.writ.surfaces.tools.ToolsSurface;
import io.lettuce.core.Range;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * A campaign of outages out of a seed, while effects go on: the target is killed, filled, emptied,
 * cut off at once and within a delivery, and the server itself stops. At the end the target has
 * each record once, in order. {@code -Dwrit.campaign=long} has many more, and one for Neo4j.
 */
class OutagesLoseAndDoubleNothingTest {
  private static final boolean LONG = "long".equals(System.getProperty("writ.campaign"));
  private static final long SEED = Long.getLong("writ.seed", 20261123);
  private static final int OUTAGES = Integer.getInteger("writ.campaign.rounds", LONG ? 400 : 14);

  @TempDir Path dir;

  @TestFactory
  List<DynamicTest> targets() {
    List<DynamicTest> targets = new ArrayList<>();
    targets.add(DynamicTest.dynamicTest("redis", this::redis));
    if (LONG) {
      targets.add(DynamicTest.dynamicTest("neo4j", this::neo4j));
    }
    return targets;
  }

  private Path folder(String name) throws IOException {
    return Files.createDirectories(dir.resolve(name));
  }

  private record Outage(Runnable begins, Runnable ends) {}

  /** One target, and the effects that it has to hear of. */
  private static final class Campaign {
    final Random random = new Random(SEED);
    private final List<String> offered = new ArrayList<>();
    private final SinkScene scene;

    Campaign(SinkScene scene) {
      this.scene = scene;
    }

    void run(List<Outage> outages, int rounds) {
      for (int i = 0; i < rounds; i++) {
        meet(outages.get(random.nextInt(outages.size())));
      }
      scene.awaitAll();
    }

    /** Effects before, within and behind an outage. */
    private void meet(Outage outage) {
      execute(6);
      outage.begins.run();
      execute(10);
      if (random.nextInt(3) == 0) { // the server stops and starts within it
        scene.stop();
        execute(3);
        scene.start();
      }
      outage.ends.run();
      execute(4);
      if (random.nextBoolean()) {
        scene.awaitAll();
      }
    }

    private void execute(int most) {
      for (int i = random.nextInt(most) + 1; i > 0; i--) {
        offered.add(scene.exec("case-" + random.nextInt(5), "", "python " + offered.size()));
      }
    }

    /** Writes the figures down, and requires that nothing is lost, doubled or out of order. */
    void requireAll(String target, List<String> found, int rounds) throws IOException {
      HashSet<String> once = new HashSet<>(found);
      String figures =
          String.join(
              ", ",
              target + " seed " + SEED,
              rounds + " outages",
              offered.size() + " events offered",
              once.size() + " delivered",
              found.size() - once.size() + " doubled",
              offered.stream().filter(id -> !once.contains(id)).count() + " lost");
      Files.writeString(
          Path.of(System.getProperty("writ.root"), "sinks/target/outages-" + target + ".txt"),
          figures + "\n");
      assertThat(found).as(figures).containsExactlyElementsOf(offered);
    }
  }

  private void redis() throws IOException {
    try (RedisServer redis = new RedisServer(folder("redis"))) {
      redis.start();
      try (Relay relay = new Relay(redis.port());
          SinkScene scene =
              new SinkScene(
                  folder("home"),
                  dir,
                  "audit: { kind: redis, url: \"redis://127.0.0.1:" + relay.port() + "\" }\n")) {
        Campaign campaign = new Campaign(scene);
        Runnable nothing = () -> {};
        campaign.run(
            List.of(
                new Outage(redis::kill, redis::start),
                new Outage(
                    () -> {
                      redis.kill();
                      redis.loseDisk();
                    },
                    redis::start),
                new Outage(
                    () -> redis.ask(commands -> commands.configSet("maxmemory", "1mb")),
                    () -> redis.ask(commands -> commands.configSet("maxmemory", "0"))),
                new Outage(() -> redis.ask(commands -> commands.flushall()), nothing),
                new Outage(relay::cut, relay::mend),
                new Outage(() -> relay.cutAfter(campaign.random.nextInt(4_000)), relay::mend)),
            OUTAGES);
        campaign.requireAll(
            "redis",
            redis.ask(commands -> commands.xrange(ToolsSurface.STREAM, Range.unbounded())).stream()
                .map(entry -> entry.getBody().get("exec_id"))
                .toList(),
            OUTAGES);
      }
    }
  }

  private void neo4j() throws IOException {
    int rounds = OUTAGES / 10; // it takes seconds to start
    try (Neo4jServer neo4j = new Neo4jServer(folder("neo4j"))) {
      neo4j.start();
      try (Relay relay = new Relay(neo4j.port());
          SinkScene scene =
              new SinkScene(
                  folder("home-neo4j"),
                  dir,
                  "graph: { kind: neo4j, url: \"bolt://127.0.0.1:" + relay.port() + "\" }\n")) {
        Campaign campaign = new Campaign(scene);
        campaign.run(
            List.of(
                new Outage(neo4j::kill, neo4j::start),
                new Outage(() -> neo4j.ask("MATCH (n) DETACH DELETE n", Map.of()), () -> {}),
                new Outage(relay::cut, relay::mend),
                new Outage(() -> relay.cutAfter(campaign.random.nextInt(6_000)), relay::mend)),
            rounds);
        campaign.requireAll(
            "neo4j",
            neo4j
                .ask("MATCH (e:ExecResult) RETURN e.exec_id AS id ORDER BY e.position", Map.of())
                .stream()
                .map(row -> row.get("id").asString())
                .toList(),
            rounds);
      }
    }
  }
}

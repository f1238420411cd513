package dev.writ.sinks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.sinks.testing.Neo4jServer;
import dev.writ.sinks.testing.Receiver;
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
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * A campaign of outages out of a seed, while effects go on: the target is killed, filled, emptied,
 * cut off at once and within a delivery, and the server itself stops. At the end the target has
 * each record once, in order; a receiver of webhooks, once it drops what it already has. {@code
 * -Dwrit.campaign=long} has many more, and one for Neo4j.
 */
class OutagesLoseAndDoubleNothingTest {
  private static final boolean LONG = "long".equals(System.getProperty("writ.campaign"));
  private static final String TARGETS = System.getProperty("writ.campaign.targets", ".*");
  private static final long SEED = Long.getLong("writ.seed", 20261123);
  private static final int OUTAGES = Integer.getInteger("writ.campaign.rounds", LONG ? 400 : 8);

  @TempDir Path dir;

  @TestFactory
  List<DynamicTest> targets() {
    List<DynamicTest> targets = new ArrayList<>();
    targets.add(DynamicTest.dynamicTest("redis", this::redis));
    targets.add(DynamicTest.dynamicTest("webhook", this::webhook));
    if (LONG) {
      targets.add(DynamicTest.dynamicTest("neo4j", this::neo4j));
    }
    targets.removeIf(target -> !target.getDisplayName().matches(TARGETS));
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
    private final Supplier<String> work;

    /** With executions. */
    Campaign(SinkScene scene) {
      this.scene = scene;
      this.work = () -> scene.exec("case-" + random.nextInt(5), "", "python " + offered.size());
    }

    /**
     * @param work makes one event, and returns its id
     */
    Campaign(SinkScene scene, Supplier<String> work) {
      this.scene = scene;
      this.work = work;
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
        offered.add(work.get());
      }
    }

    /** Writes the figures down, and requires that nothing is lost, doubled or out of order. */
    void requireAll(String target, List<String> found, String met) throws IOException {
      HashSet<String> once = new HashSet<>(found);
      String figures =
          String.join(
              ", ",
              target + " seed " + SEED,
              met,
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
            OUTAGES + " outages");
      }
    }
  }

  /** Denials, whose decisions are the ids; what was taken twice is counted before it is dropped. */
  private void webhook() throws IOException {
    KeyFiles.write(dir.resolve("webhook.pem"), SigningKey.ed25519(new byte[32]), null, null);
    try (Receiver receiver = new Receiver();
        Relay relay = new Relay(receiver.port());
        SinkScene scene =
            new SinkScene(
                folder("home-webhook"),
                dir,
                "pager: { kind: webhook, url: \"http://127.0.0.1:PORT/\", key: webhook.pem }\n"
                    .replace("PORT", String.valueOf(relay.port())))) {
      Campaign campaign =
          new Campaign(
              scene,
              () -> {
                assertThat(scene.denied("kubectl get pods")).isEqualTo(403);
                return scene.server.home.log().stream()
                    .filter(event -> event.kind().equals(EventKind.DECISION_MADE))
                    .reduce((_, last) -> last)
                    .orElseThrow()
                    .body()
                    .toString();
              });
      Runnable answers = () -> receiver.answers(_ -> 204);
      campaign.run(
          List.of(
              new Outage(relay::cut, relay::mend),
              new Outage(() -> relay.cutAfter(campaign.random.nextInt(3_000)), relay::mend),
              new Outage(() -> receiver.answers(_ -> 503), answers),
              new Outage(() -> receiver.answers(_ -> 429), answers),
              new Outage(() -> receiver.answers(_ -> Receiver.UNCONFIRMED), answers)),
          OUTAGES);
      List<String> taken =
          receiver.taken().stream()
              .map(message -> ((JsonValue.Obj) message.data().get("ids")).get("decision"))
              .map(id -> ((JsonValue.Str) id).value())
              .toList();
      List<String> once = List.copyOf(new LinkedHashSet<>(taken));
      campaign.requireAll(
          "webhook", once, OUTAGES + " outages, " + (taken.size() - once.size()) + " taken again");
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
            rounds + " outages");
      }
    }
  }
}

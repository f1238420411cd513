package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.postgres.PostgresServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three gateways under load, whose owner is killed, paused past its lease and woken, cut off from
 * the database, and ended: no receipt that was acknowledged is lost, no effect outside happens
 * twice, and the log is one history. {@code -Dwrit.cells.rounds=N} for more rounds, {@code
 * -Dwrit.cells.seed=N} for others.
 */
class GatewaysAreStruckTest {
  private static final int ROUNDS = Integer.getInteger("writ.cells.rounds", 4);
  private static final long SEED = Long.getLong("writ.cells.seed", 1);
  private static final int CLIENTS = 4;

  /** Each client does so much in a round at least. */
  private static final int EACH = 6;

  private static final Path VERIFIER =
      Path.of(System.getProperty("writ.root", ".."))
          .resolve("verify/src/main/resources/dev/writ/verify/bundle/verify.mjs");

  /** What happens to the owner. */
  private enum Strike {
    KILL,
    PAUSE,
    CUT,
    END
  }

  private record Acknowledged(Agent.Asked asked, String receipt, String status) {}

  @TempDir Path dir;
  private final ConcurrentLinkedQueue<Acknowledged> acknowledged = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<String> found = new ConcurrentLinkedQueue<>();

  /** The longest time without an owner that answers, in milliseconds; for whoever reads it. */
  private final Map<Strike, Long> longest = new TreeMap<>();

  private final List<DatabaseLine> lines = new ArrayList<>();
  private Gateways gateways;
  private Agent agent;

  @Test
  void nothingAcknowledgedIsLostAndNothingHappensTwice() throws Exception {
    PostgresServer server = PostgresServer.shared();
    int port = server.newAddress().getPort();
    for (int i = 0; i < 3; i++) {
      lines.add(new DatabaseLine(port));
    }
    int[] ports = lines.stream().mapToInt(DatabaseLine::port).toArray();
    try (CountingServer outside = new CountingServer(dir.resolve("ca.pem"));
        Gateways made = new Gateways(server, dir, outside, ports);
        Agent signing = new Agent(made)) {
      gateways = made;
      agent = signing;
      for (int i = 0; i < 3; i++) {
        gateways.start(i);
      }
      Random random = new Random(SEED);
      for (int round = 0; round < ROUNDS; round++) {
        round(Strike.values()[round < 4 ? round : random.nextInt(4)], random.nextLong());
      }
      assertThat(found).isEmpty();
      assertThat(acknowledged).hasSizeGreaterThanOrEqualTo(ROUNDS * CLIENTS * EACH);
      compare(outside);
      int inDoubt = count("in_doubt");
      System.out.println(
          ROUNDS
              + " rounds, "
              + acknowledged.size()
              + " acknowledged, "
              + inDoubt
              + " of them in doubt, "
              + outside.all().size()
              + " effects outside, epoch "
              + gateways.epoch()
              + ", longest takeovers in ms (lease "
              + Gateways.LEASE_MS
              + "): "
              + longest);
      for (int i = 0; i < 3; i++) {
        gateways.stop(i);
      }
      verify();
    } finally {
      for (DatabaseLine line : lines) {
        line.close();
      }
    }
  }

  private int count(String status) {
    return (int) acknowledged.stream().filter(a -> a.status().equals(status)).count();
  }

  private void round(Strike strike, long seed) throws Exception {
    int owner = gateways.awaitOwner();
    AtomicInteger left = new AtomicInteger(CLIENTS * EACH);
    boolean[] over = {false};
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      Random random = new Random(seed + i);
      clients.add(Thread.ofVirtual().start(() -> work(random, left, over)));
    }
    gateways.await("half of the work", () -> left.get() < CLIENTS * EACH / 2 || !found.isEmpty());
    long struckAt = System.nanoTime();
    switch (strike) {
      case KILL -> {
        gateways.kill(owner);
        taken(strike, owner, struckAt);
        gateways.start(owner);
      }
      case PAUSE -> {
        gateways.signal(owner, "-STOP");
        taken(strike, owner, struckAt);
        gateways.signal(owner, "-CONT");
        gateways.await(
            "it gave the cell up",
            () ->
                gateways.said(owner).lastIndexOf("cell-given-up")
                    > gateways.said(owner).lastIndexOf("cell-owned"));
      }
      case CUT -> {
        lines.get(owner).cut();
        taken(strike, owner, struckAt);
        lines.get(owner).mend();
      }
      case END -> {
        assertThat(gateways.stop(owner)).isEqualTo(143);
        taken(strike, owner, struckAt);
        gateways.start(owner);
      }
    }
    gateways.await("the rest of the work", () -> left.get() <= 0 || !found.isEmpty());
    over[0] = true;
    for (Thread client : clients) {
      client.join();
    }
  }

  private void taken(Strike strike, int owner, long struckAt) throws IOException {
    gateways.awaitOwnerOtherThan(owner);
    longest.merge(strike, (System.nanoTime() - struckAt) / 1_000_000, Math::max);
  }

  private void work(Random random, AtomicInteger left, boolean[] over) {
    while (!over[0] && left.get() > 0 && found.isEmpty()) {
      String run = "run-" + random.nextInt(2);
      Agent.Asked asked =
          random.nextInt(3) == 0 ? agent.js(run, random.nextInt(1000) + "*7") : agent.outside(run);
      answered(asked, random).ifPresent(acknowledged::add);
      left.decrementAndGet();
    }
  }

  /** Sends it to any gateway until one has an answer that stays. */
  private Optional<Acknowledged> answered(Agent.Asked asked, Random random) {
    for (int attempt = 0; attempt < 400; attempt++) {
      try {
        Agent.Answered answer = agent.send(gateways.url(random.nextInt(gateways.count())), asked);
        if (answer.status() == 200) {
          return Optional.of(
              new Acknowledged(asked, answer.text("receipt_id"), status(answer.body())));
        }
        // EXE-109: it was dispatched, and becomes in doubt when the next owner begins.
        if (answer.status() != 503 && !answer.text("code").equals("EXE-109")) {
          found.add(asked.effect() + ": " + answer.status() + " " + answer.text("code"));
          return Optional.empty();
        }
        Thread.sleep(20);
      } catch (IOException e) {
        // The gateway is gone or stands still: another one has it.
      } catch (InterruptedException e) {
        return Optional.empty();
      }
    }
    found.add("no answer to " + asked.effect());
    return Optional.empty();
  }

  private static String status(JsonValue.Obj body) {
    JsonValue.Obj envelope = (JsonValue.Obj) body.get("receipt");
    String payload = ((JsonValue.Str) envelope.get("payload")).value();
    String text = new String(java.util.Base64.getDecoder().decode(payload), StandardCharsets.UTF_8);
    return text.replaceFirst(".*\"status\":\"([a-z_]+)\".*", "$1");
  }

  private void compare(CountingServer outside) throws IOException {
    gateways.awaitOwner();
    for (Acknowledged each : acknowledged) {
      Agent.Answered again = agent.send(gateways.url(0), each.asked());
      assertThat(again.text("receipt_id")).as(again.toString()).isEqualTo(each.receipt());
      if (!each.asked().effect().isEmpty()) {
        int times = outside.times(each.asked().effect());
        if (each.status().equals("succeeded")) {
          assertThat(times).as(each.asked().effect()).isEqualTo(1);
        } else {
          assertThat(times).as(each.asked().effect() + " " + each.status()).isBetween(0, 1);
        }
      }
    }
    for (Map.Entry<String, Integer> each : outside.all().entrySet()) {
      assertThat(each.getValue()).as(each.getKey()).isEqualTo(1);
    }
  }

  private void verify() throws Exception {
    gateways.done(0, "fsck");
    gateways.done(0, "audit");
    gateways.done(0, "checkpoint");
    String trust = gateways.home(1).resolve("trust.jwks").toString();
    for (String run : List.of("run-0", "run-1")) {
      String bundle = dir.resolve(run + ".writ").toString();
      gateways.done(1, "export", run, "-o", bundle);
      gateways.done(1, "verify", bundle, "--trust", trust);
      assertThat(gateways.done(1, "replay", bundle, "--trust", trust).out()).contains("COMPLETE");
      Process node =
          new ProcessBuilder("node", VERIFIER.toString(), bundle, "--trust", trust)
              .redirectErrorStream(true)
              .start();
      String said = new String(node.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(node.waitFor()).as(said).isZero();
    }
  }
}

package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.CellPlacement;
import dev.writ.postgres.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three gateways, a tenant with a budget under load, and moves of it there and back while the
 * owners of its cells are killed (spec/cells.md, "Moving").
 */
class ATenantMovesWhileGatewaysAreStruckTest {
  private static final PostgresServer SERVER = PostgresServer.shared();
  private static final int CELLS = 3;
  private static final int GATEWAYS = 3;
  private static final String TENANT = "t1";
  private static final int FIRST = CellPlacement.cellOf(TENANT, CELLS);
  private static final int SECOND = 3 - FIRST;
  private static final int LIMIT = 200;
  private static final int CLIENTS = 3;

  /** Effects between two moves, and during each: far fewer than the budget in all. */
  private static final int EACH = 25;

  private static final int DURING = 20;

  @TempDir Path dir;
  private Gateways gateways;
  private Agent agent;
  private CountingServer outside;

  private final ConcurrentLinkedQueue<Done> done = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Agent.Asked> left = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Agent.Asked> denied = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
  private final AtomicInteger runs = new AtomicInteger();
  private final AtomicBoolean over = new AtomicBoolean();
  private final Semaphore turns = new Semaphore(0);
  private int begun;

  /** What was acknowledged. */
  private record Done(Agent.Asked asked, String run, String receipt, String status) {}

  private void budget() throws IOException {
    Path policy = gateways.home(0).resolve("policy.yaml");
    Files.writeString(
        policy,
        Files.readString(policy)
            .replaceFirst("version: 2\n", "version: 3\n")
            .replaceFirst(
                "\nbudgets:\n",
                "\nbudgets:\n  - { name: moved, scope: tenant, unit: calls, limit: "
                    + LIMIT
                    + ", window_s: 604800, match: { tenant: t1, tool: outside } }\n"));
    gateways.done(0, "policy", "activate", policy.toString());
  }

  private void client(int number) {
    String run = "run-" + runs.incrementAndGet();
    for (int i = number; wrong.isEmpty(); i++) {
      turns.acquireUninterruptibly();
      if (over.get()) {
        return;
      }
      Agent.Asked asked = agent.outside(run);
      if (!isAnswered(asked, run, i)) {
        run = "run-" + runs.incrementAndGet();
      }
    }
  }

  /** False where it is to go on in another run. */
  private boolean isAnswered(Agent.Asked asked, String run, int first) {
    for (int attempt = first; attempt < first + 2000; attempt++) {
      try {
        Agent.Answered answer = agent.send(gateways.url(attempt % GATEWAYS), asked);
        String code = answer.text("code");
        if (answer.status() == 200) {
          done.add(new Done(asked, run, answer.text("receipt_id"), answer.receiptStatus()));
          return true;
        }
        if (code.equals("EXE-998")) {
          left.add(asked);
          return false;
        }
        if (answer.status() == 403 && answer.body().get("decision") != null) {
          denied.add(asked);
          return true;
        }
        boolean isToRepeat =
            answer.status() == 503
                || code.equals("EXE-109"); // dispatched: it becomes in doubt with the next owner
        if (!isToRepeat) {
          wrong.add(asked.effect() + ": " + answer.status() + " " + answer.body());
          return true;
        }
        Thread.sleep(20);
      } catch (IOException e) {
        continue; // that gateway is gone: another one has it
      } catch (InterruptedException e) {
        return true;
      }
    }
    wrong.add("no answer to " + asked.effect());
    return true;
  }

  private void begin(int many) {
    begun += many;
    turns.release(many);
  }

  private void awaitAnswers() throws IOException {
    gateways.await(
        "all are answered",
        () -> done.size() + left.size() + denied.size() >= begun || !wrong.isEmpty());
    assertThat(wrong).isEmpty();
  }

  /** The cell may be on its way to another gateway just now, which has its share then. */
  private int owner(int cell) throws IOException {
    AtomicInteger found = new AtomicInteger(-1);
    gateways.await(
        "cell " + cell + " has an owner",
        () -> {
          found.set(gateways.owners().get(cell));
          return found.get() >= 0;
        });
    return found.get();
  }

  /**
   * States it while effects are at work, so that the tenant cannot leave; kills who owns a cell in
   * that moment, and waits for the arrival with another gateway's command.
   */
  private void move(int to, int struck) throws IOException {
    String cell = String.valueOf(to);
    outside.shut();
    begin(DURING);
    gateways.await("effects are at work", () -> outside.atOnce() > 0 || !wrong.isEmpty());
    int killed = owner(struck);
    int alive = (killed + 1) % GATEWAYS;
    assertThat(gateways.writ(alive, "cells", "move", TENANT, cell, "--wait", "0").err())
        .contains("CLI-114");
    gateways.kill(killed);
    outside.open();
    gateways.done(alive, "cells", "move", TENANT, cell, "--wait", "120");
    assertThat(gateways.done(alive, "--json", "cells", "list").out())
        .containsPattern("\"cell\":" + to + "[^}]*\"t1\"");
    gateways.start(killed);
    gateways.await("every cell has an owner", () -> !gateways.owners().contains(-1));
    awaitAnswers();
  }

  @Test
  void nothingIsLostAndNothingIsDoneTwice() throws Exception {
    try (CountingServer counting = new CountingServer(dir.resolve("ca.pem"));
        Gateways all =
            new Gateways(
                SERVER, dir, counting, CELLS, new Gateways.Ports(port(), port(), port()))) {
      gateways = all;
      outside = counting;
      budget();
      try (Agent of = new Agent(gateways, TENANT, "agent-t1")) {
        agent = of;
        for (int gateway = 0; gateway < GATEWAYS; gateway++) {
          gateways.start(gateway);
        }
        gateways.awaitShares(0, 1, 2);
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
          int number = i;
          clients.add(Thread.ofVirtual().start(() -> client(number)));
        }
        begin(EACH);
        awaitAnswers();
        move(SECOND, FIRST);
        begin(EACH);
        awaitAnswers();
        move(FIRST, FIRST);
        begin(EACH);
        awaitAnswers();
        move(SECOND, SECOND);
        assertThat(denied).as("there is budget left").isEmpty();
        begin(LIMIT);
        awaitAnswers();
        assertThat(denied).as("it is spent").isNotEmpty();
        over.set(true);
        turns.release(CLIENTS);
        for (Thread client : clients) {
          client.join();
        }
        whatCameOfIt();
      }
      for (int gateway = 0; gateway < GATEWAYS; gateway++) {
        gateways.stop(gateway);
      }
      everythingVerifies();
    }
  }

  private static int port() {
    return SERVER.newAddress().getPort();
  }

  private void whatCameOfIt() throws IOException {
    assertThat(wrong).isEmpty();
    assertThat(outside.all().values()).as("nothing is done twice").containsOnly(1);
    assertThat(outside.all().size()).as("the budget of all cells").isLessThanOrEqualTo(LIMIT);
    for (Agent.Asked asked : left) {
      assertThat(outside.times(asked.effect())).as("left behind, not done").isZero();
    }
    for (Agent.Asked asked : denied) {
      assertThat(outside.times(asked.effect())).isZero();
    }
    int gateway = 0;
    for (Done each : done) {
      Agent.Answered again = agent.send(gateways.url(gateway++ % GATEWAYS), each.asked());
      assertThat(again.text("receipt_id")).as(again.toString()).isEqualTo(each.receipt());
      if (each.status().equals("succeeded")) {
        assertThat(outside.times(each.asked().effect())).as(each.status()).isEqualTo(1);
      }
    }
    assertThat(agent.send(gateways.url(0), agent.outside("run-1")).text("code"))
        .as("a run of the former cell")
        .isEqualTo("EXE-998");
  }

  private void everythingVerifies() throws IOException {
    for (int cell = 0; cell < CELLS; cell++) {
      gateways.done(1, "--cell", String.valueOf(cell), "audit");
      gateways.done(1, "--cell", String.valueOf(cell), "fsck");
    }
    verifies("first", FIRST, done.peek().run());
    verifies("last", SECOND, done.stream().reduce((_, latest) -> latest).orElseThrow().run());
  }

  private void verifies(String name, int cell, String run) throws IOException {
    String number = String.valueOf(cell);
    String bundle = dir.resolve(name + ".writ").toString();
    gateways.done(1, "--cell", number, "checkpoint");
    String trust =
        Files.writeString(
                dir.resolve(name + ".jwks"),
                gateways.done(0, "--cell", number, "--json", "key", "list").out())
            .toString();
    gateways.done(0, "--cell", number, "export", run, "--tenant", TENANT, "-o", bundle);
    gateways.done(1, "verify", bundle, "--trust", trust);
    SecondVerifier.verified(bundle, trust);
  }
}

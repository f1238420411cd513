package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.Run;
import dev.writ.executor.CellPlacement;
import dev.writ.postgres.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several gateways share the cells of one installation; each tenant's work is in one of them. */
class AnInstallationOfSeveralCellsTest {
  private static final PostgresServer SERVER = PostgresServer.shared();
  private static final int CELLS = 4;

  @TempDir Path dir;
  private final List<AutoCloseable> open = new ArrayList<>();
  private CountingServer outside;
  private Gateways gateways;
  private final TreeMap<String, Agent> agents = new TreeMap<>();

  private void make(Gateways.Ports through) throws IOException {
    outside = new CountingServer(dir.resolve("ca.pem"));
    open.add(outside);
    gateways = new Gateways(SERVER, dir, outside, CELLS, through);
    open.addFirst(gateways);
    for (String tenant : Gateways.TENANTS) {
      Agent agent = new Agent(gateways, tenant, "agent-" + tenant);
      agents.put(tenant, agent);
      open.add(agent);
    }
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  private static int port() {
    return SERVER.newAddress().getPort();
  }

  private static int cellOf(String tenant) {
    return CellPlacement.cellOf(tenant, CELLS);
  }

  private Agent.Answered sent(int gateway, Agent agent, Agent.Asked asked) throws IOException {
    return agent.send(gateways.url(gateway), asked);
  }

  private void served(int gateway, Agent agent, Agent.Asked asked) throws IOException {
    Agent.Answered answer = sent(gateway, agent, asked);
    assertThat(answer.status())
        .as(agent.tenant() + answer.body() + gateways.said(0))
        .isEqualTo(200);
  }

  /** Policy has 8 slots; tenants of three cells ask for 24 at one gateway that owns all cells. */
  @Test
  void theSlotsOfAGatewayAreThoseOfAllItsCells() throws Exception {
    make(new Gateways.Ports(port()));
    gateways.start(0);
    gateways.awaitShares(0);
    for (Agent agent : agents.values()) {
      served(0, agent, agent.outside("run-1"));
    }
    outside.shut();
    ConcurrentLinkedQueue<String> answers = new ConcurrentLinkedQueue<>();
    List<Thread> clients = new ArrayList<>();
    for (Agent agent : agents.values()) {
      for (int i = 0; i < 4; i++) {
        clients.add(
            Thread.ofVirtual()
                .start(() -> {
                  try {
                    Agent.Answered answer = sent(0, agent, agent.outside("run-1"));
                    answers.add(answer.status() == 200 ? answer.receiptStatus() : "" + answer);
                  } catch (IOException e) {
                    answers.add(e.toString());
                  }
                }));
      }
    }
    try {
      gateways.await(
          "all slots are taken, and the others wait",
          () -> outside.atOnce() == 8 && sum("writ_engine_waiting") == 16);
      assertThat(sum("writ_engine_running")).as("of all cells together").isEqualTo(8);
    } finally {
      outside.open();
    }
    for (Thread client : clients) {
      client.join();
    }
    assertThat(answers).hasSize(24).containsOnly("succeeded");
    assertThat(outside.mostAtOnce()).as("slots").isEqualTo(8);
    assertThat(gateways.stop(0)).isEqualTo(143);
  }

  /** What a metric of the first gateway is, in all its cells together. */
  private int sum(String metric) throws IOException {
    return gateways
        .ask(gateways.url(0).resolve("/metrics"))
        .lines()
        .filter(line -> line.startsWith(metric + "{"))
        .mapToInt(line -> (int) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** One is killed under load: nothing that was acknowledged is lost, nothing is done twice. */
  @Test
  void tenantsAreServedInTheirCellsByAnyGatewayAndAKilledOnesCellsAreTakenOver() throws Exception {
    make(new Gateways.Ports(port(), port(), port()));
    for (int gateway = 0; gateway < 3; gateway++) {
      gateways.start(gateway);
    }
    gateways.awaitShares(0, 1, 2);
    assertThat(agents.keySet().stream().map(AnInstallationOfSeveralCellsTest::cellOf).distinct())
        .as("the tenants' names are such that every cell has some")
        .containsExactlyInAnyOrder(1, 2, 3);
    for (Agent agent : agents.values()) {
      for (int gateway = 0; gateway < 3; gateway++) {
        served(gateway, agent, agent.js("run-1", "6*" + gateway));
      }
    }
    whatIsToldOfTheCells();
    aBundleIsUnderTheOneRoot("t1");
    loadWithAKill();
    aRevokedKeyIsRefusedEverywhere("t1");
    for (int gateway = 0; gateway < 3; gateway++) {
      if (gateways.runs(gateway)) {
        assertThat(gateways.stop(gateway)).isEqualTo(143);
      }
    }
    everyCellIsWhole();
  }

  private void whatIsToldOfTheCells() throws IOException {
    String bearer = "Bearer " + gateways.token(2);
    String cells = gateways.ask(gateways.url(2).resolve("/v1/cells"), "Authorization", bearer);
    assertThat(cells)
        .startsWith("200 ")
        .contains("\"cell\":0", "\"cell\":3", "\"behind\":0", "\"size\":");
    for (int gateway = 0; gateway < 3; gateway++) {
      int own = gateway;
      assertThat(gateways.ask(gateways.url(gateway).resolve("/ready")))
          .contains("{\"name\":\"cell\",\"ok\":true}");
      String metrics = gateways.ask(gateways.url(gateway).resolve("/metrics"));
      for (int cell = 0; cell < CELLS; cell++) {
        boolean isOwned = gateways.owners().get(cell) == own;
        assertThat(metrics)
            .containsPattern(
                "writ_cell_owned\\{cell=\"" + cell + "\"} " + (isOwned ? "1" : "0") + "\\.0");
        assertThat(metrics.contains("writ_log_size{cell=\"" + cell + "\"}")).isEqualTo(isOwned);
      }
    }
  }

  private void loadWithAKill() throws Exception {
    ConcurrentSkipListMap<String, String> acknowledged = new ConcurrentSkipListMap<>();
    ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
    AtomicInteger doubted = new AtomicInteger();
    AtomicBoolean over = new AtomicBoolean();
    List<Thread> clients = new ArrayList<>();
    for (Agent agent : agents.values()) {
      clients.add(
          Thread.ofVirtual()
              .start(() -> {
                for (int i = 0; !over.get(); i++) {
                  Agent.Asked asked = agent.outside("run-2");
                  String answer = answered(agent, asked, i, over);
                  if (answer.equals("succeeded")) {
                    acknowledged.put(asked.effect(), agent.tenant());
                  } else if (answer.equals("in_doubt")) {
                    doubted.incrementAndGet();
                  } else if (!answer.isEmpty()) {
                    wrong.add(answer);
                    return;
                  }
                }
              }));
    }
    gateways.await("work", () -> acknowledged.size() > 30 || !wrong.isEmpty());
    int killed = gateways.owners().get(cellOf("t1"));
    gateways.kill(killed);
    TreeMap<String, Integer> before = counted(acknowledged);
    gateways.await(
        "work of every tenant after the kill",
        () ->
            !wrong.isEmpty()
                || counted(acknowledged).entrySet().stream()
                    .allMatch(of -> of.getValue() > before.getOrDefault(of.getKey(), 0) + 3));
    over.set(true);
    for (Thread client : clients) {
      client.join();
    }
    assertThat(wrong).isEmpty();
    for (String effect : acknowledged.keySet()) {
      assertThat(outside.times(effect)).as(effect).isEqualTo(1);
    }
    assertThat(outside.all().values()).as("nothing is done twice").containsOnly(1);
    assertThat(doubted.get()).as("what was at work when it was killed").isLessThanOrEqualTo(6);
    assertThat(gateways.owners()).doesNotContain(killed);
  }

  private static TreeMap<String, Integer> counted(Map<String, String> acknowledged) {
    TreeMap<String, Integer> counted = new TreeMap<>();
    Gateways.TENANTS.forEach(tenant -> counted.put(tenant, 0));
    acknowledged.values().forEach(tenant -> counted.merge(tenant, 1, Integer::sum));
    return counted;
  }

  /** The same signed request again, to any gateway, until it is answered. */
  private String answered(Agent agent, Agent.Asked asked, int first, AtomicBoolean over) {
    String last = "";
    for (int attempt = 0; attempt < 2000 && !over.get(); attempt++) {
      try {
        Agent.Answered answer = sent((first + attempt) % 3, agent, asked);
        if (answer.status() == 200) {
          return answer.receiptStatus();
        }
        last = answer.status() + " " + answer.text("code") + " " + answer.text("detail");
        boolean isUnderWay = answer.text("code").equals("EXE-109");
        if (answer.status() != 503 && !isUnderWay) {
          return last;
        }
      } catch (IOException e) {
        // That gateway does not listen: the next one.
      }
    }
    return over.get() ? "" : last;
  }

  private void aRevokedKeyIsRefusedEverywhere(String tenant) throws IOException {
    List<Integer> running = new ArrayList<>();
    for (int gateway = 0; gateway < 3; gateway++) {
      if (gateways.runs(gateway)) {
        running.add(gateway);
      }
    }
    Agent agent = agents.get(tenant);
    Agent.Asked asked = agent.outside("run-2");
    gateways.done(running.getLast(), "key", "revoke", "agent-" + tenant);
    for (int gateway : running) {
      Agent.Answered refused = sent(gateway, agent, asked);
      assertThat(refused.status() + " " + refused.text("code")).isEqualTo("403 CAN-055");
    }
    assertThat(outside.times(asked.effect())).isZero();
    Agent other = agents.get("t2");
    served(running.getFirst(), other, other.outside("run-2"));
  }

  private void aBundleIsUnderTheOneRoot(String tenant) throws IOException {
    String number = String.valueOf(cellOf(tenant));
    String bundle = dir.resolve("rooted.writ").toString();
    String proof = dir.resolve("rooted.root").toString();
    // Its owner makes a checkpoint that covers it by itself, and the system cell's states that.
    gateways.await(
        "the cell's checkpoint",
        () -> gateways.writ(2, "export", "run-1", "--tenant", tenant, "-o", bundle).status() == 0);
    gateways.await(
        "the statement",
        () -> gateways.writ(1, "cells", "prove", bundle, "-o", proof).status() == 0);
    String trust = trust(number);
    assertThat(gateways.done(0, "verify", bundle, "--trust", trust, "--installation", proof).out())
        .contains(": states this log of size");
    SecondVerifier.verified(bundle, trust, "--installation", proof);
    assertThat(gateways.writ(0, "--cell", "0", "cells", "prove").err()).contains("CLI-110");
  }

  private void everyCellIsWhole() throws IOException {
    assertThat(gateways.done(1, "--cell", "0", "audit").out())
        .contains("statements on other cells' logs: signed, and none behind those before it");
    assertThat(gateways.said(0) + gateways.said(1) + gateways.said(2))
        .doesNotContain("EXE-994", "EXE-995", "EXE-996");
    for (int cell = 0; cell < CELLS; cell++) {
      String number = String.valueOf(cell);
      gateways.done(1, "--cell", number, "audit");
      gateways.done(0, "--cell", number, "fsck");
      gateways.done(0, "--cell", number, "checkpoint");
    }
    for (String tenant : agents.keySet()) {
      String number = String.valueOf(cellOf(tenant));
      String bundle = dir.resolve(tenant + ".writ").toString();
      gateways.done(0, "export", "run-2", "--tenant", tenant, "-o", bundle);
      gateways.done(1, "verify", bundle, "--trust", trust(number));
      assertThat(gateways.done(0, "replay", bundle, "--trust", trust(number)).out())
          .contains("COMPLETE");
      SecondVerifier.verified(bundle, trust(number));
    }
    String first = gateways.done(0, "--cell", "1", "runs").out();
    assertThat(first).contains("run-2");
    for (String tenant : agents.keySet()) {
      assertThat(first.contains(tenant)).isEqualTo(cellOf(tenant) == 1);
    }
  }

  /** The keys as a cell's log has them: a revocation has the time of that log. */
  private String trust(String cell) throws IOException {
    return Files.writeString(
            dir.resolve("trust-" + cell + ".jwks"),
            gateways.done(0, "--cell", cell, "--json", "key", "list").out())
        .toString();
  }

  /** Whoever is cut off from what is in force does not act on what was. */
  @Test
  void anOwnerThatIsCutOffDoesNotUseARevokedKey() throws Exception {
    try (DatabaseLine line = new DatabaseLine(port())) {
      make(new Gateways.Ports(port(), line.port()));
      gateways.start(0);
      gateways.awaitShares(0);
      gateways.start(1);
      gateways.awaitShares(0, 1);
      assertThat(gateways.owners().getFirst()).as("it gives the last ones away").isZero();
      String tenant =
          agents.keySet().stream()
              .filter(each -> gateways.owners().get(cellOf(each)) == 1)
              .findFirst()
              .orElseThrow();
      Agent agent = agents.get(tenant);
      served(1, agent, agent.outside("run-1"));
      line.cut();
      gateways.done(0, "key", "revoke", "agent-" + tenant);
      Agent.Asked late = agent.outside("run-1");
      Agent.Answered refused = sent(1, agent, late);
      assertThat(refused.status()).as(refused.body().toString()).isNotEqualTo(200);
      gateways.await("its cells are taken over", () -> !gateways.owners().contains(1));
      line.mend();
      Agent.Answered then = sent(0, agent, late);
      assertThat(then.status() + " " + then.text("code")).isEqualTo("403 CAN-055");
      assertThat(outside.times(late.effect())).isZero();
      gateways.awaitShares(0, 1);
      Agent other = agents.get(tenant.equals("t1") ? "t2" : "t1");
      served(1, other, other.outside("run-1"));
    }
  }

  @Test
  void whatCannotBeSharedIsRefused() throws IOException {
    Path home = dir.resolve("home");
    String database = "postgresql://writ@127.0.0.1:" + port() + "/writ";
    String contents = "file://" + Files.createDirectory(dir.resolve("store"));
    String to = home.toString();
    assertThat(init(to, "--cells", "2")).contains("CLI-001");
    assertThat(init(to, "--cells", "0", "--database", database)).contains("CLI-001");
    assertThat(init(to, "--cells", "257", "--database", database)).contains("CLI-001");
    assertThat(init(to, "--cells", "2", "--database", database)).contains("CLI-027");
    assertThat(init(to, "--cells", "2", "--database", database + "?cell=3", "--contents", contents))
        .contains("CLI-027");
    assertThat(home).doesNotExist();
    String own = database + "?schema=refused";
    assertThat(init(to, "--cells", "2", "--database", own, "--contents", contents)).isEmpty();
    assertThat(Run.of("--home", to, "--cell", "2", "audit").err()).contains("CLI-028");
    assertThat(Run.of("--home", to, "--cell", "x", "audit").err()).contains("CLI-001");
    assertThat(Run.of("--home", to, "serve").err()).contains("GWY-002", "cells");
    assertThat(Run.of("--home", to, "--cell", "1", "key", "new", "more").err()).contains("EXE-992");
    String run = Run.of("--home", to, "run", "js", "--param", "source=6*7").out();
    assertThat(run).isEqualTo("42");
    assertThat(Run.of("--home", to, "--cell", "0", "run", "js", "--param", "source=6*7").err())
        .contains("EXE-990");
  }

  private static String init(String home, String... more) {
    List<String> line = new ArrayList<>(List.of("--home", home, "init"));
    line.addAll(List.of(more));
    return Run.of(line.toArray(String[]::new)).err();
  }
}

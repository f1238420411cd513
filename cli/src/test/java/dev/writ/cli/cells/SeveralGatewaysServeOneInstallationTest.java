package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.Run;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.postgres.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Any gateway takes any request; one owns the cell, and another takes it over. */
class SeveralGatewaysServeOneInstallationTest {
  private static final PostgresServer SERVER = PostgresServer.shared();

  /** Of one gateway after the other, under load: each once. */
  private static final int RESTARTS = Integer.getInteger("writ.cells.restarts", 2);

  @TempDir Path dir;
  private CountingServer outside;
  private Gateways gateways;
  private Agent agent;

  @BeforeEach
  void make() throws IOException {
    outside = new CountingServer(dir.resolve("ca.pem"));
    int port = SERVER.newAddress().getPort();
    gateways = new Gateways(SERVER, dir, outside, port, port);
    agent = new Agent(gateways);
  }

  @AfterEach
  void close() {
    gateways.close();
    outside.close();
    agent.close();
  }

  private void served(int gateway, Agent.Asked asked) throws IOException {
    Agent.Answered answer;
    try {
      answer = agent.send(gateways.url(gateway), asked);
    } catch (IOException e) {
      throw new IOException(gateways.said(0) + "\n--\n" + gateways.said(1), e);
    }
    assertThat(answer.status())
        .as(answer.body().toString() + gateways.said(gateway))
        .isEqualTo(200);
  }

  private int other(int gateway) {
    return 1 - gateway;
  }

  /** A caller with a token, a page, metrics; and nobody says whose request it is but gateways. */
  @Test
  void whatIsReadIsForwardedAndOnlyGatewaysForward() throws IOException {
    gateways.start(0);
    gateways.start(1);
    int owner = gateways.awaitOwner();
    int standby = other(owner);
    served(standby, agent.js("run-1", "6*7"));
    String bearer = "Bearer " + gateways.token(standby);
    String cells =
        gateways.ask(gateways.url(standby).resolve("/v1/cells"), "Authorization", bearer);
    assertThat(cells)
        .startsWith("200 ")
        .contains("\"here\":true", "\"epoch\":" + gateways.epoch(), "lease_ms");
    assertThat(gateways.ask(gateways.url(standby).resolve("/v1/cells"))).startsWith("401 ");
    assertThat(gateways.ask(gateways.url(standby).resolve("/v1/runs"), "Authorization", bearer))
        .startsWith("200 ")
        .contains("run-1");
    assertThat(gateways.ask(gateways.url(standby).resolve("/")))
        .startsWith("200 ")
        .contains("<html");
    assertThat(gateways.ask(gateways.url(standby).resolve("/nothing"))).startsWith("404 ");
    assertThat(
            gateways.ask(
                gateways.url(standby).resolve("/v1/runs/run-1/events"), "Authorization", bearer))
        .startsWith("200 ")
        .contains("receipt.signed");
    String metrics = gateways.ask(gateways.url(standby).resolve("/metrics"));
    assertThat(metrics)
        .contains("writ_cell_owned{cell=", "writ_cell_has_owner{cell=")
        .containsPattern("writ_cell_forwarded_total(\\{[^}]*})? [1-9]");
    assertThat(gateways.ask(gateways.url(owner).resolve("/metrics")))
        .containsPattern("writ_cell_owned\\{[^}]*} 1");
    assertThat(gateways.ask(gateways.url(standby).resolve("/ready"))).startsWith("200 ");
    for (int each : new int[] {owner, standby}) {
      assertThat(gateways.ask(gateways.hop(each).resolve("/v1/runs"), "Authorization", bearer))
          .startsWith("403 ")
          .contains("GWY-193");
      assertThat(
              gateways.ask(
                  gateways.hop(each).resolve("/v1/runs"),
                  "Authorization",
                  bearer,
                  "Writ-Forwarded",
                  "eyJhZGRyZXNzIjoiMS4yLjMuNCJ9.AAAA"))
          .startsWith("403 ");
    }
    // From a caller it is dropped, not believed.
    assertThat(
            gateways.ask(
                gateways.url(owner).resolve("/v1/runs"),
                "Authorization",
                bearer,
                "Writ-Forwarded",
                "eyJhZGRyZXNzIjoiMS4yLjMuNCJ9.AAAA"))
        .startsWith("200 ");
    assertThat(gateways.said(owner)).doesNotContain("1.2.3.4");
  }

  /** A token that is taken out of all files must not come back with a takeover. */
  @Test
  void whatAStandbyReadAgainIsInForceWhenItTakesTheCellOver() throws IOException {
    List<String> tokens = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      tokens.add(Tokens.generate(new SecureRandom()));
    }
    useToken(tokens.getFirst());
    gateways.start(0);
    gateways.start(1);
    int owner = gateways.awaitOwner();
    int standby = other(owner);
    assertThat(runs(standby, tokens.getFirst())).startsWith("200 ");
    useToken(tokens.getLast());
    for (int each : new int[] {owner, standby}) {
      gateways.signal(each, "-HUP");
      gateways.await("read again", () -> gateways.said(each).contains("\"reloaded\""));
    }
    assertThat(runs(standby, tokens.getFirst())).startsWith("401 ");
    gateways.kill(owner);
    assertThat(gateways.awaitOwnerOtherThan(owner)).isEqualTo(standby);
    assertThat(runs(standby, tokens.getLast())).startsWith("200 ");
    assertThat(runs(standby, tokens.getFirst())).startsWith("401 ");
  }

  private String runs(int gateway, String token) throws IOException {
    return gateways.ask(
        gateways.url(gateway).resolve("/v1/runs"), "Authorization", "Bearer " + token);
  }

  private void useToken(String token) throws IOException {
    for (int gateway = 0; gateway < gateways.count(); gateway++) {
      Path file = gateways.home(gateway).resolve("gateway.yaml");
      Files.writeString(
          file,
          Files.readString(file).replaceFirst("(?s)tokens:.*", "")
              + "tokens:\n  - { name: ci, digest: \""
              + Tokens.digest(token)
              + "\", tenant: local, subject: agent }\n");
    }
  }

  /** What the owner does not take from another gateway is no refusal of the client. */
  @Test
  void aClientIsToldWhereTheOwnerDoesNotKnowTheGateway() throws IOException {
    gateways.start(0);
    assertThat(gateways.awaitOwner()).isZero();
    Path secret = gateways.home(1).resolve("gateways.secret");
    String own = Files.readString(secret);
    Files.writeString(secret, (own.charAt(0) == 'a' ? 'b' : 'a') + own.substring(1));
    gateways.start(1);
    Agent.Asked asked = agent.outside("run-1");
    Agent.Answered answer = agent.send(gateways.url(1), asked);
    assertThat(answer.status() + " " + answer.text("code")).isEqualTo("503 GWY-185");
    assertThat(outside.times(asked.effect())).isZero();
    served(0, asked);
    assertThat(outside.times(asked.effect())).isOne();
  }

  /** A client goes to the other gateway where one has no connection for it; that is all it does. */
  @Test
  void aRestartOfOneAfterTheOtherFailsNoRequest() throws Exception {
    gateways.start(0);
    gateways.awaitOwner();
    gateways.start(1);
    ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
    ConcurrentLinkedQueue<Agent.Asked> done = new ConcurrentLinkedQueue<>();
    AtomicBoolean over = new AtomicBoolean();
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      int first = i % 2;
      clients.add(
          Thread.ofVirtual()
              .start(() -> {
                while (!over.get() && wrong.isEmpty()) {
                  Agent.Asked asked = agent.outside("run-" + first);
                  String answer = answered(asked, first);
                  if (answer.equals("200")) {
                    done.add(asked);
                  } else {
                    wrong.add(answer);
                  }
                }
              }));
    }
    long epoch = gateways.epoch();
    for (int round = 0; round < RESTARTS; round++) {
      int before = done.size();
      gateways.await("work", () -> done.size() > before + 10 || !wrong.isEmpty());
      int restarted = round % 2;
      assertThat(gateways.stop(restarted)).isEqualTo(143);
      gateways.start(restarted);
    }
    over.set(true);
    for (Thread client : clients) {
      client.join();
    }
    assertThat(wrong).isEmpty();
    assertThat(gateways.epoch()).isGreaterThan(epoch);
    for (Agent.Asked each : done) {
      assertThat(outside.times(each.effect())).isEqualTo(1);
    }
  }

  private String answered(Agent.Asked asked, int first) {
    String last = "";
    for (int attempt = 0; attempt < 1000; attempt++) {
      try {
        Agent.Answered answer = agent.send(gateways.url((first + attempt) % 2), asked);
        return answer.status() == 200 ? "200" : answer.status() + " " + answer.text("code");
      } catch (IOException e) {
        last = e.toString();
      }
    }
    return last;
  }

  @Test
  void whatCannotWorkIsRefused() throws IOException {
    Path alone = dir.resolve("alone");
    assertThat(Run.of("--home", alone.toString(), "init").status()).isZero();
    Path file = alone.resolve("gateway.yaml");
    Files.writeString(file, "writ_gateway: 1\ncells: { port: 0 }\n");
    Run check = Run.of("--home", alone.toString(), "config", "check", file.toString());
    assertThat(check.err()).contains("LED-078");
    Run serve = Run.of("--home", alone.toString(), "serve");
    assertThat(serve.err()).contains("LED-078");
    for (String wrong :
        new String[] {
          "{ lease_ms: 1000, margin_ms: 600 }",
          "{ lease_ms: 10 }",
          "{ host: 0.0.0.0 }",
          "{ host: 10.0.0.1 }",
          "{ certificate: a.pem }",
          "{ address: nowhere }",
          "{ leases: 3 }"
        }) {
      Files.writeString(file, "writ_gateway: 1\ncells: " + wrong + "\n");
      Run refused = Run.of("--home", alone.toString(), "config", "check", file.toString());
      assertThat(refused.err()).as(wrong).contains("GWY-002");
    }
    Run joined =
        Run.of("--home", dir.resolve("joined").toString(), "init", "--join", alone.toString());
    assertThat(joined.status()).as("its ledger is in no database").isNotZero();
    assertThat(dir.resolve("joined")).doesNotExist();
    gateways.start(0);
    gateways.awaitOwner();
    assertThat(gateways.writ(1, "key", "new", "more", "--role", "publisher").err())
        .contains("LED-077");
    assertThat(gateways.home(1).resolve("keys/more.pem")).doesNotExist();
  }

  /** A command goes to the gateway of its home, and by that to the owner. */
  @Test
  void commandsOfAnyHomeAreDoneByTheOwner() throws IOException {
    gateways.start(0);
    gateways.start(1);
    int standby = other(gateways.awaitOwner());
    assertThat(gateways.done(standby, "run", "js", "--param", "source=6*7").out()).isEqualTo("42");
    gateways.done(standby, "key", "new", "more", "--role", "publisher");
    assertThat(gateways.done(standby, "checkpoint").out()).contains("writ-");
    assertThat(gateways.done(standby, "gc").out()).contains("removed 0 uploads");
    gateways.done(standby, "close", "main");
    gateways.stop(standby);
    gateways.done(standby, "fsck");
    assertThat(gateways.done(standby, "key", "list").out()).contains("more");
  }

  @Test
  void anyGatewayTakesARequestAndAnotherTakesOverAtOnceFromOneThatEnds() throws IOException {
    gateways.start(0);
    int owner = gateways.awaitOwner();
    gateways.start(1);
    served(0, agent.js("run-1", "6*7"));
    served(1, agent.js("run-1", "6*8"));
    Agent.Asked effect = agent.outside("run-1");
    served(1, effect);
    served(0, effect);
    assertThat(outside.times(effect.effect())).isEqualTo(1);
    long epoch = gateways.epoch();
    assertThat(gateways.stop(owner)).isEqualTo(143);
    served(1, agent.js("run-1", "6*9"));
    assertThat(gateways.awaitOwner()).isEqualTo(1);
    assertThat(gateways.epoch()).isEqualTo(epoch + 1);
    gateways.start(0);
    served(0, agent.outside("run-2"));
    gateways.kill(1);
    served(0, agent.outside("run-2"));
    assertThat(gateways.awaitOwner()).isEqualTo(0);
    gateways.stop(0);
    gateways.done(0, "audit");
    gateways.done(1, "fsck");
    gateways.done(0, "checkpoint");
    for (String run : new String[] {"run-1", "run-2"}) {
      String bundle = dir.resolve(run + ".writ").toString();
      gateways.done(0, "export", run, "-o", bundle);
      String trust = gateways.home(1).resolve("trust.jwks").toString();
      gateways.done(1, "verify", bundle, "--trust", trust);
      assertThat(gateways.done(1, "replay", bundle, "--trust", trust).out()).contains("COMPLETE");
    }
  }

  /** As while somebody restores the database beside it: nobody starts it again afterwards. */
  @Test
  void aGatewayThatDidNotSeeTheCellsForAWhileTakesThemOverAgain() throws IOException {
    gateways.start(0);
    gateways.awaitOwner();
    served(0, agent.js("run-1", "6*7"));
    gateways.execute(
        "ALTER TABLE writ.cell RENAME TO away; CREATE TABLE writ.cell (LIKE writ.away);"
            + " GRANT ALL ON writ.cell TO writ");
    try {
      gateways.await("it says so", () -> gateways.said(0).contains("\"cells-not-seen\""));
    } finally {
      gateways.execute("DROP TABLE writ.cell; ALTER TABLE writ.away RENAME TO cell");
    }
    gateways.query("UPDATE writ.lease SET epoch = epoch - 1 WHERE cell = CELL RETURNING epoch");
    gateways.await("the lease is lost", () -> gateways.said(0).contains("\"cell-given-up\""));
    gateways.awaitOwner();
    served(0, agent.js("run-1", "6*8"));
    assertThat(gateways.said(0)).doesNotContain("ended with");
  }
}

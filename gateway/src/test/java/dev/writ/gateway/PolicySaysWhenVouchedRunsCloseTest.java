package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.pipeline.KernelPipeline;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * protocol rule 33: by the surface's key, by policy's word, and only where nothing is unfinished.
 */
class PolicySaysWhenVouchedRunsCloseTest {
  private static final String CONFIG =
      "writ_gateway: 1\nlisten: { port: 0 }\ntokens:\n" + WholeGateway.token("a", "alice", "");
  private static final String POLICY =
      TestPolicy.YAML.replace(
          "subject: alice, roles: [worker]", "subject: alice, roles: [worker], surfaces: [test]");
  private static final String CLOSING = POLICY + "runs: { idle_max_s: 600, life_max_s: 3600 }\n";

  @TempDir Path dir;
  private TestHome home;
  private final List<RuntimeException> failures = new ArrayList<>();
  private WholeGateway server;

  @BeforeEach
  void start() {
    home = TestGateway.newHome(dir);
    server = new WholeGateway(home, CONFIG, dir);
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
    assertThat(failures).isEmpty();
  }

  private int use(String run, String tool) throws Exception {
    return server.post("a", "/test/" + run + "/" + tool, "{\"n\":1}").statusCode();
  }

  /** The server does it too, every few seconds: what counts is what is closed then. */
  private void sweep() {
    ((KernelPipeline) server.pipeline()).closeOverRuns(failures::add);
  }

  private boolean closed(String run) {
    return home.runState("acme", run).closed();
  }

  @Test
  void withoutAWordOfPolicyOneClosesADayAfterItsLastEvent() throws Exception {
    use("idle", "calc");
    use("used", "calc");
    home.clock.forward(Duration.ofHours(23));
    use("used", "calc");
    sweep();
    assertThat(closed("idle")).isFalse();
    home.clock.forward(Duration.ofHours(1));
    sweep();
    assertThat(closed("idle")).isTrue();
    assertThat(closed("used")).isFalse();
  }

  @Test
  void anIdleOneClosesAndABusyOneDoesNotUntilItsLifeIsOver() throws Exception {
    use("early", "calc"); // before policy says so, and before this server counts
    home.activate(CLOSING);
    sweep();
    assertThat(closed("early")).isFalse();
    home.clock.forward(Duration.ofSeconds(300));
    use("busy", "calc");
    home.clock.forward(Duration.ofSeconds(300));
    sweep();
    assertThat(closed("early")).isTrue();
    assertThat(closed("busy")).isFalse();
    for (int i = 0; i < 6; i++) {
      home.clock.forward(Duration.ofSeconds(500));
      assertThat(use("busy", "calc")).isEqualTo(200);
      sweep();
    }
    home.clock.forward(Duration.ofSeconds(300)); // an hour since it was opened
    sweep();
    assertThat(closed("busy")).isTrue();
    assertThat(use("busy", "calc")).isEqualTo(409);
    sweep();
    assertThat(home.kinds("acme", "busy")).endsWith("run.closed");
    assertThat(home.fsck().problems()).isEmpty();
  }

  @Test
  void whatWaitsKeepsItsRunOpenAndAnAgentsRunIsTheAgentsOwn() throws Exception {
    home.activate(CLOSING);
    use("waits", "pay");
    home.submit(home.ask("alice").run("agents"));
    home.clock.forward(Duration.ofDays(2));
    sweep();
    assertThat(closed("waits")).isFalse();
    assertThat(closed("agents")).isFalse();
  }

  @Test
  void anotherServerOverTheSameLedgerGoesOnWhereThisOneEnded() throws Exception {
    home.activate(CLOSING);
    use("r", "calc");
    server.gateway.close();
    home.clock.forward(Duration.ofSeconds(700));
    server = new WholeGateway(home, CONFIG, dir);
    sweep();
    assertThat(closed("r")).isTrue();
    // Policy takes its word back: what holds without it holds at once.
    use("s", "calc");
    home.activate(POLICY);
    home.clock.forward(Duration.ofHours(23));
    sweep();
    assertThat(closed("s")).isFalse();
    home.activate(CLOSING);
    sweep();
    assertThat(closed("s")).isTrue();
  }

  @Test
  void oneThatIsUsedWhileTheServerLooksIsNotIdleAndTheOthersCloseAllTheSame() throws Exception {
    home.activate(CLOSING);
    use("idle", "calc");
    home.clock.forward(Duration.ofSeconds(3600));
    home.clock.forward(Duration.ofSeconds(1));
    use("used", "calc");
    home.clock.back(Duration.ofSeconds(1)); // as for a look that began before
    sweep();
    assertThat(closed("used")).isFalse();
    home.clock.forward(Duration.ofSeconds(1));
    sweep();
    assertThat(closed("idle")).isTrue();
    assertThat(closed("used")).isFalse();
    home.clock.forward(Duration.ofSeconds(600));
    sweep();
    assertThat(closed("used")).isTrue();
  }
}

package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.ask;

import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestParty;
import dev.writ.fixture.TestTools;
import dev.writ.verify.bundle.BundleExport;
import java.time.Duration;
import java.util.List;

/**
 * A small run for forgers: one effect of a tool that policy lists, two of a governed one (as a
 * canary, and active), and one denied after that was prohibited. It ends closed.
 */
final class GovernedRun {
  private static final List<String> NAMES =
      List.of(
          "operator", "owner", "guardian", "executor", "log", "alice", "pub", "ada", "ben", "cyd");

  private GovernedRun() {}

  private static final class Holder {
    static final byte[] CLOSED = make();
  }

  static byte[] closed() {
    return Holder.CLOSED;
  }

  private static byte[] make() {
    TestTools tools = BundleVectors.tools();
    tools.register(Plot.WORDS);
    List<TestParty> parties =
        Plot.GOVERNING.stream().filter(party -> NAMES.contains(party.name())).toList();
    try (TestHome home =
        Scenario.setup(parties, FullRun.POLICY.toJson(), tools, Plot.START).found()) {
      FullRun.govern(home);
      home.clock.forward(Duration.ofSeconds(120));
      FullRun.submit(home, ask("alice", "calc", "n-1"));
      FullRun.stages(home);
      FullRun.submit(home, ask("alice", "words", "n-6"));
      home.clock.forward(Duration.ofSeconds(70));
      FullRun.change(
          home, EventKind.TOOL_REVOKED, Plot.json("{\"tool\":\"words\",\"version\":\"1.0.0\"}"));
      home.clock.forward(Duration.ofSeconds(70));
      FullRun.submit(home, ask("alice", "words", "n-9").at(266));
      BundleVectors.close(home, "run-1");
      return FullRun.export(home, tools, BundleExport.Options.WHOLE);
    }
  }
}

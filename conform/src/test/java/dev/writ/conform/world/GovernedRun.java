package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.ask;

import dev.writ.canonicalize.json.Fields;
import dev.writ.executor.journal.EventKind;
import dev.writ.verify.bundle.BundleExport;
import java.nio.charset.StandardCharsets;
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
    ScriptedTools tools = BundleVectors.tools();
    tools.register(
        Fields.of(
            "tool", Plot.tool(Plot.WORDS, "the tool's code".getBytes(StandardCharsets.UTF_8))));
    List<TestParty> parties =
        Plot.GOVERNING.stream().filter(party -> NAMES.contains(party.name())).toList();
    try (Installation home =
        new Installation(parties, FullRun.POLICY.toJson(), tools, Plot.START)) {
      FullRun.govern(home);
      home.clock.move(120);
      FullRun.submit(home, ask("alice", "calc", "n-1"));
      FullRun.stages(home);
      FullRun.submit(home, ask("alice", "words", "n-6"));
      home.clock.move(70);
      FullRun.change(
          home, EventKind.TOOL_REVOKED, Plot.json("{\"tool\":\"words\",\"version\":\"1.0.0\"}"));
      home.clock.move(70);
      FullRun.submit(home, ask("alice", "words", "n-9").at(266));
      BundleVectors.close(home, "run-1");
      return FullRun.export(home, tools, BundleExport.Options.WHOLE);
    }
  }
}

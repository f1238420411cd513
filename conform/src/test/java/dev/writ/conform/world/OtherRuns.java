package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.again;
import static dev.writ.conform.world.Plot.approve;
import static dev.writ.conform.world.Plot.ask;
import static dev.writ.conform.world.Plot.clock;
import static dev.writ.conform.world.Plot.close;
import static dev.writ.conform.world.Plot.execute;
import static dev.writ.conform.world.Plot.gives;
import static dev.writ.conform.world.Plot.step;
import static dev.writ.conform.world.Plot.tool;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.fixture.TestParty;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.verify.bundle.BundleExport;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Runs with what {@link FullRun} lacks, for the fuzzer of whole bundles: workspaces, a doubt and
 * its resolution, an intent that was refused, a rejection, failures, outputs that are not kept; and
 * one that a surface opened for one subject and shares with another.
 */
final class OtherRuns {
  static final TestParty SURFACE = new TestParty("mcp", KeyRole.SURFACE, Optional.of(Plot.TENANT));

  private OtherRuns() {}

  private static final List<TestParty> PARTIES =
      Stream.concat(Plot.PARTIES.stream(), Stream.of(SURFACE)).toList();

  private static byte[] bundle(List<String> refused, JsonValue policy, ObjectBuilder... steps) {
    return bundle(PARTIES, Plot.IN_WORKSPACES, refused, policy, steps);
  }

  /**
   * The bundle of {@code run-1} after these steps.
   *
   * @param refused the codes of the steps that are refused
   */
  static byte[] bundle(
      List<TestParty> parties,
      List<ToolManifest> manifests,
      List<String> refused,
      JsonValue policy,
      ObjectBuilder... steps) {
    JsonValue.Obj input =
        JsonValue.object()
            .putList("parties", parties, Plot::party)
            .putList("tools", manifests, m -> Plot.tool(m, Plot.CODE))
            .put("policy", policy)
            .put("start", Plot.START)
            .putList("steps", Arrays.asList(steps), ObjectBuilder::build)
            .build();
    TestTools tools = new TestTools();
    manifests.forEach(tools::register);
    return Scenario.look(
        Fields.of("input", input),
        (home, outcomes) -> {
          List<String> codes =
              outcomes.stream()
                  .map(outcome -> ((JsonValue.Obj) outcome).get("code"))
                  .filter(JsonValue.Str.class::isInstance)
                  .map(code -> ((JsonValue.Str) code).value())
                  .toList();
          if (!codes.equals(refused)) {
            throw new AssertionError(outcomes);
          }
          return FullRun.export(home, tools, BundleExport.Options.WHOLE);
        });
  }

  private static ObjectBuilder desk(int n) {
    return ask("alice", "desk", "n-" + n).submit();
  }

  /** Everything that does not end well, and workspaces. */
  static byte[] troubled() {
    return bundle(
        List.of("EXE-308"),
        Plot.WORKSHOP.toJson(),
        tool(
            "desk",
            "{\"appends_b64\":\"YQ==\",\"does\":\"end\",\"end\":\"succeeded\","
                + "\"media_type\":\"application/json\",\"message\":\"\","
                + "\"output_b64\":\"eyJvayI6dHJ1ZX0=\",\"reason\":\"ok\"}"),
        desk(1),
        desk(2),
        step("prepare").put("refuses", true),
        ask("alice", "mail", "n-3").decide(),
        execute(5, 5, "alice"),
        step("prepare").put("refuses", false),
        again(5),
        clock(1),
        ask("alice", "pay", "n-4").at(1).submit(),
        approve(10, "rita", "reject"),
        ask("alice", "mail", "n-5").with("retention", "drop-output").submit(),
        gives("mail", "failed", "no", "text/plain"),
        ask("alice", "mail", "n-6").submit(),
        gives("mail", "succeeded", "{\"ok\":1}", "application/json"),
        ask("alice", "mail", "n-7").submit(),
        tool("mail", "{\"does\":\"crash\"}"),
        ask("alice", "mail", "n-8").submit(),
        again(18),
        step("resolve").put("receipt", 19).put("found", "happened").put("signer", "operator"),
        tool("calc", "{\"does\":\"throw\"}"),
        ask("alice", "calc", "n-9").submit(),
        tool(
            "desk",
            "{\"appends_b64\":\"YQ==\",\"does\":\"end\",\"end\":\"failed\",\"message\":\"m\","
                + "\"reason\":\"exit-1\"}"),
        desk(10),
        close("run-1", "alice"));
  }

  /** A request for an input that its subject may not read. */
  static byte[] refused() {
    return bundle(
        List.of("EXE-306"),
        Plot.policy().toJson(),
        ask("alice", "calc", "n-1").effect("inputs", ExecutorVectors.input("what")).submit(),
        close("run-1", "alice"));
  }

  /** A request that a surface vouches for. */
  static ObjectBuilder vouched(String subject, String tool, String nonce) {
    return ask(subject, tool, nonce)
        .with(
            "origin",
            JsonValue.object()
                .put("method", "bearer")
                .put("principal", "token")
                .put("raw", Digest.sha256())
                .put("surface", "mcp")
                .build())
        .signedBy("mcp")
        .submit();
  }

  /** Opened by a surface for alice, and shared with bob. */
  static byte[] shared() {
    return bundle(
        List.of(),
        sharing(Plot.WORKSHOP),
        vouched("alice", "calc", "n-1"),
        vouched("bob", "calc", "n-2"),
        vouched("alice", "calc", "n-3"),
        close("run-1", "mcp"));
  }

  /** A policy under which the surface vouches for alice and bob, who share runs. */
  static JsonValue.Obj sharing(Policy of) {
    String text = new String(Jcs.write(of.toJson()), StandardCharsets.UTF_8);
    for (String subject : List.of("alice", "bob")) {
      text =
          text.replace(
              "\"subject\":\"" + subject + "\",\"surfaces\":[]",
              "\"subject\":\"" + subject + "\",\"surfaces\":[\"mcp\"]");
    }
    TreeMap<String, JsonValue> policy = new TreeMap<>(Plot.json(text).members());
    policy.put(
        "runs",
        Plot.json(
            "{\"idle_max_s\":3600,\"shared_by\":[{\"roles\":[\"worker\"],"
                + "\"surfaces\":[\"mcp\"],\"tenant\":\"acme\"}]}"));
    return new JsonValue.Obj(policy);
  }
}

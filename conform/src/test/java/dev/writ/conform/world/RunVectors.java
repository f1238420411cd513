package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.ask;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.conform.Ours;
import dev.writ.executor.Answer;
import dev.writ.executor.KernelSeam;
import dev.writ.executor.SafeExecutor;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPasskey;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.tools.registry.BuiltinTools;
import dev.writ.verify.bundle.BundleExport;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Makes golden-vectors/runs: whole runs of the release's tools as bundles, straight ones and ones
 * that diverge when they are replayed, and what becomes of each.
 */
final class RunVectors {
  private static final String YAML =
      """
      writ_policy: 1
      name: golden runs
      version: 1
      limits: { request_age_max_s: 300, pending_max_s: 86400, request_bytes_max: 100000 }
      principals:
        - { tenant: acme, subject: alice, roles: [analyst] }
      roles:
        analyst:
          tools: [js, sql, word-count]
          sandboxes: [wasm]
          resources: { cpu_ms: 10000, memory_bytes: 268435456, output_bytes: 8388608, wall_ms: 60000 }
      tools:
      TOOLS
      budgets:
        - { name: calls, scope: subject, unit: calls, limit: 100, window_s: 86400 }
      requirements:
        - effect: { tool: js }
          require: { none: [ { cel: "params.source.contains('eval(')" } ] }
        - effect: { tool: sql }
          require: { any: [ { cel: "!params.sql.contains('salary')" }, { approvals: { role: reviewer, count: 1 } } ] }
        - effect: { tool: word-count }
          require: { cel: "inputs.exists(i, i.name == 'text')" }
      approvers:
        - { tenant: acme, subject: rita, roles: [reviewer] }
      """;

  private final List<Made> made = new ArrayList<>();
  private final TreeMap<String, byte[]> files = new TreeMap<>();

  /** Recorded once, by the first who asks. */
  private static final class Holder {
    static final RunVectors MADE = new RunVectors().make();
  }

  static List<Made> all() {
    return Holder.MADE.made;
  }

  /** The bundles, by their file names. */
  static SortedMap<String, byte[]> files() {
    return Holder.MADE.files;
  }

  private RunVectors make() {
    straight();
    regions();
    code();
    diverging();
    return this;
  }

  // ---- an installation with the tools of the release

  private static Policy policy() {
    return Policy.parse(
        YAML.replace("TOOLS\n", approved("js", "sql", "word-count"))
            .getBytes(StandardCharsets.UTF_8),
        "policy.yaml");
  }

  /** Named one by one, so that a tool which is added changes no vector. */
  private static String approved(String... names) {
    StringBuilder tools = new StringBuilder();
    for (String name : names) {
      tools
          .append("  - { name: ")
          .append(name)
          .append(", version: 1.0.0, package: \"")
          .append(BuiltinTools.manifest(name, "1.0.0").orElseThrow().packageDigest())
          .append("\" }\n");
    }
    return tools.toString();
  }

  private static final Tools.Registry REGISTRY =
      new Tools.Registry() {
        @Override
        public Optional<ToolManifest> manifest(String name, String version) {
          return BuiltinTools.manifest(name, version);
        }

        @Override
        public Driver.PackageContent content(ToolManifest manifest) {
          return BuiltinTools.content(manifest);
        }
      };

  private static final BundleExport.Packages PACKAGES = BundleExport.Packages.of(REGISTRY);

  /** The driver, but for what it measures, which differs from run to run, and for a lie. */
  private record Steady(Driver of, UnaryOperator<DriverOutcome> lie) implements Driver {
    @Override
    public String name() {
      return of.name();
    }

    @Override
    public Determinism determinism() {
      return of.determinism();
    }

    @Override
    public Digest sandboxProfile(String profile) {
      return of.sandboxProfile(profile);
    }

    @Override
    public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
      Prepared prepared = of.prepare(manifest, operation, content);
      return invocation -> {
        DriverOutcome o = lie.apply(prepared.run(invocation));
        return new DriverOutcome(
            o.end(),
            o.reason(),
            o.message(),
            o.output(),
            o.artifacts(),
            DriverOutcome.Metrics.NONE,
            o.observations());
      };
    }
  }

  private static TestHome installation(
      UnaryOperator<DriverOutcome> lie, UnaryOperator<SafeExecutor> seam) {
    List<Driver> drivers =
        Ours.DRIVERS.byName().values().stream().<Driver>map(d -> new Steady(d, lie)).toList();
    return Scenario.setup(Plot.PARTIES, policy().toJson(), new TestTools(), Plot.START)
        .tools(REGISTRY, drivers)
        .seam(seam)
        .found();
  }

  /** One that has the tools which run code. */
  private static TestHome ofCode() {
    Policy policy =
        Policy.parse(
            YAML.replace(
                    "TOOLS\n",
                    approved("code_interpreter", "code_reproducible", "js", "sql", "word-count"))
                .replace(
                    "tools: [js, sql, word-count]", "tools: [code_interpreter, code_reproducible]")
                .replace("sandboxes: [wasm]", "sandboxes: [default]")
                .replace(
                    "requirements:\n",
                    "requirements:\n"
                        + "  - { effect: { tool: code_interpreter }, require: { cel: 'true' } }\n"
                        + "  - { effect: { tool: code_reproducible }, require: { cel: 'true' } }\n")
                .getBytes(StandardCharsets.UTF_8),
            "policy.yaml");
    List<Driver> drivers =
        List.of("code", "code-reproducible").stream()
            .<Driver>map(name -> new RecalledCode(Ours.DRIVERS.byName().get(name)))
            .toList();
    return Scenario.setup(Plot.PARTIES, policy.toJson(), new TestTools(), Plot.START)
        .tools(REGISTRY, drivers)
        .workspaces(new RecalledCode.Trees())
        .found();
  }

  private static TestHome honest() {
    return installation(UnaryOperator.identity(), UnaryOperator.identity());
  }

  // ---- requests

  private static Plot.Ask tool(String tool, String operation, String nonce, JsonValue.Obj params) {
    return ask("alice", tool, nonce)
        .effect("operation", operation)
        .effect("params", params)
        .effect("sandbox", "wasm")
        .effect(
            "resources",
            Plot.json(
                "{\"cpu_ms\":5000,\"memory_bytes\":268435456,\"output_bytes\":1000000,"
                    + "\"wall_ms\":60000}"));
  }

  private static Plot.Ask js(String nonce, String source) {
    return tool("js", "eval", nonce, JsonValue.object().put("source", source).build());
  }

  private static Plot.Ask sql(String nonce, String sql) {
    return tool("sql", "query", nonce, JsonValue.object().put("sql", sql).build());
  }

  private static Plot.Ask words(TestHome home, String nonce, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    var content =
        home.kernel().contents().put("acme", new ByteArrayInputStream(bytes), "text/plain");
    JsonValue input =
        JsonValue.object()
            .put("name", "text")
            .put("digest", content.digest())
            .put("size", content.size())
            .put("media_type", "text/plain")
            .build();
    return tool("word-count", "count", nonce, JsonValue.object().build())
        .effect(
            "resources",
            Plot.json(
                "{\"cpu_ms\":5000,\"memory_bytes\":16777216,\"output_bytes\":1024,"
                    + "\"wall_ms\":20000}"))
        .effect("inputs", JsonValue.of(List.of(input)));
  }

  private static Answer submit(TestHome home, Plot.Ask ask) {
    return home.kernel()
        .submit(
            Envelope.sign(Request.TYPE, ask.document(), TestKeys.key("alice")).toBytes(),
            List.of());
  }

  // ---- vectors

  private void run(
      String name, String about, byte[] bundle, List<String> recorded, List<String> live) {
    files.put("runs/" + name + ".writ", bundle);
    add(name + "-verify", about + ": verified", "bundle.verify", name, false, List.of("ok"));
    add(name + "-replay", about + ": replayed", "bundle.replay", name, false, recorded);
    add(name + "-live", about + ": its tools run again", "bundle.replay", name, true, live);
  }

  private void add(
      String name, String about, String op, String bundle, boolean live, List<String> wanted) {
    var input = JsonValue.object().put("bundle_file", bundle + ".writ");
    if (live) {
      input.put("live", true);
    }
    made.add(new Made("runs/" + name, about, Optional.empty(), op, input.build(), wanted));
  }

  private static final List<String> COMPLETE = List.of("COMPLETE");

  private void straight() {
    try (TestHome home = honest()) {
      submit(home, js("n-1", "6 * 7"));
      submit(home, js("n-2", "({pi: Math.PI, random: Math.random(), now: Date.now()})").at(0));
      submit(home, js("n-3", "throw new Error('on purpose')"));
      submit(home, js("n-4", "eval('1')"));
      BundleVectors.close(home, "run-1");
      run(
          "js",
          "JavaScript: values, seeded randomness, an error, a denial",
          BundleVectors.export(home, "run-1", PACKAGES),
          COMPLETE,
          COMPLETE);
    }
    try (TestHome home = honest()) {
      submit(home, sql("n-1", "select 1 as one, 'two' as two, null as three"));
      Plot.Ask asked = sql("n-2", "select 'salary' as salary");
      Envelope request = Envelope.sign(Request.TYPE, asked.document(), TestKeys.key("alice"));
      submit(home, asked);
      home.clock.forward(Duration.ofSeconds(60));
      home.kernel().approve(approval(home, request));
      submit(home, asked);
      submit(home, sql("n-3", "select from nowhere").at(60));
      BundleVectors.close(home, "run-1");
      run(
          "sql",
          "SQL: a result, an approval, a mistake",
          BundleVectors.export(home, "run-1", PACKAGES),
          COMPLETE,
          COMPLETE);
    }
    approvals();
    try (TestHome home = honest()) {
      submit(home, words(home, "n-1", "one two\nthree\n"));
      submit(home, words(home, "n-2", ""));
      BundleVectors.close(home, "run-1");
      run(
          "wasm",
          "WebAssembly with inputs",
          BundleVectors.export(home, "run-1", PACKAGES),
          COMPLETE,
          COMPLETE);
    }
    try (TestHome home = honest()) {
      submit(home, js("n-1", "eval('1')"));
      BundleVectors.close(home, "run-1");
      run(
          "denied",
          "a closed run without a receipt",
          BundleVectors.export(home, "run-1", PACKAGES),
          COMPLETE,
          COMPLETE);
    }
    try (TestHome home = honest()) {
      Answer other = submit(home, js("n-0", "'of another run'").with("run", "run-0"));
      JsonValue consumed =
          JsonValue.of(List.of(JsonValue.of(other.served().orElseThrow().id().toString())));
      submit(home, js("n-1", "[1, 2, 3]").with("consumes", consumed));
      home.clock.forward(Duration.ofSeconds(1));
      submit(home, sql("n-2", "select 2").at(1));
      home.clock.forward(Duration.ofSeconds(1));
      submit(home, words(home, "n-3", "words").at(2));
      home.kernel().checkpoint();
      run(
          "open",
          "an open run of all tools that consumes a receipt of another run",
          BundleVectors.export(home, "run-1", PACKAGES),
          COMPLETE,
          COMPLETE);
    }
  }

  private void regions() {
    try (TestHome home = honest()) {
      submit(home, js("n-1", "'nowhere'"));
      home.restartIn("eu-1");
      submit(home, js("n-2", "'in Europe'"));
      home.restartIn("us-east-2");
      submit(home, js("n-3", "'in America'"));
      BundleVectors.close(home, "run-1");
      run(
          "regions",
          "receipts of a server without a region, and of servers in two",
          BundleVectors.export(home, "run-1", PACKAGES),
          COMPLETE,
          COMPLETE);
    }
  }

  private void code() {
    try (TestHome home = ofCode()) {
      for (RecalledCode.Call call : RecalledCode.calls()) {
        JsonValue.Obj params =
            JsonValue.object().put("code", call.code()).put("language", call.language()).build();
        submit(
            home,
            tool(call.tool(), "run", "n-" + call.language() + call.code().length(), params)
                .effect("sandbox", "default"));
      }
      BundleVectors.close(home, "run-1");
      run(
          "code",
          "Python and Node in a sandbox: output, values, a workspace, a run killed for memory",
          BundleVectors.export(home, "run-1", PACKAGES),
          COMPLETE,
          COMPLETE);
    }
  }

  /** One request is approved with a key file, one with a passkey, each with a reason or none. */
  private void approvals() {
    TestPasskey passkey = new TestPasskey("rita", TestPasskey.SITE);
    try (TestHome home = honest()) {
      home.enrol(passkey.trusted(KeyRole.APPROVER, Optional.of("acme")));
      Optional<String> reason =
          Optional.of("The report needs it; asked for in \u201cAudit 7\u201d.");
      approved(
          home,
          "n-1",
          document -> Envelope.sign(Approval.TYPE, document, TestKeys.key("rita")),
          reason);
      approved(home, "n-2", document -> passkey.sign(Approval.TYPE, document), Optional.empty());
      approved(home, "n-3", document -> passkey.sign(Approval.TYPE, document), reason);
      BundleVectors.close(home, "run-1");
      run(
          "approvals",
          "approvals with a key file and with a passkey, with and without a reason",
          BundleVectors.export(home, "run-1", PACKAGES),
          COMPLETE,
          COMPLETE);
    }
  }

  private static void approved(
      TestHome home, String nonce, Function<JsonValue, Envelope> signer, Optional<String> reason) {
    Plot.Ask asked = sql(nonce, "select 'salary' as salary");
    Envelope request = Envelope.sign(Request.TYPE, asked.document(), TestKeys.key("alice"));
    submit(home, asked);
    JsonValue.Obj document = (JsonValue.Obj) approval(home, request).document();
    TreeMap<String, JsonValue> members = new TreeMap<>(document.members());
    reason.ifPresent(text -> members.put("reason", JsonValue.of(text)));
    home.kernel().approve(signer.apply(new JsonValue.Obj(members)));
    submit(home, asked);
  }

  private static Envelope approval(TestHome home, Envelope request) {
    Request read = Request.read(request.document());
    return Envelope.sign(
        Approval.TYPE,
        new Approval(
                "acme",
                "rita",
                "reviewer",
                request.id(),
                read.effect().digest(),
                home.kernel().system().policyInForce().digest(),
                Approval.Verdict.APPROVE,
                home.clock.instant(),
                home.clock.instant().plusSeconds(3600))
            .toJson(),
        TestKeys.key("rita"));
  }

  private void diverging() {
    UnaryOperator<DriverOutcome> lie =
        o ->
            new DriverOutcome(
                o.end(),
                o.reason(),
                o.message(),
                Optional.of(
                    new DriverOutcome.Output(
                        "43".getBytes(StandardCharsets.UTF_8), "application/json")),
                o.artifacts(),
                o.metrics(),
                o.observations());
    try (TestHome home = installation(lie, UnaryOperator.identity())) {
      submit(home, js("n-1", "6 * 7"));
      BundleVectors.close(home, "run-1");
      run(
          "diverging-output",
          "an output that the tool does not give",
          BundleVectors.export(home, "run-1", PACKAGES),
          COMPLETE,
          List.of("DIVERGED", "RPL-004 /body/output/digest"));
    }
    UnaryOperator<SafeExecutor> liar =
        e -> KernelSeam.with(e, e.receipt().withSigner(RunVectors::embellished));
    try (TestHome home = installation(UnaryOperator.identity(), liar)) {
      submit(home, js("n-1", "6 * 7"));
      BundleVectors.close(home, "run-1");
      run(
          "diverging-receipt",
          "an executor that writes into its receipt what no stage gave it",
          BundleVectors.export(home, "run-1", PACKAGES),
          List.of("DIVERGED", "RPL-001 /body/message"),
          List.of("DIVERGED", "RPL-004 /body/message", "RPL-001 /body/message"));
    }
  }

  private static Envelope embellished(String type, JsonValue document) {
    TreeMap<String, JsonValue> members = new TreeMap<>(((JsonValue.Obj) document).members());
    if (type.equals(Receipt.TYPE)) {
      members.put("message", JsonValue.of("all went well"));
    }
    return Envelope.sign(type, new JsonValue.Obj(members), TestKeys.key("executor"));
  }
}

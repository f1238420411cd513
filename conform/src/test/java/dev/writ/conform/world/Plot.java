package dev.writ.conform.world;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestMandate;
import dev.writ.fixture.TestParty;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** What scenarios are made of: parties, tools, policy, requests and steps. */
final class Plot {
  static final Instant START = Instant.parse("2026-11-21T12:00:00.000Z");
  static final String TENANT = "acme";
  static final byte[] CODE = "the tool's code".getBytes(StandardCharsets.UTF_8);

  static final List<TestParty> PARTIES =
      List.of(
          new TestParty("operator", KeyRole.OPERATOR, Optional.empty()),
          new TestParty("owner", KeyRole.POLICY_OWNER, Optional.empty()),
          new TestParty("guardian", KeyRole.GUARDIAN, Optional.empty()),
          new TestParty("executor", KeyRole.EXECUTOR, Optional.empty()),
          new TestParty("log", KeyRole.LOG, Optional.empty()),
          new TestParty("alice", KeyRole.AGENT, Optional.of(TENANT)),
          new TestParty("bob", KeyRole.AGENT, Optional.of(TENANT)),
          new TestParty("deputy", KeyRole.AGENT, Optional.of(TENANT)),
          new TestParty("rita", KeyRole.APPROVER, Optional.of(TENANT)),
          new TestParty("roy", KeyRole.APPROVER, Optional.of(TENANT)),
          new TestParty("eve", KeyRole.AGENT, Optional.of("other")));

  private static final String YAML =
      """
      writ_policy: 1
      name: scenario
      version: VERSION
      PREVIOUS
      limits: { request_age_max_s: 300, pending_max_s: 86400, request_bytes_max: 100000 }
      principals:
        - { tenant: acme, subject: alice, roles: [worker] }
        - { tenant: acme, subject: bob, roles: [worker] }
        - { tenant: acme, subject: deputy, roles: [stand-in, worker] }
        - { tenant: other, subject: eve, roles: [worker] }
      roles:
        worker:
          tools: [calc, file, mail, odd, pay, sim]
          resources: { cpu_ms: 50000, memory_bytes: 1073741824, output_bytes: 33554432, wall_ms: 60000 }
          sandboxes: [box, missing-box]
          paths: [data]
        stand-in:
          tools: []
          resources: { cpu_ms: 0, memory_bytes: 0, output_bytes: 0, wall_ms: 0 }
          sandboxes: []
      tools:
      TOOLS
      budgets:
        - { name: calls, scope: subject, unit: calls, limit: 100, window_s: 86400 }
        - { name: letters, scope: tenant, unit: calls, limit: 3, window_s: 86400, match: { tool: sim } }
      requirements:
        - { effect: { tool: calc }, require: { cel: 'true' } }
        - { effect: { tool: file }, require: { cel: 'true' } }
        - { effect: { tool: odd }, require: { cel: 'true' } }
        - { effect: { tool: sim }, require: { cel: 'true' } }
        - { effect: { tool: mail }, require: { cel: '!has(params.forbidden)' } }
        - { effect: { tool: pay }, require: { approvals: { role: reviewer, count: 1 } } }
      approvers:
        - { tenant: acme, subject: rita, roles: [reviewer] }
        - { tenant: acme, subject: roy, roles: [reviewer] }
        - { tenant: acme, subject: alice, roles: [reviewer] }
      execute_for: [stand-in]
      """;

  private Plot() {}

  static ToolManifest manifest(String name, Determinism determinism) {
    return manifest(name, "1.0.0", determinism, List.of("box"), CODE);
  }

  static ToolManifest manifest(
      String name, String version, Determinism determinism, List<String> sandboxes, byte[] code) {
    List<String> paths = name.equals("file") ? List.of("/path") : List.of();
    return new ToolManifest(
        name,
        version,
        "scripted",
        determinism,
        List.of(
            new ToolManifest.Operation(
                "do",
                json("{\"type\":\"object\"}"),
                Optional.of(
                    json(
                        "{\"type\":\"object\",\"properties\":{\"ok\":{\"type\":\"boolean\"}},"
                            + "\"required\":[\"ok\"]}")),
                "application/json"),
            new ToolManifest.Operation(
                "text", json("{\"type\":\"object\"}"), Optional.empty(), "text/plain")),
        new ToolManifest.Capabilities(paths, List.of(), List.of(), false),
        new Resources(60_000, 1 << 30, 32 << 20, 60_000),
        sandboxes,
        List.of(new ToolManifest.PackageFile("code", Digest.sha256(code), code.length)));
  }

  static final List<ToolManifest> TOOLS =
      List.of(
          manifest("calc", Determinism.PURE),
          manifest("file", Determinism.PURE),
          manifest("mail", Determinism.RECORDED),
          manifest("odd", "1.0.0", Determinism.PURE, List.of("box", "missing-box"), CODE),
          manifest("pay", Determinism.RECORDED),
          manifest("sim", Determinism.REPRODUCIBLE));

  static JsonValue.Obj tool(ToolManifest manifest, byte[] code) {
    return JsonValue.object()
        .put("manifest", manifest.toJson())
        .put("files", JsonValue.object().put("code", StrictBase64.encode(code)).build())
        .build();
  }

  static JsonValue.Obj json(String text) {
    return (JsonValue.Obj) Jcs.parse(text.getBytes(StandardCharsets.UTF_8));
  }

  /** The first policy, or one that follows another; the text can be changed before. */
  static Policy policy(long version, Optional<Digest> previous, String from, String to) {
    return policy(TOOLS, version, previous, text -> text.replace(from, to));
  }

  private static Policy policy(
      List<ToolManifest> approved,
      long version,
      Optional<Digest> previous,
      UnaryOperator<String> change) {
    StringBuilder tools = new StringBuilder();
    approved.forEach(m ->
        tools
            .append("  - { name: ")
            .append(m.name())
            .append(", version: 1.0.0, package: \"")
            .append(m.packageDigest())
            .append("\" }\n"));
    String text =
        YAML.replace("VERSION", String.valueOf(version))
            .replace("PREVIOUS", previous.map(d -> "previous: \"" + d + "\"").orElse(""))
            .replace("TOOLS\n", tools);
    return Policy.parse(change.apply(text).getBytes(StandardCharsets.UTF_8), "policy.yaml");
  }

  /** Tools that use the workspace of their run, beside the others. */
  static final List<ToolManifest> IN_WORKSPACES =
      Stream.concat(
              TOOLS.stream(),
              Stream.of(
                  inWorkspace("desk", Determinism.RECORDED),
                  inWorkspace("lathe", Determinism.REPRODUCIBLE),
                  inWorkspace("vault", Determinism.RECORDED)))
          .toList();

  private static ToolManifest inWorkspace(String name, Determinism determinism) {
    String text =
        new String(Jcs.write(manifest(name, determinism).toJson()), StandardCharsets.UTF_8);
    return ToolManifest.read(json(text.replace("\"workspace\":false", "\"workspace\":true")));
  }

  private static final Policy FIRST = policy(1, Optional.empty(), "scenario", "scenario");

  static Policy policy() {
    return FIRST;
  }

  /** The policy after the first, with one thing changed. */
  static Policy next(String from, String to) {
    return policy(2, Optional.of(policy().digest()), from, to);
  }

  static JsonValue party(TestParty party) {
    return JsonValue.object()
        .put("name", party.name())
        .put("role", party.role().text())
        .putIfPresent("tenant", party.tenant(), JsonValue::of)
        .build();
  }

  /** The input of a scenario. */
  static JsonValue.Obj scenario(ObjectBuilder... steps) {
    return JsonValue.object()
        .putList("parties", PARTIES, Plot::party)
        .putList("tools", TOOLS, m -> tool(m, CODE))
        .put("policy", policy().toJson())
        .put("start", START)
        .putList("steps", Arrays.asList(steps), ObjectBuilder::build)
        .build();
  }

  /** The policy of {@link #workshop}. */
  static final Policy WORKSHOP =
      policy(
          IN_WORKSPACES,
          1,
          Optional.empty(),
          text ->
              text.replace("mail, odd, pay, sim]", "desk, lathe, mail, odd, pay, sim, vault]")
                  .replace(
                      "requirements:\n",
                      """
                      requirements:
                        - { effect: { tool: desk }, require: { cel: 'true' } }
                        - { effect: { tool: lathe }, require: { cel: 'true' } }
                        - { effect: { tool: vault }, require: { approvals: { role: reviewer, count: 1 } } }
                      """));

  /** The input of a scenario with the tools that use workspaces. */
  static JsonValue.Obj workshop(ObjectBuilder... steps) {
    return JsonValue.object()
        .putList("parties", PARTIES, Plot::party)
        .putList("tools", IN_WORKSPACES, m -> tool(m, CODE))
        .put("policy", WORKSHOP.toJson())
        .put("start", START)
        .putList("steps", Arrays.asList(steps), ObjectBuilder::build)
        .build();
  }

  /** A tool that no policy lists. */
  static final ToolManifest WORDS = manifest("words", Determinism.RECORDED);

  static final List<TestParty> GOVERNING =
      Stream.concat(
              PARTIES.stream(),
              Stream.of(
                  new TestParty("pub", KeyRole.PUBLISHER, Optional.empty()),
                  new TestParty("ada", KeyRole.APPROVER, Optional.empty()),
                  new TestParty("ben", KeyRole.APPROVER, Optional.empty()),
                  new TestParty("cyd", KeyRole.APPROVER, Optional.empty())))
          .toList();

  static final Policy GOVERNED =
      policy(
          TOOLS,
          1,
          Optional.empty(),
          text ->
              text.replace("pay, sim]", "pay, sim, words]")
                      .replace(
                          "requirements:\n",
                          """
                          requirements:
                            - { effect: { tool: words }, require: { cel: 'true' } }
                          """)
                  + """
                  governance:
                    tools: [words]
                    approvals: { tool-reviewer: 2 }
                    approvers: { ada: [tool-reviewer], ben: [tool-reviewer], cyd: [other], pub: [tool-reviewer] }
                  """);

  /** {@link #GOVERNED} with every section that a policy may have. */
  static final Policy EVERY_SECTION =
      policy(
          TOOLS,
          1,
          Optional.empty(),
          text ->
              text.replace("pay, sim]", "pay, sim, words]")
                      .replace(
                          "request_bytes_max: 100000",
                          "request_bytes_max: 100000, clock_step_max_s: 3600, clock_idle_max_s:"
                              + " 86400")
                      .replace(
                          "requirements:\n",
                          """
                          requirements:
                            - { effect: { tool: words }, require: { cel: 'true' } }
                          """)
                  + """
                  prices: { calc: 5 }
                  temporal:
                    rates: [ { name: burst, scope: subject, limit: 60, per_s: 10 } ]
                    hours: [ { match: { role: stand-in }, days: [mon], from: "08:00", to: "09:00", offset: "+00:00" } ]
                    order: [ { effect: { tool: pay, operation: do }, after: { tool: calc, operation: do } } ]
                  revoked: ["sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"]
                  secrets: [ { name: deploy-token, match: { tenant: acme, role: worker, tool: mail } } ]
                  runs: { idle_max_s: 3600, life_max_s: 86400, shared_by: [ { tenant: acme, roles: [worker] } ] }
                  sandbox: { waived: [cpu-limit] }
                  storage: { bytes_max: 1073741824, unnamed_s: 86400, put_by: [worker] }
                  retention:
                    every_s: 86400
                    rules: [ { name: logs, contents: [outputs, observations], match: { tool: mail }, keep_s: 2592000, bytes_max: 1073741824 } ]
                  people: [ { tenant: acme, subject: otto, roles: [auditor, operator] } ]
                  reads: [ { tenant: acme, what: [bundles, outputs] } ]
                  engine:
                    slots: 8
                    flags: [ { match: { tool: odd }, enabled: false } ]
                  governance:
                    tools: [words]
                    approvals: { tool-reviewer: 2 }
                    approvers: { ada: [tool-reviewer], ben: [tool-reviewer] }
                    runtimes: true
                    ceiling: { languages: [python], workspace: false, network: ["*.example.com:443"], spawn: false, resource_class: medium }
                    libraries: [ { name: markdown, version: "3.5", digest: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" } ]
                  execute:
                    freshness_s: 300
                    sandboxes: { default: box }
                    privileged: { role: reviewer, count: 1 }
                    tenants:
                      - tenant: acme
                        id: "44444444-4444-4444-8444-444444444444"
                        workspaces: ["66666666-6666-4666-8666-666666666666"]
                        ceiling: default
                        subjects: [ { subject: alice, id: "55555555-5555-4555-8555-555555555555" } ]
                    intents:
                      - id: "22222222-2222-4222-8222-222222222222"
                        version: "1.0"
                        state: open
                        tenant: acme
                        targets: [ { program: echo } ]
                        network: []
                        ceiling: default
                        resources: { cpu: 500m, memory: 128Mi, timeout_ms: 30000 }
                        output_bytes: 1048576
                        effect: { tool: calc, version: 1.0.0, operation: do, params: { n: $target } }
                  commands:
                    workspace_root: /workspace
                    sandbox: box
                    output_bytes: 1048576
                    roles:
                      worker:
                        commands: [echo]
                        limits: { cpu: 2.0, mem_mb: 512, timeout_sec: 60 }
                        environment: []
                    images: { echo: "debian:12-slim" }
                    effect: { tool: calc, version: 1.0.0, operation: do, params: { n: $argv } }
                  """
                  + TestMandate.policySection());

  private static final String COVERED =
      "mandate: { issuers: [bank, guild], vct: mandate.payment.open.1, payee: /payee, amount:"
          + " /amount, currency: /currency }";

  /**
   * Payments need a mandate: by {@code pay} alone, by {@code mail} beside something else, by {@code
   * odd} or an approval.
   */
  static final Policy MANDATED =
      policy(
          TOOLS,
          1,
          Optional.empty(),
          text ->
              text.replace("{ approvals: { role: reviewer, count: 1 } }", "{ " + COVERED + " }")
                      .replace(
                          "{ cel: '!has(params.forbidden)' }",
                          "{ all: [ { cel: '!has(params.forbidden)' }, { " + COVERED + " } ] }")
                      .replace(
                          "{ effect: { tool: odd }, require: { cel: 'true' } }",
                          "{ effect: { tool: odd }, require: { any: [ { "
                              + COVERED.replace("currency: /currency", "currency: EUR")
                              + " }, { approvals: { role: reviewer, count: 1 } } ] } }")
                  + TestMandate.policySection());

  /** The input of a scenario in which {@link #WORDS} may come by governance. */
  static JsonValue.Obj governed(ObjectBuilder... steps) {
    return JsonValue.object()
        .putList("parties", GOVERNING, Plot::party)
        .putList(
            "tools", Stream.concat(TOOLS.stream(), Stream.of(WORDS)).toList(), m -> tool(m, CODE))
        .put("policy", GOVERNED.toJson())
        .put("start", START)
        .putList("steps", Arrays.asList(steps), ObjectBuilder::build)
        .build();
  }

  // ---- requests

  /** A request in the making. */
  static final class Ask {
    private final TreeMap<String, JsonValue> members = new TreeMap<>();
    private final TreeMap<String, JsonValue> effect = new TreeMap<>();
    private String signer;

    Ask(String subject, String tool, String nonce) {
      signer = subject;
      effect.putAll(
          json("{\"inputs\":[],\"operation\":\"do\",\"params\":{\"n\":1},"
                  + "\"resources\":{\"cpu_ms\":1000,\"memory_bytes\":67108864,"
                  + "\"output_bytes\":1000000,\"wall_ms\":2000},\"sandbox\":\"box\","
                  + "\"version\":\"1.0.0\"}")
              .members());
      effect.put("tool", JsonValue.of(tool));
      members.putAll(
          json("{\"consumes\":[],\"context\":{},\"delegations\":[],\"evidence\":[],"
                  + "\"retention\":\"keep\",\"run\":\"run-1\"}")
              .members());
      members.put("tenant", JsonValue.of(subject.equals("eve") ? "other" : TENANT));
      members.put("subject", JsonValue.of(subject));
      members.put("nonce", JsonValue.of(nonce));
      at(0);
    }

    Ask at(long secondsAfterStart) {
      members.put(
          "requested_at",
          JsonValue.object().put("t", START.plusSeconds(secondsAfterStart)).build().get("t"));
      return this;
    }

    Ask with(String member, JsonValue value) {
      members.put(member, value);
      return this;
    }

    Ask with(String member, String value) {
      return with(member, JsonValue.of(value));
    }

    Ask effect(String member, JsonValue value) {
      effect.put(member, value);
      return this;
    }

    Ask effect(String member, String value) {
      return effect(member, JsonValue.of(value));
    }

    Ask params(String json) {
      return effect("params", json(json));
    }

    Ask signedBy(String name) {
      signer = name;
      return this;
    }

    JsonValue.Obj document() {
      TreeMap<String, JsonValue> all = new TreeMap<>(members);
      all.put("effect", new JsonValue.Obj(effect));
      return new JsonValue.Obj(all);
    }

    private ObjectBuilder into(ObjectBuilder step) {
      return step.put("request", document()).put("signer", signer);
    }

    ObjectBuilder submit() {
      return into(step("submit"));
    }

    ObjectBuilder decide() {
      return into(step("decide"));
    }

    /** One of a race. */
    JsonValue racing() {
      return into(JsonValue.object()).build();
    }
  }

  static Ask ask(String subject, String tool, String nonce) {
    return new Ask(subject, tool, nonce);
  }

  static Ask ask(String tool) {
    return ask("alice", tool, "nonce-1");
  }

  // ---- steps

  static ObjectBuilder step(String word) {
    return JsonValue.object().put("do", word);
  }

  static JsonValue ref(String kind, long step) {
    return JsonValue.object().put("$" + kind, step).build();
  }

  static ObjectBuilder again(long step) {
    return step("submit").put("again", step);
  }

  static ObjectBuilder execute(long decision, long intent, String signer) {
    return step("execute").put("decision", decision).put("intent", intent).put("signer", signer);
  }

  static JsonValue.Obj edit(String member, JsonValue value, String... signer) {
    var edit = JsonValue.object().put("set", JsonValue.object().put(member, value).build());
    for (String name : signer) {
      edit.put("signer", name);
    }
    return edit.build();
  }

  static ObjectBuilder clock(long seconds) {
    return step("clock").put("seconds", seconds);
  }

  static ObjectBuilder tool(String name, String behaviour) {
    return step("tool").put("name", name).put("behaviour", json(behaviour));
  }

  /** A tool that ends so, with that on its output. */
  static ObjectBuilder gives(String name, String end, String output, String mediaType) {
    return gives(name, end, output.getBytes(StandardCharsets.UTF_8), mediaType);
  }

  static ObjectBuilder gives(String name, String end, byte[] output, String mediaType) {
    return step("tool")
        .put("name", name)
        .put(
            "behaviour",
            JsonValue.object()
                .put("does", "end")
                .put("end", end)
                .put("reason", end.equals("succeeded") ? "ok" : "exit-1")
                .put("message", "")
                .put("output_b64", StrictBase64.encode(output))
                .put("media_type", mediaType)
                .build());
  }

  static ObjectBuilder restart() {
    return step("restart").put("driver", true);
  }

  static ObjectBuilder close(String run, String signer) {
    return step("close").put("tenant", TENANT).put("run", run).put("signer", signer);
  }

  static ObjectBuilder approve(long request, String approver, String verdict) {
    return step("approve")
        .put("request", request)
        .put("approver", approver)
        .put("signer", approver)
        .put("verdict", verdict);
  }

  static ObjectBuilder revoke(String name) {
    return step("change")
        .put("kind", "key.revoked")
        .put("detail", JsonValue.object().put("kid", TestKeys.key(name).kid()).build())
        .put("signer", "operator");
  }

  static ObjectBuilder prohibit(String tool) {
    return step("change")
        .put("kind", "tool.revoked")
        .put("detail", JsonValue.object().put("tool", tool).put("version", "1.0.0").build())
        .put("signer", "operator");
  }

  static ObjectBuilder activate(Policy policy, String signer) {
    return step("activate").put("policy", policy.toJson()).put("signer", signer);
  }

  static ObjectBuilder race(List<JsonValue> requests) {
    return step("race").put("requests", JsonValue.of(requests));
  }

  static List<JsonValue> copies(JsonValue one, int count) {
    List<JsonValue> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(one);
    }
    return all;
  }
}

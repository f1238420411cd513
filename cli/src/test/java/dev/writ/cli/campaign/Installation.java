package dev.writ.cli.campaign;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.OneHome;
import dev.writ.cli.Run;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.document.SystemChange;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A data directory, its keys, and the documents that agents and owners sign for it. */
final class Installation {
  static final String TENANT = "acme";
  private static final String AGENT = "agent";
  private static final String APPROVER = "approver";
  private static final Pattern TOOLS = Pattern.compile("(?ms)^tools:.*?(?=^\\S)(?!tools)");

  private final Path home;
  private final Path work;
  private final String outside;
  private final String tools;
  private final Map<String, String> environment;
  private final InstantSource clock = InstantSource.tick(Clock.systemUTC(), Duration.ofMillis(1));
  private final SigningKey agent;
  private final SigningKey approver;
  private final SigningKey operator;

  private Installation(
      Path home, Path work, String outside, String tools, Map<String, String> environment) {
    this.environment = environment;
    this.home = home;
    this.work = work;
    this.outside = outside;
    this.tools = tools;
    this.agent = key("agent");
    this.approver = key("approver");
    this.operator = key("operator");
  }

  /**
   * Makes one with a policy that allows all kinds of work.
   *
   * @param outside {@code host:port} that tools may reach
   * @param environment of commands and servers
   */
  static Installation make(Path home, Path work, String outside, Map<String, String> environment)
      throws IOException, InterruptedException {
    done(home, environment, "init", "--tenant", TENANT);
    Matcher tools = TOOLS.matcher(Files.readString(home.resolve("policy.yaml")));
    if (!tools.find()) {
      throw new IOException("the starter policy has no section tools");
    }
    Installation made = new Installation(home, work, outside, tools.group(), environment);
    made.cli("key", "new", "publisher", "--role", "publisher");
    made.cli("key", "new", "ada", "--role", "approver", "--installation");
    made.cli("policy", "activate", made.policy(1).toString());
    Shell.in(work, Server.LAUNCHER.toString(), "tool", "new", "python", "word-stats");
    return made;
  }

  private SigningKey key(String name) {
    return KeyFiles.read(home.resolve("keys/" + name + ".pem"), () -> null);
  }

  Map<String, String> environment() {
    return environment;
  }

  Path home() {
    return home;
  }

  /** The policy; each number makes another one of it. */
  Path policy(int number) throws IOException {
    return Files.writeString(
        Files.createTempFile(work, "policy-", ".yaml"),
        """
        writ_policy: 1
        name: campaign
        version: 1
        limits: { request_age_max_s: 86400, pending_max_s: 86400, request_bytes_max: 1048576 }
        principals: [ { tenant: acme, subject: agent, roles: [worker] } ]
        approvers: [ { tenant: acme, subject: approver, roles: [reviewer] } ]
        roles:
          worker:
            tools: [code_interpreter, js, sql, word-stats]
            sandboxes: [default, wasm]
            resources: { cpu_ms: 30000, memory_bytes: 1073741824, output_bytes: 8388608, wall_ms: 60000 }
            paths: [.]
            network: ["OUTSIDE"]
        TOOLS
        budgets: [ { name: calls, scope: subject, unit: calls, limit: NUMBER, window_s: 86400 } ]
        requirements:
          - effect: { tool: sql }
            require: { approvals: { role: reviewer, count: 1 } }
          - effect: { tool: js }
            require: { cel: "size(params.source) <= 20000" }
          - effect: { tool: code_interpreter }
            require: { cel: "size(params.code) <= 20000" }
          - effect: { tool: word-stats }
            require: { cel: "size(params.text) <= 20000" }
        governance:
          tools: [word-stats]
          approvals: { tool-reviewer: 1 }
          approvers: { ada: [tool-reviewer] }
        """
            .replace("OUTSIDE", outside)
            .replace("TOOLS\n", tools)
            .replace("NUMBER", Integer.toString(1_000_000 + number)));
  }

  private static Run run(Path home, Map<String, String> environment, String... arguments) {
    return new OneHome(home, environment).writ(arguments);
  }

  private static String done(Path home, Map<String, String> environment, String... arguments)
      throws IOException {
    Run run = run(home, environment, arguments);
    if (run.status() != 0) {
      throw new IOException(
          String.join(" ", arguments) + " ended with " + run.status() + ": " + run.err());
    }
    return run.out();
  }

  /** A command that has to succeed: what it printed. */
  String cli(String... arguments) throws IOException {
    return done(home, environment, arguments);
  }

  /** A command that may fail. */
  Run attempt(String... arguments) {
    return run(home, environment, arguments);
  }

  /** A signed package of the next version of a tool. */
  Path toolPackage(int number) throws IOException {
    Path project = work.resolve("word-stats");
    Path manifest = project.resolve("tool.manifest");
    Files.writeString(
        manifest,
        Files.readString(manifest).replaceFirst("(?m)^version: .*$", "version: 1.0." + number));
    Path file = work.resolve("word-stats-1.0." + number + ".tool");
    Files.deleteIfExists(file);
    cli("tool", "package", project.toString(), "--out", file.toString());
    cli("tool", "sign", file.toString());
    return file;
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MILLIS);
  }

  Envelope request(String run, Effect effect, String nonce) {
    Request request =
        new Request(
            new Scope(TENANT, run, AGENT),
            effect,
            List.of(),
            Optional.empty(),
            nonce,
            now(),
            "keep",
            JsonValue.object().build(),
            Optional.empty(),
            List.of(),
            List.of());
    return Envelope.sign(Request.TYPE, request.toJson(), agent);
  }

  static Effect js(String source, List<Input> inputs) {
    return effect("js", "eval", JsonValue.object().put("source", source).build(), inputs, "wasm");
  }

  static Effect sql(String statement) {
    return effect(
        "sql", "query", JsonValue.object().put("sql", statement).build(), List.of(), "wasm");
  }

  /** Does something outside that is counted there. */
  Effect outside(String id) {
    String code =
        "import urllib.request\nurllib.request.urlopen('http://"
            + outside
            + "/effect/"
            + id
            + "').read().decode()";
    JsonValue.Obj params =
        JsonValue.object()
            .put("code", code)
            .put("language", "python")
            .putList("network", List.of(outside), JsonValue::of)
            .build();
    return effect("code_interpreter", "run", params, List.of(), "default");
  }

  private static Effect effect(
      String tool, String operation, JsonValue.Obj params, List<Input> inputs, String sandbox) {
    long memory = sandbox.equals("wasm") ? 64L << 20 : 256L << 20;
    return new Effect(
        tool,
        "1.0.0",
        operation,
        params,
        inputs,
        new Resources(20_000, memory, 1 << 20, 40_000),
        sandbox,
        Optional.empty());
  }

  Envelope approval(Envelope request, Digest policy) {
    Approval approval =
        new Approval(
            TENANT,
            APPROVER,
            "reviewer",
            request.id(),
            Request.read(request.document()).effect().digest(),
            policy,
            Approval.Verdict.APPROVE,
            now(),
            now().plus(Duration.ofHours(1)));
    return Envelope.sign(Approval.TYPE, approval.toJson(), approver);
  }

  Envelope close(String run) {
    return Envelope.sign(RunClose.TYPE, new RunClose(TENANT, run, now()).toJson(), agent);
  }

  /** A new agent's key, enrolled. */
  Envelope enrolment(SigningKey key, String subject) {
    TrustedKey trusted =
        new TrustedKey(
            key.verifyingKey(),
            KeyRole.AGENT,
            Optional.of(TENANT),
            subject,
            now(),
            Optional.empty(),
            Optional.empty());
    return change("key.enrolled", trusted.toJson());
  }

  Envelope revocation(String kid) {
    return change("key.revoked", JsonValue.object().put("kid", kid).build());
  }

  private Envelope change(String kind, JsonValue.Obj detail) {
    return Envelope.sign(
        SystemChange.TYPE, new SystemChange(kind, detail, now()).toJson(), operator);
  }

  /** By which token the agent reads at the server that has the home open. */
  String token() throws IOException {
    JsonValue.Obj serving =
        (JsonValue.Obj) Jcs.parse(Files.readAllBytes(home.resolve("serving.json")));
    return ((JsonValue.Str) serving.get("token")).value();
  }

  static JsonValue.Obj object(byte[] json) {
    return (JsonValue.Obj) Jcs.parse(json);
  }

  static String text(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }
}

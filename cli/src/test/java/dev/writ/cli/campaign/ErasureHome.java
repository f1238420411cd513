package dev.writ.cli.campaign;

import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.OneHome;
import dev.writ.cli.Run;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.ledger.LedgerView;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A data directory whose contents are sealed or not, with agents, and an operator who erases. */
final class ErasureHome {
  static final String TENANT = "acme";

  /** The first has the home's own key, and so the token by which contents are uploaded. */
  static final List<String> SUBJECTS = List.of("agent", "ann", "ben");

  private static final Pattern TOOLS = Pattern.compile("(?ms)^tools:.*?(?=^\\S)(?!tools)");

  /** How contents are kept. */
  enum Keeping {
    CLEAR(""),
    BY_SUBJECT("  sealed: { contents: [inputs, outputs, observations, artifacts], by: subject }\n"),
    BY_RUN("  sealed: { contents: [inputs, outputs, observations, artifacts], by: run }\n");

    private final String policy;

    Keeping(String policy) {
      this.policy = policy;
    }
  }

  private final Path dir;
  private final Path work;
  private final Map<String, String> environment;
  private final String tools;
  private final Map<String, SigningKey> agents = new TreeMap<>();
  private final SigningKey operator;
  private final InstantSource clock = InstantSource.tick(Clock.systemUTC(), Duration.ofMillis(1));

  /**
   * Makes one.
   *
   * @param where options of {@code init} that say where rows and contents lie
   * @param environment of its commands and servers
   */
  ErasureHome(Path dir, Path work, List<String> where, Map<String, String> environment)
      throws IOException {
    this.dir = dir;
    this.work = work;
    this.environment = environment;
    List<String> init = new ArrayList<>(List.of("init", "--tenant", TENANT));
    init.addAll(where);
    done(init.toArray(String[]::new));
    Matcher section = TOOLS.matcher(Files.readString(dir.resolve("policy.yaml")));
    if (!section.find()) {
      throw new IOException("the starter policy has no section tools");
    }
    this.tools = section.group();
    for (String subject : SUBJECTS) {
      if (!Files.exists(dir.resolve("keys/" + subject + ".pem"))) {
        done("key", "new", subject, "--role", "agent");
      }
      agents.put(subject, key(subject));
    }
    this.operator = key("operator");
  }

  private SigningKey key(String name) {
    return KeyFiles.read(dir.resolve("keys/" + name + ".pem"), () -> null);
  }

  Path dir() {
    return dir;
  }

  Path ledger() {
    return dir.resolve("ledger");
  }

  Map<String, String> environment() {
    return environment;
  }

  LedgerView read() {
    return OpenHome.read(new Home(dir, () -> null));
  }

  /** A command that may fail. */
  Run attempt(String... arguments) {
    return new OneHome(dir, environment).writ(arguments);
  }

  /** A command that has to succeed: what it printed. */
  String done(String... arguments) throws IOException {
    Run run = attempt(arguments);
    if (run.status() != 0) {
      throw new IOException(
          String.join(" ", arguments)
              + " ended with "
              + run.status()
              + ": "
              + run.err()
              + run.out());
    }
    return run.out();
  }

  void keep(Keeping keeping) throws IOException {
    Path policy = work.resolve("policy-" + keeping + ".yaml");
    Files.writeString(
        policy,
        """
        writ_policy: 1
        name: erasure
        version: 1
        limits: { request_age_max_s: 86400, pending_max_s: 86400, request_bytes_max: 1048576 }
        principals:
        PRINCIPALS
        roles:
          worker:
            tools: [js]
            sandboxes: [wasm]
            resources: { cpu_ms: 30000, memory_bytes: 1073741824, output_bytes: 8388608, wall_ms: 60000 }
        TOOLS
        budgets: [ { name: calls, scope: subject, unit: calls, limit: 1000000, window_s: 86400 } ]
        requirements:
          - effect: { tool: js }
            require: { cel: "size(params.source) <= 20000" }
        retention:
          rules: []
          archive_after_s: 0
        """
                .replace(
                    "PRINCIPALS\n",
                    String.join(
                        "",
                        SUBJECTS.stream()
                            .map(name ->
                                "  - { tenant: acme, subject: " + name + ", roles: [worker] }\n")
                            .toList()))
                .replace("TOOLS\n", tools)
            + keeping.policy);
    done("policy", "activate", policy.toString());
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MILLIS);
  }

  Envelope request(String subject, String run, Effect effect) {
    Request request =
        new Request(
            new Scope(TENANT, run, subject),
            effect,
            List.of(),
            Optional.empty(),
            UUID.randomUUID().toString(),
            now(),
            "keep",
            JsonValue.object().build(),
            Optional.empty(),
            List.of(),
            List.of());
    return Envelope.sign(Request.TYPE, request.toJson(), agents.get(subject));
  }

  Envelope order(Optional<String> subject, Optional<String> run) {
    SystemChange change =
        new SystemChange(
            EventKind.CONTENTS_ERASED, new ErasureOrder(TENANT, subject, run).toJson(), now());
    return Envelope.sign(SystemChange.TYPE, change.toJson(), operator);
  }

  /**
   * By which {@link #SUBJECTS the first} uploads and reads at the server that has the home open.
   */
  String token() throws IOException {
    JsonValue.Obj serving = Installation.object(Files.readAllBytes(dir.resolve("serving.json")));
    return ((JsonValue.Str) serving.get("token")).value();
  }

  /**
   * A text whose first 300 characters do not compress, and that is in no parameter of {@link
   * #source the script} that makes it.
   */
  static String text(long number, int times) {
    StringBuilder text = new StringBuilder();
    for (long state = number; text.length() < 300; ) {
      state = state * 48_271 % Integer.MAX_VALUE;
      text.append(Long.toString(state, 36));
    }
    return text.toString().repeat(times);
  }

  static String source(long number, int times) {
    return "let s="
        + number
        + ",t='';while(t.length<300){s=s*48271%2147483647;t+=s.toString(36)};t.repeat("
        + times
        + ")";
  }

  /** What the script gives, as it is kept. */
  static byte[] output(long number, int times) {
    return ("\"" + text(number, times) + "\"").getBytes(StandardCharsets.UTF_8);
  }
}

package dev.writ.cli.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.cli.OneHome;
import dev.writ.cli.OwnProcess;
import dev.writ.cli.Run;
import dev.writ.cli.rules.Project;
import dev.writ.client.ClientSettings;
import dev.writ.client.WritClient;
import dev.writ.gateway.http.auth.Tokens;
import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A server as an operator runs it, {@code writ serve} in a process of its own, for the clients in
 * all languages: an agent with a key, the same agent with a token, and an approver.
 */
final class ClientsServer {
  static final String TENANT = "acme";

  private final Path dir;
  private final Process process;
  private final BufferedReader out;

  /** What answers a challenge, given behind it, with a mandate. */
  private final List<String> wallet;

  final String url;
  final String token;
  final String origin;

  ClientsServer(Path dir) throws Exception {
    this.dir = dir;
    done("init", "--tenant", TENANT);
    Path policy = home().resolve("policy.yaml");
    wallet =
        List.of(
            "node",
            Project.root().resolve("examples/mandate/mandate.mjs").toString(),
            dir.resolve("bank.jwk").toString(),
            dir.resolve("wallet.jwk").toString());
    String bank = InstalledPackages.output(new ProcessBuilder(wallet)).strip();
    Files.writeString(policy, policy(Files.readString(policy), function(), bank));
    done("key", "new", "vouched", "--role", "surface");
    done("policy", "activate", policy.toString());
    Run made = done("--json", "config", "token", "ci", "--tenant", TENANT, "--subject", "agent");
    token = text(object(made.out()), "token");
    origin = text(object(Files.readString(home().resolve("writ.json"))), "origin");
    Files.writeString(
        home().resolve("gateway.yaml"),
        """
        writ_gateway: 1
        listen: { port: 0 }
        tokens:
          - { name: ci, digest: "DIGEST", tenant: acme, subject: agent }
        surfaces:
          vouched: { keys: { acme: vouched } }
        """
            .replace("DIGEST", Tokens.digest(token).toString()));
    ProcessBuilder builder =
        new ProcessBuilder(OwnProcess.writ("--home", home().toString(), "serve", "--json"));
    builder.environment().put("WRIT_SANDBOX_ENGINE", "none");
    process = builder.redirectError(dir.resolve("log").toFile()).start();
    out = process.inputReader(StandardCharsets.UTF_8);
    String line = out.readLine();
    assertThat(line).as(Files.readString(dir.resolve("log"))).isNotNull();
    url = text(object(line), "url");
  }

  /**
   * What is sensitive takes a reviewer, and what has a payee the bank's mandate; the rate is one
   * that all clients keep together.
   */
  private static String policy(String starter, String function, String bank) {
    return starter
            .replace("web_browser, word-count]", "web_browser, word-count, function]")
            .replace("\nbudgets:\n", "  " + function + "\n\nbudgets:\n")
            .replace("surfaces: [mcp]", "surfaces: [mcp, vouched]")
            .replace("limit: 60, per_s: 10", "limit: 2000, per_s: 10")
            .replace(
                "      cel: \"size(params.source) <= 20000\"",
                """
                      all:
                        - cel: "size(params.source) <= 20000"
                        - any:
                            - cel: "!has(params.input) || !has(params.input.sensitive)"
                            - approvals: { role: reviewer, count: 1 }
                        - any:
                            - cel: "!has(params.input) || !has(params.input.payee)"
                            - mandate: { issuers: [bank], vct: mandate.payment.open.1, payee: /input/payee, amount: /input/amount, currency: EUR }\
                """)
        + """
          - effect: { tool: function, operation: permit }
            require:
              any:
                - cel: "params.arguments.amount <= 100"
                - all:
                    - cel: "params.arguments.amount <= 500"
                    - approvals: { role: reviewer, count: 1 }
          - effect: { tool: function, operation: report }
            require:
              cel: "true"

        mandates:
          audience: https://writ.acme.example
          issuers:
            - { tenant: acme, name: bank, key: BANK }
        """
            .replace("BANK", bank);
  }

  /** Registers examples/tools/function, and gives its line of the policy. */
  private String function() {
    String file = dir.resolve("function.tool").toString();
    done("key", "new", "publisher", "--role", "publisher");
    String project = Project.root().resolve("examples/tools/function").toString();
    done("tool", "package", project, "--out", file);
    done("tool", "sign", file);
    return done("tool", "register", file)
        .out()
        .lines()
        .filter(line -> line.contains("- { name: function,"))
        .findFirst()
        .orElseThrow()
        .strip();
  }

  Path home() {
    return dir.resolve("home");
  }

  private Run done(String... arguments) {
    return new OneHome(home()).done(arguments);
  }

  /** The answer to an effect of its own, as the server sends it. */
  JsonValue.Obj another() throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      return object(
          http.send(
                  HttpRequest.newBuilder(URI.create(url + "/v1/vouched-effects"))
                      .header("Authorization", "Bearer " + token)
                      .header("Content-Type", "application/json")
                      .POST(
                          HttpRequest.BodyPublishers.ofString(
                              "{\"run\":\"another\",\"idempotency_key\":\"another\",\"effect\":"
                                  + "{\"tool\":\"js\",\"params\":{\"source\":\"'another'\"}}}"))
                      .build(),
                  HttpResponse.BodyHandlers.ofString())
              .body());
    }
  }

  /** What a program that plays the table is told on its standard input. */
  String place(String prefix, FaultyProxy proxy, Path table) throws Exception {
    return new String(
        Jcs.write(
            JsonValue.object()
                .put("prefix", prefix)
                .put("url", url)
                .put("origin", origin)
                .put("trust", home().resolve("trust.jwks").toString())
                .put("tenant", TENANT)
                .put("token", token)
                .put("agent", holder("agent"))
                .put("approver", holder("approver"))
                .put("faults", proxy.url())
                .put("nobody", FaultyProxy.nobody())
                .putList("wallet", wallet, JsonValue::of)
                .put("table", table.toString())
                .build()),
        StandardCharsets.UTF_8);
  }

  /** The agent, in Java. */
  WritClient client() throws Exception {
    return new WritClient(
        URI.create(url),
        new WritClient.Agent(
            TENANT, "agent", KeyFiles.read(home().resolve("keys/agent.pem"), () -> null)),
        new WritClient.Pinned(
            Trust.parse(Files.readAllBytes(home().resolve("trust.jwks"))), origin),
        ClientSettings.usual());
  }

  /** What the examples are told, each of which works in a run of its own. */
  Map<String, String> environment(String example) {
    return Map.of(
        "WRIT_URL",
        url,
        "WRIT_ORIGIN",
        origin,
        "WRIT_TRUST",
        home().resolve("trust.jwks").toString(),
        "WRIT_TENANT",
        TENANT,
        "WRIT_SUBJECT",
        "agent",
        "WRIT_KEY",
        home().resolve("keys/agent.pem").toString(),
        "WRIT_RUN",
        "example-" + example.replaceAll("[^a-z]", "-"));
  }

  private JsonValue.Obj holder(String name) {
    return JsonValue.object()
        .put("subject", name)
        .put("key", home().resolve("keys/" + name + ".pem").toString())
        .build();
  }

  static JsonValue.Obj object(String text) {
    return (JsonValue.Obj) Jcs.parse(text.strip().getBytes(StandardCharsets.UTF_8));
  }

  static String text(JsonValue.Obj object, String name) {
    return ((JsonValue.Str) object.get(name)).value();
  }

  void close() throws Exception {
    process.destroy();
    process.waitFor();
    out.close();
  }
}

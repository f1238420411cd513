package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.client.VerifiedOutcome;
import dev.writ.client.WritClient;
import dev.writ.embed.home.Home;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Resources;
import dev.writ.sandbox.host.Trees;
import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ serve} starts a tool's next worker ahead, while policy has the tool. */
class AServerKeepsWorkersWaitingTest {
  private static final long GIVE_NS = 60_000_000_000L;

  @TempDir Path dir;
  private final TreeMap<String, String> environment = new TreeMap<>();
  private Path sandboxes;
  private Process server;

  @BeforeEach
  void init() throws Exception {
    sandboxes = Files.createTempDirectory(Path.of("/tmp"), "cli");
    Files.setPosixFilePermissions(sandboxes, PosixFilePermissions.fromString("rwx--x--x"));
    environment.put("WRIT_HOME", dir.resolve("home").toString());
    environment.put("WRIT_SANDBOX_DIR", sandboxes.resolve("s").toString());
  }

  @AfterEach
  void stop() throws Exception {
    if (server != null) {
      server.destroy();
      server.waitFor();
    }
    Trees.remove(sandboxes);
  }

  private Run done(String... args) {
    Run run = Run.on("", "", environment, Commands.ALL, args);
    assertThat(run.status()).as(run.out() + run.err()).isZero();
    return run;
  }

  /** The policy without the tool, and with it. */
  private Path[] policies() throws Exception {
    Path project = dir.resolve("word-stats");
    String file = dir.resolve("word-stats.tool").toString();
    done("init");
    done("key", "new", "publisher", "--role", "publisher");
    done("tool", "new", "python", project.toString());
    done("tool", "package", project.toString(), "--out", file);
    done("tool", "sign", file);
    String said = done("tool", "register", file).out();
    Matcher line = Pattern.compile("- \\{ name: word-stats.*}").matcher(said);
    assertThat(line.find()).as(said).isTrue();
    String without = Files.readString(dir.resolve("home/policy.yaml"));
    String with =
        without
            .replace("web_browser, word-count]", "web_browser, word-count, word-stats]")
            .replace("\nbudgets:\n", "  " + line.group() + "\n\nbudgets:\n");
    return new Path[] {
      Files.writeString(dir.resolve("without.yaml"), without),
      Files.writeString(
          Files.writeString(dir.resolve("with.yaml"), with),
          "  - effect: { tool: word-stats }\n    require:\n      cel: \"true\"\n",
          StandardOpenOption.APPEND)
    };
  }

  private String serve() throws Exception {
    ProcessBuilder builder = new ProcessBuilder(OwnProcess.writ("serve", "--json", "--port", "0"));
    builder.environment().putAll(environment);
    server = builder.redirectError(dir.resolve("log").toFile()).start();
    BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
    String line = out.readLine();
    assertThat(line).as(Files.readString(dir.resolve("log"))).isNotNull();
    JsonValue.Obj told = (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8));
    return ((JsonValue.Str) told.get("url")).value();
  }

  private static long metric(String url, String name) throws Exception {
    HttpResponse<String> all =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(URI.create(url + "/metrics")).build(),
                HttpResponse.BodyHandlers.ofString());
    Matcher line =
        Pattern.compile("(?m)^" + name + "(?:\\{[^}]*})? ([0-9.E]+)$").matcher(all.body());
    assertThat(line.find()).as(name + " in " + all.body()).isTrue();
    return (long) Double.parseDouble(line.group(1));
  }

  private static void await(String url, String name, long value) throws Exception {
    long give = System.nanoTime() + GIVE_NS;
    while (metric(url, name) != value) {
      assertThat(System.nanoTime()).as(name).isLessThan(give);
      Thread.sleep(1);
    }
  }

  private String call(WritClient client, String text) {
    Effect effect =
        new Effect(
            "word-stats",
            "1.0.0",
            "count",
            JsonValue.object().put("text", text).build(),
            List.of(),
            new Resources(5_000, 256L << 20, 1 << 20, 15_000),
            "restricted",
            Optional.empty());
    VerifiedOutcome outcome = client.submit(client.request("main", effect, Optional.empty()));
    assertThat(outcome.receipt()).as(outcome.decision().toString()).isPresent();
    Receipt receipt = outcome.receipt().orElseThrow();
    return receipt.status() + " " + receipt.reason();
  }

  @Test
  void whilePolicyHasTheTool() throws Exception {
    Path[] policies = policies();
    done("policy", "activate", policies[1].toString());
    Home home = Home.existing(dir.resolve("home"), () -> null);
    String url = serve();
    try (WritClient client =
        new WritClient(
            URI.create(url),
            new WritClient.Agent(home.tenant(), home.agent(), home.key(home.agent())),
            new WritClient.Pinned(Trust.parse(Files.readAllBytes(home.trustFile())), home.origin()),
            InstantSource.system(),
            new SecureRandom())) {
      assertThat(call(client, "one two")).isEqualTo("SUCCEEDED ok");
      assertThat(metric(url, "writ_tool_calls_cold")).isEqualTo(1);
      await(url, "writ_tool_workers_ready", 1);
      assertThat(call(client, "one two")).isEqualTo("SUCCEEDED ok");
      assertThat(metric(url, "writ_tool_calls_warm")).isEqualTo(1);
      assertThat(metric(url, "writ_tool_workers_lost")).isZero();
    }
    done("policy", "activate", policies[0].toString(), "--server", url);
    await(url, "writ_tool_workers_ready", 0);
    await(url, "writ_tool_workers_bytes", 0);
  }
}

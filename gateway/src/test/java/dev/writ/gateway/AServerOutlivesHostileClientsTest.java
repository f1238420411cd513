package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.TestHome;
import dev.writ.gateway.http.auth.Tokens;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server in a process of its own, with 512 MiB of heap, under a thousand hostile connections: it
 * lives, an honest client with a credential is answered, and SIGTERM ends it. {@code
 * -Dwrit.attack.s=600} is the long form.
 */
public class AServerOutlivesHostileClientsTest {
  private static final Duration ATTACK = Duration.ofSeconds(Integer.getInteger("writ.attack.s", 4));
  private static final int CONNECTIONS = Integer.getInteger("writ.attack.connections", 1000);

  @TempDir Path dir;
  private Process server;

  @AfterEach
  void stop() {
    server.destroyForcibly();
  }

  /** The honest client's answers, as it saw them. */
  private static final class Honest {
    final List<Long> millis = new ArrayList<>();
    final List<String> failures = new ArrayList<>();

    String text() {
      List<Long> sorted = new ArrayList<>(millis);
      Collections.sort(sorted);
      int n = sorted.size();
      return n == 0
          ? "no answer, " + failures.size() + " failed"
          : "%d answered, %d failed, ms: %d median, %d at 99 %%, %d longest"
              .formatted(
                  n,
                  failures.size(),
                  sorted.get(n / 2),
                  sorted.get(n * 99 / 100),
                  sorted.get(n - 1));
    }
  }

  @Test
  void anHonestClientIsAnsweredAndTheProcessCanBeStopped() throws Exception {
    List<byte[]> requests = requests();
    server = child();
    BufferedReader says = server.inputReader(StandardCharsets.UTF_8);
    int port = Integer.parseInt(says.readLine());
    Honest reads = new Honest();
    Honest effects = new Honest();
    long end = System.nanoTime() + ATTACK.toNanos();
    int each = CONNECTIONS / 10;
    try (HostileClients attack = new HostileClients(port)) {
      attack
          .on(each, "127.0.0.1", HostileClients::halfHead)
          .on(2 * each, "127.0.0.1", HostileClients::halfBody)
          .on(each, "127.0.0.1", HostileClients::largeBody)
          .on(each / 2, "127.0.0.1", HostileClients::tinyChunks)
          .on(each / 2, "127.0.0.1", HostileClients::jsonBomb)
          .on(each / 2, "127.0.0.1", HostileClients::headerFlood)
          .on(each, "127.0.0.1", HostileClients::pipeline)
          .on(each / 2, "127.0.0.1", HostileClients::ask)
          .on(each, "127.0.0.1", HostileClients.stream("run-of-bob", TestGateway.tokenOf("bob")))
          .on(
              2 * each,
              "127.0.0.1",
              HostileClients.halfBodyOf(TestGateway.tokenOf("bob"), "/test/r/calc"));
      try (HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
        int next = 0;
        while (System.nanoTime() < end && server.isAlive()) {
          attack.goOn(CONNECTIONS / 10);
          ask(http, reads, request(port, "/v1/runs").GET());
          if (next < requests.size()) {
            ask(
                http,
                effects,
                request(port, "/v1/effects")
                    .POST(HttpRequest.BodyPublishers.ofByteArray(requests.get(next++))));
          }
        }
      }
      System.out.println(
          "attack: %d s, %d connections in all; reads: %s; effects: %s; resident %s"
              .formatted(
                  ATTACK.toSeconds(),
                  attack.connections(),
                  reads.text(),
                  effects.text(),
                  peakResident(server)));
      assertThat(server.isAlive()).isTrue();
      server.destroy();
      assertThat(server.waitFor(60, TimeUnit.SECONDS)).as("SIGTERM ends it").isTrue();
    }
    assertThat(server.exitValue()).isEqualTo(143);
    assertThat(reads.failures).isEmpty();
    assertThat(effects.failures).isEmpty();
    assertThat(reads.millis).isNotEmpty();
    assertThat(effects.millis).isNotEmpty();
  }

  private static HttpRequest.Builder request(int port, String path) {
    return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
        .timeout(Duration.ofSeconds(30))
        .header("Content-Type", "application/json")
        .header("Authorization", "Bearer " + TestGateway.tokenOf("eve"));
  }

  private static void ask(HttpClient http, Honest honest, HttpRequest.Builder request)
      throws InterruptedException {
    long begin = System.nanoTime();
    try {
      HttpResponse<byte[]> response =
          http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
      if (response.statusCode() == 200) {
        honest.millis.add((System.nanoTime() - begin) / 1_000_000);
        return;
      }
      honest.failures.add(
          response.statusCode() + " " + new String(response.body(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      honest.failures.add(e.toString());
    }
  }

  private static String peakResident(Process process) throws IOException {
    Path status = Path.of("/proc/" + process.pid() + "/status");
    return Files.exists(status)
        ? Files.readAllLines(status).stream()
            .filter(line -> line.startsWith("VmHWM:"))
            .findFirst()
            .orElse("")
        : "gone";
  }

  /** Effects of eve's, signed before the server has her home. */
  private List<byte[]> requests() {
    try (TestHome home = TestGateway.newHome(dir)) {
      home.submit(home.ask("bob").run("run-of-bob"));
      List<byte[]> requests = new ArrayList<>();
      for (int i = 0; i < 400; i++) {
        requests.add(home.ask("eve").run("run-" + i % 8).bytes());
      }
      return requests;
    }
  }

  private Process child() throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Xmx512m",
            "-XX:+ExitOnOutOfMemoryError",
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            AServerOutlivesHostileClientsTest.class.getName(),
            dir.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** The child's side. */
  public static void main(String[] args) throws Exception {
    Path dir = Path.of(args[0]);
    StringBuilder yaml =
        new StringBuilder("writ_gateway: 1\nlisten: { port: 0 }\ndrain_s: 5\ntokens:\n");
    for (String name : List.of("alice", "bob", "eve")) {
      yaml.append(
          WholeGateway.token("token", name, "")
              .replace("name: token", "name: " + name + "-token")
              .replace(
                  Tokens.digest("token-of-token").toString(),
                  Tokens.digest(TestGateway.tokenOf(name)).toString()));
    }
    WholeGateway server = new WholeGateway(TestHome.open(dir), yaml.toString(), dir);
    server.forgetLog();
    Runtime.getRuntime()
        .addShutdownHook(
            Thread.ofPlatform()
                .unstarted(() -> {
                  try {
                    server.close();
                  } catch (IOException e) {
                    e.printStackTrace(new PrintStream(OutputStream.nullOutputStream()));
                  }
                }));
    System.out.println(server.gateway.port());
    System.out.flush();
    new CountDownLatch(1).await();
  }
}

package dev.writ.cli.warm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.OwnProcess;
import dev.writ.cli.Run;
import dev.writ.embed.home.Home;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The exercise before {@code /ready}, spec/gateway.md 21c. */
class AServerIsWarmBeforeItIsReadyTest {
  private static final InstantSource CLOCK = InstantSource.system();
  private static final Duration LONG = Duration.ofMinutes(10);

  @TempDir Path dir;

  /** Runs one to its end. */
  private static String end(Duration most, BooleanSupplier wanted) throws Exception {
    CompletableFuture<String> how = new CompletableFuture<>();
    try (WarmUp warmUp = new WarmUp(most, CLOCK, wanted, how::complete)) {
      assertThat(warmUp.probe().look().get().why()).contains("warming");
      assertThat(warmUp.probe().look().get().ok()).isFalse();
      warmUp.begin();
      String said = how.get(2, TimeUnit.MINUTES);
      assertThat(warmUp.probe().look().get().ok()).isTrue();
      return said;
    }
  }

  private static byte[] request(Home home) {
    Request request =
        new Request(
            new Scope(home.tenant(), "main", home.agent()),
            new Effect(
                "js",
                "1.0.0",
                "eval",
                JsonValue.object().put("source", "6*7").build(),
                List.of(),
                new Resources(1_000, 16L << 20, 1 << 12, 5_000),
                "wasm",
                Optional.empty()),
            List.of(),
            Optional.empty(),
            "one",
            CLOCK.instant(),
            "keep",
            JsonValue.object().build(),
            Optional.empty(),
            List.of(),
            List.of());
    return Envelope.sign(Request.TYPE, request.toJson(), home.key(home.agent())).toBytes();
  }

  @Test
  void it_ends_when_its_time_is_up() throws Exception {
    assertThat(end(Duration.ofMillis(1), () -> false)).startsWith("out of time");
  }

  @Test
  void it_gives_way_to_work_of_the_installation() throws Exception {
    assertThat(end(LONG, () -> true)).startsWith("given up for calls");
  }

  @Test
  void a_server_that_is_not_to_be_exercised_is_ready_at_once() {
    try (WarmUp none = new WarmUp(Duration.ZERO, CLOCK, () -> false, _ -> {})) {
      none.begin();
      assertThat(none.probe().look().get().ok()).isTrue();
    }
  }

  @Test
  void what_it_signs_counts_nowhere_else() throws Exception {
    try (WarmServer one = WarmServer.start(CLOCK, () -> {});
        WarmServer other = WarmServer.start(CLOCK, () -> {});
        WarmCaller caller = new WarmCaller(other.port())) {
      caller.submit(other.request());
      byte[] foreign = one.request();
      assertThatThrownBy(() -> caller.submit(foreign))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("HTTP/1.1 4");
    }
  }

  @Test
  void no_private_key_is_written_and_nothing_is_left() throws Exception {
    Path directory;
    try (WarmServer server = WarmServer.start(CLOCK, () -> {})) {
      directory = server.directory();
      try (Stream<Path> files = Files.walk(directory)) {
        assertThat(files.map(file -> file.getFileName().toString()))
            .contains("ledger")
            .noneMatch(name -> name.endsWith(".pem"));
      }
    }
    assertThat(directory).doesNotExist();
  }

  @Test
  void a_server_says_that_it_warms_until_its_first_effect() throws Exception {
    String home = dir.resolve("home").toString();
    assertThat(Run.of("--home", home, "init").status()).isZero();
    ProcessBuilder builder =
        new ProcessBuilder(OwnProcess.writ("--home", home, "serve", "--json", "--port", "0"));
    builder.environment().put("WRIT_SANDBOX_ENGINE", "none");
    builder.environment().put("WRIT_WARM_UP_S", "600");
    Process server = builder.start();
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
        BufferedReader log = server.errorReader(StandardCharsets.UTF_8);
        HttpClient client = HttpClient.newHttpClient()) {
      JsonValue.Obj said =
          (JsonValue.Obj) Jcs.parse(out.readLine().getBytes(StandardCharsets.UTF_8));
      URI url = URI.create(((JsonValue.Str) said.get("url")).value());
      assertThat(
              client
                  .send(
                      HttpRequest.newBuilder(url.resolve("/ready")).build(),
                      HttpResponse.BodyHandlers.ofString())
                  .body())
          .contains("{\"name\":\"warm\",\"ok\":false,\"why\":\"warming\"}")
          .contains("\"ready\":false");
      try (WarmCaller caller = new WarmCaller(url.getPort())) {
        caller.submit(request(Home.existing(Path.of(home), () -> null)));
      }
      String line = log.readLine();
      while (!line.contains("\"event\":\"warm-up\"")) {
        line = log.readLine();
      }
      // Fast enough before the effect came, or given up for it: both end it.
      assertThat(line).containsAnyOf("given up for calls", "done after");
      assertThat(Run.of("--home", home, "runs").out()).contains("main").doesNotContain("warm-up");
    } finally {
      server.destroy();
      server.waitFor();
    }
  }
}

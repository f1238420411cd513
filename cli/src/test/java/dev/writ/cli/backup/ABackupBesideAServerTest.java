package dev.writ.cli.backup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.cli.OwnProcess;
import dev.writ.cli.Run;
import dev.writ.client.ClientSettings;
import dev.writ.client.VerifiedOutcome;
import dev.writ.client.WritClient;
import dev.writ.embed.JavaTool;
import dev.writ.embed.Outcome;
import dev.writ.embed.Writ;
import dev.writ.fixture.Await;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import java.io.BufferedReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Backups while others write: what was acknowledged is in them, and what runs is in doubt after.
 */
class ABackupBesideAServerTest {
  @TempDir Path dir;

  private static URI url(BufferedReader out) throws Exception {
    JsonValue.Obj said = (JsonValue.Obj) Jcs.parse(out.readLine().getBytes(StandardCharsets.UTF_8));
    return URI.create(((JsonValue.Str) said.get("url")).value());
  }

  @Test
  void what_a_server_acknowledged_before_is_in_each() throws Exception {
    BackedUpHome home = new BackedUpHome(dir);
    ProcessBuilder builder =
        new ProcessBuilder(
            OwnProcess.writ("--home", home.home().toString(), "serve", "--json", "--port", "0"));
    builder.environment().put("WRIT_SANDBOX_ENGINE", "none");
    Process server = builder.redirectError(dir.resolve("log").toFile()).start();
    AtomicBoolean over = new AtomicBoolean();
    ConcurrentLinkedQueue<Digest> receipts = new ConcurrentLinkedQueue<>();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
        WritClient client = client(home, url(out))) {
      Thread caller =
          Thread.ofPlatform()
              .start(() -> {
                try {
                  for (int n = 0; !over.get(); n++) {
                    VerifiedOutcome outcome = effect(client, n);
                    outcome.receiptId().ifPresent(receipts::add);
                    // The starter policy lets 60 calls through in ten seconds.
                    assertThat(outcome.decision().code().orElse("GRD-303")).isEqualTo("GRD-303");
                  }
                } catch (Throwable e) {
                  failure.set(e);
                }
              });
      for (int number = 1; number <= 3; number++) {
        int enough = 3 * number;
        Await.until(() -> receipts.size() >= enough || failure.get() != null);
        List<Digest> before = List.copyOf(receipts);
        assertThat(home.backup()).startsWith("backup " + number + ": ");
        Path restored = dir.resolve("restored-" + number);
        Run back =
            Run.of(
                "restore",
                "--from",
                home.folder().toString(),
                "--identity",
                home.identity.toString(),
                "--home",
                restored.toString());
        assertThat(back.status()).as(back.err()).isZero();
        try (LedgerView ledger = Ledger.openReadOnly(restored.resolve("ledger"))) {
          assertThat(before).isNotEmpty().allMatch(ledger::hasDocument);
        }
        Run audit = Run.of("--home", restored.toString(), "audit");
        assertThat(audit.status()).as(audit.out()).isZero();
      }
      over.set(true);
      caller.join();
      assertThat(failure.get()).isNull();
    } finally {
      over.set(true);
      server.destroy();
      assertThat(server.waitFor(1, TimeUnit.MINUTES)).isTrue();
    }
  }

  private static WritClient client(BackedUpHome home, URI url) throws Exception {
    JsonValue.Obj settings =
        (JsonValue.Obj) Jcs.parse(Files.readAllBytes(home.home().resolve("writ.json")));
    return new WritClient(
        url,
        new WritClient.Agent(
            "local", "agent", KeyFiles.read(home.home().resolve("keys/agent.pem"), () -> null)),
        new WritClient.Pinned(
            Trust.parse(Files.readAllBytes(home.home().resolve("trust.jwks"))),
            ((JsonValue.Str) settings.get("origin")).value()),
        ClientSettings.usual());
  }

  /** Every other one has an output that is a file of its own. */
  private static VerifiedOutcome effect(WritClient client, int n) {
    String source = n % 2 == 0 ? n + "*7" : "'" + n + "-'.repeat(40000)";
    return client.call(Effect.of("js").param("source", source), WritClient.Terms.in("run-" + n));
  }

  @Test
  void an_effect_that_runs_meanwhile_is_in_doubt_after_a_restore_and_not_run_again()
      throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    AtomicInteger times = new AtomicInteger();
    JavaTool tool =
        JavaTool.of(
            "mail",
            "1.0.0",
            "{\"type\":\"object\"}",
            "{\"type\":\"object\"}",
            _ -> {
              times.incrementAndGet();
              begun.countDown();
              end.await();
              return JsonValue.object().build();
            });
    Path at = dir.resolve("home");
    AtomicReference<Outcome> sent = new AtomicReference<>();
    try (Writ writ = Writ.at(at).tool(tool).withoutProcesses().open()) {
      Thread caller =
          Thread.ofPlatform()
              .start(() -> sent.set(writ.agent("researcher").run("main").ask(Effect.of("mail"))));
      begun.await();
      Run backup =
          Run.of(
              "--home",
              at.toString(),
              "backup",
              "--to",
              dir.resolve("backups").toString(),
              "--without-secrets");
      assertThat(backup.status()).as(backup.err()).isZero();
      end.countDown();
      caller.join();
      assertThat(sent.get().status()).contains(Status.SUCCEEDED);
    }
    Path restored = dir.resolve("restored");
    Run back =
        Run.of(
            "restore",
            "--from",
            dir.resolve("backups").toString(),
            "--home",
            restored.toString(),
            "--keys",
            at.resolve("keys").toString());
    assertThat(back.status()).as(back.err()).isZero();
    try (Writ writ = Writ.at(restored).tool(tool).withoutProcesses().mustExist().open()) {
      Outcome again = writ.agent("researcher").run("main").resubmit(sent.get());
      assertThat(again.status()).contains(Status.IN_DOUBT);
      assertThat(times).hasValue(1);
    }
  }
}

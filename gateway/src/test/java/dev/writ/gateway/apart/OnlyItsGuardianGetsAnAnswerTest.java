package dev.writ.gateway.apart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.Disk;
import dev.writ.executor.Answer;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestExecutor;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestRequest;
import dev.writ.gateway.TestCertificates;
import dev.writ.gateway.http.HopSettings;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.TlsRenewal;
import dev.writ.gateway.http.server.GatewayServer;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.pipeline.ToolObserver;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.WitnessKey;
import dev.writ.ledger.witness.Witness;
import dev.writ.ledger.witness.WitnessStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An executor over HTTP: who is let in, and what a connection that is cut leaves (spec/apart.md).
 */
class OnlyItsGuardianGetsAnAnswerTest {
  private static final ApartSecret SECRET = new ApartSecret(new byte[32]);
  private static final InstantSource CLOCK = InstantSource.system();

  @TempDir Path dir;
  private TestHome home;
  private TestExecutor executor;
  private final Running running = new Running();
  private CrossWitness witness;
  private GatewayServer server;

  @BeforeEach
  void start() {
    home = TestHome.create(dir.resolve("guardian"));
    executor = TestExecutor.of(home, dir.resolve("executor"));
    executor.restartWrapping(running::cancellable);
    NoteKey log = new NoteKey(TestHome.ORIGIN, TestKeys.key("log").verifyingKey());
    witness =
        new CrossWitness(
            Witness.of(
                WitnessStore.open(dir.resolve("witness"), Disk.REAL),
                "writ.example/executor/witness",
                TestKeys.key("witness"),
                List.of(log)),
            log,
            () -> List.of(log),
            new WitnessKey("writ.example/log/witness", TestKeys.key("other").verifyingKey()),
            executor.ledger(),
            executor.direct()::checkpoint,
            dir.resolve("cosigned.txt"),
            CLOCK);
  }

  @AfterEach
  void stop() {
    server.close();
    witness.close();
    executor.close();
    home.close();
  }

  private ExecutorClient client(
      Listen.Protection protection, Optional<HopSettings.Tls> tls, ApartSecret secret) {
    if (server == null) {
      server =
          ExecutorServer.start(
              new Listen("127.0.0.1", 0, protection),
              executor,
              running,
              witness,
              SECRET,
              failure -> {
                throw new AssertionError(failure);
              },
              CLOCK,
              new SecureRandom());
    }
    String url = server.url();
    String address =
        (tls.isPresent() ? "localhost" : "127.0.0.1") + url.substring(url.lastIndexOf(':'));
    return new ExecutorClient(
        new ExecutorSettings(address, tls, Duration.ofMillis(200)),
        secret,
        Duration.ofMillis(200),
        CLOCK);
  }

  @Test
  void withTheSecretOnLoopback() {
    try (ExecutorClient client = client(new Listen.Protection.None(), Optional.empty(), SECRET)) {
      home.restartGuarding(client);
      TestRequest asked = home.ask("alice").tool("mail");
      assertThat(home.submit(asked).served().orElseThrow().receipt().status())
          .isEqualTo(Status.SUCCEEDED);
      executor.driver.refusesToPrepare(new IllegalStateException("no"));
      assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail"))))
          .isEqualTo("EXE-308");
      assertThat(home.kinds("acme", "run-1")).endsWith("effect.refused");
    }
  }

  @Test
  void anEffectGoesOnWhereItsConnectionIsCut() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    executor.driver.does("mail", Behaviours.blocks(begun, goOn));
    TestRequest asked = home.ask("alice").tool("mail");
    ExecutorClient first = client(new Listen.Protection.None(), Optional.empty(), SECRET);
    home.restartGuarding(first);
    Thread caller =
        Thread.ofVirtual()
            .start(() -> assertThat(Refused.code(() -> home.submit(asked))).isEqualTo("EXE-931"));
    begun.await();
    first.close();
    caller.join();
    goOn.countDown();
    try (ExecutorClient second = client(new Listen.Protection.None(), Optional.empty(), SECRET)) {
      home.restartGuarding(second);
      assertThat(home.submit(asked).served().orElseThrow().receipt().status())
          .isEqualTo(Status.SUCCEEDED);
      assertThat(executor.driver.runs()).hasSize(1);
    }
  }

  @Test
  void anEffectThatIsCancelledHereEndsThere() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    executor.driver.does("mail", Behaviours.blocks(begun, never));
    TestRequest asked = home.ask("alice").tool("mail");
    try (ExecutorClient client = client(new Listen.Protection.None(), Optional.empty(), SECRET);
        ExecutorService threads = Executors.newSingleThreadExecutor()) {
      home.restartGuarding(client);
      Running here = new Running(client::cancel);
      Future<Answer> answer =
          threads.submit(() ->
              here.during(
                  asked.id(), "acme", "alice", ToolObserver.NONE, () -> home.submit(asked)));
      begun.await();
      here.cancel(asked.id(), "acme", "alice");
      assertThat(answer.get().served().orElseThrow().receipt().status()).isEqualTo(Status.FAILED);
    }
  }

  @Test
  void withAnotherSecretNobodyIsLetIn() {
    byte[] other = new byte[32];
    other[0] = 1;
    try (ExecutorClient stranger =
        client(new Listen.Protection.None(), Optional.empty(), new ApartSecret(other))) {
      home.restartGuarding(stranger);
      assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail"))))
          .isEqualTo("EXE-930");
      assertThat(home.events("acme", "run-1")).isEmpty();
    }
  }

  @Test
  void offLoopbackBothShowACertificateOfOneAuthority() throws Exception {
    TestCertificates files =
        new TestCertificates(dir)
            .authority("ours")
            .authority("theirs")
            .issue("executor", "/CN=executor", "ours")
            .issue("guardian", "/CN=guardian", "ours")
            .issue("stranger", "/CN=guardian", "theirs");
    Listen.Protection tls =
        new Listen.Protection.Tls(
            files.pem("executor"),
            files.key("executor"),
            Optional.of(new Listen.Clients(files.pem("ours"), true)));
    try (ExecutorClient guardian = client(tls, shown(files, "guardian"), SECRET);
        ExecutorClient stranger = client(tls, shown(files, "stranger"), SECRET)) {
      home.restartGuarding(stranger);
      assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail"))))
          .isEqualTo("EXE-930");
      home.restartGuarding(guardian);
      assertThat(home.submit(home.ask("alice").tool("mail")).served()).isPresent();
    }
  }

  @Test
  void aRenewedCertificateOfTheGuardianIsTakenUp() throws Exception {
    TestCertificates files =
        new TestCertificates(dir)
            .authority("ours")
            .authority("theirs")
            .issue("executor", "/CN=executor", "ours")
            .issue("next", "/CN=guardian", "ours")
            .issue("guardian", "/CN=guardian", "theirs");
    Listen.Protection tls =
        new Listen.Protection.Tls(
            files.pem("executor"),
            files.key("executor"),
            Optional.of(new Listen.Clients(files.pem("ours"), true)));
    List<String> told = new ArrayList<>();
    try (ExecutorClient guardian = client(tls, shown(files, "guardian"), SECRET)) {
      TlsRenewal renewal =
          guardian
              .renewal(
                  new TlsRenewal.Told() {
                    @Override
                    public void renewed(String detail) {
                      told.add("renewed");
                    }

                    @Override
                    public void refused(WritException why) {
                      told.add(why.code().code());
                    }
                  })
              .orElseThrow();
      renewal.look();
      home.restartGuarding(guardian);
      assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail"))))
          .isEqualTo("EXE-930");
      Files.copy(files.pem("next"), files.pem("guardian"), StandardCopyOption.REPLACE_EXISTING);
      renewal.look();
      renewal.look();
      assertThat(told).as("the key of another").containsExactly("GWY-007");
      Files.copy(files.key("next"), files.key("guardian"), StandardCopyOption.REPLACE_EXISTING);
      renewal.look();
      renewal.look();
      assertThat(told).containsExactly("GWY-007", "renewed");
      assertThat(home.submit(home.ask("alice").tool("mail")).served()).isPresent();
    }
  }

  private static Optional<HopSettings.Tls> shown(TestCertificates files, String name) {
    return Optional.of(new HopSettings.Tls(files.pem(name), files.key(name), files.pem("ours")));
  }
}

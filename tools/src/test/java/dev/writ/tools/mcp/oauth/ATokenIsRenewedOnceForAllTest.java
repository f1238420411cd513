package dev.writ.tools.mcp.oauth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.Await;
import dev.writ.sandbox.SecretFile;
import dev.writ.tools.mcp.oauth.OauthSpec.Grant;
import dev.writ.tools.mcp.remote.RemoteSpec;
import dev.writ.tools.mcp.web.WebAddress;
import dev.writ.tools.process.SecretDirectory;
import dev.writ.tools.process.TestHosts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A refresh token counts once: whoever comes second takes what the first one got. */
class ATokenIsRenewedOnceForAllTest {
  private static final String TOKENS = "mcp-crm-oauth";
  private static final int KEEPERS = 8;

  /** Holds the lock, and replaces the tokens before it lets go. */
  private static final String ANOTHER_PROCESS =
      """
      import fcntl, os, sys
      lock = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR, 0o600)
      fcntl.lockf(lock, fcntl.LOCK_EX)
      print("locked", flush=True)
      sys.stdin.readline()
      os.replace(sys.argv[2], sys.argv[3])
      """;

  @TempDir Path dir;
  private TestOauth oauth;
  private SecretDirectory secrets;
  private TestHosts hosts;
  private OauthSpec spec;

  @BeforeEach
  void logIn() {
    oauth = new TestOauth().expiringIn(20); // which is over in 30 s
    secrets = new SecretDirectory(dir.resolve("secrets"));
    hosts = TestHosts.open(secrets, Optional.empty());
    try (OauthWeb web = new OauthWeb(hosts.host().requireSettings(), url())) {
      Login login =
          Login.at(web, new Login.Wish(Optional.empty(), Optional.empty(), List.of(), List.of()));
      String address = login.begin("http://127.0.0.1:1/callback");
      secrets.put(TOKENS, login.finish(oauth.agree(address).orElseThrow()).toBytes());
      spec = login.spec(Grant.AUTHORIZATION_CODE, Optional.empty(), TOKENS);
    }
    oauth.expiringIn(3_600);
  }

  @AfterEach
  void close() {
    hosts.close();
    oauth.close();
  }

  private WebAddress url() {
    return RemoteSpec.requireUrl(oauth.url());
  }

  private TokenKeeper keeper() {
    return new TokenKeeper(
        hosts.host().requireSettings(),
        url(),
        spec,
        secrets,
        List.of(new SecretFile(TOKENS, secrets.read(TOKENS))));
  }

  @Test
  void keepersThatNeedANewTokenAtOnceGetTheSame() throws InterruptedException {
    ConcurrentSkipListSet<String> got = new ConcurrentSkipListSet<>();
    List<Thread> threads =
        IntStream.range(0, KEEPERS)
            .mapToObj(_ -> keeper())
            .map(keeper -> Thread.ofPlatform().unstarted(() -> got.add(keeper.authorization())))
            .toList();
    AtomicInteger asking = new AtomicInteger();
    oauth.atRenewal(() -> {
      asking.incrementAndGet();
      Await.until(() ->
          waiting(threads) >= KEEPERS - 1 || asking.get() != 1); // so that all of them are at it
    });
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(oauth.renewals()).hasSize(1);
    assertThat(got).hasSize(1);
    assertThat(got.getFirst()).isEqualTo("Bearer " + TokenSet.parse(secrets.read(TOKENS)).access());
  }

  private static long waiting(List<Thread> threads) {
    return threads.stream().filter(t -> t.getState() == Thread.State.BLOCKED).count();
  }

  @Test
  void keepersWhoseTokenWasRefusedGetTheSame() {
    TokenKeeper first = keeper();
    first.authorization();
    TokenKeeper second = keeper();
    first.refuse();
    second.refuse();
    assertThat(second.authorization()).isEqualTo(first.authorization());
    assertThat(oauth.renewals()).hasSize(2);
  }

  @Test
  void whatAnotherProcessGotIsTakenAndNothingIsAsked() throws IOException, InterruptedException {
    TokenSet old = TokenSet.parse(secrets.read(TOKENS));
    TokenSet renewed =
        new TokenSet(
            old.issuer(),
            old.resource(),
            old.tokenEndpoint(),
            old.clientId(),
            old.clientSecret(),
            TestOauth.TOKEN + "of-another-process",
            Optional.of(TestOauth.TOKEN + "refresh-of-another-process"),
            Optional.of(TokenEndpoint.now() + 3_600),
            old.secretInForm());
    Path elsewhere = dir.resolve("elsewhere");
    new SecretDirectory(elsewhere).put(TOKENS, renewed.toBytes());
    TokenKeeper keeper = keeper();
    Path lock = dir.resolve("secrets/.lock");
    Process other =
        new ProcessBuilder(
                "python3",
                "-c",
                ANOTHER_PROCESS,
                lock.toString(),
                elsewhere.resolve(TOKENS).toString(),
                dir.resolve("secrets").resolve(TOKENS).toString())
            .start();
    try {
      assertThat(other.inputReader(StandardCharsets.UTF_8).readLine()).isEqualTo("locked");
      ConcurrentSkipListSet<String> got = new ConcurrentSkipListSet<>();
      Thread thread = Thread.ofPlatform().start(() -> got.add(keeper.authorization()));
      Await.until(() -> !thread.isAlive() || isAwaited(lock));
      other.outputWriter(StandardCharsets.UTF_8).append('\n').flush();
      thread.join();
      assertThat(got).containsExactly("Bearer " + renewed.access());
      assertThat(oauth.renewals()).isEmpty();
    } finally {
      other.destroyForcibly();
    }
  }

  /** Whether some process waits for the lock, as the kernel says. */
  private static boolean isAwaited(Path lock) throws IOException {
    String inode = ":" + Files.getAttribute(lock, "unix:ino") + " ";
    return Files.readAllLines(Path.of("/proc/locks")).stream()
        .anyMatch(line -> line.contains("->") && line.contains(inode));
  }
}

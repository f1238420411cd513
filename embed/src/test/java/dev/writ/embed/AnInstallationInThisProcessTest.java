package dev.writ.embed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.StarterPolicy;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.EffectDraft;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import dev.writ.tools.registry.BuiltinTools;
import dev.writ.verify.bundle.Verification;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AnInstallationInThisProcessTest {
  private static final EffectDraft SUM = Effect.of("js").param("source", "6*7");

  @Test
  void whatIsAllowedGivesOutputAndReceipt() {
    try (Writ writ = Writ.inMemory().withoutProcesses().open()) {
      Outcome outcome = writ.agent("researcher").run("main").ask(SUM);
      assertThat(outcome.verdict()).isEqualTo(Verdict.ALLOW);
      assertThat(outcome.status()).contains(Status.SUCCEEDED);
      assertThat(outcome.text()).isEqualTo("42");
      assertThat(outcome.json()).isEqualTo(JsonValue.of(42));
      assertThat(outcome.receiptId().toString()).startsWith("sha256:");
      assertThat(outcome.receipt().orElseThrow().scope().run()).isEqualTo("main");
      assertThat(outcome.code()).isEmpty();
      assertThat(outcome.repeated()).isFalse();
    }
  }

  @Test
  void aDenialIsAValueAndHasNoOutput() {
    try (Writ writ = Writ.inMemory().withoutProcesses().open()) {
      Outcome outcome =
          writ.agent("researcher").run("main").ask(SUM.param("source", "7".repeat(20_001)));
      assertThat(outcome.verdict()).isEqualTo(Verdict.DENY);
      assertThat(outcome.succeeded()).isFalse();
      assertThat(outcome.code()).hasValueSatisfying(code -> assertThat(code).startsWith("GRD-"));
      assertThat(outcome.reason()).contains(outcome.code().orElseThrow());
      assertThat(outcome.guidance().orElseThrow().lines())
          .containsExactly(
              "Look at the argument \"source\": policy requires size(params.source) <= 20000.");
      assertThat(outcome.receipt()).isEmpty();
      assertThatThrownBy(outcome::text).hasMessageContaining("CLI-019");
      assertThatThrownBy(outcome::receiptId)
          .hasMessageContaining("CLI-019")
          .hasMessageContaining(outcome.code().orElseThrow());
    }
  }

  @Test
  void aToolThatFailsHasAReceiptAndNoOutput() {
    try (Writ writ = Writ.inMemory().withoutProcesses().open()) {
      Outcome outcome =
          writ.agent("researcher").run("main").ask(SUM.param("source", "throw new Error('no')"));
      assertThat(outcome.verdict()).isEqualTo(Verdict.ALLOW);
      assertThat(outcome.status()).contains(Status.FAILED);
      assertThat(outcome.reason()).contains("no");
      assertThat(outcome.receiptId()).isNotNull();
      assertThatThrownBy(outcome::bytes).hasMessageContaining("CLI-019");
    }
  }

  @Test
  void whatWaitsIsExecutedOnceItIsApproved() {
    try (Writ writ = Writ.inMemory().withoutProcesses().open()) {
      AgentRun run = writ.agent("researcher").run("main");
      Outcome waiting = run.ask(large());
      assertThat(waiting.verdict()).isEqualTo(Verdict.ESCALATE);
      assertThat(run.resubmit(waiting).verdict()).isEqualTo(Verdict.ESCALATE);
      writ.approver("approver").approve(waiting);
      Outcome done = run.resubmit(waiting);
      assertThat(done.text()).contains("1");
      assertThat(run.resubmit(waiting).receiptId()).isEqualTo(done.receiptId());
      assertThat(run.resubmit(waiting).repeated()).isTrue();
    }
  }

  @Test
  void whatIsRejectedStaysDenied() {
    try (Writ writ = Writ.inMemory().withoutProcesses().open()) {
      AgentRun run = writ.agent("researcher").run("main");
      Outcome waiting = run.ask(large());
      writ.approver("approver").reject(waiting);
      assertThat(run.resubmit(waiting).verdict()).isEqualTo(Verdict.DENY);
      assertThatThrownBy(() -> writ.approver("approver").approve(waiting))
          .hasMessageContaining("EXE-908");
    }
  }

  @Test
  void anApproverOfSeveralRolesIsToldSo() {
    String yaml =
        StarterPolicy.text(
                new Home.Names("local", "researcher", "approver"), BuiltinTools.manifests())
            .replace("roles: [reviewer]", "roles: [lead, reviewer]");
    try (Writ writ = Writ.inMemory().policy(yaml).withoutProcesses().open()) {
      Outcome waiting = writ.agent("researcher").run("main").ask(large());
      assertThatThrownBy(() -> writ.approver("approver").approve(waiting))
          .hasMessageContaining("CLI-020")
          .hasMessageContaining("lead");
    }
  }

  /** More output than the starter policy lets go without a reviewer. */
  private static EffectDraft large() {
    return Effect.of("sql")
        .param("sql", "select 1 as one")
        .resources(
            new EffectDraft.Declared(
                Optional.empty(), Optional.empty(), Optional.of(2L << 20), Optional.empty()));
  }

  @Test
  void anIdempotencyKeyIsExecutedOnceAndAnInputIsRead() {
    try (Writ writ = Writ.inMemory().withoutProcesses().open()) {
      AgentRun run = writ.agent("researcher").run("main");
      Input text =
          run.put(
              "text",
              "text/plain",
              new ByteArrayInputStream("a b c".getBytes(StandardCharsets.UTF_8)));
      AgentRun.AskOptions once = AgentRun.AskOptions.NONE.once("count-it");
      Outcome first = run.ask(Effect.of("word-count").input(text), once);
      assertThat(first.text()).contains("3");
      Outcome second = run.ask(Effect.of("word-count").input(text), once);
      assertThat(second.receiptId()).isEqualTo(first.receiptId());
      assertThat(second.repeated()).isTrue();
    }
  }

  @Test
  void aToolThatIsNotThereSaysWhichAre() {
    try (Writ writ = Writ.inMemory().withoutProcesses().open()) {
      AgentRun run = writ.agent("researcher").run("main");
      assertThatThrownBy(() -> run.ask(Effect.of("jss")))
          .hasMessageContaining("CLI-015")
          .hasMessageContaining("word-count");
      assertThatThrownBy(() -> writ.agent("nobody")).hasMessageContaining("CLI-024");
    }
  }

  @Test
  void itIsTheCommandLinesDirectoryAndOpensAgain(@TempDir Path dir) {
    Path home = dir.resolve("writ-data");
    try (Writ writ = Writ.at(home).withoutProcesses().open()) {
      writ.agent("researcher").run("main").ask(SUM);
      assertThatThrownBy(() -> Writ.at(home).withoutProcesses().open())
          .hasMessageContaining("LED-003");
    }
    assertThat(home.resolve("policy.yaml")).exists();
    try (Writ writ = Writ.at(home).withoutProcesses().mustExist().open()) {
      assertThat(writ.agent("researcher").run("main").ask(SUM).receipt().orElseThrow().lamport())
          .isEqualTo(2);
    }
    assertThatThrownBy(() -> Writ.at(dir.resolve("none")).mustExist().open())
        .hasMessageContaining("CLI-010");
    assertThat(dir.resolve("none")).doesNotExist();
  }

  @Test
  void oneInMemoryIsGoneWhenItIsClosed() {
    Path directory;
    try (Writ writ = Writ.inMemory().withoutProcesses().open()) {
      directory = writ.directory();
      assertThat(directory.resolve("policy.yaml")).exists();
    }
    assertThat(directory.getParent()).doesNotExist();
  }

  @Test
  void keysOfTheCallersOwnAreWrittenNowhere(@TempDir Path dir) throws Exception {
    SecureRandom random = new SecureRandom();
    SigningKey guardian = SigningKey.generateEd25519(random);
    SigningKey agent = SigningKey.generateEd25519(random);
    Path home = dir.resolve("w");
    try (Writ writ =
        Writ.at(home)
            .key("guardian", guardian)
            .key("researcher", agent)
            .withoutProcesses()
            .open()) {
      assertThat(writ.agent("researcher").run("main").ask(SUM).decision().holder())
          .isEqualTo(agent.kid());
    }
    assertThat(home.resolve("keys/guardian.pem")).doesNotExist();
    assertThat(home.resolve("keys/executor.pem")).exists();
    assertThatThrownBy(() -> Writ.at(home).withoutProcesses().open())
        .hasMessageContaining("CAN-070");
    try (Writ writ =
        Writ.at(home)
            .key("guardian", SigningKey.generateEd25519(random)) // another one, not enrolled
            .key("researcher", agent)
            .withoutProcesses()
            .open()) {
      AgentRun run = writ.agent("researcher").run("main");
      assertThatThrownBy(() -> run.ask(SUM)).hasMessageContaining("EXE-912");
    }
  }

  @Test
  void aKeyForNobodyIsRefusedBeforeAnotherIsMadeInItsPlace(@TempDir Path dir) {
    SigningKey key = SigningKey.generateEd25519(new SecureRandom());
    Path home = dir.resolve("w");
    assertThatThrownBy(() -> Writ.at(home).key("gaurdian", key).withoutProcesses().open())
        .hasMessageContaining("CLI-013")
        .hasMessageContaining("\"gaurdian\" is given, and keys are made for [operator, ");
    assertThat(dir).isEmptyDirectory();
  }

  @Test
  void namesThatNoTwoKeysCanHaveAreRefused(@TempDir Path dir) {
    Path home = dir.resolve("w");
    for (List<String> names :
        List.of(
            List.of("ada", "ada"),
            List.of("guardian", "ada"),
            List.of("a/b", "ada"),
            List.of("", "ada"),
            List.of("ada", "operator.next"))) {
      assertThatThrownBy(
              () -> Writ.at(home).names("t", names.get(0), names.get(1)).withoutProcesses().open())
          .hasMessageContaining("CLI-013")
          .message()
          .doesNotContain(".partial");
    }
    assertThatThrownBy(() -> Writ.at(home).names("t", "ada", null))
        .hasMessage("name of an approver");
    assertThat(dir).isEmptyDirectory();
  }

  @Test
  void theClockIsTheCallers() {
    AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-11-21T12:00:00Z"));
    Instant start = now.get();
    try (Writ writ =
        Writ.inMemory()
            .clock(now::get, () -> Duration.between(start, now.get()).toNanos())
            .withoutProcesses()
            .open()) {
      AgentRun run = writ.agent("researcher").run("main");
      assertThat(run.ask(SUM).receipt().orElseThrow().startedAt()).isEqualTo(start);
      now.set(start.plus(Duration.ofDays(3)));
      assertThat(run.ask(SUM).receipt().orElseThrow().startedAt()).isEqualTo(now.get());
    }
  }

  @Test
  void aNewPolicyHoldsAtOnce() {
    try (Writ writ = Writ.inMemory().withoutProcesses().open()) {
      AgentRun run = writ.agent("researcher").run("main");
      String yaml =
          StarterPolicy.text(
              new Home.Names("local", "researcher", "approver"), BuiltinTools.manifests());
      assertThat(run.ask(SUM).succeeded()).isTrue();
      writ.activate(yaml.replace("size(params.source) <= 20000", "size(params.source) <= 2"));
      assertThat(run.ask(SUM).verdict()).isEqualTo(Verdict.DENY);
      assertThat(writ.policy().get("version")).isEqualTo(JsonValue.of(2));
    }
  }

  @Test
  void aClosedRunTakesNothingMore() {
    try (Writ writ = Writ.inMemory().withoutProcesses().open()) {
      AgentRun run = writ.agent("researcher").run("main");
      run.ask(SUM);
      assertThat(run.close().size()).isPositive();
      assertThatThrownBy(() -> run.ask(SUM)).hasMessageContaining("EXE-901");
    }
  }

  @Test
  void aRunIsExportedVerifiedAndReplayed(@TempDir Path dir) throws Exception {
    Path file = dir.resolve("main.writ");
    Trust trust;
    try (Writ writ =
        Writ.inMemory()
            .tool(
                JavaTool.of(
                    "now",
                    "1.0.0",
                    "{\"type\":\"object\"}",
                    "{}",
                    _ -> JsonValue.of(Long.toString(System.nanoTime()))))
            .withoutProcesses()
            .open()) {
      AgentRun run = writ.agent("researcher").run("main");
      run.ask(SUM);
      run.ask(Effect.of("now"));
      run.close();
      run.export(file);
      assertThatThrownBy(() -> run.export(file)).hasMessageContaining("CLI-023");
      trust = writ.trust();
    }
    Verification verification = Bundles.verify(file, Optional.of(trust));
    assertThat(verification.failure()).isEmpty();
    assertThat(verification.pinned()).isTrue();
    assertThat(verification.state()).isEqualTo("closed");
    assertThat(Bundles.replay(file, Optional.of(trust)).state()).isEqualTo("COMPLETE");

    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 1;
    Files.write(file, bytes);
    assertThat(Bundles.verify(file, Optional.of(trust)).holds()).isFalse();
    assertThat(Bundles.replay(file, Optional.of(trust)).state()).isEqualTo("INVALID");
  }

  @Test
  void itServesManyVirtualThreadsAtOnce() throws Exception {
    try (Writ writ = Writ.inMemory().withoutProcesses().open();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Agent agent = writ.agent("researcher");
      List<Future<Outcome>> all = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        int n = i;
        all.add(
            threads.submit(
                () -> agent.run("run-" + n % 4).ask(Effect.of("js").param("source", n + "+1"))));
      }
      for (int i = 0; i < all.size(); i++) {
        assertThat(all.get(i).get().text()).isEqualTo(Integer.toString(i + 1));
      }
    }
  }
}

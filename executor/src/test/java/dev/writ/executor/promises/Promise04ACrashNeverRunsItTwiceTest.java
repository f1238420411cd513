package dev.writ.executor.promises;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.document.Resolution.Found;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Forgery;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Promise 4: a crash never runs an impure effect twice. What was dispatched and not finished
 * becomes IN_DOUBT, with a receipt, until an operator resolves it by a signed statement. A restored
 * backup is detected. The processes that are killed here are real.
 */
@Timeout(300)
class Promise04ACrashNeverRunsItTwiceTest {
  @TempDir Path dir;

  /** What a process left behind that was killed in the middle of {@link #REQUESTS}. */
  @TempDir static Path killed;

  /** By their runs, in the order of their dispatch; {@code calc} is pure, the others are not. */
  private static final LinkedHashMap<String, List<TestRequest>> REQUESTS = new LinkedHashMap<>();

  private static final int IMPURE = 5;

  @BeforeAll
  static void kill() {
    try (TestHome home = TestHome.create(killed)) {
      for (String tool : List.of("mail", "sim", "calc")) {
        REQUESTS.put(tool, List.of(home.ask("alice").tool(tool).run(tool)));
      }
      REQUESTS.put("twice", List.of(mail(home, "twice", 3), mail(home, "twice", 1)));
      REQUESTS.put("once", List.of(mail(home, "once", 2)));
    }
    List<byte[]> bytes = requests().map(TestRequest::bytes).toList();
    try (KilledKernel child = KilledKernel.hanging(killed, bytes)) {
      bytes.forEach(_ -> assertThat(child.next()).isEqualTo("running"));
    }
  }

  private static TestRequest mail(TestHome home, String run, int n) {
    return home.ask("alice").tool("mail").run(run).params("{\"n\":" + n + "}");
  }

  private static Stream<TestRequest> requests() {
    return REQUESTS.values().stream().flatMap(List::stream);
  }

  private static TestRequest request(String run) {
    return REQUESTS.get(run).getFirst();
  }

  /** Starts again, on a copy. */
  private TestHome started() throws IOException {
    Path copy = dir.resolve("started");
    copy(killed, copy);
    return TestHome.open(copy);
  }

  @ParameterizedTest
  @ValueSource(strings = {"mail", "sim"})
  void an_impure_effect_is_in_doubt_and_never_runs_again(String tool) throws IOException {
    TestRequest request = request(tool);
    try (TestHome home = started()) {
      assertThat(home.kinds("acme", tool)).endsWith("effect.dispatched", "receipt.signed");
      Served doubtful = home.submit(request).served().orElseThrow();
      assertThat(doubtful.receipt().status()).isEqualTo(Status.IN_DOUBT);
      assertThat(doubtful.receipt().reason()).isEqualTo("in-doubt");
      assertThat(doubtful.receipt().lamport()).isEqualTo(1);
      assertThat(doubtful.receipt().prev()).isEqualTo(home.events("acme", tool).getFirst().id());
      assertThat(doubtful.resolution()).isEmpty();
      home.restart();
      assertThat(home.submit(request).served().orElseThrow().id()).isEqualTo(doubtful.id());
      assertThat(home.driver.runs()).isEmpty();
      charged(home);
      assertThat(home.fsck().problems()).isEmpty();
    }
  }

  private static void charged(TestHome home) {
    Decision next = home.decide(home.ask("alice").tool("mail").run("r2").sign()).decision();
    assertThat(JudgeInputs.read(next.inputs()).balances())
        .filteredOn(b -> b.budget().equals("calls"))
        .allMatch(b -> b.reserved() == IMPURE && b.used() == 0)
        .hasSize(1);
  }

  @Test
  void a_resolution_stands_beside_the_receipt_and_lets_the_run_be_closed() throws IOException {
    TestRequest request = request("mail");
    try (TestHome home = started()) {
      Served doubtful = home.submit(request).served().orElseThrow();
      Envelope close = home.close("acme", "mail", "alice");
      assertThat(Refused.code(() -> home.kernel().closeRun(close))).isEqualTo("EXE-903");
      Envelope resolution = home.resolution(doubtful, Found.HAPPENED);
      refusesForgedResolutions(home, resolution);
      assertThat(Refused.code(() -> home.kernel().closeRun(close))).isEqualTo("EXE-903");
      home.kernel().resolve(resolution);
      Served resolved = home.submit(request).served().orElseThrow();
      assertThat(resolved.envelope().toBytes()).isEqualTo(doubtful.envelope().toBytes());
      assertThat(resolved.resolution().orElseThrow().toBytes()).isEqualTo(resolution.toBytes());
      assertThat(Resolution.read(resolved.resolution().get().document()).found())
          .isEqualTo(Found.HAPPENED);
      Envelope other = home.resolution(doubtful, Found.DID_NOT_HAPPEN);
      assertThat(Refused.code(() -> home.kernel().resolve(other))).isEqualTo("EXE-910");
      home.restart();
      assertThat(home.kernel().receipt("acme", doubtful.id()).resolution()).isPresent();
      home.kernel().closeRun(close);
      assertThat(home.kinds("acme", "mail")).endsWith("doubt.resolved", "run.closed");
      assertThat(home.driver.runs()).isEmpty();
      charged(home);
    }
  }

  private static void refusesForgedResolutions(TestHome home, Envelope resolution) {
    for (String key : List.of("alice", "rita", "executor", "owner", "unknown")) {
      assertThat(Refused.code(() -> home.kernel().resolve(Forgery.signedBy(resolution, key))))
          .isIn("CAN-052", "CAN-053");
    }
    for (Forgery.Change change : Forgery.changes(resolution)) {
      Envelope forged = Forgery.keepingSignatures(resolution, change.document());
      assertThat(Refused.code(() -> home.kernel().resolve(forged)))
          .as(change.what())
          .isEqualTo("CAN-060");
    }
    for (String note : List.of("seen\nby: rita", "\u001b[2J", "\u202e", " ", "x".repeat(1001))) {
      JsonValue.Obj document = Forgery.with(resolution, "note", JsonValue.of(note));
      Envelope unseen = Forgery.signedBy(resolution, document, "operator");
      assertThat(Refused.code(() -> home.kernel().resolve(unseen))).isEqualTo("CAN-023");
    }
    home.enrol(TestKeys.trusted("other-operator", KeyRole.OPERATOR, Optional.of("other")));
    Envelope foreign = Forgery.signedBy(resolution, "other-operator");
    assertThat(Refused.code(() -> home.kernel().resolve(foreign))).isEqualTo("EXE-905");
  }

  @Test
  void a_second_resolution_behind_a_failed_write_is_told_that_the_ledger_has_stopped()
      throws IOException {
    TestRequest request = request("mail");
    try (TestHome home = started()) {
      Served doubtful = home.submit(request).served().orElseThrow();
      home.beforeWrite(() -> {
        throw new WritException(LedgerError.STORAGE, "for a test");
      });
      Envelope resolution = home.resolution(doubtful, Found.HAPPENED);
      assertThat(Refused.code(() -> home.kernel().resolve(resolution))).isEqualTo("LED-008");
      Envelope other = home.resolution(doubtful, Found.DID_NOT_HAPPEN);
      assertThat(Refused.code(() -> home.kernel().resolve(other))).isEqualTo("LED-022");
      home.beforeWrite(() -> {});
      home.restart();
      home.kernel().resolve(other);
      assertThat(home.kernel().receipt("acme", doubtful.id()).resolution()).isPresent();
    }
  }

  @Test
  void only_what_is_in_doubt_can_be_resolved() {
    try (TestHome home = TestHome.create(dir)) {
      Served served = home.submit(home.ask("alice").tool("mail")).served().orElseThrow();
      Envelope resolution = home.resolution(served, Found.CANNOT_BE_KNOWN);
      assertThat(Refused.code(() -> home.kernel().resolve(resolution))).isEqualTo("EXE-909");
    }
  }

  @Test
  void several_are_in_doubt_in_the_order_of_their_dispatch() throws IOException {
    try (TestHome home = started()) {
      List<Event> log = home.log();
      List<String> dispatched = ids(home, log, "effect.dispatched", "request");
      assertThat(dispatched)
          .hasSize(IMPURE)
          .containsExactlyElementsOf(
              requests()
                  .filter(request -> request != request("calc"))
                  .map(request -> request.id().toString())
                  .toList());
      assertThat(ids(home, log, "receipt.signed", "request")).isEqualTo(dispatched);
      assertThat(ids(home, log, "receipt.signed", "lamport"))
          .containsExactly("1", "1", "1", "2", "1");
      assertThat(home.driver.runs()).isEmpty();
    }
  }

  private static List<String> ids(TestHome home, List<Event> log, String kind, String member) {
    return log.stream()
        .filter(e -> e.kind().equals(kind))
        .map(e -> (JsonValue.Obj) home.document(e.body()).document())
        .map(o ->
            o.get(member) instanceof JsonValue.Str s
                ? s.value()
                : String.valueOf((long) ((JsonValue.Num) o.get(member)).value()))
        .toList();
  }

  @Test
  void a_pure_effect_leaves_nothing_and_runs_again() throws IOException {
    TestRequest request = request("calc");
    try (TestHome home = started()) {
      assertThat(home.kinds("acme", "calc")).isEmpty();
      Served served = home.submit(request).served().orElseThrow();
      assertThat(served.receipt().status()).isEqualTo(Status.SUCCEEDED);
      assertThat(served.repeated()).isFalse();
      assertThat(home.driver.runs()).hasSize(1);
    }
  }

  @Test
  void a_recovery_that_is_cut_off_itself_goes_on_at_the_next_start() {
    try (TestHome home = TestHome.create(dir)) {
      home.restartWith(Faults::signingFails);
      for (int n = 0; n < 3; n++) {
        TestRequest request = home.ask("alice").tool("mail").params("{\"n\":" + n + "}");
        assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-801");
      }
      for (int done = 0; done < 3; done++) {
        AtomicInteger writes = new AtomicInteger();
        home.beforeWrite(() -> {
          if (writes.incrementAndGet() == 2) {
            throw new WritException(LedgerError.DISK_FULL, "for a test");
          }
        });
        if (done < 2) {
          assertThat(Refused.code(() -> home.restartWith(e -> e))).isEqualTo("LED-005");
        } else {
          home.restartWith(e -> e);
        }
      }
      assertThat(home.kinds("acme", "run-1")).filteredOn("receipt.signed"::equals).hasSize(3);
      assertThat(home.runState("acme", "run-1").unfinished().inDoubt()).isEqualTo(3);
      assertThat(home.runState("acme", "run-1").unfinished().running()).isZero();
      assertThat(home.driver.runs()).hasSize(3);
    }
  }

  @Test
  void a_restored_backup_is_detected() throws IOException {
    Path backup = dir.resolve("backup");
    try (TestHome home = TestHome.create(dir)) {
      home.stop();
      copy(home.ledgerConfig().dir(), backup);
      home.restart();
      home.submit(home.ask("alice").tool("mail"));
      home.stop();
      delete(home.ledgerConfig().dir());
      copy(backup, home.ledgerConfig().dir());
      assertThat(Refused.code(home::restart)).isEqualTo("LED-011");
      Files.delete(home.ledgerConfig().anchor());
      assertThat(Refused.code(home::restart)).isEqualTo("LED-010");
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.sorted().toList()) {
        Files.copy(file, to.resolve(from.relativize(file).toString()));
      }
    }
  }

  private static void delete(Path dir) throws IOException {
    try (Stream<Path> files = Files.walk(dir)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}

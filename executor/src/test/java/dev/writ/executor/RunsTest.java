package dev.writ.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Forgery;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.error.LedgerError;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
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

/** Runs: who opens, appends and closes them; their chain; tenants apart; the clock; the keys. */
class RunsTest {
  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = TestHome.create(dir);
  }

  @AfterEach
  void stop() {
    assertThat(home.fsck().problems()).isEmpty();
    home.close();
  }

  private Receipt serve(TestRequest request) {
    return home.submit(request).served().orElseThrow().receipt();
  }

  private String closing(String run, String agent) {
    return Refused.code(() -> home.kernel().closeRun(home.close("acme", run, agent)));
  }

  @Test
  void receipts_form_a_chain_and_lamport_counts_what_is_consumed() {
    Served first = home.submit(home.ask("alice")).served().orElseThrow();
    Served second = home.submit(home.ask("alice").tool("mail")).served().orElseThrow();
    home.restart();
    Served third = home.submit(home.ask("alice").tool("sim")).served().orElseThrow();
    assertThat(first.receipt().prev()).isEqualTo(home.events("acme", "run-1").getFirst().id());
    assertThat(second.receipt().prev()).isEqualTo(first.id());
    assertThat(third.receipt().prev()).isEqualTo(second.id());
    assertThat(third.receipt().lamport()).isEqualTo(3);
    assertThat(Refused.code(() -> home.submit(home.ask("bob").run("b").consumes(third.id()))))
        .isEqualTo("EXE-307"); // of the tenant, and not the subject's
    Served other =
        home.submit(home.ask("alice").run("b").consumes(third.id()).consumes(first.id()))
            .served()
            .orElseThrow();
    assertThat(other.receipt().lamport()).isEqualTo(4);
    assertThat(serve(home.ask("alice").run("b")).lamport()).isEqualTo(5);
    assertThat(serve(home.ask("alice").consumes(other.id())).lamport()).isEqualTo(5);
    assertThat(serve(home.ask("alice").consumes(first.id())).lamport()).isEqualTo(6);
  }

  @Test
  void a_receipt_names_the_region_of_who_wrote_it() {
    assertThat(serve(home.ask("alice")).region()).isEmpty();
    home.restartIn("eu-1");
    Served european = home.submit(home.ask("alice")).served().orElseThrow();
    assertThat(european.receipt().region()).contains("eu-1");
    TestRequest lost = home.ask("alice").tool("mail");
    home.driver.does(
        "mail",
        invocation -> {
          home.crash();
          return Behaviours.echo(invocation);
        });
    home.submit(lost);
    home.startAgainIfCrashed();
    home.restartIn("us-2");
    Receipt found = serve(lost);
    assertThat(found.status()).isEqualTo(Status.IN_DOUBT);
    assertThat(found.region()).contains("eu-1"); // recovery ran there, before the last restart
    assertThat(home.kernel().receipt("acme", european.id()).envelope().toBytes())
        .isEqualTo(european.envelope().toBytes());
    assertThat(serve(home.ask("alice")).region()).contains("us-2");
  }

  @Test
  void a_consumed_receipt_needs_no_output_at_hand() {
    Served dropped = home.submit(home.ask("alice").dropOutput()).served().orElseThrow();
    assertThat(serve(home.ask("alice").consumes(dropped.id())).lamport()).isEqualTo(2);
  }

  @Test
  void an_unknown_and_a_foreign_receipt_answer_alike() {
    Served foreign = home.submit(home.ask("eve")).served().orElseThrow();
    Digest unknown = Digest.sha256(new byte[] {1});
    Digest noReceipt = home.submit(home.ask("alice")).decisionEnvelope().id();
    for (Digest id : List.of(foreign.id(), unknown, noReceipt)) {
      assertThat(Refused.code(() -> home.submit(home.ask("alice").consumes(id))))
          .isEqualTo("EXE-307");
      assertThat(Refused.code(() -> home.kernel().receipt("acme", id))).isEqualTo("EXE-905");
    }
    assertThat(home.kernel().receipt("other", foreign.id()).id()).isEqualTo(foreign.id());
    assertThat(home.driver.runs()).hasSize(2);
  }

  @Test
  void an_input_is_read_from_the_tenants_own_store_alone() {
    byte[] bytes = "the input".getBytes(StandardCharsets.UTF_8);
    Content content =
        home.kernel().contents().put("other", new ByteArrayInputStream(bytes), "text/plain");
    TestRequest request = home.ask("alice").tool("mail").input("in", content.digest(), 9);
    assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-306");
    TestRequest unknown = home.ask("alice").tool("mail").input("in", Digest.sha256(new byte[0]), 0);
    assertThat(Refused.code(() -> home.submit(unknown))).isEqualTo("EXE-306");
    home.kernel().contents().put("acme", new ByteArrayInputStream(bytes), "text/plain");
    TestRequest wrongSize = home.ask("alice").tool("mail").input("in", content.digest(), 8);
    assertThat(Refused.code(() -> home.submit(wrongSize))).isEqualTo("EXE-306");
    assertThat(home.driver.runs()).isEmpty();
    home.driver.does(
        "mail",
        invocation -> {
          try (var in = invocation.content().open(invocation.inputs().getFirst())) {
            assertThat(in.readAllBytes()).isEqualTo(bytes);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
          return Behaviours.echo(invocation);
        });
    // What was refused for want of its input is judged anew once that is there.
    assertThat(serve(request).code()).isEmpty();
  }

  @Test
  void one_tenants_run_is_not_anothers_and_only_its_opener_appends() {
    serve(home.ask("alice"));
    serve(home.ask("eve"));
    assertThat(home.kinds("acme", "run-1")).hasSize(7);
    assertThat(home.kinds("other", "run-1")).hasSize(7);
    assertThat(Refused.code(() -> home.submit(home.ask("bob")))).isEqualTo("EXE-902");
    home.restart();
    assertThat(Refused.code(() -> home.submit(home.ask("bob")))).isEqualTo("EXE-902");
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tenant("other"))))
        .isEqualTo("GRD-003");
    assertThat(home.rows("account")).hasSize(2);
  }

  @Test
  void a_run_is_closed_by_its_opener_alone_and_nothing_follows() {
    TestRequest request = home.ask("alice");
    Receipt served = serve(request);
    assertThat(closing("run-1", "bob")).isEqualTo("EXE-902");
    assertThat(closing("run-1", "eve")).isEqualTo("EXE-905");
    assertThat(closing("run-9", "alice")).isEqualTo("EXE-905");
    Answer decided = home.decide(home.ask("alice").sign());
    Answer impure = home.decide(home.ask("alice").tool("mail").sign());
    home.kernel().closeRun(home.close("acme", "run-1", "alice"));
    home.restart();
    assertThat(closing("run-1", "alice")).isEqualTo("EXE-901");
    assertThat(Refused.code(() -> home.submit(home.ask("alice")))).isEqualTo("EXE-901");
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-901");
    assertThat(Refused.code(() -> home.execute(impure, "alice"))).isEqualTo("EXE-901");
    assertThat(home.kinds("acme", "run-1")).endsWith("run.closed").containsOnlyOnce("run.closed");
    assertThat(home.driver.runs()).hasSize(1);
    // What it holds is still served.
    assertThat(home.submit(request).served().orElseThrow().receipt()).isEqualTo(served);
  }

  @Test
  void a_run_is_not_closed_while_something_waits_or_runs() throws Exception {
    Envelope pay = home.ask("alice").tool("pay").sign();
    home.submit(pay);
    assertThat(closing("run-1", "alice")).isEqualTo("EXE-903");
    home.reject(pay, "rita");
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    home.driver.does("mail", Behaviours.blocks(begun, goOn));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Answer> running = threads.submit(() -> home.submit(home.ask("alice").tool("mail")));
      begun.await();
      assertThat(closing("run-1", "alice")).isEqualTo("EXE-903");
      goOn.countDown();
      assertThat(running.get().served()).isPresent();
    }
    home.kernel().closeRun(home.close("acme", "run-1", "alice"));
  }

  @Test
  void an_old_request_to_close_does_not_close() {
    serve(home.ask("alice"));
    Envelope close = home.close("acme", "run-1", "alice");
    home.clock.forward(Duration.ofSeconds(301));
    assertThat(Refused.code(() -> home.kernel().closeRun(close))).isEqualTo("EXE-112");
    Envelope early =
        Envelope.sign(
            RunClose.TYPE,
            new RunClose("acme", "run-1", home.clock.instant().plusMillis(2001)).toJson(),
            TestKeys.key("alice"));
    assertThat(Refused.code(() -> home.kernel().closeRun(early))).isEqualTo("EXE-112");
  }

  @Test
  void a_closed_run_has_its_checkpoint_also_when_the_process_ended_in_between() {
    serve(home.ask("alice"));
    int[] writes = {0};
    home.beforeWrite(() -> {
      if (++writes[0] == 2) {
        throw new WritException(LedgerError.DISK_FULL, "for a test");
      }
    });
    assertThat(closing("run-1", "alice")).isEqualTo("LED-005");
    home.beforeWrite(() -> {});
    home.restart();
    assertThat(home.kinds("acme", "run-1")).endsWith("run.closed");
    String row =
        new String(
            home.ledger().get("closed", "acme\u001frun-1").orElseThrow(),
            StandardCharsets.US_ASCII);
    long size = Long.parseLong(row, 16);
    assertThat(home.ledger().checkpoint(size)).isPresent();
    assertThat(size).isGreaterThanOrEqualTo(home.ledger().treeSize());
  }

  @Test
  void a_clock_that_goes_back_refuses_until_it_is_set() {
    serve(home.ask("alice"));
    home.clock.back(Duration.ofMillis(2000));
    assertThat(serve(home.ask("alice")).finishedAt()).isEqualTo(TestHome.START);
    home.clock.back(Duration.ofMillis(1));
    TestRequest request = home.ask("alice").tool("mail");
    long size = home.ledger().treeSize();
    assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-904");
    assertThat(Refused.code(() -> home.decide(request.sign()))).isEqualTo("EXE-904");
    assertThat(closing("run-1", "alice")).isEqualTo("EXE-904");
    assertThat(Refused.code(home::restart)).isEqualTo("EXE-904");
    home.clock.set(TestHome.START);
    home.restart();
    assertThat(home.ledger().treeSize()).isEqualTo(size);
    assertThat(serve(request).code()).isEmpty();
  }

  @Test
  void keys_are_enrolled_and_revoked_live_and_for_good() {
    assertThat(Refused.code(() -> home.submit(home.ask("alice").signedBy("alice-2"))))
        .isEqualTo("CAN-052");
    home.enrol(
        new TrustedKey(
            TestKeys.key("alice-2").verifyingKey(),
            KeyRole.AGENT,
            Optional.of("acme"),
            "alice",
            TestHome.START,
            Optional.empty(),
            Optional.empty()));
    serve(home.ask("alice").signedBy("alice-2").run("r2"));
    Answer decided = home.decide(home.ask("alice").tool("mail").sign());
    home.revoke("alice");
    assertThat(Refused.code(() -> home.submit(home.ask("alice")))).isEqualTo("CAN-055");
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("CAN-055");
    home.restart();
    assertThat(Refused.code(() -> home.submit(home.ask("alice")))).isEqualTo("CAN-055");
    serve(home.ask("alice").signedBy("alice-2").run("r2"));
    assertThat(Refused.code(() -> home.enrol(TestKeys.PARTIES.get(4).trusted())))
        .isEqualTo("CAN-056");
    assertThat(
            Refused.code(
                () -> home.enrol(TestKeys.trusted("intruder", KeyRole.AGENT, Optional.of("writ")))))
        .isEqualTo("EXE-004");
  }

  @Test
  void policies_follow_one_another() {
    var yaml = TestPolicy.YAML;
    var first = TestPolicy.first(yaml, home.tools);
    assertThat(Refused.code(() -> home.kernel().activate(home.signed(first)))).isEqualTo("EXE-906");
    var second = TestPolicy.after(home.policy(), yaml, home.tools);
    home.kernel().activate(home.signed(second));
    assertThat(Refused.code(() -> home.kernel().activate(home.signed(second))))
        .isEqualTo("EXE-906");
    home.restart();
    assertThat(home.policy().version()).isEqualTo(2);
    assertThat(home.policy().digest()).isEqualTo(second.digest());
  }

  /** The ledger keeps the first envelope of a payload: a forged one must not be it. */
  @Test
  void evidence_that_is_forged_does_not_stand_in_the_way_of_the_true_document() {
    var next = home.signed(TestPolicy.after(home.policy(), TestPolicy.YAML, home.tools));
    Envelope forged = Forgery.signedBy(next, "alice");
    assertThat(forged.id()).isEqualTo(next.id());
    byte[] request = home.ask("alice").evidence(List.of(next.id())).bytes();
    assertThat(Refused.code(() -> home.kernel().submit(request, List.of(forged))))
        .isEqualTo("EXE-971");
    home.kernel().activate(next);
    home.restart();
    assertThat(home.policy().version()).isEqualTo(2);
    assertThat(home.document(next.id()).toBytes()).isEqualTo(next.toBytes());
  }
}

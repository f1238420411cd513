package dev.writ.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.apart.ApartOrder;
import dev.writ.executor.apart.ApartOrder.Dispatching;
import dev.writ.executor.apart.CarriedEvents;
import dev.writ.executor.apart.ChainEnd;
import dev.writ.executor.apart.OrderEnded;
import dev.writ.executor.apart.OrderPrepared;
import dev.writ.executor.apart.RunKnown;
import dev.writ.executor.apart.SystemHead;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.ReadEvent;
import dev.writ.executor.document.RunClosing;
import dev.writ.executor.stage.Served;
import dev.writ.executor.stage.Stage;
import dev.writ.executor.stage.StageObserver;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Forgery;
import dev.writ.fixture.Refused;
import dev.writ.fixture.SeededRandom;
import dev.writ.fixture.TestExecutor;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.policy.retention.ContentClass;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.ledger.CommitObserver;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Guardian and executor apart, one of which says what is not so: what the other one refuses, with
 * which code, and that nothing of it is recorded (spec/apart.md).
 */
class NeitherSideBelievesTheOtherTest {
  private static final RunId RUN = new RunId("acme", "run-1");

  @TempDir Path dir;
  private TestHome home;
  private TestExecutor executor;

  @BeforeEach
  void start() {
    home = TestHome.create(dir.resolve("guardian"));
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    executor = TestExecutor.of(home, dir.resolve("executor"));
  }

  @AfterEach
  void stop() {
    assertThat(home.fsck().problems()).isEmpty();
    executor.close();
    home.close();
  }

  // What a guardian is told.

  /** The executor's receipt with a member changed, or removed, and signed by that key. */
  private static UnaryOperator<OrderEnded> receipt(
      String member, Optional<JsonValue> value, String signer) {
    return ended -> {
      TreeMap<String, JsonValue> members =
          new TreeMap<>(((JsonValue.Obj) ended.receipt().document()).members());
      value.ifPresentOrElse(given -> members.put(member, given), () -> members.remove(member));
      return new OrderEnded(
          Forgery.signedBy(ended.receipt(), new JsonValue.Obj(members), signer), ended.contents());
    };
  }

  /** It was done, and a code of the disk would say that it was not. */
  @Test
  void an_effect_whose_contents_the_guardian_cannot_store_is_awaited() {
    executor.driver.does("mail", Behaviours.huge(70_000)); // in a file of its own
    Path spool = dir.resolve("guardian/data/blobs/new");
    executor.saysAtTheEnd(ended -> {
      isInTheWay(spool);
      return ended;
    });
    TestRequest asked = home.ask("alice").tool("mail");
    List<String> notStored = new ArrayList<>();
    home.kernel().observe(new Storing(notStored), CommitObserver.NONE);
    assertThat(Refused.code(() -> home.submit(asked))).isEqualTo("EXE-931");
    assertThat(home.kinds("acme", "run-1")).endsWith("effect.dispatched");
    executor.saysAtTheEnd(UnaryOperator.identity());
    assertThat(Refused.code(() -> home.submit(asked))).isEqualTo("EXE-931");
    assertThat(notStored).as("once").hasSize(1);
    isNotInTheWay(spool);
    assertThat(home.submit(asked).served().orElseThrow().receipt().status())
        .isEqualTo(Status.SUCCEEDED);
    assertThat(executor.driver.runs()).hasSize(1);
  }

  /** Hears of what could not be stored. */
  private record Storing(List<String> not) implements StageObserver {
    @Override
    public void begins(Stage stage) {}

    @Override
    public void ends(Stage stage, Optional<ErrorCode> refused) {}

    @Override
    public void notStored(RuntimeException why) {
      not.add(why.toString());
    }
  }

  private static void isInTheWay(Path folder) {
    try {
      Files.deleteIfExists(folder);
      Files.createFile(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void isNotInTheWay(Path folder) {
    try {
      Files.delete(folder);
      Files.createDirectory(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          lamport     | 7                            | executor | EXE-932
          prev        | "sha256:%064d"               | executor | EXE-932
          effect      | "sha256:%064d"               | executor | EXE-935
          subject     | "bob"                        | executor | EXE-935
          status      | "failed"                     | executor | EXE-935
          output      |                              | executor | EXE-935
          finished_at | "2026-11-21T11:00:00.000Z"   | executor | EXE-935
          finished_at | "2026-11-22T12:00:00.000Z"   | executor | EXE-935
          reason      | "signed by somebody else"    | alice    | CAN-053
          reason      | "signed by the other side"   | guardian | CAN-053
          """)
  void a_receipt_that_is_not_of_the_order_is_not_recorded(
      String member, String json, String signer, String code) {
    Optional<JsonValue> value =
        Optional.ofNullable(json)
            .map(text ->
                Jcs.parse(text.replace("%064d", "0".repeat(64)).getBytes(StandardCharsets.UTF_8)));
    executor.saysAtTheEnd(receipt(member, value, signer));
    TestRequest asked = home.ask("alice").tool("mail");
    assertThat(Refused.code(() -> home.submit(asked))).isEqualTo(code);
    assertThat(home.rows("dispatched")).hasSize(1);
    assertThat(home.kinds("acme", "run-1")).endsWith("effect.dispatched");
    executor.saysAtTheEnd(UnaryOperator.identity());
    assertThat(home.submit(asked).served().orElseThrow().receipt().status())
        .isEqualTo(Status.SUCCEEDED);
    assertThat(executor.driver.runs()).hasSize(1);
  }

  @Test
  void a_receipt_whose_contents_do_not_come_with_it_is_not_recorded() {
    executor.saysAtTheEnd(ended -> new OrderEnded(ended.receipt(), new TreeMap<>()));
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail"))))
        .isEqualTo("EXE-935");
    executor.saysAtTheEnd(ended -> {
      JsonValue.Obj output =
          (JsonValue.Obj) ((JsonValue.Obj) ended.receipt().document()).members().get("output");
      TreeMap<String, JsonValue> longer = new TreeMap<>(output.members());
      longer.put("size", JsonValue.of(4096));
      return receipt("output", Optional.of(new JsonValue.Obj(longer)), "executor").apply(ended);
    });
    assertThat(Refused.code(() -> home.submit(home.ask("alice").run("run-2").tool("mail"))))
        .isEqualTo("EXE-935");
    assertThat(home.rows("dispatched")).hasSize(2);
  }

  @Test
  void an_executor_that_knows_other_receipts_of_the_run_is_asked_for_no_effect() {
    home.submit(home.ask("alice").tool("mail"));
    executor.saysWhenAsked(prepared ->
        new OrderPrepared(
            new RunKnown(
                prepared.run().carried(), Optional.of(new ChainEnd(Digest.sha256(new byte[1]), 1))),
            prepared.missing()));
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail"))))
        .isEqualTo("EXE-932");
    assertThat(home.rows("dispatched")).isEmpty();
    assertThat(executor.driver.runs()).hasSize(1);
  }

  @Test
  void an_executor_that_never_has_what_it_was_given_is_asked_for_no_effect() {
    executor.saysWhenAsked(
        prepared -> new OrderPrepared(prepared.run(), List.of(Digest.sha256(new byte[2]))));
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail"))))
        .isEqualTo("EXE-935");
    assertThat(home.rows("dispatched")).isEmpty();
  }

  // What an executor is told.

  private ApartOrder lost() {
    return executor.lost(home.ask("alice").tool("mail"));
  }

  private static ApartOrder with(ApartOrder order, UnaryOperator<Dispatching> change) {
    return new ApartOrder(
        order.system(),
        order.request(),
        order.decision(),
        order.intent(),
        order.at(),
        order.dispatch().map(change));
  }

  private static ApartOrder under(ApartOrder order, SystemHead system) {
    return new ApartOrder(
        system, order.request(), order.decision(), order.intent(), order.at(), order.dispatch());
  }

  private String refused(ApartOrder order) {
    String code = Refused.code(() -> executor.direct().end(order));
    assertThat(executor.driver.runs()).isEmpty();
    assertThat(executor.ledger().head(RUN)).isEmpty();
    return code;
  }

  @Test
  void an_order_under_another_system_run_is_not_served() {
    ApartOrder order = lost();
    SystemHead there = order.system();
    assertThat(refused(under(order, new SystemHead(0, there.head())))).isEqualTo("EXE-934");
    assertThat(refused(under(order, new SystemHead(there.events() + 1, there.head()))))
        .isEqualTo("EXE-934");
    assertThat(refused(under(order, new SystemHead(there.events() - 1, there.head()))))
        .isEqualTo("EXE-933");
  }

  @Test
  void an_order_that_does_not_continue_the_chain_is_not_served() {
    ApartOrder order = lost();
    assertThat(
            refused(
                with(
                    order,
                    d ->
                        new Dispatching(
                            true, new ChainEnd(Digest.sha256(new byte[1]), 0), d.carried()))))
        .isEqualTo("EXE-932");
    assertThat(
            refused(
                with(
                    order,
                    d -> new Dispatching(true, new ChainEnd(d.end().prev(), 3), d.carried()))))
        .isEqualTo("EXE-932");
    assertThat(
            refused(
                with(
                    order,
                    d ->
                        new Dispatching(
                            true, d.end(), new CarriedEvents(0, 0, List.of(), List.of())))))
        .isEqualTo("EXE-932");
  }

  @Test
  void an_order_whose_parts_are_of_two_requests_is_not_served() {
    ApartOrder order = lost();
    Envelope other = home.ask("alice").tool("mail").params("{\"to\":\"else\"}").sign();
    ApartOrder mixed =
        new ApartOrder(
            order.system(), other, order.decision(), order.intent(), order.at(), order.dispatch());
    assertThat(refused(mixed)).startsWith("EXE-1");
  }

  @Test
  void a_question_whether_it_would_serve_is_no_order() {
    ApartOrder order = lost();
    ApartOrder question =
        new ApartOrder(
            order.system(),
            order.request(),
            order.decision(),
            order.intent(),
            order.at(),
            Optional.empty());
    assertThat(refused(question)).isEqualTo("EXE-004");
  }

  @Test
  void a_time_that_is_not_this_time_begins_nothing() {
    ApartOrder order = lost();
    for (Duration by : List.of(Duration.ofDays(-1), Duration.ofDays(1))) {
      ApartOrder other =
          new ApartOrder(
              order.system(),
              order.request(),
              order.decision(),
              order.intent(),
              order.at().plus(by),
              Optional.empty());
      assertThat(Refused.code(() -> executor.direct().prepare(other))).isEqualTo("EXE-112");
    }
    assertThat(executor.driver.runs()).isEmpty();
  }

  /** The decision names one of the keys; the approval comes with the order. */
  @Test
  void an_order_whose_approval_has_a_key_that_was_revoked_meanwhile_begins_nothing() {
    SigningKey second = SigningKey.mlDsa65(TestKeys.key("rita").verifyingKey().bytes());
    TrustedKey first = TestKeys.trusted("rita", KeyRole.APPROVER, Optional.of("acme"));
    home.enrol(
        new TrustedKey(
            second.verifyingKey(),
            first.role(),
            first.tenant(),
            first.subject(),
            first.notBefore(),
            first.notAfter(),
            Optional.empty()));
    TestRequest pay = home.ask("alice").tool("pay");
    home.submit(pay);
    Envelope word = home.approval(pay.sign(), "rita", Approval.Verdict.APPROVE);
    home.kernel()
        .approve(Envelope.sign(Approval.TYPE, word.document(), TestKeys.key("rita"), second));
    ApartOrder order = executor.lost(pay);
    String named =
        JudgeInputs.read(Decision.read(order.decision().document()).inputs())
            .approvals()
            .getFirst()
            .kid();
    String other = named.equals(second.kid()) ? first.kid() : second.kid();
    home.kernel().change(home.change("key.revoked", JsonValue.object().put("kid", other).build()));
    ApartOrder late = under(order, executor.direct().system());
    Receipt never = Receipt.read(executor.direct().end(late).receipt().document());
    assertThat(never.code()).contains("EXE-107");
    assertThat(executor.driver.runs()).isEmpty();
  }

  @Test
  void whoever_asks_for_the_end_alone_begins_nothing() {
    Receipt never = Receipt.read(executor.direct().end(lost().ending()).receipt().document());
    assertThat(never.status()).isEqualTo(Status.FAILED);
    assertThat(never.code()).contains("EXE-936");
    assertThat(executor.driver.runs()).isEmpty();
  }

  @Test
  void content_is_taken_under_its_own_digest_alone() {
    byte[] bytes = "a".getBytes(StandardCharsets.UTF_8);
    Digest other = Digest.sha256("b".getBytes(StandardCharsets.UTF_8));
    assertThat(Refused.code(() -> executor.direct().content("acme", other, bytes, "text/plain")))
        .isEqualTo("EXE-701");
    assertThat(executor.ledger().hasBlob(other)).isFalse();
  }

  // What is carried over.

  private String carrying(CarriedEvents events) {
    String code = Refused.code(() -> executor.direct().carry(RUN, events));
    assertThat(executor.ledger().head(RUN)).isEmpty();
    return code;
  }

  @Test
  void events_that_are_not_the_guardians_to_tell_are_not_carried_over() {
    CarriedEvents carried = lost().dispatch().orElseThrow().carried();
    List<Event> events = carried.events();
    List<Envelope> documents = carried.documents();
    Event last = events.getLast();
    for (String kind : List.of("effect.dispatched", "receipt.signed", "run.closed")) {
      List<Event> more = new ArrayList<>(events);
      more.add(last.next(kind, last.body(), last.at(), Optional.empty()));
      assertThat(carrying(new CarriedEvents(0, more.size(), more, documents)))
          .as(kind)
          .isEqualTo("EXE-004");
    }
    assertThat(carrying(new CarriedEvents(0, events.size(), events, List.of())))
        .isEqualTo("EXE-004");
    assertThat(carrying(new CarriedEvents(5, 5 + events.size(), events, documents)))
        .isEqualTo("EXE-932");
    List<Event> undecided = events.subList(0, 2);
    assertThat(carrying(new CarriedEvents(0, undecided.size(), undecided, documents)))
        .isEqualTo("EXE-004");
    RunId elsewhere = new RunId("acme", "run-9");
    assertThat(Refused.code(() -> executor.direct().carry(elsewhere, carried)))
        .isEqualTo("EXE-004");
  }

  @Test
  void documents_of_others_are_not_carried_over() {
    CarriedEvents carried = lost().dispatch().orElseThrow().carried();
    for (String signer : List.of("alice", "stranger")) {
      List<Envelope> forged =
          carried.documents().stream()
              .map(document ->
                  document.payloadType().equals(Decision.TYPE)
                      ? Forgery.signedBy(document, signer)
                      : document)
              .toList();
      assertThat(carrying(new CarriedEvents(0, carried.events().size(), carried.events(), forged)))
          .as(signer)
          .isEqualTo("CAN-053");
    }
  }

  @Test
  void events_that_came_before_are_taken_once() {
    CarriedEvents carried = lost().dispatch().orElseThrow().carried();
    executor.direct().carry(RUN, carried);
    Event head = executor.ledger().head(RUN).orElseThrow();
    executor.direct().carry(RUN, carried);
    assertThat(executor.ledger().head(RUN)).contains(head);
    assertThat(executor.direct().run(RUN).carried()).isEqualTo(carried.next());
  }

  @Test
  void a_run_of_more_events_than_a_message_has_is_carried_over_in_several() {
    int denied = 300; // each of them is a request and a decision
    for (int i = 0; i < denied; i++) {
      TestRequest asked = home.ask("alice").tool("mail").params("{\"forbidden\":" + i + "}");
      assertThat(home.submit(asked).served()).isEmpty();
    }
    home.submit(home.ask("alice").tool("mail"));
    assertThat(executor.direct().run(RUN).carried()).isGreaterThan(2L * denied);
    assertThat(home.runState("acme", "run-1").receipts()).isEqualTo(1);
  }

  @Test
  void a_run_without_an_effect_is_closed_here_alone() {
    assertThat(home.submit(home.ask("alice").tool("mail").params("{\"forbidden\":1}")).served())
        .isEmpty();
    home.kernel().closeRun(home.close("acme", "run-1", "alice"));
    assertThat(home.kinds("acme", "run-1")).endsWith("run.closed");
    assertThat(executor.ledger().head(RUN)).isEmpty();
  }

  // What it signs for its guardian's log.

  private String signing(String type, JsonValue document) {
    return Refused.code(
        () -> executor.direct().sign(Envelope.preAuthEncoding(type, Jcs.write(document))));
  }

  @Test
  void it_signs_no_refusal_of_what_it_has_served() {
    Served served = home.submit(home.ask("alice").tool("mail")).served().orElseThrow();
    Receipt receipt = served.receipt();
    Refusal refusal =
        new Refusal(
            receipt.scope(),
            receipt.request(),
            receipt.decision(),
            receipt.intent(),
            "prepare",
            "EXE-308",
            "it was never done",
            Optional.empty(),
            home.clock.instant());
    assertThat(signing(Refusal.TYPE, refusal.toJson())).isEqualTo("EXE-937");
  }

  @Test
  void it_signs_a_closing_only_with_the_receipts_that_it_has() {
    Served served = home.submit(home.ask("alice").tool("mail")).served().orElseThrow();
    Digest request = served.receipt().request();
    RunClosing fewer = new RunClosing("acme", "run-1", request, 9, request, 0, served.id());
    RunClosing other = new RunClosing("acme", "run-1", request, 9, request, 1, request);
    RunClosing unknown = new RunClosing("acme", "run-8", request, 9, request, 2, served.id());
    for (RunClosing closing : List.of(fewer, other, unknown)) {
      assertThat(signing(RunClosing.TYPE, closing.toJson())).isEqualTo("EXE-937");
    }
    RunClosing empty = new RunClosing("acme", "run-8", request, 3, request, 0, request);
    RunClosing right = new RunClosing("acme", "run-1", request, 9, request, 1, served.id());
    for (RunClosing closing : List.of(empty, right)) {
      assertSigned(RunClosing.TYPE, closing.toJson());
    }
  }

  private void assertSigned(String type, JsonValue document) {
    byte[] preAuth = Envelope.preAuthEncoding(type, Jcs.write(document));
    byte[] signature = executor.direct().sign(preAuth);
    TestKeys.key("executor").verifyingKey().verify(preAuth, signature);
  }

  @Test
  void it_signs_deletions_and_reads_of_their_form_alone() {
    Digest digest = Digest.sha256(new byte[3]);
    Deletion deletion =
        new Deletion(
            RUN,
            new Deletion.Rule(digest, "logs"),
            List.of(new Deletion.Item(ContentClass.OUTPUTS, digest, 5, 3)),
            home.clock.instant());
    ReadEvent read =
        new ReadEvent(
            new ReadEvent.Person("acme", "rita", "session"),
            ReadEvent.Thing.ofRun("run-1"),
            List.of(ReadClass.values()[0]),
            digest,
            home.clock.instant());
    assertSigned(Deletion.TYPE, deletion.toJson());
    assertSigned(ReadEvent.TYPE, read.toJson());
    assertThat(signing(ReadEvent.TYPE, deletion.toJson())).startsWith("CAN-");
    assertThat(signing(Deletion.TYPE, read.toJson())).startsWith("CAN-");
  }

  @Test
  void it_signs_nothing_that_only_looks_like_a_document() {
    String type = ReadEvent.TYPE;
    byte[] right = Envelope.preAuthEncoding(type, Jcs.write(JsonValue.object().build()));
    String text = new String(right, StandardCharsets.ISO_8859_1);
    for (String other :
        List.of(
            "",
            "DSSEv1",
            text.replace("DSSEv1", "DSSEv2"),
            text.replace(" " + type.length() + " ", " 1 "),
            text.replace(" 2 {", " 3 {"),
            "DSSEv1 " + type.length() + " " + type + " 2")) {
      assertThat(
              Refused.code(
                  () -> executor.direct().sign(other.getBytes(StandardCharsets.ISO_8859_1))))
          .as(other)
          .isEqualTo("EXE-937");
    }
  }

  // What an executor is founded on.

  private String founding(String name, CarriedEvents system) {
    LedgerConfig config =
        new LedgerConfig(
            dir.resolve(name),
            dir.resolve(name + "-anchor.json"),
            "writ.example/other",
            TestKeys.key("stranger"),
            InstantSource.fixed(TestHome.START));
    try (Ledger empty = Ledger.create(config)) {
      return Refused.code(() ->
          ApartExecutor.found(
              empty, system, TestKeys.key("executor").kid(), home.clock, new SeededRandom(5)));
    }
  }

  @Test
  void an_executor_is_founded_on_a_whole_system_run_alone() {
    CarriedEvents system = ApartExecutor.systemRun(home.ledger());
    List<Event> events = system.events();
    assertThat(founding("other-1", new CarriedEvents(0, 0, List.of(), List.of())))
        .isEqualTo("EXE-911");
    assertThat(founding("other-2", new CarriedEvents(0, events.size(), events, List.of())))
        .isEqualTo("EXE-905");
    List<Event> swapped = new ArrayList<>(events);
    swapped.add(2, swapped.remove(3));
    assertThat(
            founding("other-3", new CarriedEvents(0, events.size(), swapped, system.documents())))
        .isEqualTo("EXE-933");
    home.submit(home.ask("alice").tool("mail"));
    List<Event> others = home.events("acme", "run-1");
    assertThat(founding("other-4", new CarriedEvents(0, others.size(), others, system.documents())))
        .isEqualTo("EXE-933");
    home.revoke("executor");
    CarriedEvents revoked = ApartExecutor.systemRun(home.ledger());
    assertThat(founding("other-5", revoked)).isEqualTo("EXE-912");
  }

  @Test
  void events_of_the_future_are_not_copied() {
    CarriedEvents system = ApartExecutor.systemRun(home.ledger());
    home.clock.back(Duration.ofDays(2));
    assertThat(founding("other-6", system)).isEqualTo("EXE-112");
  }
}

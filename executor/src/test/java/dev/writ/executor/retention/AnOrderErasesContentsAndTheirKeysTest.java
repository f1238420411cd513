package dev.writ.executor.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.document.LegalHold;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.promises.FaultsSeam;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Await;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.content.SealedCopy;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.seal.ContentKeys;
import dev.writ.ledger.seal.ContentOwner;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an order of erasure reaches, what it waits for, and what a failure in between leaves. */
class AnOrderErasesContentsAndTheirKeysTest {
  private static final String ALICES = "what alice alone may know";
  private static final String SEALED =
      TestPolicy.SHARED
          + """
          storage: { bytes_max: 100000, unnamed_s: 60 }
          retention:
            rules: []
            sealed: { contents: [inputs, outputs, observations, artifacts], by: subject }
          """;
  private static final ErasureOrder ALICE =
      new ErasureOrder(TestKeys.TENANT, Optional.of("alice"), Optional.empty());

  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = home("first", SEALED);
  }

  @AfterEach
  void stop() {
    home.close();
  }

  private TestHome home(String name, String policy) {
    TestHome made = TestHome.create(dir.resolve(name), policy);
    made.driver.does("mail", gives(ALICES));
    return made;
  }

  private static TestDriver.Behaviour gives(String text) {
    return Behaviours.gives("{\"ok\":true,\"params\":{\"is\":\"" + text + "\"}}", Behaviours.JSON);
  }

  private Content upload(String subject, String text) {
    return home.kernel()
        .contents()
        .put(
            TestKeys.TENANT,
            subject,
            new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)),
            "text/plain");
  }

  private Receipt mail(String agent, int n) {
    Receipt made = home.submit(ask(agent, n)).served().orElseThrow().receipt();
    assertThat(made.status()).as(made.message()).isEqualTo(Status.SUCCEEDED);
    return made;
  }

  private TestRequest ask(String agent, int n) {
    return home.ask(agent).tool("mail").run(agent + "-" + n).params("{\"n\":" + n + "}");
  }

  private Digest order(ErasureOrder order) {
    Envelope signed = home.change(EventKind.CONTENTS_ERASED, order.toJson());
    home.kernel().change(signed);
    return signed.id();
  }

  private Optional<Instant> done(Digest order) {
    return ContentRetention.erasedAt(home.ledger(), order);
  }

  private static Digest output(Receipt receipt) {
    return receipt.output().orElseThrow().digest();
  }

  private Ledger ledger() {
    return (Ledger) home.ledger();
  }

  private ContentKeys keys() {
    return ledger().contentKeys();
  }

  private static ContentOwner subject(String name) {
    return ContentOwner.subject(TestKeys.TENANT, name);
  }

  private List<Deletion> statements() {
    return home.events(Deletion.RUN.tenant(), Deletion.RUN.run()).stream()
        .map(event -> Deletion.read(home.document(event.body()).document()))
        .toList();
  }

  private List<Path> filesWith(String text) throws IOException {
    List<Path> found = new ArrayList<>();
    try (Stream<Path> all = Files.walk(home.dir())) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        if (new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(text)) {
          found.add(file);
        }
      }
    }
    return found;
  }

  @Test
  void nothing_lies_in_the_clear_before_and_nothing_opens_after_not_even_in_a_backup()
      throws IOException {
    String file = "a file of alice's";
    Content input = upload("alice", file);
    Receipt made =
        home.submit(ask("alice", 1).input("f", input.digest(), input.size()))
            .served()
            .orElseThrow()
            .receipt();
    assertThat(new String(ledger().blob(output(made), 100), StandardCharsets.UTF_8))
        .contains(ALICES);
    home.backup();
    assertThat(filesWith(ALICES)).isEmpty();
    assertThat(filesWith(file)).isEmpty();
    Digest order = order(ALICE);
    assertThat(done(order)).isPresent();
    List<Digest> all = List.of(input.digest(), output(made), made.observations().orElseThrow());
    assertThat(all).noneMatch(home.ledger()::hasBlob);
    assertThat(statements())
        .singleElement()
        .satisfies(statement -> {
          assertThat(statement.reason()).isEqualTo(new Deletion.Order(order));
          assertThat(statement.contents())
              .extracting(Deletion.Item::digest)
              .containsExactlyInAnyOrderElementsOf(all);
        });
    assertThat(
            Refused.code(() -> {
              throw Deletions.of(home.ledger(), output(made)).orElseThrow().gone(output(made));
            }))
        .isEqualTo("EXE-960");
    assertThat(keys().current(subject("alice"))).isEmpty();
    assertThat(keys().retired()).isEmpty();
    assertThat(home.fsck().problems()).isEmpty();
    // The backup has the sealed forms, and nobody has their key.
    home.forget();
    assertThat(all).allMatch(home.ledger()::hasBlob);
    for (Digest content : all) {
      assertThat(Refused.code(() -> ledger().blob(content, 1000))).isEqualTo("LED-096");
    }
    assertThat(home.fsck().problems()).isEmpty();
    // There the order is unknown; given again it is carried out.
    assertThat(done(order(ALICE))).isPresent();
    assertThat(all).noneMatch(home.ledger()::hasBlob);
    assertThat(statements()).hasSize(1);
  }

  @Test
  void what_another_subject_uses_stays_for_him_and_what_comes_later_has_another_key() {
    Receipt alices = mail("alice", 1);
    Receipt bobs = mail("bob", 1);
    assertThat(output(alices)).as("one content of two").isEqualTo(output(bobs));
    Content shared = upload("", "for everybody");
    home.submit(ask("alice", 2).input("f", shared.digest(), shared.size()));
    home.submit(ask("bob", 2).input("f", shared.digest(), shared.size()));
    String key = keys().current(subject("alice")).orElseThrow().id();
    assertThat(done(order(ALICE))).isPresent();
    assertThat(ledger().blob(output(bobs), 100)).isNotEmpty();
    assertThat(ledger().copies(output(bobs)))
        .extracting(SealedCopy::owner)
        .containsExactly(subject("bob"));
    assertThat(ledger().hasBlob(shared.digest())).as("bob's request names it").isTrue();
    mail("alice", 3);
    assertThat(keys().current(subject("alice")).orElseThrow().id()).isNotEqualTo(key);
    assertThat(ledger().copies(output(alices))).hasSize(2);
    assertThat(home.fsck().problems()).isEmpty();
  }

  /** It stayed where her use of it was: his key is his subject's, and was not of his order. */
  @Test
  void what_two_used_is_gone_when_both_uses_are_erased() {
    Receipt alices = mail("alice", 1);
    mail("bob", 1);
    assertThat(done(order(run("bob-1")))).isPresent();
    assertThat(ledger().hasBlob(output(alices))).as("alice uses it").isTrue();
    assertThat(done(order(ALICE))).isPresent();
    assertThat(ledger().copies(output(alices))).isEmpty();
    assertThat(ledger().hasBlob(output(alices))).isFalse();
    assertThat(home.fsck().problems()).isEmpty();
    mail("bob", 2);
    assertThat(ledger().hasBlob(output(alices))).as("it came again, under his key").isTrue();
  }

  @Test
  void what_lies_under_her_key_alone_and_another_uses_gets_a_copy_of_his() {
    Receipt made = mail("alice", 1);
    home.submit(
        ask("bob", 1)
            .consumes(home.events(TestKeys.TENANT, "alice-1").getLast().body())
            .input("f", output(made), made.output().orElseThrow().size()));
    assertThat(ledger().copies(output(made)))
        .extracting(SealedCopy::owner)
        .contains(subject("alice"));
    assertThat(done(order(ALICE))).isPresent();
    assertThat(ledger().copies(output(made)))
        .extracting(SealedCopy::owner)
        .containsExactly(subject("bob"));
    assertThat(new String(ledger().blob(output(made), 100), StandardCharsets.UTF_8))
        .contains(ALICES);
    ErasureOrder bob = new ErasureOrder(TestKeys.TENANT, Optional.of("bob"), Optional.empty());
    assertThat(done(order(bob))).isPresent();
    assertThat(ledger().hasBlob(output(made))).isFalse();
  }

  /** Damaged, it can get no copy of his: it stays as it is, and holds nothing else up. */
  @Test
  void what_another_uses_and_nobody_can_read_waits_alone() throws IOException {
    home.driver.does("mail", gives("x".repeat(70_000)));
    Receipt damaged = mail("alice", 1);
    home.driver.does("mail", gives("whole"));
    Receipt whole = mail("alice", 2);
    home.driver.does("mail", gives(ALICES));
    home.submit(
        ask("bob", 1)
            .consumes(home.events(TestKeys.TENANT, "alice-1").getLast().body())
            .input("f", output(damaged), damaged.output().orElseThrow().size()));
    Path file = largest();
    byte[] bytes = Files.readAllBytes(file);
    Files.write(file, reversed(bytes));
    Digest alice = order(ALICE);
    Digest other = order(run("alice-2"));
    assertThat(done(other)).isPresent();
    assertThat(ledger().hasBlob(output(whole))).isFalse();
    assertThat(done(alice)).isEmpty();
    Files.write(file, new byte[] {1, 2, 3});
    assertThat(home.kernel().contents().erase(home.kernel().now()).waiting())
        .containsEntry(alice, 1L);
    Files.delete(file);
    assertThat(home.kernel().contents().erase(home.kernel().now()).waiting())
        .containsEntry(alice, 1L);
    assertThat(ledger().hasBlob(output(damaged))).isTrue();
    Files.write(file, bytes);
    assertThat(home.kernel().contents().erase(home.kernel().now()).waiting()).isEmpty();
    assertThat(ledger().copies(output(damaged)))
        .extracting(SealedCopy::owner)
        .containsExactly(subject("bob"));
    assertThat(home.fsck().problems()).isEmpty();
  }

  private Path largest() throws IOException {
    try (Stream<Path> all = Files.walk(home.dir())) {
      return all.filter(file -> file.toString().contains("blobs"))
          .filter(Files::isRegularFile)
          .max(Comparator.comparingLong(file -> file.toFile().length()))
          .orElseThrow();
    }
  }

  private static byte[] reversed(byte[] bytes) {
    byte[] other = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      other[i] = bytes[bytes.length - 1 - i];
    }
    return other;
  }

  @Test
  void a_request_that_can_still_be_executed_keeps_its_inputs_under_the_next_key() {
    Content input = upload("alice", "to be paid");
    Envelope pay =
        home.ask("alice").tool("pay").run("pays").input("f", input.digest(), input.size()).sign();
    home.submit(pay);
    Receipt made = mail("alice", 1);
    String key = keys().current(subject("alice")).orElseThrow().id();
    assertThat(done(order(ALICE))).isPresent();
    assertThat(ledger().hasBlob(output(made))).isFalse();
    assertThat(ledger().copies(input.digest()))
        .singleElement()
        .satisfies(copy -> assertThat(copy.keyId()).isNotEqualTo(key));
    home.approve(pay, "rita");
    assertThat(home.submit(pay).served()).as("it finds its input").isPresent();
    home.clock.forward(Duration.ofSeconds(1));
    assertThat(done(order(ALICE))).isPresent();
    assertThat(ledger().hasBlob(input.digest())).isFalse();
  }

  @Test
  void an_order_waits_for_the_end_of_an_effect() {
    Content input = upload("alice", "in doubt");
    home.restartWith(FaultsSeam::signingFailsAfterRecovery);
    TestRequest failing = ask("alice", 1).input("f", input.digest(), input.size());
    assertThat(Refused.code(() -> home.submit(failing))).isEqualTo("EXE-801");
    home.restartWith(executor -> executor);
    Receipt made = mail("alice", 2);
    Digest order = order(ALICE);
    assertThat(done(order)).isEmpty();
    assertThat(ledger().hasBlob(output(made))).as("it does not wait").isFalse();
    assertThat(ledger().blob(input.digest(), 100)).isNotEmpty();
    assertThat(keys().retired()).hasSize(1);
    assertThat(home.kernel().contents().erase(home.kernel().now()).waiting())
        .containsEntry(order, 1L);
    Served doubtful = home.submit(failing).served().orElseThrow();
    home.kernel().resolve(home.resolution(doubtful, Resolution.Found.HAPPENED));
    assertThat(home.kernel().contents().erase(home.kernel().now()).waiting()).isEmpty();
    assertThat(done(order)).isPresent();
    assertThat(ledger().hasBlob(input.digest())).isFalse();
    assertThat(keys().retired()).isEmpty();
  }

  @Test
  void after_time_went_back_an_order_covers_all_that_is_before_it_in_the_log() {
    home.clock.leap(Duration.ofDays(1));
    home.restart();
    Receipt ahead = mail("alice", 1);
    home.clock.leap(Duration.ofDays(-1));
    home.clock.forward(Duration.ofSeconds(60));
    home.correctClock();
    assertThat(done(order(ALICE))).isPresent();
    assertThat(ledger().hasBlob(output(ahead))).isFalse();
    assertThat(keys().retired()).isEmpty();
    assertThat(home.fsck().problems()).isEmpty();
  }

  @Test
  void holds_win() {
    Receipt made = mail("alice", 1);
    mail("bob", 1);
    hold("tenant", Optional.empty());
    assertThat(Refused.code(() -> order(ALICE))).isEqualTo("EXE-962");
    release("tenant");
    hold("hers", Optional.of("alice-1"));
    assertThat(Refused.code(() -> order(ALICE))).isEqualTo("EXE-962");
    assertThat(Refused.code(() -> order(run("alice-1")))).isEqualTo("EXE-962");
    release("hers");
    hold("his", Optional.of("bob-1"));
    assertThat(done(order(ALICE))).isPresent();
    assertThat(ledger().copies(output(made)))
        .extracting(SealedCopy::owner)
        .containsExactly(subject("bob"));
  }

  private static ErasureOrder run(String run) {
    return new ErasureOrder(TestKeys.TENANT, Optional.empty(), Optional.of(run));
  }

  private void hold(String name, Optional<String> run) {
    home.kernel()
        .change(
            home.change(EventKind.HOLD_PLACED, new LegalHold(name, TestKeys.TENANT, run).toJson()));
  }

  private void release(String name) {
    home.kernel()
        .change(home.change(EventKind.HOLD_RELEASED, JsonValue.object().put("name", name).build()));
  }

  @Test
  void an_order_is_an_operators_and_names_one_of_subject_and_run() {
    mail("alice", 1);
    for (ErasureOrder order :
        List.of(
            new ErasureOrder(TestKeys.TENANT, Optional.of("alice"), Optional.of("alice-1")),
            new ErasureOrder(TestKeys.TENANT, Optional.empty(), Optional.empty()))) {
      assertThat(Refused.code(() -> order(order))).isEqualTo("CAN-023");
    }
    Envelope signed = home.change(EventKind.CONTENTS_ERASED, ALICE.toJson());
    home.kernel().change(signed);
    assertThat(Refused.code(() -> home.kernel().change(signed))).isEqualTo("EXE-004");
    assertThat(home.kernel().contents().erasures()).hasSize(1);
  }

  @Test
  void with_a_key_for_each_run_one_run_is_erased_or_all_of_a_subject() {
    home.activate(SEALED.replace("by: subject", "by: run"));
    home.driver.does("mail", gives("one"));
    Receipt one = mail("alice", 1);
    home.driver.does("mail", gives("two"));
    Receipt two = mail("alice", 2);
    ContentOwner first = ContentOwner.run(TestKeys.TENANT, "alice-1");
    ContentOwner second = ContentOwner.run(TestKeys.TENANT, "alice-2");
    assertThat(done(order(run("alice-1")))).isPresent();
    assertThat(ledger().hasBlob(output(one))).isFalse();
    assertThat(ledger().blob(output(two), 100)).isNotEmpty();
    assertThat(keys().current(first)).isEmpty();
    assertThat(keys().current(second)).isPresent();
    assertThat(done(order(ALICE))).isPresent();
    assertThat(ledger().hasBlob(output(two))).isFalse();
    assertThat(keys().current(second)).isEmpty();
    assertThat(keys().retired()).isEmpty();
  }

  @Test
  void contents_that_were_never_sealed_are_deleted_by_an_order_as_well() throws IOException {
    home.close();
    home = home("clear", TestPolicy.YAML);
    Receipt made = mail("alice", 1);
    assertThat(filesWith(ALICES)).isNotEmpty();
    assertThat(Files.exists(home.dir().resolve(ContentKeys.FOLDER))).as("no key is made").isFalse();
    assertThat(done(order(ALICE))).isPresent();
    assertThat(ledger().hasBlob(output(made))).isFalse();
    assertThat(filesWith(ALICES)).isEmpty();
    assertThat(statements()).hasSize(1);
  }

  @Test
  void contents_of_before_the_switch_and_after_it_stay_readable() {
    Receipt sealed = mail("alice", 1);
    home.activate(TestPolicy.YAML);
    home.driver.does("mail", gives("clear"));
    Receipt clear = mail("alice", 2);
    assertThat(ledger().isInTheClear(output(clear))).isTrue();
    assertThat(ledger().isInTheClear(output(sealed))).isFalse();
    assertThat(ledger().blob(output(sealed), 100)).isNotEmpty();
    assertThat(done(order(ALICE))).isPresent();
    assertThat(List.of(output(clear), output(sealed))).noneMatch(ledger()::hasBlob);
  }

  /** The disk refuses one write after the other; after each the order is there whole or not. */
  @Test
  void after_a_failure_at_any_write_the_next_start_carries_the_order_out() {
    home.close();
    boolean finished = false;
    for (int fails = 1; !finished; fails++) {
      home = home("fails-" + fails, SEALED);
      Receipt made = mail("alice", 1);
      mail("bob", 1);
      TreeMap<String, Integer> writes = new TreeMap<>();
      int at = fails;
      home.beforeWrite(() -> {
        if (writes.merge("n", 1, Integer::sum) >= at) {
          throw new WritException(LedgerError.DISK_FULL, "for a test");
        }
      });
      try {
        finished = done(order(ALICE)).isPresent();
      } catch (WritException e) {
        assertThat(e.code()).isEqualTo(LedgerError.DISK_FULL);
      }
      home.beforeWrite(() -> {});
      home.restart();
      boolean given = !home.kernel().contents().erasures().isEmpty();
      assertThat(home.kernel().contents().erase(home.kernel().now()).waiting()).isEmpty();
      assertThat(home.kernel().contents().erasures().values()).allMatch(Optional::isPresent);
      assertThat(keys().retired()).isEmpty();
      assertThat(ledger().copies(output(made)))
          .as("write " + at)
          .extracting(SealedCopy::owner)
          .containsExactlyElementsOf(
              given ? List.of(subject("bob")) : List.of(subject("alice"), subject("bob")));
      assertThat(home.fsck().problems()).isEmpty();
      if (!finished) {
        home.close();
      }
      assertThat(fails).as("it ends").isLessThan(40);
    }
  }

  /** Another turn of erasure may see an order that is in force, and not yet in the log. */
  @Test
  void an_order_whose_event_is_being_written_is_waited_for() throws Exception {
    home.activate(SEALED.replace("by: subject", "by: run"));
    Receipt made = mail("alice", 1);
    CompletableFuture<Void> writing = new CompletableFuture<>();
    CompletableFuture<Void> mayWrite = new CompletableFuture<>();
    home.beforeWrite(() -> {
      writing.complete(null);
      mayWrite.join();
    });
    CompletableFuture<Digest> ordered = CompletableFuture.supplyAsync(() -> order(ALICE));
    writing.get(1, TimeUnit.MINUTES);
    CompletableFuture<Object> erased = new CompletableFuture<>();
    Thread other =
        Thread.ofPlatform()
            .start(() -> {
              try {
                erased.complete(home.kernel().contents().erase(home.kernel().now()));
              } catch (RuntimeException e) {
                erased.completeExceptionally(e);
              }
            });
    Await.until(() -> erased.isDone() || other.getState() == Thread.State.WAITING);
    mayWrite.complete(null);
    assertThat(erased).succeedsWithin(Duration.ofMinutes(1));
    assertThat(done(ordered.get())).isPresent();
    assertThat(home.ledger().hasBlob(output(made))).isFalse();
  }
}

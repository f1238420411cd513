package dev.writ.executor.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.LegalHold;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.promises.FaultsSeam;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What rules of policy delete and what stays, and what is there after a failure in between. */
class RulesDeleteWhatNothingNeedsTest {
  private static final Duration PENDING_MAX = Duration.ofSeconds(86_400);

  /** More than a rule keeps a content and an upload stays unnamed. */
  private static final Duration AGE = Duration.ofSeconds(61);

  private static final String RULES =
      TestPolicy.YAML
          + """
          storage: { bytes_max: 100000, unnamed_s: 60 }
          retention:
            rules:
              - { name: minute, contents: [inputs, outputs], match: { subject: alice }, keep_s: 60 }
          """;

  @TempDir Path dir;
  private TestHome home;
  private int uploads;

  @BeforeEach
  void start() {
    home = TestHome.create(dir, RULES);
  }

  @AfterEach
  void stop() {
    home.close();
  }

  private Content upload() {
    byte[] content = ("upload " + ++uploads).getBytes(StandardCharsets.UTF_8);
    return home.kernel()
        .contents()
        .put(TestKeys.TENANT, new ByteArrayInputStream(content), "text/plain");
  }

  private TestRequest ask(String agent, String tool, Content input) {
    return home.ask(agent).tool(tool).run(agent).input("f", input.digest(), input.size());
  }

  private ContentRetention.Deleted retain() {
    return home.kernel().contents().retain(home.kernel().now()).deleted();
  }

  private boolean has(Content content) {
    return home.ledger().hasBlob(content.digest());
  }

  private List<Deletion> statements() {
    return home.events(Deletion.RUN.tenant(), Deletion.RUN.run()).stream()
        .map(event -> Deletion.read(home.document(event.body()).document()))
        .toList();
  }

  @Test
  void inputs_of_requests_that_are_never_dispatched_go_when_they_cannot_be_any_more() {
    Content denied = upload();
    home.decide(ask("alice", "mail", denied).params("{\"forbidden\":1}").sign());
    Content ofNoRule = upload();
    home.decide(ask("bob", "mail", ofNoRule).params("{\"forbidden\":1}").sign());
    Content waiting = upload();
    home.decide(ask("alice", "pay", waiting).sign());
    Content allowed = upload();
    home.decide(ask("alice", "mail", allowed).sign());
    assertThat(retain()).isEqualTo(ContentRetention.Deleted.NOTHING);
    home.clock.forward(AGE);
    assertThat(retain().contents()).isOne();
    assertThat(has(denied)).isFalse();
    assertThat(List.of(ofNoRule, waiting, allowed)).allMatch(this::has);
    home.clock.forward(PENDING_MAX.plusMinutes(6));
    assertThat(retain().contents()).isEqualTo(2);
    assertThat(List.of(waiting, allowed)).noneMatch(this::has);
    assertThat(has(ofNoRule)).isTrue();
    assertThat(statements())
        .flatExtracting(Deletion::contents)
        .hasSize(3)
        .allSatisfy(item ->
            assertThat(home.events(TestKeys.TENANT, "alice"))
                .filteredOn(event -> event.seq() == item.seq())
                .extracting(Event::kind)
                .containsExactly(EventKind.REQUEST_RECEIVED));
    assertThat(home.fsck().problems()).isEmpty();
  }

  @Test
  void the_input_of_a_request_that_was_approved_at_the_last_moment_stays_for_its_intent() {
    Content input = upload();
    home.submit(ask("alice", "mail", input));
    Envelope pay = ask("alice", "pay", input).sign();
    home.submit(pay);
    home.clock.forward(PENDING_MAX);
    assertThat(home.approve(pay, "rita").intent()).isPresent();
    home.clock.forward(Duration.ofSeconds(240));
    retain();
    assertThat(has(input)).isTrue();
    assertThat(home.submit(pay).served().orElseThrow().receipt().status())
        .isEqualTo(Status.SUCCEEDED);
  }

  @Test
  void what_a_resolution_names_as_its_evidence_stays() {
    Served evidence =
        home.submit(home.ask("alice").tool("mail").run("alice")).served().orElseThrow();
    Content output = evidence.receipt().output().orElseThrow();
    home.restartWith(FaultsSeam::signingFailsAfterRecovery);
    TestRequest failing = home.ask("alice").tool("mail").run("alice").params("{\"n\":2}");
    assertThat(Refused.code(() -> home.submit(failing))).isEqualTo("EXE-801");
    home.restartWith(executor -> executor);
    Receipt doubtful = home.submit(failing).served().orElseThrow().receipt();
    assertThat(doubtful.status()).isEqualTo(Status.IN_DOUBT);
    home.kernel()
        .resolve(
            Envelope.sign(
                Resolution.TYPE,
                new Resolution(
                        TestKeys.TENANT,
                        home.submit(failing).served().orElseThrow().id(),
                        Resolution.Found.HAPPENED,
                        "",
                        List.of(output.digest()),
                        home.clock.instant())
                    .toJson(),
                TestKeys.key("operator")));
    home.clock.forward(AGE);
    retain();
    assertThat(has(output)).isTrue();
  }

  @Test
  void where_the_state_changes_in_between_the_rest_is_searched_again_and_all_is_counted() {
    home.submit(ask("alice", "mail", upload()));
    home.submit(ask("alice", "mail", upload()).params("{\"n\":2}"));
    home.clock.forward(AGE);
    int[] held = {0};
    ContentRetention one =
        new ContentRetention(
            (Ledger) home.ledger(), DocumentSigner.of(TestKeys.key("executor")), 1);
    ContentRetention.Run run =
        one.run(
            () ->
                new ContentRetention.Under(
                    home.policy(),
                    home.kernel().system()::isHeld,
                    () -> {
                      if (++held[0] == 2) {
                        throw new WritException(ExecutorError.STATE_MOVED, "for a test");
                      }
                      return () -> {};
                    },
                    home.kernel().system().erasures()),
            home.kernel().now());
    long items = statements().stream().mapToLong(statement -> statement.contents().size()).sum();
    assertThat(held[0]).isEqualTo(items + 1);
    assertThat(run.deleted().contents()).isEqualTo(items);
    assertThat(run.deleted().statements()).isEqualTo(statements().size());
  }

  @Test
  void a_hold_keeps_contents_until_its_release() {
    Served first = home.submit(ask("alice", "mail", upload())).served().orElseThrow();
    home.clock.forward(AGE);
    home.kernel()
        .change(
            home.change(
                EventKind.HOLD_PLACED,
                new LegalHold("case", TestKeys.TENANT, Optional.of("alice")).toJson()));
    assertThat(retain()).isEqualTo(ContentRetention.Deleted.NOTHING);
    assertThat(has(first.receipt().output().orElseThrow())).isTrue();
    home.kernel()
        .change(
            home.change(EventKind.HOLD_RELEASED, JsonValue.object().put("name", "case").build()));
    assertThat(retain().contents()).isEqualTo(2);
  }

  @Test
  void the_next_run_makes_the_checkpoint_that_a_crash_prevented() {
    home.submit(ask("alice", "mail", upload()));
    home.clock.forward(AGE);
    home.beforeWrite(() -> {
      if (home.ledger().head(Deletion.RUN).isPresent() && !home.ledger().isPurgePending()) {
        throw new WritException(LedgerError.DISK_FULL, "for a test");
      }
    });
    assertThat(Refused.code(this::retain)).isEqualTo("LED-005");
    home.beforeWrite(() -> {});
    home.restart();
    assertThat(retain()).isEqualTo(ContentRetention.Deleted.NOTHING);
    long last = home.events(Deletion.RUN.tenant(), Deletion.RUN.run()).getLast().seq();
    assertThat(home.ledger().latestCheckpoint().orElseThrow().size())
        .isGreaterThan(home.ledger().indexOf(Deletion.RUN, last).orElseThrow());
  }
}

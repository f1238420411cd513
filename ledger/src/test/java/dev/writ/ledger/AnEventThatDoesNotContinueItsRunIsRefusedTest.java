package dev.writ.ledger;

import static dev.writ.ledger.Fixture.AT;
import static dev.writ.ledger.Fixture.TENANT;
import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.digest;
import static dev.writ.ledger.Fixture.first;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AnEventThatDoesNotContinueItsRunIsRefusedTest {
  private static final Digest BODY = digest("body");

  @TempDir Path home;
  private Ledger ledger;

  @BeforeEach
  void open() {
    ledger = Ledger.create(config(home));
    ledger.append(opening("a")).await();
  }

  @AfterEach
  void close() {
    assertThat(ledger.treeSize()).as("nothing refused was written").isEqualTo(1);
    ledger.close();
  }

  private static Event next(Event event) {
    return event.next("k", BODY, AT, Optional.empty());
  }

  private void refused(Batch batch) {
    Refused.with(LedgerError.CHAIN, () -> ledger.append(batch));
  }

  @Test
  void a_gap_a_repeat_and_a_second_opening() {
    refused(new Batch().event(next(next(first("a")))));
    refused(new Batch().event(first("a")));
    refused(new Batch().event(next(first("b"))));
  }

  @Test
  void the_right_seq_with_another_prev() {
    refused(
        new Batch()
            .event(
                new Event(
                    TENANT, "a", 1, "k", Optional.of(digest("x")), BODY, AT, Optional.empty())));
  }

  @Test
  void a_wrong_second_event_refuses_the_whole_batch() {
    Event second = next(first("a"));
    refused(new Batch().put("t", "k", new byte[1]).event(second).event(second));
    assertThat(ledger.pendingHead(run("a"))).contains(first("a"));
    assertThat(ledger.get("t", "k")).isEmpty();
  }

  @Test
  void a_batch_is_used_once() {
    Batch batch = new Batch().put("t", "k", new byte[1]);
    ledger.append(batch).await();
    Refused.with(LedgerError.BATCH_USED, () -> ledger.append(batch));
  }

  @Test
  void a_refused_batch_may_be_tried_again_when_its_turn_comes() {
    Event second = next(first("a"));
    Batch third = new Batch().event(next(second));
    refused(third);
    assertThat(ledger.pendingHead(run("a"))).contains(first("a"));
  }

  @Test
  void an_event_that_contradicts_itself_cannot_be_made() {
    Refused.with(
        LedgerError.CHAIN,
        () -> new Event(TENANT, "a", 0, "k", Optional.of(BODY), BODY, AT, Optional.empty()));
    Refused.with(
        LedgerError.CHAIN,
        () -> new Event(TENANT, "a", 1, "k", Optional.empty(), BODY, AT, Optional.empty()));
    Refused.with(
        LedgerError.CHAIN,
        () -> new Event(TENANT, "a", -1, "k", Optional.empty(), BODY, AT, Optional.empty()));
    for (String name : new String[] {"", "a\u0000b", "\n", "x".repeat(257), "\ud800"}) {
      Refused.with(LedgerError.NAME, () -> new RunId(name, "a"));
      Refused.with(LedgerError.NAME, () -> new RunId(TENANT, name));
      Refused.with(
          LedgerError.NAME, () -> Event.first(TENANT, "a", name, BODY, AT, Optional.empty()));
    }
    for (String seed : new String[] {"", "ab", "A".repeat(64), "0".repeat(65)}) {
      Refused.with(
          CanonicalizeError.FIELD_VALUE,
          () -> Event.first(TENANT, "a", "k", BODY, AT, Optional.of(seed)));
    }
    Refused.with(
        LedgerError.EVENT_TIME,
        () -> Event.first(TENANT, "a", "k", BODY, Instant.MAX, Optional.empty()));
  }

  @Test
  void runs_and_tenants_never_run_into_one_another() {
    // Names that would give one key if they were only put side by side.
    ledger.close();
    Path other = home.resolve("other");
    ledger = Ledger.create(config(other));
    ledger.append(new Batch().event(opened("ab", "c"))).await();
    assertThat(ledger.head(new RunId("a", "bc"))).isEmpty();
    assertThat(ledger.pendingHead(new RunId("a", "bc"))).isEmpty();
    ledger.events(new RunId("a", "b"), 0, event -> assertThat(event).isNull());
  }

  private static Event opened(String tenant, String run) {
    return Event.first(tenant, run, "k", BODY, AT, Optional.empty());
  }
}

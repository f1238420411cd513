package dev.writ.ledger;

import static dev.writ.ledger.Fixture.AT;
import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.document;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.form.LogTime;
import dev.writ.ledger.form.MetaRow;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.fsck.FsckReport;
import dev.writ.ledger.rocks.RocksStorage;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TimeGoesBackOnlyWhereItRestartsTest {
  private static final Instant AHEAD = AT.plus(Duration.ofDays(1800));

  @TempDir Path home;

  @BeforeEach
  void create() {
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(opening("a")).await();
    }
  }

  private static Batch at(Ledger ledger, String says, Instant at) {
    Event head = ledger.pendingHead(run("a")).orElseThrow();
    return new Batch()
        .event(head.next("receipt.signed", document(says).id(), at, Optional.empty()))
        .document(document(says));
  }

  private void commit(String says, Instant at) {
    try (Ledger ledger = Ledger.open(config(home))) {
      ledger.append(at(ledger, says, at)).await();
    }
  }

  private long restart(Instant at) {
    return Ledger.restartTime(
        config(home), (ledger, incarnation) -> at(ledger, "restart " + incarnation, at));
  }

  @Test
  void a_step_may_reach_the_log_a_day_late_and_no_later() {
    commit("latest", AT.plusSeconds(1));
    commit("late", AT.plusSeconds(1).minus(LogTime.LATE_MAX));
    try (Ledger ledger = Ledger.open(config(home))) {
      Instant tooLate = AT.plusMillis(999).minus(LogTime.LATE_MAX);
      assertThatThrownBy(() -> ledger.append(at(ledger, "too late", tooLate)))
          .isInstanceOf(WritException.class)
          .hasMessageContainingAll("LED-060", tooLate.toString(), AT.plusSeconds(1).toString());
      assertThat(ledger.treeSize()).isEqualTo(3);
      ledger.append(at(ledger, "goes on", AT.plusSeconds(2))).await();
    }
    assertThat(sound()).isTrue();
  }

  @Test
  void what_is_enqueued_counts_before_it_is_durable() {
    try (Ledger ledger = Ledger.open(config(home))) {
      ledger.append(at(ledger, "ahead", AHEAD));
      Refused.with(LedgerError.TIME_BACK, () -> ledger.append(at(ledger, "back", AT)));
    }
  }

  @Test
  void a_restart_lets_it_go_back_once_and_never_below_it() {
    commit("ahead", AHEAD);
    Instant now = AT.plusSeconds(60);
    assertThat(restart(now)).isEqualTo(2);
    try (Ledger ledger = Ledger.open(config(home))) {
      assertThat(ledger.highWater()).isEqualTo(now);
      assertThat(ledger.timeRestarts()).containsExactly(2L);
      Refused.with(
          LedgerError.TIME_BACK, () -> ledger.append(at(ledger, "below", now.minusMillis(1))));
      ledger.append(at(ledger, "goes on", now.plusMillis(1))).await();
      assertThat(ledger.highWater()).isEqualTo(now.plusMillis(1));
    }
    commit("ahead again", AHEAD);
    assertThat(restart(now.minusSeconds(30))).isEqualTo(3);
    try (LedgerView view = Ledger.openReadOnly(config(home).dir())) {
      assertThat(view.timeRestarts()).containsExactly(2L, 5L);
      assertThat(view.highWater()).isEqualTo(now.minusSeconds(30));
    }
    assertThat(sound()).isTrue();
  }

  @Test
  void a_restart_that_was_cut_off_is_done_again_and_nothing_else_is_let_through() {
    commit("ahead", AHEAD);
    Anchor before = Anchor.read(config(home).anchor()).orElseThrow();
    new Anchor(before.origin(), 2, before.treeSize(), before.root(), AT)
        .write(DurableFiles.REAL, config(home).anchor());
    Refused.with(LedgerError.ANCHOR_BEHIND, () -> Ledger.open(config(home)));
    assertThatCode(() -> restart(AT)).doesNotThrowAnyException();
    Ledger.open(config(home)).close();
    new Anchor(before.origin(), 9, 7, before.root(), AT)
        .write(DurableFiles.REAL, config(home).anchor());
    Refused.with(LedgerError.ANCHOR_BEHIND, () -> restart(AT));
  }

  @Test
  void fsck_tells_a_time_that_went_back_without_a_restart() {
    commit("ahead", AHEAD);
    restart(AT);
    commit("goes on", AT.plusSeconds(1));
    try (Storage store = RocksStorage.open(config(home).dir().resolve("db"));
        Write write = store.newWrite()) {
      write.delete(Family.DEFAULT, MetaRow.TIME_RESTARTS.key());
      Fixture.write(store, write);
    }
    FsckReport report = Fsck.check(Fsck.Options.of(config(home).dir()));
    assertThat(report.problems())
        .extracting(Object::toString)
        .anyMatch(p -> p.contains("log row 2") && p.contains("LED-060"))
        .anyMatch(p -> p.contains("high_water"));
  }

  private boolean sound() {
    return Fsck.check(Fsck.Options.of(config(home).dir())).isSound();
  }
}

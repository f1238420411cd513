package dev.writ.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.fixture.Await;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.LeaseTerms;
import dev.writ.ledger.storage.LeaseWatch;
import dev.writ.ledger.storage.LeaseWatch.LivingGateway;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may write a cell, and until when: against a real server. */
class ALeaseIsHeldByOneTest {
  private static final PostgresServer SERVER = PostgresServer.shared();
  private static final byte[] KEY = {1};

  private static final Executor EACH = Executors.newVirtualThreadPerTaskExecutor();

  private PostgresSettings settings;

  @BeforeEach
  void make() {
    settings = SERVER.settings().withCell(SERVER.newCell());
    new PostgresDatabase(settings, "the maker").create().close();
  }

  private static LeaseTerms terms(String name, long ms, LongSupplier clock, Runnable over) {
    return new LeaseTerms(
        name, name + ":1", Duration.ofMillis(ms), Duration.ofMillis(ms / 10), clock, over);
  }

  private static LeaseTerms terms(String name, long ms) {
    return terms(name, ms, System::nanoTime, () -> {});
  }

  private PostgresDatabase database() {
    return new PostgresDatabase(settings, "a command");
  }

  private static void write(Storage storage, int value, long size) {
    Write rows = storage.newWrite();
    rows.put(Family.DEFAULT, KEY, new byte[] {(byte) value});
    storage.write(rows, size, size);
  }

  private static void refused(ErrorCode code, Runnable work) {
    try {
      work.run();
    } catch (WritException e) {
      assertThat(e.code()).isEqualTo(code);
      return;
    }
    throw new AssertionError("not refused");
  }

  @Test
  void whileItRunsNobodyElseOpensTheLog() {
    try (Storage owner = database().open(terms("gw-1", 60_000));
        LeaseWatch watch = database().watch()) {
      long epoch = owner.lease().orElseThrow().epoch();
      refused(LedgerError.LEASE_HELD, () -> database().open(terms("gw-2", 60_000)));
      refused(LedgerError.LEASE_HELD, () -> database().open());
      write(owner, 1, 0);
      LeaseWatch.Ownership seen = watch.ask();
      assertThat(seen.isHeld()).isTrue();
      assertThat(seen.address()).isEqualTo("gw-1:1");
      assertThat(seen.epoch()).isEqualTo(epoch);
    }
  }

  @Test
  void whoEndsGivesItBackAtOnce() {
    long epoch;
    try (Storage owner = database().open(terms("gw-1", 600_000))) {
      epoch = owner.lease().orElseThrow().epoch();
    }
    try (Storage next = database().open(terms("gw-2", 600_000));
        LeaseWatch watch = database().watch()) {
      assertThat(next.lease().orElseThrow().epoch()).isEqualTo(epoch + 1);
      assertThat(watch.ask().owner()).isEqualTo("gw-2");
    }
    try (LeaseWatch watch = database().watch()) {
      assertThat(watch.ask().isHeld()).isFalse();
    }
    database().open().close(); // and by a command
  }

  /** Its clock stands still, as that of a process that is paused, and its session goes on. */
  @Test
  void onePausedBeyondItsLeaseIsEndedAndRefusedWhenItWakes() throws Exception {
    CompletableFuture<String> over = new CompletableFuture<>();
    Storage paused =
        database().open(terms("gw-1", 60_000, System::nanoTime, () -> over.complete("over")));
    write(paused, 1, 0);
    SERVER.execute(
        "writ", "UPDATE writ.lease SET until = clock_timestamp() WHERE cell = " + settings.cell());
    try (Storage next = database().open(terms("gw-2", 60_000))) {
      assertThat(next.get(Family.DEFAULT, KEY).orElseThrow()).containsExactly(1);
      write(next, 2, 0);
      refused(LedgerError.TAKEN_OVER, () -> write(paused, 3, 0));
      assertThat(next.get(Family.DEFAULT, KEY).orElseThrow()).containsExactly(2);
      // The next renewal tells it.
      assertThat(over.get(2, TimeUnit.MINUTES)).isEqualTo("over");
      refused(LedgerError.LEASE_OVER, () -> paused.lease().orElseThrow().require());
      paused.close();
      write(next, 4, 0);
      try (LeaseWatch watch = database().watch()) {
        assertThat(watch.ask().owner()).as("closing gave back nobody else's").isEqualTo("gw-2");
      }
    }
  }

  /** What it was committing is there before the takeover, or refused. */
  @Test
  void aWriteUnderWayIsBeforeTheTakeoverOrRefused() throws Exception {
    Storage owner = database().open(terms("gw-1", 60_000));
    CompletableFuture<Integer> last =
        CompletableFuture.supplyAsync(() -> {
          int value = 0;
          try {
            while (value < 100) {
              write(owner, value + 1, 0);
              value++;
            }
          } catch (WritException e) {
            assertThat(e.code()).isIn(LedgerError.TAKEN_OVER, LedgerError.FAILED);
          }
          return value;
        });
    SERVER.execute(
        "writ", "UPDATE writ.lease SET until = clock_timestamp() WHERE cell = " + settings.cell());
    try (Storage next = database().open(terms("gw-2", 60_000))) {
      byte[] atTakeover = next.get(Family.DEFAULT, KEY).orElse(new byte[] {0});
      int acknowledged = last.get(2, TimeUnit.MINUTES);
      assertThat(next.get(Family.DEFAULT, KEY).orElse(new byte[] {0})).isEqualTo(atTakeover);
      assertThat((int) atTakeover[0]).isGreaterThanOrEqualTo(acknowledged);
    }
    owner.close();
  }

  /** None of them ends the session of the one that succeeds: its first write goes through. */
  @Test
  void ofManyThatTryAtTheEndOfALeaseOneSucceeds() throws Exception {
    for (int round = 0; round < 10; round++) {
      Storage paused = database().open(terms("gw-0", 600_000));
      long epoch = paused.lease().orElseThrow().epoch();
      SERVER.execute(
          "writ",
          "UPDATE writ.lease SET until = clock_timestamp() WHERE cell = " + settings.cell());
      List<CompletableFuture<Storage>> all = new ArrayList<>();
      for (int i = 1; i <= 6; i++) {
        String name = "gw-" + i;
        all.add(CompletableFuture.supplyAsync(() -> database().open(terms(name, 600_000)), EACH));
      }
      List<Storage> opened = new ArrayList<>();
      for (CompletableFuture<Storage> each : all) {
        try {
          opened.add(each.get(2, TimeUnit.MINUTES));
        } catch (ExecutionException e) {
          assertThat(((WritException) e.getCause()).code())
              .as(e.toString())
              .isIn(LedgerError.LEASE_HELD, LedgerError.LOCKED);
        }
      }
      assertThat(opened).hasSize(1);
      Storage owner = opened.getFirst();
      assertThat(owner.lease().orElseThrow().epoch()).isEqualTo(epoch + 1);
      write(owner, round, 0);
      assertThat(SERVER.query("SELECT sessions FROM writ.cell WHERE cell = " + settings.cell()))
          .as("it is still the session that took it over")
          .containsExactly("1");
      owner.close();
      paused.close();
    }
  }

  /** It holds the row of the lease: the server ends it, and the next one goes on. */
  @Test
  void whoStandsStillInATakeoverIsPassed() throws Exception {
    try (Connection stuck = new PostgresConnections(settings).open(Duration.ofSeconds(30))) {
      database().open(terms("gw-0", 600_000)).close();
      ServerSettings.fix(stuck);
      CellLease.begin(stuck, Optional.of(terms("gw-1", 1_000)));
      CellLease.requireFree(stuck, settings.cell());
      refused(LedgerError.LEASE_HELD, () -> database().open(terms("gw-2", 10)));
      try (Storage next = database().open(terms("gw-2", 600_000))) {
        write(next, 1, 0);
      }
    }
  }

  private static void endSessions() {
    SERVER.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'writ' AND pid <>"
            + " pg_backend_pid()");
  }

  /** Somebody is just about to change it, for example: the owner must not act on for that. */
  @Test
  void whoCannotReadItsPasswordWhenItRenewsIsToldThatItsLeaseIsOver(@TempDir Path dir)
      throws Exception {
    Path password = Files.writeString(dir.resolve("password"), PostgresServer.PASSWORD);
    Files.setPosixFilePermissions(password, PosixFilePermissions.fromString("rw-------"));
    CompletableFuture<String> over = new CompletableFuture<>();
    try (Storage owner =
        new PostgresDatabase(settings.withPasswordFile(password), "gw-1")
            .open(terms("gw-1", 1_000, System::nanoTime, () -> over.complete("over")))) {
      Files.delete(password);
      endSessions();
      assertThat(over.get(1, TimeUnit.MINUTES)).isEqualTo("over");
      refused(LedgerError.LEASE_OVER, () -> owner.lease().orElseThrow().require());
    }
  }

  /** As of a user for whom sessions only read unless they say otherwise, and end soon. */
  @Test
  void whatIsSetForTheUsersSessionsEndsNoLease() {
    try (PostgresServer server = new PostgresServer()) {
      PostgresSettings there = server.settings().withCell(0);
      new PostgresDatabase(there, "the maker").create().close();
      server.execute("postgres", "ALTER ROLE writ SET default_transaction_read_only = on");
      server.execute("postgres", "ALTER ROLE writ SET idle_session_timeout = 200");
      try (LeaseWatch watch = new PostgresDatabase(there, "a gateway").watch();
          Storage owner = new PostgresDatabase(there, "gw-1").open(terms("gw-1", 4_000))) {
        String until = "SELECT until FROM writ.lease";
        List<String> before = server.query(until);
        Await.until(() -> !server.query(until).equals(before));
        owner.lease().orElseThrow().require();
        assertThat(present(watch, "gw-1:1")).containsExactly("gw-1:1");
      }
    }
  }

  @Test
  void aSchemaWithoutLeasesIsBroughtUpToDate() {
    try (PostgresServer old = new PostgresServer()) {
      PostgresSettings there = old.settings().withCell(1);
      EarlierSchema.make(old, there, 1);
      try (LeaseWatch watch = new PostgresDatabase(there, "a gateway").watch()) {
        assertThat(watch.ask().isHeld()).isFalse();
      }
      try (Storage owner = new PostgresDatabase(there, "a").open(terms("gw-1", 60_000))) {
        write(owner, 1, 0);
      }
      assertThat(old.query("SELECT address FROM writ.cells")).containsExactly("gw-1:1");
    }
  }

  /** A gateway of the release before had the lease. */
  @Test
  void aSchemaWithoutSeveralCellsIsBroughtUpToDate() {
    try (PostgresServer old = new PostgresServer()) {
      PostgresSettings there = old.settings().withCell(1);
      EarlierSchema.make(old, there, 2);
      old.execute("writ", "INSERT INTO writ.lease VALUES (1, 1, 'gw-0', 'gw-0:1', now())");
      try (LeaseWatch watch = new PostgresDatabase(there, "a gateway").watch()) {
        assertThat(watch.ask().address()).isEqualTo("gw-0:1");
        assertThat(watch.ask().observed()).isZero();
        assertThat(present(watch, "gw-0:1")).containsExactly("gw-0:1");
      }
      assertThat(old.query("SELECT observed FROM writ.cells")).containsExactly("0");
    }
  }

  /** What the owners of several cells say, and nobody for them. */
  @Test
  void onlyAnOwnerSaysWhatItHasObserved() {
    try (PostgresServer server = new PostgresServer()) {
      PostgresSettings first = server.settings().withCell(0);
      for (int cell = 0; cell < 3; cell++) {
        new PostgresDatabase(first.withCell(cell), "the maker").create().close();
      }
      try (LeaseWatch watch = new PostgresDatabase(first, "a gateway").watch();
          Storage owned =
              new PostgresDatabase(first.withCell(1), "a").open(terms("gw-1", 60_000))) {
        long epoch = owned.epoch().orElseThrow();
        watch.observed(1, epoch - 1, 9);
        watch.observed(2, 1, 9);
        assertThat(watch.askAll(3)).extracting(LeaseWatch.Ownership::observed).containsOnly(0L);
        watch.observed(1, epoch, 7);
        assertThat(watch.askAll(3))
            .extracting(LeaseWatch.Ownership::observed)
            .containsExactly(0L, 7L, 0L);
        assertThat(watch.askAll(3))
            .extracting(LeaseWatch.Ownership::isHeld)
            .containsExactly(false, true, false);
        assertThat(watch.askAll(2)).hasSize(2);
      }
      try (LeaseWatch watch = new PostgresDatabase(first, "a gateway").watch();
          Storage next = new PostgresDatabase(first.withCell(1), "b").open(terms("gw-2", 60_000))) {
        assertThat(next.epoch()).isPresent();
        assertThat(watch.askAll(2).getLast().observed())
            .as("the next owner has to see it again")
            .isZero();
      }
    }
  }

  @Test
  void whoDoesNotSayThatItLivesIsForgotten() {
    try (PostgresServer server = new PostgresServer()) {
      PostgresSettings there = server.settings().withCell(0);
      new PostgresDatabase(there, "the maker").create().close();
      try (LeaseWatch watch = new PostgresDatabase(there, "a gateway").watch()) {
        assertThat(present(watch, "gw-1:1")).containsExactly("gw-1:1");
        assertThat(present(watch, "gw-2:1")).containsExactly("gw-1:1", "gw-2:1");
        server.execute("writ", "UPDATE writ.gateway SET until = now() WHERE address = 'gw-1:1'");
        assertThat(present(watch, "gw-2:1")).containsExactly("gw-2:1");
        watch.leaves("gw-2:1");
        assertThat(present(watch, "gw-3:1")).containsExactly("gw-3:1");
      }
    }
  }

  private static List<String> present(LeaseWatch watch, String address) {
    return watch.present(new LivingGateway(address, Optional.empty()), Duration.ofHours(1)).stream()
        .map(LivingGateway::address)
        .toList();
  }

  @Test
  void whoLivesSaysWhere() {
    try (PostgresServer server = new PostgresServer()) {
      PostgresSettings there = server.settings().withCell(0);
      new PostgresDatabase(there, "the maker").create().close();
      LivingGateway home = new LivingGateway("gw-1:1", Optional.of("eu-1"));
      LivingGateway moved = new LivingGateway("gw-1:1", Optional.of("eu-2"));
      LivingGateway nowhere = new LivingGateway("gw-2:1", Optional.empty());
      try (LeaseWatch watch = new PostgresDatabase(there, "a gateway").watch()) {
        assertThat(watch.present(home, Duration.ofHours(1))).containsExactly(home);
        assertThat(watch.present(nowhere, Duration.ofHours(1))).containsExactly(home, nowhere);
        assertThat(watch.present(moved, Duration.ofHours(1))).containsExactly(moved, nowhere);
        assertThat(watch.living()).containsExactly(moved, nowhere);
      }
    }
  }
}

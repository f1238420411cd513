package dev.writ.postgres;

import static dev.writ.postgres.NumberedWrites.append;
import static dev.writ.postgres.NumberedWrites.number;
import static java.nio.file.attribute.PosixFilePermission.OWNER_READ;
import static java.nio.file.attribute.PosixFilePermission.OWNER_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.fixture.Await;
import dev.writ.fixture.Refused;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.LeaseWatch;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import dev.writ.postgres.WireProxy.Cut;
import dev.writ.postgres.WireProxy.Fault;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * PostgresConnections are cut, servers killed, transactions refused: every write that was
 * acknowledged is there once, and one that was refused is not there.
 */
class AWriteIsMadeOnceOrRefusedTest {
  private static final String WRITE = "UPDATE cell SET size";
  private static final String COMMIT = "COMMIT";
  private static final int ROUNDS = Integer.getInteger("writ.cuts", 40);

  /** What a writer sends, in its order, when it has to connect again. */
  private static final List<String> RECONNECTING =
      List.of(
          "SELECT epoch",
          "SELECT current_setting",
          "SELECT pg_advisory_lock",
          "UPDATE cell SET sessions",
          "SELECT writes");

  private final PostgresServer server = PostgresServer.shared();
  private final int cell = server.newCell();
  private final PostgresDatabase database =
      new PostgresDatabase(server.settings().withCell(cell), "a test");

  /** The database has this many writes and events, and the rows of no others. */
  private void assertWritten(long count) {
    assertThat(server.query("SELECT size, writes FROM writ.cell WHERE cell = " + cell))
        .containsExactly(count + "|" + count);
    for (String table : List.of("log", "table_row")) {
      assertThat(
              server.query(
                  "SELECT count(*), max(writ.number(key)) FROM writ.%s WHERE cell = %d"
                      .formatted(table, cell)))
          .containsExactly(count + "|" + (count - 1));
    }
  }

  private PostgresDatabase through(WireProxy proxy) {
    return new PostgresDatabase(server.settings(proxy.port()).withCell(cell), "through a proxy");
  }

  @Test
  void eachPointOfTheProtocolIsCut() {
    try (WireProxy proxy = new WireProxy(server.port());
        Storage storage = through(proxy).create()) {
      long position = 0;
      append(storage, position++);
      for (String statement : List.of(WRITE, COMMIT)) {
        for (Cut cut : Cut.values()) {
          proxy.add(new Fault(statement, cut));
          append(storage, position++);
          assertWritten(position);
        }
      }
      assertThat(proxy.cuts()).isEqualTo(8);
      for (String statement : RECONNECTING) {
        for (Cut cut : Cut.values()) {
          proxy.add(new Fault(COMMIT, Cut.BEFORE_ITS_ANSWER));
          proxy.add(new Fault(statement, cut));
          append(storage, position++);
          assertWritten(position);
        }
      }
      assertThat(proxy.cuts()).isEqualTo(8 + 2 * 20);
    }
  }

  @Test
  void aPasswordThatComesToItsFileALittleLaterIsWaitedFor(@TempDir Path dir) throws Exception {
    Path file = dir.resolve("password");
    Files.createFile(file, PosixFilePermissions.asFileAttribute(Set.of(OWNER_READ, OWNER_WRITE)));
    Files.writeString(file, "the first one");
    server.execute("postgres", "CREATE ROLE renewed LOGIN PASSWORD 'the first one' IN ROLE writ");
    try (WireProxy proxy = new WireProxy(server.port());
        ExecutorService other = Executors.newVirtualThreadPerTaskExecutor()) {
      PostgresSettings settings =
          PostgresSettings.parse("postgresql://renewed@127.0.0.1:" + proxy.port() + "/writ")
              .withPasswordFile(file)
              .withCell(cell);
      try (Storage storage = new PostgresDatabase(settings, "a test").create()) {
        append(storage, 0);
        server.execute("postgres", "ALTER ROLE renewed PASSWORD 'the second one'");
        int before = proxy.accepted();
        proxy.add(new Fault(COMMIT, Cut.BEFORE_ITS_ANSWER));
        Future<?> writer = other.submit(() -> append(storage, 1));
        Await.until(() -> proxy.accepted() >= before + 2); // the first of them was refused
        Files.writeString(file, "the second one");
        writer.get();
        append(storage, 2);
        assertWritten(3);
      }
    }
  }

  /** Up to four cuts of a write and of the attempts to look it up. */
  @Test
  void cutsAtRandomLoseAndDoubleNothing() {
    Random random = new Random(20);
    List<String> later = new ArrayList<>(RECONNECTING);
    later.addAll(List.of(WRITE, COMMIT));
    try (WireProxy proxy = new WireProxy(server.port());
        Storage storage = through(proxy).create()) {
      for (long round = 0; round < ROUNDS; round++) {
        List<String> cut = new ArrayList<>(List.of(random.nextInt(3) == 0 ? WRITE : COMMIT));
        for (int more = random.nextInt(4); more > 0; more--) {
          cut.add(later.get(random.nextInt(later.size())));
        }
        for (String statement : cut) {
          proxy.add(new Fault(statement, Cut.values()[random.nextInt(Cut.values().length)]));
        }
        append(storage, round);
        if (round % 10 == 0) {
          assertWritten(round + 1);
        }
      }
      assertWritten(ROUNDS);
      assertThat(proxy.cuts()).isGreaterThan(2 * ROUNDS);
    }
  }

  @Test
  void readsGoOnAfterCuts() {
    try (WireProxy proxy = new WireProxy(server.port());
        Storage storage = through(proxy).create()) {
      append(storage, 0);
      for (int i = 0; i < 10; i++) {
        assertThat(storage.has(Family.LOG, number(0))).isTrue();
        proxy.cutAll();
      }
      proxy.add(new Fault("SELECT value", Cut.BEFORE_ITS_ANSWER));
      assertThat(storage.get(Family.LOG, number(0))).contains(number(0));
      assertThat(proxy.cuts()).isOne();
      append(storage, 1);
    }
    assertWritten(2);
  }

  /** Such as a primary that was replaced, and has started again as if it were one. */
  @Test
  void nothingIsReadFromAServerThatIsNotTheOneThatIsWrittenTo() {
    try (WireProxy proxy = new WireProxy(server.port());
        Storage storage =
            new PostgresDatabase(
                    server
                        .settings(proxy.port())
                        .withCell(cell)
                        .withPatience(Duration.ofSeconds(1)),
                    "through a proxy")
                .create()) {
      append(storage, 0);
      proxy.cutAll();
      append(storage, 1); // over another session, as after a failover
      assertThat(storage.has(Family.LOG, number(1))).isTrue();
      String sessions = "UPDATE writ.cell SET sessions = %d WHERE cell = " + cell;
      server.execute("writ", sessions.formatted(1)); // as the former primary has it
      proxy.cutAll();
      assertThat(Refused.code(() -> storage.has(Family.LOG, number(1)))).isEqualTo("PGS-002");
      server.execute("writ", sessions.formatted(2));
      assertThat(storage.has(Family.LOG, number(1))).isTrue();
    }
  }

  /** Another cell's log, and who owns the cells. */
  @Test
  void nothingElseIsReadFromSuchAServerWhileThisProcessWritesToAnother() {
    try (WireProxy proxy = new WireProxy(server.port())) {
      PostgresSettings settings =
          server.settings(proxy.port()).withCell(cell).withPatience(Duration.ofSeconds(1));
      PostgresDatabase other =
          new PostgresDatabase(settings.withCell(server.newCell()), "another cell");
      other.create().close();
      try (Storage storage = new PostgresDatabase(settings, "through a proxy").create();
          Storage reader = other.openReader();
          LeaseWatch watch = other.watch()) {
        append(storage, 0);
        assertThat(reader.has(Family.LOG, number(1))).isFalse();
        assertThat(watch.ask().epoch()).isPositive();
        proxy.cutAll();
        append(storage, 1); // over another session, as after a failover
        String sessions = "UPDATE writ.cell SET sessions = %d WHERE cell = " + cell;
        server.execute("writ", sessions.formatted(1)); // as the former primary has it
        assertThat(Refused.code(() -> reader.has(Family.LOG, number(1)))).isEqualTo("PGS-002");
        assertThat(Refused.code(watch::ask)).isEqualTo("PGS-002");
        server.execute("writ", sessions.formatted(2));
        assertThat(reader.has(Family.LOG, number(1))).isFalse();
        assertThat(watch.ask().epoch()).isPositive();
      }
    }
  }

  /** What a scan has shown cannot be shown again. */
  @Test
  void aScanThatIsCutSaysSo() {
    try (WireProxy proxy = new WireProxy(server.port());
        Storage storage = through(proxy).create()) {
      try (Write write = storage.newWrite()) {
        for (int i = 0; i < 500; i++) {
          write.put(Family.TABLES, number(i), new byte[1000]);
        }
        storage.write(write, 0, 0);
      }
      assertThat(
              Refused.code(() ->
                  storage.scan(
                      Family.TABLES,
                      new byte[0],
                      new byte[0],
                      (_, _) -> {
                        proxy.cutAll();
                        return true;
                      })))
          .isEqualTo("PGS-002");
    }
  }

  @Test
  void aServerThatIsKilledAndStartedAgainHasEachWriteOnce() throws Exception {
    try (PostgresServer mortal = new PostgresServer();
        Storage storage = mortal.newDatabase().create();
        ExecutorService other = Executors.newVirtualThreadPerTaskExecutor()) {
      long[] written = {0};
      boolean[] done = {false};
      Future<?> writer =
          other.submit(() -> {
            while (true) {
              synchronized (written) {
                if (done[0]) {
                  return;
                }
              }
              append(storage, written[0]);
              synchronized (written) {
                written[0]++;
                written.notifyAll();
              }
            }
          });
      Random random = new Random(9);
      for (int round = 0; round < 4; round++) {
        synchronized (written) {
          long until = written[0] + 20 + random.nextInt(50);
          while (written[0] < until && !writer.isDone()) {
            written.wait(100);
          }
        }
        mortal.kill();
        mortal.start();
      }
      synchronized (written) {
        done[0] = true;
      }
      writer.get();
      String count = String.valueOf(written[0]);
      assertThat(mortal.query("SELECT size, writes FROM writ.cell"))
          .containsExactly(count + "|" + count);
      assertThat(mortal.query("SELECT count(*) FROM writ.log")).containsExactly(count);
      assertThat(mortal.query("SELECT epoch FROM writ.cell")).containsExactly("1");
      assertThat(written[0]).isGreaterThan(80);
    }
  }

  @Test
  void aServerThatDoesNotAnswerStopsTheWriterAndAnOpeningShowsWhatIsThere() {
    try (PostgresServer slow = new PostgresServer()) {
      PostgresSettings settings = slow.settings();
      PostgresDatabase impatient =
          new PostgresDatabase(settings.withPatience(Duration.ofMillis(500)), "impatient");
      try (Storage storage = impatient.create()) {
        append(storage, 0);
        slow.pause();
        assertThat(Refused.code(() -> append(storage, 1))).isEqualTo("PGS-011");
        slow.resume();
        // Nothing is believed of the one before, so nothing goes on from there.
        assertThat(Refused.code(() -> append(storage, 1))).isEqualTo("LED-022");
        assertThat(Refused.code(() -> append(storage, 2))).isEqualTo("LED-022");
      }
      try (Storage storage = new PostgresDatabase(settings, "patient").open()) {
        long size = storage.last(Family.LOG).map(row -> 1 + row.key()[7]).orElse(0);
        append(storage, size);
        assertThat(storage.last(Family.LOG).orElseThrow().key()).isEqualTo(number(size));
      }
    }
  }

  // Refused transactions

  /** Has the database raise this in each write of the cell, the given number of times. */
  private void raise(String state, int times, String when) {
    String name = "raise_" + state.toLowerCase(java.util.Locale.ROOT) + "_" + cell;
    server.execute(
        "writ",
        """
        CREATE SEQUENCE %1$s_count;
        GRANT USAGE ON SEQUENCE %1$s_count TO writ;
        CREATE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF nextval('public.%1$s_count') <= %2$d THEN
            RAISE EXCEPTION 'of the test' USING ERRCODE = '%3$s';
          END IF;
          RETURN NULL;
        END $$;
        CREATE CONSTRAINT TRIGGER %1$s AFTER INSERT ON writ.log %4$s FOR EACH ROW
          WHEN (NEW.cell = %5$d) EXECUTE FUNCTION %1$s();
        """
            .formatted(name, times, state, when, cell));
  }

  @Test
  void atomicityFailuresAreRepeatedUntilTheyPass() {
    try (Storage storage = database.create()) {
      append(storage, 0);
      raise("40001", 3, "NOT DEFERRABLE");
      append(storage, 1);
      raise("40P01", 1, "NOT DEFERRABLE");
      append(storage, 2);
      assertWritten(3);
    }
  }

  /** The commit itself is refused. */
  @Test
  void aCommitThatFailsIsLookedUpAndRepeated() {
    try (Storage storage = database.create()) {
      append(storage, 0);
      raise("40001", 2, "DEFERRABLE INITIALLY DEFERRED");
      append(storage, 1);
      assertWritten(2);
      raise("53100", 1, "DEFERRABLE INITIALLY DEFERRED");
      assertThat(Refused.code(() -> append(storage, 2))).isEqualTo("LED-005");
      assertWritten(2);
      append(storage, 2);
      assertWritten(3);
    }
  }

  @Test
  void aFullDiskRefusesOneWriteAndTheNextMayPass() {
    try (Storage storage = database.create()) {
      append(storage, 0);
      raise("53100", 1, "NOT DEFERRABLE");
      assertThat(Refused.code(() -> append(storage, 1))).isEqualTo("LED-005");
      assertWritten(1);
      append(storage, 1);
      assertWritten(2);
    }
  }

  @Test
  void nothingOfARowIsInTheMessageOfARefusal() {
    try (Storage storage = database.create()) {
      append(storage, 0);
      raise("23514", 1, "NOT DEFERRABLE");
      assertThatThrownBy(() -> append(storage, 1))
          .isInstanceOf(WritException.class)
          .hasMessageContaining("SQLSTATE 23514")
          .hasMessageNotContaining("of the test")
          .hasNoCause();
    }
  }

  // Fencing

  @Test
  void aSecondServerIsRefusedWhileTheFirstsSessionLives() {
    try (Storage storage = database.create()) {
      append(storage, 0);
      assertThatThrownBy(database::open)
          .hasMessageStartingWith("LED-003")
          .hasMessageContaining("a test");
      append(storage, 1);
      assertWritten(2);
    }
    database.open().close();
  }

  /**
   * The first is paused for so long that its session ends; it wakes after the second has written.
   */
  @Test
  void aWriterThatWasPausedIsRefusedAndNothingOfItIsThere() {
    try (WireProxy proxy = new WireProxy(server.port());
        Storage paused = through(proxy).create()) {
      append(paused, 0);
      proxy.cutAll();
      try (Storage second = database.open()) {
        append(second, 1);
        assertThat(Refused.code(() -> append(paused, 1))).isEqualTo("LED-074");
        assertThat(Refused.code(() -> append(paused, 2))).isEqualTo("LED-022");
        assertWritten(2);
        append(second, 2);
      }
      assertWritten(3);
    }
  }

  /** It is taken over after its commit was sent, and before it could look it up. */
  @Test
  void aWriterThatIsTakenOverDoesNotLearnHowItsLastWriteEnded() throws Exception {
    try (WireProxy proxy = new WireProxy(server.port());
        Storage first = through(proxy).create();
        Connection blocking = blocking()) {
      append(first, 0);
      proxy.refuse(true);
      proxy.add(new Fault(COMMIT, Cut.BEFORE_ITS_ANSWER));
      try (ExecutorService other = Executors.newVirtualThreadPerTaskExecutor()) {
        Future<?> write = other.submit(() -> append(first, 1));
        Await.until(() ->
            server.query("SELECT writes FROM writ.cell WHERE cell = " + cell).equals(List.of("2")));
        try (Statement statement = blocking.createStatement()) {
          statement.execute("UPDATE writ.cell SET epoch = epoch + 1 WHERE cell = " + cell);
        }
        blocking.commit();
        proxy.refuse(false);
        assertThatThrownBy(write::get)
            .isInstanceOf(ExecutionException.class)
            .hasMessageContaining("LED-074");
      }
      assertWritten(2);
    }
  }

  private Connection blocking() throws SQLException {
    Connection connection = new PostgresConnections(server.settings()).open(Duration.ZERO);
    connection.setAutoCommit(false);
    return connection;
  }

  /** The first one's session is alive, and waits for the cell's row while the epoch changes. */
  @Test
  void aWriteThatWaitsForATakeoverIsRefused() throws Exception {
    try (Storage first = database.create();
        Connection blocking = blocking();
        Statement statement = blocking.createStatement();
        ExecutorService other = Executors.newVirtualThreadPerTaskExecutor()) {
      append(first, 0);
      statement.execute("UPDATE writ.cell SET epoch = epoch + 1 WHERE cell = " + cell);
      Future<?> write = other.submit(() -> append(first, 1));
      Await.until(() ->
          !server.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'").isEmpty());
      blocking.commit();
      assertThatThrownBy(write::get).hasMessageContaining("LED-074");
      assertWritten(1);
    }
  }

  @Test
  void aDatabaseThatLostWritesStopsTheWriter() {
    try (WireProxy proxy = new WireProxy(server.port());
        Storage storage = through(proxy).create()) {
      append(storage, 0);
      append(storage, 1);
      // As a failover to a standby that had not got the last one.
      server.execute("writ", "UPDATE writ.cell SET writes = 1 WHERE cell = " + cell);
      proxy.cutAll();
      assertThat(Refused.code(() -> append(storage, 2))).isEqualTo("PGS-012");
      assertThat(Refused.code(() -> append(storage, 2))).isEqualTo("LED-022");
    }
  }

  // Standbys

  private String waitingForStandby() {
    List<String> waiting = List.of();
    while (waiting.isEmpty()) {
      waiting = server.waitingForStandby();
    }
    return waiting.getFirst();
  }

  @Test
  void aCommitWhoseWaitForAStandbyIsCancelledStopsTheWriter() throws Exception {
    try (Storage storage = database.create();
        ExecutorService other = Executors.newVirtualThreadPerTaskExecutor()) {
      append(storage, 0);
      server.requireStandbys("nobody");
      try {
        Future<?> write = other.submit(() -> append(storage, 1));
        server.query("SELECT pg_cancel_backend(" + waitingForStandby() + ")");
        assertThatThrownBy(write::get).hasMessageContaining("LED-070");
        assertThat(Refused.code(() -> append(storage, 2))).isEqualTo("LED-022");
      } finally {
        server.requireStandbys("");
      }
    }
  }

  /** Its session keeps the lock while it waits, so that nobody decides too early how it ended. */
  @Test
  void aCommitThatWaitsForAStandbyIsNotTakenForLost() throws Exception {
    try (WireProxy proxy = new WireProxy(server.port());
        Storage storage = through(proxy).create();
        ExecutorService other = Executors.newVirtualThreadPerTaskExecutor()) {
      append(storage, 0);
      server.requireStandbys("nobody");
      try {
        Future<?> write = other.submit(() -> append(storage, 1));
        waitingForStandby();
        proxy.cutAll();
        assertThat(Refused.code(database::open)).isEqualTo("LED-003");
        assertThat(write.isDone()).isFalse();
        server.requireStandbys("");
        write.get();
        assertWritten(2);
        append(storage, 2);
        assertWritten(3);
      } finally {
        server.requireStandbys("");
      }
    }
  }
}

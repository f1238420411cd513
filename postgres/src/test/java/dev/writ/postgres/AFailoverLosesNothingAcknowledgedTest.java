package dev.writ.postgres;

import static dev.writ.postgres.NumberedWrites.append;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.fixture.Await;
import dev.writ.ledger.storage.Storage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Three servers, of which any one standby has to have a commit before it is acknowledged: the
 * primary is killed in the middle of writes, and a standby takes its place.
 */
class AFailoverLosesNothingAcknowledgedTest {
  private static final int ROUNDS = Integer.getInteger("writ.failovers", 3);
  private static final int CELL = 1;

  private final List<PostgresServer> servers = new ArrayList<>();
  private PostgresServer primary;

  @BeforeEach
  void start() {
    primary = new PostgresServer();
    servers.add(primary);
    primary.requireStandbys("ANY 1 (n0, n1, n2)");
    for (int i = 1; i <= 2; i++) {
      servers.add(PostgresServer.standbyOf(primary, "n" + i));
    }
    awaitStandbys();
  }

  @AfterEach
  void stop() {
    servers.forEach(PostgresServer::close);
  }

  /**
   * Both follow closely; one that does not would need more of the log than its next primary has.
   */
  private void awaitStandbys() {
    Await.until(() ->
        primary
            .query("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")
            .equals(List.of("2")));
  }

  private List<PostgresServer> standbys() {
    return servers.stream().filter(server -> server != primary).toList();
  }

  private String name(PostgresServer server) {
    return "n" + servers.indexOf(server);
  }

  /** Names all three; the one that is the primary is used. */
  private PostgresDatabase database() {
    List<String> hosts = servers.stream().map(server -> "127.0.0.1:" + server.port()).toList();
    return new PostgresDatabase(
        PostgresSettings.parse(
            "postgresql://writ@" + String.join(",", hosts) + "/writ?patience_s=120&cell=" + CELL),
        "a test");
  }

  /** How much of the log a standby has, in bytes. */
  private static long received(PostgresServer standby) {
    return Long.parseLong(
        standby
            .query(
                "SELECT (greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())"
                    + " - '0/0'::pg_lsn)::bigint")
            .getFirst());
  }

  private static void awaitAllReceived(PostgresServer standby) {
    Await.until(() -> standby.query("SELECT 1 FROM pg_stat_wal_receiver").isEmpty());
  }

  /** What an operator, or Patroni, does: the standby that has most becomes the primary. */
  private PostgresServer failOver() {
    PostgresServer former = primary;
    List<PostgresServer> left = standbys();
    // What the killed one had sent may still come in, and then the other one could have more.
    left.forEach(AFailoverLosesNothingAcknowledgedTest::awaitAllReceived);
    primary =
        left.stream()
            .max(Comparator.comparingLong(AFailoverLosesNothingAcknowledgedTest::received))
            .orElseThrow();
    primary.promote();
    standbys().stream()
        .filter(standby -> standby != former)
        .forEach(standby -> standby.follow(primary, name(standby)));
    return former;
  }

  private void assertWritten(long count) {
    assertThat(primary.query("SELECT size, writes FROM writ.cell WHERE cell = " + CELL))
        .containsExactly(count + "|" + count);
    for (String table : List.of("log", "table_row")) {
      assertThat(
              primary.query(
                  "SELECT count(*), min(writ.number(key)), max(writ.number(key)) FROM writ.%s WHERE cell = %d"
                      .formatted(table, CELL)))
          .containsExactly(count + "|0|" + (count - 1));
    }
  }

  private static void await(AtomicLong written, long count) {
    Await.until(() -> written.get() >= count);
  }

  @Test
  void theWriterGoesOnAtTheStandbyThatTookOver() throws Exception {
    Random random = new Random(40);
    AtomicLong written = new AtomicLong();
    AtomicBoolean enough = new AtomicBoolean();
    try (Storage storage = database().create();
        ExecutorService other = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<?> writer =
          other.submit(() -> {
            while (!enough.get()) {
              append(storage, written.get());
              written.incrementAndGet();
            }
          });
      for (int round = 0; round < ROUNDS; round++) {
        await(written, written.get() + 1 + random.nextInt(30));
        primary.kill();
        PostgresServer former = failOver();
        long before = written.get();
        await(written, before + 20);
        former.becomeStandbyOf(primary, name(former));
        awaitStandbys();
      }
      enough.set(true);
      writer.get();
    }
    assertWritten(written.get());
    // And whoever opens it next finds the same.
    try (Storage storage = database().open()) {
      append(storage, written.get());
    }
    assertWritten(written.get() + 1);
  }

  /** A failover by mistake: what another standby had acknowledged is not there. */
  @Test
  void aStandbyThatLacksAcknowledgedWritesStopsTheWriter() throws Exception {
    PostgresServer lagging = servers.get(2);
    AtomicLong written = new AtomicLong();
    try (Storage storage = database().create();
        ExecutorService other = Executors.newVirtualThreadPerTaskExecutor()) {
      append(storage, written.getAndIncrement());
      Await.until(
          () -> !lagging.query("SELECT size FROM writ.cell WHERE cell = " + CELL).isEmpty());
      lagging.kill();
      for (int i = 0; i < 10; i++) {
        append(storage, written.getAndIncrement());
      }
      primary.kill();
      servers.get(1).kill();
      Future<?> writer = other.submit(() -> append(storage, written.get()));
      lagging.start();
      primary = lagging;
      primary.execute("postgres", "ALTER SYSTEM SET synchronous_standby_names = ''");
      primary.promote();
      primary.execute("postgres", "SELECT pg_reload_conf()");
      assertThatThrownBy(writer::get).hasMessageContaining("PGS-012");
    }
  }
}

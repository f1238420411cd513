package dev.writ.postgres;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.Refused;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.LeaseTerms;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import dev.writ.postgres.WireProxy.Cut;
import dev.writ.postgres.WireProxy.Fault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Rows that an owner has read or written are not asked for again, and nothing is believed that the
 * database may not hold. Requests are counted on the way to it.
 */
class TheOwnerRemembersItsRowsTest {
  private static final byte[] KEY = "request\0a".getBytes(UTF_8);
  private static final byte[] ONE = {1};
  private static final byte[] TWO = {2};

  private final PostgresServer server = PostgresServer.shared();
  private final PostgresSettings settings = server.settings().withCell(server.newCell());
  private final WireProxy proxy = new WireProxy(server.port());

  @AfterEach
  void close() {
    proxy.close();
  }

  private PostgresDatabase direct() {
    return new PostgresDatabase(settings, "beside it");
  }

  private PostgresDatabase counted(Duration patience) {
    return new PostgresDatabase(
        server.settings(proxy.port()).withCell(settings.cell()).withPatience(patience), "a test");
  }

  private PostgresDatabase counted() {
    return counted(settings.patience());
  }

  private static void put(Storage storage, byte[] value, long size) {
    try (Write write = storage.newWrite()) {
      write.put(Family.TABLES, KEY, value);
      storage.write(write, size, size);
    }
  }

  private void assertRequests(int expected, Runnable work) {
    int before = proxy.requests();
    work.run();
    assertThat(proxy.requests() - before).isEqualTo(expected);
  }

  private static byte[] key(String family, int number) {
    return (family + "\0" + number).getBytes(UTF_8);
  }

  /** As an effect does: it asks for what it will look at, and writes. */
  @Test
  void whatIsExpectedIsOneRoundTripAndAWriteIsOne() {
    try (Storage storage = counted().create()) {
      put(storage, ONE, 0);
      storage.get(Family.EVENTS, KEY); // so that there is a connection for reading
      List<Storage.Name> names = new ArrayList<>();
      for (Family family : List.of(Family.TABLES, Family.DOCUMENTS, Family.RUNS)) {
        IntStream.range(0, 5)
            .forEach(i -> names.add(new Storage.Name(family, key(family.name(), i))));
      }
      assertRequests(1, () -> storage.expect(() -> names));
      assertRequests(
          0,
          () -> {
            names.forEach(name -> assertThat(storage.get(name.family(), name.key())).isEmpty());
            names.forEach(name -> assertThat(storage.has(name.family(), name.key())).isFalse());
            storage.expect(() -> names);
          });
      assertRequests(1, () -> put(storage, TWO, 0));
      assertRequests(0, () -> assertThat(storage.get(Family.TABLES, KEY)).contains(TWO));
    }
  }

  @Test
  void rowsThatAreThereAreRememberedToo() {
    try (Storage storage = counted().create();
        Write write = storage.newWrite()) {
      write.put(Family.TABLES, KEY, ONE);
      storage.write(write, 0, 0);
    }
    try (Storage storage = counted().open()) {
      storage.expect(() -> List.of(new Storage.Name(Family.TABLES, KEY)));
      assertRequests(0, () -> assertThat(storage.get(Family.TABLES, KEY)).contains(ONE));
    }
  }

  /** Many callers at once share reads, and each finds its rows. */
  @Test
  void manyCallersShareRoundTrips() throws Exception {
    int callers = 200;
    try (Storage storage = counted().create();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      try (Write write = storage.newWrite()) {
        for (int i = 0; i < callers; i += 2) {
          write.put(Family.EVENTS, key("t", i), ONE);
        }
        storage.write(write, 0, 0);
      }
      storage.get(Family.EVENTS, KEY);
      List<Future<Boolean>> found = new ArrayList<>();
      for (int i = 0; i < callers; i++) {
        byte[] key = key("t", i);
        found.add(
            threads.submit(() -> {
              storage.expect(() -> List.of(new Storage.Name(Family.EVENTS, key)));
              return storage.get(Family.EVENTS, key).isPresent();
            }));
      }
      for (int i = 0; i < callers; i++) {
        assertThat(found.get(i).get()).isEqualTo(i % 2 == 0);
      }
    }
  }

  @Test
  void aRowThatWouldStayTheSameIsNotWrittenAgain() {
    try (Storage storage = direct().create()) {
      put(storage, ONE, 0);
      String version =
          "SELECT xmin FROM writ.table_row WHERE cell = "
              + settings.cell()
              + " AND value = '\\x01'";
      List<String> before = server.query(version);
      put(storage, ONE, 0);
      assertThat(server.query(version)).isEqualTo(before);
      put(storage, TWO, 0);
      put(storage, ONE, 0);
      assertThat(server.query(version)).hasSize(1).isNotEqualTo(before);
    }
  }

  @Test
  void aScanAndItsVisitorSeeTheDatabase() {
    try (Storage storage = direct().create()) {
      put(storage, ONE, 0);
      server.execute(
          "writ", "UPDATE writ.table_row SET value = '\\x02' WHERE cell = " + settings.cell());
      List<byte[]> seen = new ArrayList<>();
      storage.scan(
          Family.TABLES,
          new byte[0],
          new byte[0],
          (key, value) -> {
            seen.add(value);
            seen.add(storage.get(Family.TABLES, key).orElseThrow());
            return true;
          });
      assertThat(seen).containsExactly(TWO, TWO);
    }
  }

  // What must not be believed

  /** What it found absent was true under its epoch; from its refusal on it asks again. */
  @Test
  void oneThatWasTakenOverForgetsWhatItKnewWhenItLearnsOfIt() {
    try (Storage former = counted().create()) {
      assertThat(former.get(Family.TABLES, KEY)).isEmpty();
      proxy.cutAll();
      try (Storage next = direct().open()) {
        put(next, TWO, 0);
        assertThat(former.get(Family.TABLES, KEY)).isEmpty();
        assertThat(Refused.code(() -> put(former, ONE, 0))).isEqualTo("LED-074");
        assertThat(former.get(Family.TABLES, KEY)).contains(TWO);
        assertThat(former.has(Family.TABLES, KEY)).isTrue();
      }
    }
  }

  /** Its clock says that the lease is over, and it has heard of nobody else. */
  @Test
  void oneWhoseLeaseIsOverAsksTheDatabase() {
    direct().create().close();
    AtomicLong passed = new AtomicLong();
    Duration lease = Duration.ofHours(1);
    LeaseTerms terms =
        new LeaseTerms("gw", "gw:1", lease, lease.dividedBy(10), passed::get, () -> {});
    try (Storage owner = direct().open(terms)) {
      put(owner, ONE, 0);
      server.execute(
          "writ", "UPDATE writ.table_row SET value = '\\x02' WHERE cell = " + settings.cell());
      assertThat(owner.get(Family.TABLES, KEY)).contains(ONE);
      passed.set(lease.toNanos());
      assertThat(owner.get(Family.TABLES, KEY)).contains(TWO);
    }
  }

  @Test
  void rowsOfAWriteThatWasRefusedAreNotBelieved() {
    try (Storage storage = direct().create()) {
      put(storage, ONE, 0);
      assertThat(Refused.code(() -> put(storage, TWO, 7))).isEqualTo("LED-074");
      assertThat(storage.get(Family.TABLES, KEY)).contains(ONE);
      put(storage, TWO, 0);
      assertThat(storage.get(Family.TABLES, KEY)).contains(TWO);
    }
  }

  /** Its commit was made, and it cannot learn of it: neither the old nor the new row is assumed. */
  @Test
  void aCommitWithoutAnAnswerLeavesNothingKnown() {
    try (Storage storage = counted(Duration.ofMillis(500)).create()) {
      put(storage, ONE, 0);
      proxy.refuse(true);
      proxy.add(new Fault("COMMIT", Cut.BEFORE_ITS_ANSWER));
      assertThat(Refused.code(() -> put(storage, TWO, 0))).isEqualTo("PGS-011");
      proxy.refuse(false);
      assertThat(storage.get(Family.TABLES, KEY)).contains(TWO);
      server.execute(
          "writ", "UPDATE writ.table_row SET value = '\\x03' WHERE cell = " + settings.cell());
      assertThat(storage.get(Family.TABLES, KEY)).contains(new byte[] {3});
    }
  }

  @Test
  void aCommitThatWasLookedUpIsBelieved() {
    try (Storage storage = counted().create()) {
      put(storage, ONE, 0);
      proxy.add(new Fault("COMMIT", Cut.BEFORE_ITS_ANSWER));
      put(storage, TWO, 0);
      assertRequests(0, () -> assertThat(storage.get(Family.TABLES, KEY)).contains(TWO));
    }
  }
}

package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.OneHome;
import dev.writ.cli.Run;
import dev.writ.embed.home.CellMember;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.Opening;
import dev.writ.embed.home.SandboxPlace;
import dev.writ.embed.home.SystemFeed;
import dev.writ.executor.Answer;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.Kernel;
import dev.writ.executor.SystemStatement;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.postgres.PostgresServer;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A cell acts only as long as it has seen what the system cell states, under a clock that is set.
 */
class ACellActsOnWhatItHasSeenTest {
  private static final PostgresServer SERVER = PostgresServer.shared();
  private static final int CELLS = 3;
  private static final Duration BOUND = Duration.ofSeconds(1);
  private static final AtomicLong SCHEMAS = new AtomicLong();

  @TempDir Path dir;
  private final AtomicLong elapsed = new AtomicLong(1);
  private final AtomicLong passes = new AtomicLong();
  private Home home;
  private String schema;
  private OpenHome system;
  private OpenHome cell;
  private SystemFeed feed;
  private Agent agent;

  @BeforeEach
  void make() throws IOException {
    String address = SERVER.newAddress().toString();
    schema = "seen_" + SCHEMAS.incrementAndGet();
    Path place = dir.resolve("home");
    Run made =
        Run.of(
            "--home",
            place.toString(),
            "init",
            "--cells",
            String.valueOf(CELLS),
            "--contents",
            "file://" + Files.createDirectory(dir.resolve("contents")),
            "--database",
            address.replaceFirst("cell=.*", "schema=" + schema));
    assertThat(made.err()).isEmpty();
    home = Home.existing(place, () -> null);
    system = open(CellPlacement.SYSTEM, Optional.empty());
    feed = new SystemFeed(home, BOUND, elapsed::get);
    cell = open(CellPlacement.cellOf(home.tenant(), CELLS), Optional.of(feed));
    agent = new Agent(place);
  }

  private OpenHome open(int number, Optional<SystemFeed> shared) {
    Home of = home.inCell(number);
    return OpenHome.open(
        of,
        Opening.of(InstantSource.system(), SandboxPlace.host(of, Map.of())).wrapping(this::slow),
        Optional.empty(),
        shared);
  }

  /** A driver in whose preparation as much time passes as the test says. */
  private Driver slow(Driver driver) {
    return (Driver)
        Proxy.newProxyInstance(
            Driver.class.getClassLoader(),
            new Class<?>[] {Driver.class},
            (_, method, arguments) -> {
              if (method.getName().equals("prepare")) {
                elapsed.addAndGet(passes.get());
              }
              try {
                return method.invoke(driver, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @AfterEach
  void close() {
    agent.close();
    cell.close();
    feed.close();
    system.close();
  }

  private CellMember member() {
    return cell.member().orElseThrow();
  }

  private static String code(ThrowingCallable work) {
    try {
      work.call();
      return "none";
    } catch (WritException e) {
      return e.code().code();
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  /** The system cell has stated more of a log than is there, as after a backup was put back. */
  @Test
  void aCellWithLessThanWasStatedIsNotOpenedUntilAnOperatorSaysSo() {
    int number = cell.home().cell();
    TreeMap<Integer, LedgerView> logs = new TreeMap<>();
    try (Ledger longer = longer(cell.home())) {
      logs.put(number, longer);
      assertThat(system.kernel().cells().state(logs).refused()).isEmpty();
    }
    cell.kernel().checkpoint();
    logs.put(number, cell.kernel().ledger());
    assertThat(system.kernel().cells().state(logs).refused().get(number))
        .hasMessageContaining("EXE-995");
    cell.close();
    assertThat(code(() -> open(number, Optional.of(feed)))).isEqualTo("EXE-995");
    String of = String.valueOf(number);
    assertThat(writ("--cell", of, "run", "js", "--param", "source=6*7").err()).contains("EXE-995");
    Run restored = writ("--cell", of, "fsck", "--restored");
    assertThat(restored.status()).as(restored.err()).isZero();
    cell = open(number, Optional.of(feed));
    assertThat(submit(cell.kernel()).served()).isPresent();
    cell.kernel().checkpoint();
    logs.put(number, cell.kernel().ledger());
    assertThat(system.kernel().cells().state(logs).refused()).isEmpty();
    assertThat(writ("--cell", "0", "audit").out())
        .contains("2 statements on other cells' logs", "but for 1 where an operator put a backup");
  }

  private Run writ(String... arguments) {
    return new OneHome(dir.resolve("home")).writ(arguments);
  }

  /** Another log under a cell's name and key, with more events. */
  private Ledger longer(Home of) {
    Ledger ledger =
        Ledger.create(
            new LedgerConfig(
                dir.resolve("longer"),
                dir.resolve("longer.json"),
                of.origin(),
                of.key("log"),
                InstantSource.system()));
    Kernel.copy(ledger, SystemStatement.read(system.kernel().ledger(), 0), new SecureRandom());
    while (ledger.treeSize() <= cell.kernel().ledger().treeSize()) {
      Event event =
          Event.first(
              "acme",
              "run-" + ledger.treeSize(),
              EventKind.RUN_OPENED,
              Digest.sha256(),
              Instant.now().truncatedTo(ChronoUnit.MILLIS),
              Optional.of("0f".repeat(32)));
      ledger.append(new Batch().event(event)).await();
    }
    ledger.checkpoint();
    return ledger;
  }

  private Answer submit(Kernel to) {
    return to.submit(agent.js("run-1", "6*7").request(), List.of());
  }

  private void revoke(String key) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
    JsonValue.Obj detail = JsonValue.object().put("kid", home.key(key).kid()).build();
    system
        .kernel()
        .change(
            Envelope.sign(
                SystemChange.TYPE,
                new SystemChange(EventKind.KEY_REVOKED, detail, now).toJson(),
                home.key("operator")));
  }

  private static long events(LedgerView ledger) {
    return ledger.treeSize();
  }

  @Test
  void fromTheBoundOnNothingIsDecidedUntilTheSystemCellIsSeenAgain() {
    assertThat(member().follow()).isEqualTo(stated());
    elapsed.addAndGet(BOUND.toNanos() - 1);
    Answer answer = submit(cell.kernel());
    assertThat(answer.served().orElseThrow().receipt().status()).isEqualTo(Status.SUCCEEDED);
    elapsed.addAndGet(1);
    long before = events(cell.kernel().ledger());
    assertThat(code(() -> submit(cell.kernel()))).isEqualTo("EXE-991");
    assertThat(events(cell.kernel().ledger())).as("nothing is written").isEqualTo(before);
    member().follow();
    assertThat(submit(cell.kernel()).served()).isPresent();
  }

  /** The effect was judged in time, and is not dispatched. */
  @Test
  void whatWasDecidedInTimeIsNotDispatchedBeyondTheBound() {
    member().follow();
    passes.set(BOUND.toNanos());
    assertThat(code(() -> submit(cell.kernel()))).isEqualTo("EXE-991");
    passes.set(0);
    member().follow();
    assertThat(submit(cell.kernel()).served()).isPresent();
  }

  private int stated() {
    return (int) SystemStatement.count(system.kernel().ledger());
  }

  @Test
  void aRevokedKeyIsRefusedOnceItWasSeenAndAtTheBoundAtTheLatest() {
    member().follow();
    revoke(home.agent());
    assertThat(submit(cell.kernel()).served()).as("within the bound").isPresent();
    elapsed.addAndGet(BOUND.toNanos());
    assertThat(code(() -> submit(cell.kernel()))).isEqualTo("EXE-991");
    assertThat(member().follow()).isEqualTo(stated());
    assertThat(code(() -> submit(cell.kernel()))).isEqualTo("CAN-055");
  }

  /** A command follows nothing: it looks before each action, and has to be called again. */
  @Test
  void whoDoesNotFollowLooksBeforeItActs() {
    assertThat(submit(cell.kernel()).served()).isPresent();
    revoke(home.agent());
    assertThat(code(() -> submit(cell.kernel()))).isEqualTo("EXE-991");
    cell.close();
    cell = open(CellPlacement.cellOf(home.tenant(), CELLS), Optional.of(feed));
    assertThat(code(() -> submit(cell.kernel()))).isEqualTo("CAN-055");
  }

  @Test
  void whatBelongsToAnotherCellIsRefused() {
    assertThat(code(() -> submit(system.kernel()))).isEqualTo("EXE-990");
    Envelope statement = SystemStatement.read(system.kernel().ledger(), 0).getFirst().document();
    assertThat(code(() -> cell.kernel().change(statement))).isEqualTo("EXE-992");
    assertThat(code(() -> cell.kernel().activate(statement))).isEqualTo("EXE-992");
  }

  /** The system run of a cell is that of the system cell, with its times where they fit. */
  @Test
  void aCellThatStoodStillGetsTheStatementsAtTheirTimes() {
    int number = CellPlacement.cellOf(home.tenant(), CELLS);
    cell.close();
    revoke("surface-mcp");
    revoke(home.agent());
    cell = open(number, Optional.of(feed));
    assertThat(statements(cell)).isEqualTo(statements(system)).hasSizeGreaterThan(2);
    assertThat(cell.kernel().ledger().origin())
        .isEqualTo(home.installation() + "/cell-" + number)
        .isNotEqualTo(system.kernel().ledger().origin());
  }

  private static List<String> statements(OpenHome of) {
    return SystemStatement.read(of.kernel().ledger(), 0).stream()
        .map(each -> each.seq() + " " + each.at() + " " + each.document().id())
        .toList();
  }

  @Test
  void aCellOfOtherStatementsIsNotOpened() {
    int number = CellPlacement.cellOf(home.tenant(), CELLS);
    member().follow();
    revoke("surface-mcp");
    member().follow();
    cell.close();
    List<SystemStatement> all = SystemStatement.read(system.kernel().ledger(), 0);
    assertThat(all).hasSizeGreaterThan(2);
    Home of = home.inCell(number);
    LedgerConfig config =
        new LedgerConfig(
            of.ledger(), of.anchor(), of.origin(), of.key("log"), InstantSource.system());
    String code;
    try (Ledger ledger = Ledger.open(config)) {
      code = code(() -> Kernel.copy(ledger, all.subList(0, all.size() - 1), new SecureRandom()));
    }
    assertThat(code).isEqualTo("EXE-993");
    cell = open(number, Optional.of(feed));
  }

  private static final List<String> TABLES =
      List.of("cell", "meta", "event", "log", "run", "document", "blob", "table_row", "checkpoint");

  private void ofSystemCell(String sql) {
    TABLES.forEach(table ->
        SERVER.execute("writ", sql.replace("TABLE_", schema + "." + table) + " WHERE cell = 0"));
  }

  /**
   * A failover lost the end of the system cell, whose next owner cannot know it, and something else
   * is stated in its place.
   */
  @Test
  void aCellThatSawWhatTheSystemCellHasNoMoreActsOnNothing() throws IOException {
    member().follow();
    ofSystemCell("CREATE TABLE TABLE__before AS SELECT * FROM TABLE_");
    byte[] anchor = Files.readAllBytes(system.home().anchor());
    revoke("surface-mcp");
    member().follow();
    system.close();
    ofSystemCell("DELETE FROM TABLE_");
    ofSystemCell("INSERT INTO TABLE_ SELECT * FROM TABLE__before");
    Files.write(system.home().anchor(), anchor);
    system = open(CellPlacement.SYSTEM, Optional.empty());
    assertThat(code(() -> member().follow())).isEqualTo("EXE-993");
    revoke(home.agent());
    assertThat(code(() -> member().follow())).isEqualTo("EXE-993");
    elapsed.addAndGet(BOUND.toNanos());
    assertThat(code(() -> submit(cell.kernel())))
        .as("not under the revoked key")
        .isEqualTo("EXE-991");
    int number = cell.home().cell();
    cell.close();
    assertThat(code(() -> open(number, Optional.of(feed)))).isEqualTo("EXE-993");
  }
}

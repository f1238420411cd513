package dev.writ.executor;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.CellCheckpoints;
import dev.writ.executor.error.ExecutorError;
import dev.writ.fixture.Refused;
import dev.writ.fixture.SeededRandom;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.note.Checkpoint;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The system cell takes the checkpoints of all other cells into its own log, where each follows
 * from what it stated before, and nothing else (spec/cells.md, "One root").
 */
class TheSystemCellStatesAllCellsTest {
  private static final String ORIGIN = "writ.example/log";

  @TempDir Path dir;
  private TestHome system;
  private final TreeMap<Integer, Ledger> cells = new TreeMap<>();

  @BeforeEach
  void start() {
    system = TestHome.create(dir.resolve("system"));
    system.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    cells.put(1, cell("one", ORIGIN + "/cell-1", TestKeys.key("log")));
    cells.put(2, cell("two", ORIGIN + "/cell-2", TestKeys.key("log")));
  }

  @AfterEach
  void stop() {
    cells.values().forEach(Ledger::close);
    system.close();
  }

  private LedgerConfig config(String name, String origin, SigningKey key) {
    return new LedgerConfig(
        dir.resolve(name),
        dir.resolve(name + "-anchor.json"),
        origin,
        key,
        InstantSource.fixed(TestHome.START));
  }

  /** With what is in force, and a checkpoint. */
  private Ledger cell(String name, String origin, SigningKey key) {
    Ledger ledger = Ledger.create(config(name, origin, key));
    Kernel.copy(ledger, SystemStatement.read(system.ledger(), 0), new SeededRandom(7));
    ledger.checkpoint();
    return ledger;
  }

  /** One more event in a cell's log, which another text makes another one. */
  private static void grow(Ledger ledger, String text) {
    Digest body = Digest.sha256(text.getBytes(StandardCharsets.UTF_8));
    Event event =
        Event.first("acme", text, "run.opened", body, TestHome.START, Optional.of("0f".repeat(32)));
    ledger.append(new Batch().event(event)).await();
    ledger.checkpoint();
  }

  private CellRootsOutcome state() {
    return system.kernel().cells().state(cells);
  }

  private CellCheckpoints stated() {
    return CellRoots.last(system.ledger()).orElseThrow();
  }

  private Checkpoint stated(int cell) {
    return stated().of(cell).orElseThrow().checkpoint();
  }

  /** The note that is stated of it. */
  private String note(int cell) {
    return new String(stated(cell).toBytes(), StandardCharsets.UTF_8);
  }

  private String latest(int cell) {
    return new String(
        cells.get(cell).latestCheckpoint().orElseThrow().toBytes(), StandardCharsets.UTF_8);
  }

  private static SortedMap<Integer, String> codes(CellRootsOutcome stated) {
    TreeMap<Integer, String> codes = new TreeMap<>();
    stated.refused().forEach((cell, e) -> codes.put(cell, e.code().code()));
    return codes;
  }

  private void replace(int cell, Ledger by) {
    cells.put(cell, by).close();
  }

  @Test
  void one_statement_names_every_cell_and_a_checkpoint_covers_it() {
    assertThat(state()).isEqualTo(new CellRootsOutcome(true, new TreeMap<>()));
    assertThat(note(1)).isEqualTo(latest(1));
    assertThat(stated(2).origin()).isEqualTo(ORIGIN + "/cell-2");
    long index = system.ledger().indexOf(CellCheckpoints.RUN, 0).orElseThrow();
    assertThat(system.ledger().latestCheckpoint().orElseThrow().size()).isGreaterThan(index);
  }

  @Test
  void nothing_is_written_where_no_cell_has_grown() {
    state();
    long size = system.ledger().treeSize();
    assertThat(state().isNew()).isFalse();
    assertThat(system.ledger().treeSize()).isEqualTo(size);
    grow(cells.get(2), "run-1");
    String first = note(1);
    assertThat(state().isNew()).isTrue();
    assertThat(note(1)).isEqualTo(first);
    assertThat(note(2)).isEqualTo(latest(2));
  }

  @Test
  void a_checkpoint_without_which_the_log_has_grown_is_not_stated() {
    state();
    String before = note(1);
    Event event =
        Event.first(
            "acme", "run-1", "run.opened", Digest.sha256(), TestHome.START, Optional.empty());
    cells.get(1).append(new Batch().event(event)).await();
    assertThat(state().isNew()).isFalse();
    assertThat(note(1)).isEqualTo(before);
  }

  @Test
  void two_roots_of_one_size_are_a_fork_and_never_taken_in() {
    grow(cells.get(1), "run-1");
    state();
    String before = note(1);
    Ledger other = cell("fork", ORIGIN + "/cell-1", TestKeys.key("log"));
    grow(other, "run-2");
    replace(1, other);
    assertThat(codes(state())).containsExactly(entry(1, "EXE-994"));
    grow(other, "run-3"); // a larger log of that history neither
    grow(cells.get(2), "run-1");
    CellRootsOutcome next = state();
    assertThat(codes(next)).containsExactly(entry(1, "EXE-994"));
    assertThat(next.isNew()).as("the other cell goes on").isTrue();
    assertThat(note(1)).isEqualTo(before);
    assertThat(refusedAtOpening(1)).isEqualTo("EXE-994");
  }

  @Test
  void a_log_that_was_put_back_is_not_taken_in_and_not_opened() {
    grow(cells.get(1), "run-1");
    state();
    replace(1, cell("back", ORIGIN + "/cell-1", TestKeys.key("log")));
    assertThat(codes(state())).containsExactly(entry(1, "EXE-995"));
    assertThat(stated(1).size()).isGreaterThan(cells.get(1).treeSize());
    assertThat(refusedAtOpening(1)).isEqualTo("EXE-995");
    CellOperations.requireStated(system.ledger(), cells.get(2), 2);
  }

  @Test
  void an_operators_next_incarnation_may_have_less() {
    grow(cells.get(1), "run-1");
    state();
    cells.remove(1).close();
    cell("back", ORIGIN + "/cell-1", TestKeys.key("log")).close();
    LedgerConfig config = config("back", ORIGIN + "/cell-1", TestKeys.key("log"));
    Ledger.nextIncarnation(config);
    cells.put(1, Ledger.open(config));
    CellOperations.requireStated(system.ledger(), cells.get(1), 1);
    assertThat(codes(state())).isEmpty();
    assertThat(stated(1).size()).isEqualTo(cells.get(1).treeSize());
    assertThat(stated().of(1).orElseThrow().incarnation()).isEqualTo(2);
  }

  @Test
  void a_checkpoint_of_another_key_or_name_is_not_taken_in() {
    replace(1, cell("foreign", ORIGIN + "/cell-1", TestKeys.key("stranger")));
    replace(2, cell("named", ORIGIN + "/cell-3", TestKeys.key("log")));
    CellRootsOutcome stated = state();
    assertThat(codes(stated)).containsExactly(entry(1, "EXE-996"), entry(2, "EXE-996"));
    assertThat(stated.isNew()).isFalse();
    assertThat(CellRoots.last(system.ledger())).isEmpty();
  }

  @Test
  void a_cell_that_cannot_be_read_keeps_what_was_stated() {
    state();
    JsonValue before = stated().toJson();
    cells.get(1).close();
    assertThat(codes(state())).containsOnlyKeys(1);
    cells.remove(1);
    assertThat(state().isNew()).isFalse();
    assertThat(stated().toJson()).isEqualTo(before);
  }

  /** Of a database that answers no more in the middle of a round. */
  private static LedgerView failing(LedgerView log, String method) {
    return (LedgerView)
        Proxy.newProxyInstance(
            LedgerView.class.getClassLoader(),
            new Class<?>[] {LedgerView.class},
            (_, called, arguments) -> {
              if (called.getName().equals(method)) {
                throw new WritException(LedgerError.STORAGE, "reading");
              }
              return called.invoke(log, arguments);
            });
  }

  @Test
  void a_log_that_cannot_be_read_just_now_is_not_called_a_fork() {
    state();
    JsonValue before = stated().toJson();
    for (String method : List.of("root", "consistencyProof")) {
      TreeMap<Integer, LedgerView> logs = new TreeMap<>(cells);
      logs.put(1, failing(cells.get(1), method));
      assertThat(codes(system.kernel().cells().state(logs)))
          .as(method)
          .containsExactly(entry(1, LedgerError.STORAGE.code()));
      assertThat(stated().toJson()).isEqualTo(before);
    }
  }

  /** As readers of a shared database do: checkpoints are read now, the tree as it was. */
  private static LedgerView late(LedgerView tree, LedgerView checkpoints) {
    return (LedgerView)
        Proxy.newProxyInstance(
            LedgerView.class.getClassLoader(),
            new Class<?>[] {LedgerView.class},
            (_, method, arguments) ->
                method.invoke(
                    method.getName().equals("latestCheckpoint") ? checkpoints : tree, arguments));
  }

  @Test
  void a_checkpoint_that_is_newer_than_what_a_reader_has_seen_is_no_loss() {
    TreeMap<Integer, LedgerView> readers = new TreeMap<>();
    try (LedgerView reader = Ledger.openReadOnly(dir.resolve("one"))) {
      readers.put(1, late(reader, cells.get(1)));
      grow(cells.get(1), "run-1");
      assertThat(reader.treeSize()).isLessThan(cells.get(1).treeSize());
      assertThat(codes(system.kernel().cells().state(readers))).isEmpty();
      assertThat(note(1)).isEqualTo(latest(1));
    }
  }

  @Test
  void no_other_cell_states_anything() {
    system
        .kernel()
        .inCell(
            new CellRules() {
              @Override
              public void requireTenant(String tenant) {}

              @Override
              public void requireCurrent() {}

              @Override
              public void requireSystem() {
                throw new WritException(ExecutorError.NOT_SYSTEM_CELL, "this is cell 1");
              }

              @Override
              public void requireCell(int cell) {}

              @Override
              public int number() {
                return 1;
              }

              @Override
              public int count() {
                return 4;
              }

              @Override
              public LedgerView log(int cell) {
                throw new AssertionError("no other log is looked at");
              }

              @Override
              public void changed() {}
            });
    assertThat(Refused.code(this::state)).isEqualTo("EXE-992");
    assertThat(CellRoots.last(system.ledger())).isEmpty();
  }

  private String refusedAtOpening(int cell) {
    LedgerView log = cells.get(cell);
    return Refused.code(() -> CellOperations.requireStated(system.ledger(), log, cell));
  }
}

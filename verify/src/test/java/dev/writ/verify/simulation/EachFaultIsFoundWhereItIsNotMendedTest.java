package dev.writ.verify.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.writ.canonicalize.crypto.SignatureEngine;
import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.verify.simulation.Unmended.Passage;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The simulation finds a fault again once its mending is taken out, and finds nothing in the same
 * schedule with it. The seed of each is known; {@code -Dwrit.simulation.unmended=1} searches from
 * seed 1 on instead, {@code -Dwrit.simulation.step=8} with every eighth.
 */
class EachFaultIsFoundWhereItIsNotMendedTest {
  private static final long FROM = Long.getLong("writ.simulation.unmended", 0);
  private static final long STEP = Long.getLong("writ.simulation.step", 1);
  private static final int SCHEDULES = 300;

  private static final String LEDGER = "ledger/src/main/java/dev/writ/ledger/";
  private static final String EXECUTOR = "executor/src/main/java/dev/writ/executor/";
  private static final String VERIFY = "verify/src/main/java/dev/writ/verify/";
  private static final TreeMap<Long, List<String>> MENDED = new TreeMap<>();

  private final SignatureEngine before = SignatureEngines.current();

  @AfterEach
  void useRealSignatures() {
    SignatureEngines.use(before);
  }

  /**
   * Four more, which too few schedules show, are in NoSyncSucceedsBesideOneThatFailsTest,
   * KeysOfAProcessBeforeAreSyncedTest, AnOrderErasesContentsAndTheirKeysTest and
   * FoldedAccountsAnswerAsWholeOnesTest.
   */
  static Stream<Arguments> mendings() {
    return Stream.of(
        arguments(
            "campaign 1: two calls with one request have one time of receipt",
            7,
            EXECUTOR + "Admissions.java",
            List.of(
                new Passage("&& row.map(RequestRow::receivedAt).equals(before.receivedAt())", ""))),
        arguments(
            "campaign 2: rows that expired by the log's latest time may be gone",
            1,
            VERIFY + "audit/AccountWalk.java",
            List.of(
                new Passage(
                    "entry.rowUntil().isAfter(ledger.highWater())",
                    "entry.rowUntil().isAfter(accounts.latest().orElse(Instant.EPOCH))"))),
        arguments(
            "campaign 3: a sync of a blob that failed stops the ledger",
            5,
            LEDGER + "Ledger.java",
            List.of(
                new Passage(
                    "ContentPlaces.of(files, failStop, config.dir())",
                    "ContentPlaces.of(config.files(), failStop, config.dir())"))),
        arguments(
            "campaign 4: the writer's lock does not rest on the name of a file",
            3,
            LEDGER + "disk/WriterLock.java",
            List.of(
                new Passage("      lock.lock(dir);\n", ""),
                new Passage("      lock.lock(besides(anchor));\n", ""),
                new Passage("    names.forEach(WatchedName::requireSame);\n", ""))),
        arguments(
            "campaign 5: a process whose ledger has failed is told to end",
            2,
            LEDGER + "Ledger.java",
            List.of(new Passage("    failStop.listen(listener);\n", ""))),
        arguments(
            "campaign 6: a clock that leaps moves nothing",
            2,
            EXECUTOR + "SteadyTime.java",
            List.of(new Passage("    requireNoLeap(read, elapsedNow);\n", ""))),
        arguments(
            "campaign 7: a known request is answered whatever its age",
            1,
            EXECUTOR + "Admissions.java",
            List.of(
                new Passage(
                    "if (!stored && !isOnlyTooOld(e, envelope, state, now))", "if (true)"))),
        arguments(
            "campaign 7: a request that is too old and was never seen is told so",
            1,
            EXECUTOR + "Admissions.java",
            List.of(
                new Passage(
                    "boolean unseen = receivedAt.isEmpty() &&", "boolean unseen = false &&"))),
        arguments(
            "simulation 1: an anchor that a crash left behind is brought up",
            1,
            LEDGER + "Ledger.java",
            List.of(new Passage("    anchorKeeper.follow(durable);\n", ""))),
        arguments(
            "simulation 2: nothing is concluded from what a stopped ledger never wrote",
            39,
            EXECUTOR + "journal/Runs.java",
            List.of(new Passage("        ledger.requireSound();\n", ""))),
        arguments(
            "simulation 3: the anchor keeps its content once a sync has failed",
            136,
            LEDGER + "Ledger.java",
            List.of(
                new Passage(
                    "new Anchors(files, config.anchor(),",
                    "new Anchors(config.files()," + " config.anchor(),"))));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("mendings")
  void without_its_mending(String fault, long known, String source, List<Passage> passages)
      throws ReflectiveOperationException {
    Path root = Path.of(System.getProperty("writ.root", ".."));
    LongFunction<?> schedule =
        (LongFunction<?>)
            new Unmended(root.resolve(source), passages)
                .loadClass(Schedule.class.getName())
                .getConstructor()
                .newInstance();
    long first = FROM > 0 ? FROM : known;
    long end = FROM > 0 ? FROM + SCHEDULES * STEP : known + 1;
    List<?> wrong = List.of();
    long seed = first;
    while (wrong.isEmpty() && seed < end) {
      wrong = (List<?>) schedule.apply(seed);
      seed += STEP;
    }
    System.out.printf(
        "simulation, without %s: seed %d, %d schedules: %s%n",
        fault, seed - STEP, (seed - first) / STEP, wrong.isEmpty() ? "nothing" : wrong.getFirst());
    assertThat(wrong).as(fault).isNotEmpty();
    assertThat(MENDED.computeIfAbsent(seed - STEP, new Schedule()::apply))
        .as("with the mending")
        .isEmpty();
  }
}

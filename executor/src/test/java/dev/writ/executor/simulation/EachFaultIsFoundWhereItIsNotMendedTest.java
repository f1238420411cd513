package dev.writ.executor.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.writ.executor.simulation.Unmended.Passage;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The simulation finds a fault again once its mending is taken out. Each search begins at a seed
 * that is known to find it; {@code -Dwrit.simulation.unmended=1} begins at seed 1 instead and says
 * how many schedules it takes.
 */
class EachFaultIsFoundWhereItIsNotMendedTest {
  private static final long FROM = Long.getLong("writ.simulation.unmended", 0);
  private static final int SCHEDULES = 300;

  static Stream<Arguments> mendings() {
    return FROM > 0 ? Stream.concat(shown(), notShownYet()) : shown();
  }

  private static Stream<Arguments> shown() {
    return Stream.of(
        arguments(
            "campaign 1: two calls with one request have one time of receipt",
            1,
            "executor/src/main/java/dev/writ/executor/Admissions.java",
            List.of(
                new Passage(
                    "&& row(before.id()).map(RequestRow::receivedAt).equals(before.receivedAt())",
                    ""))),
        arguments(
            "campaign 2: rows that expired by the log's latest time may be gone",
            40,
            "executor/src/main/java/dev/writ/executor/audit/AccountWalk.java",
            List.of(
                new Passage(
                    "entry.getValue().rowUntil().isAfter(ledger.highWater())",
                    "entry.getValue().rowUntil().isAfter(latest.orElse(Instant.EPOCH))"))),
        arguments(
            "campaign 5: a process whose ledger has failed is told to end",
            1,
            "ledger/src/main/java/dev/writ/ledger/Ledger.java",
            List.of(new Passage("    failStop.listen(listener);\n", ""))),
        arguments(
            "campaign 6: a clock that leaps moves nothing",
            17,
            "executor/src/main/java/dev/writ/executor/SteadyTime.java",
            List.of(new Passage("    requireNoLeap(read, elapsedNow);\n", ""))),
        arguments(
            "campaign 7: a known request is answered whatever its age",
            1,
            "executor/src/main/java/dev/writ/executor/Admissions.java",
            List.of(
                new Passage(
                    "if (!stored && !isOnlyTooOld(e, envelope, state, now))", "if (true)"))),
        arguments(
            "campaign 7: a request that is too old and was never seen is told so",
            1,
            "executor/src/main/java/dev/writ/executor/Admissions.java",
            List.of(
                new Passage(
                    "boolean unseen = receivedAt.isEmpty() &&", "boolean unseen = false &&"))),
        arguments(
            "simulation 1: an anchor that a crash left behind is brought up",
            1,
            "ledger/src/main/java/dev/writ/ledger/Ledger.java",
            List.of(new Passage("        ledger.anchorKeeper.follow(ledger.durable);\n", ""))),
        arguments(
            "simulation 3: the anchor keeps its content once a sync has failed",
            168,
            "ledger/src/main/java/dev/writ/ledger/AnchorKeeper.java",
            List.of(new Passage("failStop::require", "() -> {}"))));
  }

  /**
   * Searched for in the long form alone. Within 300 schedules campaign 3 showed something, at seed
   * 202, that is not the content it is about; the other showed nothing.
   */
  private static Stream<Arguments> notShownYet() {
    return Stream.of(
        arguments(
            "campaign 3: a sync that failed stops the store of blobs",
            1,
            "ledger/src/main/java/dev/writ/ledger/Blobs.java",
            List.of(
                new Passage("      failStop.stop(failure);\n", ""),
                new Passage("      failStop.require();\n      if (!Files", "      if (!Files"),
                new Passage(
                    "      failStop.stop(new WritException(LedgerError.SYNC, e.getMessage(), e));"
                        + " // before the next one\n",
                    ""))),
        arguments(
            "simulation 2: nothing is concluded from what a stopped ledger never wrote",
            1,
            "executor/src/main/java/dev/writ/executor/journal/Runs.java",
            List.of(new Passage("        ledger.requireSound();\n", ""))));
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
    List<?> wrong = List.of();
    long seed = first;
    while (wrong.isEmpty() && seed < first + SCHEDULES) {
      wrong = (List<?>) schedule.apply(seed++);
    }
    System.out.printf(
        "simulation, without %s: seed %d, %d schedules: %s%n",
        fault, seed - 1, seed - first, wrong.isEmpty() ? "nothing" : wrong.getFirst());
    assertThat(wrong).as(fault).isNotEmpty();
  }
}

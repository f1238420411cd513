package dev.writ.verify.simulation;

import dev.writ.ledger.MemoryStore;
import dev.writ.verify.simulation.disk.MemoryDisk;
import dev.writ.verify.simulation.disk.MemoryDisk.Operation;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * What goes wrong with the disk in one life of a process: one kind of call fails, at its Nth time
 * or from then on; or the disk is full, or there are no descriptors, for a while; or nothing.
 */
final class SimulatedFaults implements MemoryDisk.Faults, MemoryStore.Faults {
  private enum Plan {
    NOTHING,
    STORE,
    ONCE,
    FOR_EVER,
    FULL,
    DESCRIPTORS
  }

  private static final List<Plan> PLANS =
      List.of(
          Plan.NOTHING,
          Plan.NOTHING,
          Plan.STORE,
          Plan.ONCE,
          Plan.ONCE,
          Plan.ONCE,
          Plan.FOR_EVER,
          Plan.FULL,
          Plan.DESCRIPTORS);

  private final Scheduler scheduler;
  private final SplittableRandom random;
  private final Counts counts;
  private final boolean calm;
  private final Plan plan;
  private final Operation kind;
  private final int first;
  private final int last;
  private int calls;
  private boolean struck;
  private Optional<Operation> aimed = Optional.empty();
  private boolean aimedAtStore;
  private long changes;
  private long writes;

  SimulatedFaults(Scheduler scheduler, SplittableRandom random, Counts counts, boolean calm) {
    this.scheduler = scheduler;
    this.random = random;
    this.counts = counts;
    this.calm = calm;
    this.plan = calm ? Plan.NOTHING : PLANS.get(random.nextInt(PLANS.size()));
    this.kind = Operation.values()[random.nextInt(Operation.values().length)];
    this.first = random.nextInt(1 << 1 + random.nextInt(5));
    this.last =
        switch (plan) {
          case ONCE, STORE -> first;
          case FOR_EVER -> Integer.MAX_VALUE;
          default -> first + 1 + random.nextInt(40);
        };
  }

  /** Has the next call of this kind fail that concerns the store of blobs; one fault in a life. */
  void aimAtBlobs(Operation operation) {
    if (plan == Plan.NOTHING && !struck) {
      aimed = Optional.of(operation);
    }
  }

  /** Has the next write of the database fail; one fault in a life. */
  void aimAtStore() {
    aimedAtStore = plan == Plan.NOTHING && !struck;
  }

  /** How often the disk or the database may have changed. */
  long changes() {
    return changes;
  }

  /** How often the database may have changed. */
  long writes() {
    return writes;
  }

  /** Whether anything has failed so far. */
  boolean struck() {
    return struck;
  }

  @Override
  public void access() {
    scheduler.yield(calm ? 50 : 6);
  }

  @Override
  public MemoryStore.Fate write() {
    changes++;
    writes++;
    boolean fails =
        plan == Plan.STORE && inTurn()
            || plan == Plan.FULL && calls > first && calls <= last
            || aimedAtStore;
    if (!fails) {
      return MemoryStore.Fate.DONE;
    }
    aimedAtStore = false;
    strike("database");
    return plan != Plan.FULL && random.nextBoolean()
        ? MemoryStore.Fate.FAILED_AND_THERE
        : MemoryStore.Fate.FAILED;
  }

  @Override
  public Optional<String> before(Operation operation, Path path) {
    scheduler.yield(calm ? 50 : 3);
    changes++;
    if (aimed.filter(operation::equals).isPresent() && path.toString().contains("/blobs/")) {
      aimed = Optional.empty();
      strike("aimed " + operation);
      return Optional.of("Input/output error");
    }
    boolean fails =
        switch (plan) {
          case NOTHING, STORE -> false;
          case ONCE, FOR_EVER -> operation == kind && inTurn();
          case FULL -> takesRoom(operation) && inTurn();
          case DESCRIPTORS -> opens(operation) && inTurn();
        };
    if (!fails) {
      return Optional.empty();
    }
    strike(plan.name().toLowerCase(Locale.ROOT) + " " + operation);
    return Optional.of(
        switch (plan) {
          case FULL -> "No space left on device";
          case DESCRIPTORS -> "Too many open files";
          default -> "Input/output error";
        });
  }

  private static boolean takesRoom(Operation operation) {
    return switch (operation) {
      case WRITE, SYNC, RENAME, LINK, CREATE_DIRECTORY -> true;
      case OPEN, SYNC_DIRECTORY, DELETE -> false;
    };
  }

  private static boolean opens(Operation operation) {
    return operation == Operation.OPEN;
  }

  private boolean inTurn() {
    int call = calls++;
    return call >= first && call <= last;
  }

  private void strike(String what) {
    struck = true;
    counts.fault(what);
  }

  @Override
  public void after(Operation operation) {
    changes++;
    scheduler.yield(calm ? 50 : 3);
  }

  @Override
  public int taken(int bytes) {
    return calm || random.nextInt(4) > 0 ? bytes : 1 + random.nextInt(bytes);
  }

  @Override
  public boolean dropsAll(Path path) {
    return random.nextBoolean() && !isOfOtherProcess(path);
  }

  @Override
  public boolean tellsOfLoss(Path path) {
    return isOfOtherProcess(path);
  }

  /** Keys are written by other processes: what fails there is told to these alone. */
  private static boolean isOfOtherProcess(Path path) {
    return path.toString().contains("/keys");
  }
}

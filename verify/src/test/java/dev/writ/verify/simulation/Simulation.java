package dev.writ.verify.simulation;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.executor.Kernel;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.stage.Stage;
import dev.writ.executor.stage.StageObserver;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.SeededRandom;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKernel;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestParty;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestTools;
import dev.writ.ledger.Anchor;
import dev.writ.ledger.CommitObserver;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.MemoryStore;
import dev.writ.ledger.content.SealedCopy;
import dev.writ.ledger.error.LedgerError;
import dev.writ.verify.audit.Audit;
import dev.writ.verify.audit.AuditReport;
import dev.writ.verify.simulation.disk.MemoryDisk;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * One schedule: a kernel over a database and a disk in memory lives many times, each time with
 * callers at once, faults, a clock that goes wrong and, mostly, an end by a crash; then it is
 * looked at what is left. Whenever the disk or the database has changed, the power also goes in a
 * copy of them, from which another process starts ({@link Depth}). All of it follows from the seed.
 */
final class Simulation {
  static final TestTools TOOLS = TestTools.standard();

  /** Of a whole schedule. */
  private static final int LIVES = 40;

  /** How many outcomes of one moment are tried; each that differs from all before is opened. */
  private static final int OUTCOMES = 8;

  /** Of the outcomes behind a write of the database one in so many is opened by the kernel. */
  private static final int KERNEL_ONE_IN = 8;

  /** And of these one in so many is audited. */
  private static final int AUDIT_ONE_IN = 12;

  private static final int CALLERS = 3;
  private static final int CALLS = 5;

  /** What a schedule did, and what does not hold afterwards; the ledger's root and all its rows. */
  record Result(Counts counts, List<String> wrong, Optional<Digest> root, Digest rows) {}

  private record Founded(MemoryStore store, MemoryDisk disk) {}

  /** How much of a power cut's outcome is opened and looked at. */
  private enum Depth {
    /** The ledger opens; every content that a row names is whole, every receipt there. */
    LEDGER,
    /** The kernel recovers, and hands out again what the life before handed out. */
    KERNEL,
    /** The audit of all finds nothing. */
    AUDIT
  }

  /** A process, and the machine that it runs on. */
  private static final class Process {
    Scheduler scheduler;
    SimulatedFaults faults;
    SimulatedClock clock;
    SeededRandom seeds;
    MemoryStore store;
    MemoryDisk disk;
    Kernel kernel;
    Optional<Ledger> ledger = Optional.empty();
    Optional<Digest> root = Optional.empty();
    int running;
    boolean stopped;
    boolean refusedAsStopped;
    boolean closing;
    boolean closedWell;
  }

  final SplittableRandom random;
  final Focus focus;
  final Counts counts = new Counts();
  final List<String> wrong = new ArrayList<>();

  /** Of the outcomes, so that their number changes nothing else. */
  private final SplittableRandom outcomes;

  private final SeededRandom outcomeSeeds;
  private final int lives;
  private final Callers callers;
  private final TreeMap<String, Integer> effects = new TreeMap<>();
  private final IdentityHashMap<byte[], Digest> hashed = new IdentityHashMap<>();
  private Process process = new Process();
  private boolean calm;

  /** What was left by power cuts in this life, and how much the database had been written then. */
  private final Set<Long> seen = new HashSet<>();

  private long changes;
  private long writes;

  Simulation(long seed) {
    this(seed, LIVES);
  }

  Simulation(long seed, int lives) {
    this.lives = lives;
    this.random = new SplittableRandom(seed);
    this.focus = Focus.of(seed);
    this.outcomes = random.split();
    this.outcomeSeeds = new SeededRandom(~seed);
    this.callers = new Callers(this);
    Founded founded = found();
    process.seeds = new SeededRandom(seed);
    process.clock = new SimulatedClock(random, counts);
    process.store = founded.store();
    process.disk = founded.disk();
    counts.schedules = 1;
  }

  Kernel kernel() {
    return process.kernel;
  }

  SimulatedClock clock() {
    return process.clock;
  }

  SimulatedFaults faults() {
    return process.faults;
  }

  private static LedgerConfig config(MemoryDisk disk, SeededRandom secrets) {
    return new LedgerConfig(
            disk.root().resolve("home/ledger"),
            disk.root().resolve("home/anchor/anchor.json"),
            TestHome.ORIGIN,
            TestKeys.key("log"),
            InstantSource.fixed(SimulatedClock.START))
        .drawing(secrets);
  }

  private LedgerConfig config() {
    return config(process.disk, process.seeds);
  }

  Path keys() {
    return process.disk.root().resolve("home/keys");
  }

  private static Founded found() {
    MemoryDisk disk = new MemoryDisk();
    SeededRandom seeds = new SeededRandom(0);
    Scheduler scheduler = new Scheduler(new SplittableRandom(0));
    MemoryStore store;
    try {
      store = MemoryStore.found(config(disk, seeds));
      DurableFiles.REAL.createDirectory(disk.root().resolve("home/keys"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    scheduler
        .thread(() -> {
          try (Ledger ledger = store.ledger(config(disk, seeds), scheduler::thread, disk::lock)) {
            new TestKernel(
                    TOOLS,
                    List.of(),
                    RunWorkspaces.NONE,
                    Optional.empty(),
                    TestKernel.SUMMARIZED_EVERY,
                    InstantSource.fixed(SimulatedClock.START),
                    () -> 0,
                    seeds)
                .found(
                    ledger,
                    TestKeys.PARTIES.stream().map(TestParty::trusted).toList(),
                    TestPolicy.first(TestPolicy.YAML, TOOLS).toJson());
          }
        })
        .start();
    while (scheduler.step()) {
      continue;
    }
    return new Founded(store, disk);
  }

  Result run() {
    for (int life = 0; life < lives && wrong.isEmpty(); life++) {
      live(() -> {
        open();
        callers.recheck();
        callers.forget();
        for (int i = 0; i < CALLERS; i++) {
          begin(() -> {
            for (int call = 0; call < CALLS && !process.stopped; call++) {
              callers.call();
            }
          });
        }
      });
    }
    if (wrong.isEmpty()) {
      calm = true;
      process.clock.pass(Duration.ofDays(1));
      live(() -> {
        open();
        callers.enrol(); // the log's time goes on, and nothing is judged
        if (focus == Focus.DELETION) {
          callers.carryOut();
        }
      });
      live(this::look);
    }
    return new Result(counts, wrong, process.root, process.store.digest());
  }

  // One life of a process.

  private void live(Runnable work) {
    counts.lives++;
    Process before = process;
    process = new Process();
    process.clock = before.clock;
    process.seeds = before.seeds;
    process.root = before.root;
    process.clock.restart(calm);
    MemoryDisk left = before.disk;
    begin(
        before.store,
        faults -> random.nextBoolean() ? left.afterCrash(random, faults) : left.after(faults),
        random,
        calm);
    begin(work);
    boolean crashes = !calm && random.nextInt(8) > 0;
    long crashAt = crashes ? random.nextLong(1L << 2 + random.nextInt(7)) : Long.MAX_VALUE;
    changes = 0;
    writes = 0;
    seen.clear();
    if (goesOn(crashAt, calm ? () -> {} : this::cutPower)) {
      counts.crash(process.closing ? "closing" : process.ledger.isEmpty() ? "opening" : "working");
      outcome(Depth.KERNEL);
    }
  }

  /** Begins a process on what the one before has left. */
  private void begin(
      MemoryStore store,
      Function<SimulatedFaults, MemoryDisk> disk,
      SplittableRandom chance,
      boolean isCalm) {
    process.scheduler = new Scheduler(chance);
    process.faults = new SimulatedFaults(process.scheduler, chance, counts, isCalm);
    process.store = store.after(process.faults);
    process.disk = disk.apply(process.faults);
  }

  /**
   * Lets the process go on to its end.
   *
   * @param behind done after each step
   * @return whether it came to the crash instead
   */
  private boolean goesOn(long crashAt, Runnable behind) {
    Scheduler scheduler = process.scheduler;
    boolean crashed = false;
    while (!crashed && wrong.isEmpty() && (process.running > 0 || !process.closing)) {
      if (process.running == 0) {
        process.closing = true;
        process.ledger.ifPresent(open -> begin(() -> close(open)));
      } else if (scheduler.steps() >= crashAt) {
        crashed = true;
      } else if (scheduler.step()) {
        behind.run();
      } else {
        wrong.add("nobody can go on, " + process.running + " wait");
      }
    }
    counts.steps += scheduler.steps();
    if (!crashed && wrong.isEmpty()) {
      ended();
    }
    return crashed;
  }

  /** Where the disk or the database has changed. */
  private void cutPower() {
    if (process.faults.changes() == changes) {
      return;
    }
    changes = process.faults.changes();
    boolean wrote = process.faults.writes() > writes;
    writes = process.faults.writes();
    boolean deep = wrote && outcomes.nextInt(KERNEL_ONE_IN) == 0;
    outcome(
        !deep ? Depth.LEDGER : outcomes.nextInt(AUDIT_ONE_IN) == 0 ? Depth.AUDIT : Depth.KERNEL);
    for (int i = 1; i < OUTCOMES; i++) {
      outcome(Depth.LEDGER);
    }
  }

  /** A power cut leaves this or that of what was not synced. */
  private void outcome(Depth depth) {
    MemoryDisk left = process.disk.afterCrash(outcomes, MemoryDisk.Faults.NONE);
    if (!seen.add(31 * left.fingerprint() + writes) && depth == Depth.LEDGER) {
      return;
    }
    counts.crash("outcome " + depth);
    Process cut = process;
    process = new Process();
    process.clock = cut.clock.apart(outcomes);
    process.seeds = outcomeSeeds;
    begin(cut.store, left::after, outcomes, true);
    begin(() -> look(depth));
    goesOn(Long.MAX_VALUE, () -> {});
    process = cut;
  }

  private void look(Depth depth) {
    if (depth == Depth.LEDGER) {
      callers.recheck(openLedger());
      process.store.files().forEach(this::requireWhole);
    } else {
      open();
      callers.recheck();
    }
    if (depth == Depth.AUDIT) {
      audit();
    }
  }

  /** Of a file in the cache, whose bytes are hashed once. */
  private void requireWhole(Digest content) {
    Path file = config().dir().resolve("blobs");
    Optional<byte[]> bytes =
        process.disk.content(file.resolve(content.hex().substring(0, 2)).resolve(content.hex()));
    if (bytes.isEmpty() || !hashed.computeIfAbsent(bytes.get(), Digest::sha256).equals(content)) {
      wrong.add("content is lost: " + content);
    }
  }

  /** What must hold when a process has come to its end. */
  private void ended() {
    if (process.refusedAsStopped && !process.stopped) {
      wrong.add("the ledger has stopped, and the process was not told to end");
    }
    if (process.disk.open() != 0) {
      wrong.add(process.disk.open() + " files are still open");
    }
    if (process.closedWell) {
      Anchor anchor =
          Anchor.read(config(process.disk.after(MemoryDisk.Faults.NONE), process.seeds).anchor())
              .orElseThrow();
      if (!anchor.root().equals(process.root.orElseThrow())) {
        wrong.add("the anchor is behind a ledger that was closed");
      }
    }
  }

  private void close(Ledger open) {
    try {
      open.close();
      process.root = Optional.of(open.root());
      process.closedWell = !process.stopped;
    } catch (WritException e) {
      refused("close", e);
    }
  }

  void begin(Runnable work) {
    process.running++;
    process
        .scheduler
        .thread(() -> {
          try {
            work.run();
          } catch (WritException e) {
            refused("start", e);
            if (!process.faults.struck() && !process.clock.misled()) {
              wrong.add("a start was refused: " + e);
            }
          } catch (Throwable e) {
            wrong.add(e + " at " + Arrays.toString(Arrays.copyOf(e.getStackTrace(), 6)));
          } finally {
            process.running--;
          }
        })
        .start();
  }

  /** Takes note of a refusal, and whether the caller had a right to be told so. */
  void refused(String what, WritException e) {
    counts.outcome(what + " " + e.code().code());
    process.refusedAsStopped |= e.code() == LedgerError.FAILED;
    boolean ofTime =
        e.code() == ExecutorError.TIME_WENT_BACK || e.code() == ExecutorError.TIME_LEAPT;
    if (ofTime && !process.clock.misled()) {
      wrong.add("refused though the clock is right: " + e.getMessage());
    }
  }

  private Ledger openLedger() {
    Process opening = process;
    Ledger opened = process.store.ledger(config(), process.scheduler::thread, process.disk::lock);
    process.ledger = Optional.of(opened);
    opened.whenStopped(_ -> opening.stopped = true);
    return opened;
  }

  private void open() {
    process.kernel = started(openLedger());
  }

  private Kernel started(Ledger opened) {
    TestDriver driver = new TestDriver();
    for (String tool : List.of("calc", "mail", "pay", "sim")) {
      driver.does(tool, invocation -> effect(tool, invocation));
    }
    SimulatedClock clock = process.clock;
    Scheduler scheduler = process.scheduler;
    Kernel started =
        new TestKernel(
                TOOLS,
                List.of(driver),
                RunWorkspaces.NONE,
                Optional.empty(),
                TestKernel.SUMMARIZED_EVERY,
                clock::read,
                clock::elapsed,
                process.seeds)
            .open(opened);
    started.observe(
        new StageObserver() {
          @Override
          public void begins(Stage stage) {
            scheduler.yield(3);
          }

          @Override
          public void ends(Stage stage, Optional<ErrorCode> refused) {}
        },
        CommitObserver.NONE);
    return started;
  }

  /**
   * Somebody removes the file by which RocksDB knows its lock, and starts a second process, which
   * writes if it gets in.
   *
   * @throws WritException {@code LED-003} as it should
   */
  void intrude() {
    Path name = config().dir().resolve("db/LOCK");
    try {
      Files.deleteIfExists(name);
    } catch (IOException e) {
      counts.outcome("intrude failed");
      return;
    }
    Ledger second =
        process.store.beside().ledger(config(), process.scheduler::thread, process.disk::lock);
    callers.enrol(started(second));
    second.close();
  }

  private DriverOutcome effect(String tool, Invocation invocation) {
    String what = tool + " " + new String(Jcs.write(invocation.params()), StandardCharsets.UTF_8);
    effects.merge(what, 1, Integer::sum);
    process.scheduler.yield(1);
    if (!calm && random.nextInt(12) == 0) {
      process.clock.pause();
    }
    return random.nextInt(10) == 0
        ? Behaviours.ends(DriverOutcome.End.FAILED, "exit-1").run(invocation)
        : Callers.isLarge(invocation.params())
            ? Behaviours.gives(Callers.large(what), "text/plain").run(invocation)
            : Behaviours.echo(invocation);
  }

  // What is left.

  private void look() {
    open();
    callers.answered();
    counts.events = audit().totals().events();
    process.store.contents().forEach(this::read);
    sealed();
    effects.forEach((what, times) -> {
      if (times > 1 && !what.startsWith("calc ")) {
        wrong.add(what + " ran " + times + " times");
      }
    });
  }

  /** Whatever a row says lies under a key opens, and no key outlives what it was destroyed for. */
  private void sealed() {
    Ledger ledger = process.ledger.orElseThrow();
    ledger.scan(
        SealedCopy.TABLE,
        "",
        (key, row) -> {
          SealedCopy copy = SealedCopy.parse(key, row);
          counts.outcome("sealed");
          read(copy.content());
          if (ledger.contentKeys().find(copy.owner(), copy.keyId()).isEmpty()) {
            wrong.add("the key of a content is gone: " + copy);
          }
          return true;
        });
    boolean done =
        process.kernel.contents().erasures().values().stream().allMatch(Optional::isPresent);
    if (done && !ledger.contentKeys().retired().isEmpty()) {
      wrong.add("a key outlives the order that destroyed it");
    }
  }

  private AuditReport audit() {
    AuditReport report =
        Audit.check(
            process.kernel.ledger(),
            new Tools(TOOLS, List.of(new TestDriver())),
            (_, _) -> {},
            Runnable::run);
    report.problems().forEach(problem -> wrong.add(problem.toString()));
    // What the audit bears with in ledgers of before, no kernel writes any more.
    report.notVerified().stream().filter(line -> line.contains("bound 11")).forEach(wrong::add);
    return report;
  }

  private void read(Digest content) {
    try (InputStream in = process.kernel.ledger().openBlob(content)) {
      in.transferTo(OutputStream.nullOutputStream());
    } catch (IOException | WritException e) {
      wrong.add("content is lost: " + e);
    }
  }
}

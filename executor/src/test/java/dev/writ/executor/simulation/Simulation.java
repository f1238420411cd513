package dev.writ.executor.simulation;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.ExecutorError;
import dev.writ.executor.Kernel;
import dev.writ.executor.KernelConfig;
import dev.writ.executor.Stage;
import dev.writ.executor.StageObserver;
import dev.writ.executor.SystemState;
import dev.writ.executor.audit.Audit;
import dev.writ.executor.audit.AuditReport;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.driver.Outcome;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.simulation.disk.MemoryDisk;
import dev.writ.executor.stage.Tools;
import dev.writ.executor.testing.Behaviours;
import dev.writ.executor.testing.SeededRandom;
import dev.writ.executor.testing.TestDriver;
import dev.writ.executor.testing.TestKeys;
import dev.writ.executor.testing.TestPolicy;
import dev.writ.executor.testing.TestTools;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Anchor;
import dev.writ.ledger.CommitObserver;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerError;
import dev.writ.ledger.MemoryStore;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * One schedule: a kernel over a database and a disk in memory lives many times, each time with
 * callers at once, faults, a clock that goes wrong and, mostly, an end by a crash; then it is
 * looked at what is left. All of it follows from the seed.
 */
final class Simulation {
  static final String ORIGIN = "writ.example/log";
  static final TestTools TOOLS = TestTools.standard();

  private static final int LIVES = 40;
  private static final int IMAGES = 3;
  private static final int CALLERS = 3;
  private static final int CALLS = 5;

  /** What a schedule did, and what does not hold afterwards; the ledger's root and all its rows. */
  record Result(Counts counts, List<String> wrong, Optional<Digest> root, Digest rows) {}

  private record Founded(MemoryStore store, MemoryDisk disk) {}

  final SplittableRandom random;
  final Counts counts = new Counts();
  final List<String> wrong = new ArrayList<>();
  final SimulatedClock clock;
  Scheduler scheduler;
  Kernel kernel;
  boolean calm;
  private final Callers callers;
  private final TreeMap<String, Integer> effects = new TreeMap<>();
  private final SeededRandom seeds;
  private MemoryStore store;
  private MemoryDisk disk;
  private SimulatedFaults faults;
  private Optional<Ledger> ledger = Optional.empty();
  private Optional<Digest> root = Optional.empty();
  private int running;
  private boolean stopped;
  private boolean refusedAsStopped;
  private boolean closing;
  private boolean closedWell;

  Simulation(long seed) {
    this.random = new SplittableRandom(seed);
    this.seeds = new SeededRandom(seed);
    this.clock = new SimulatedClock(random, counts);
    this.callers = new Callers(this);
    Founded founded = found();
    this.store = founded.store();
    this.disk = founded.disk();
    counts.schedules = 1;
  }

  private static LedgerConfig config(MemoryDisk disk) {
    return new LedgerConfig(
        disk.root().resolve("home/ledger"),
        disk.root().resolve("home/anchor/anchor.json"),
        ORIGIN,
        TestKeys.key("log"),
        InstantSource.fixed(SimulatedClock.START));
  }

  Path keys() {
    return disk.root().resolve("home/keys");
  }

  private static Founded found() {
    MemoryDisk disk = new MemoryDisk();
    Scheduler scheduler = new Scheduler(new SplittableRandom(0));
    MemoryStore store;
    try {
      store = MemoryStore.found(config(disk));
      DurableFiles.REAL.createDirectory(disk.root().resolve("home/keys"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    scheduler
        .thread(() -> {
          try (Ledger ledger = store.ledger(config(disk), scheduler::thread)) {
            Kernel.found(
                ledger,
                TestKeys.PARTIES.stream()
                    .map(p ->
                        change(EventKind.KEY_ENROLLED, p.trusted().toJson(), SimulatedClock.START))
                    .toList(),
                signed(TestPolicy.first(TestPolicy.YAML, TOOLS)),
                InstantSource.fixed(SimulatedClock.START),
                new SeededRandom(0));
          }
        })
        .start();
    while (scheduler.step()) {
      continue;
    }
    return new Founded(store, disk);
  }

  static Envelope signed(Policy policy) {
    return Envelope.sign(SystemState.POLICY_TYPE, policy.toJson(), TestKeys.key("owner"));
  }

  static Envelope change(String kind, JsonValue.Obj detail, Instant at) {
    return Envelope.sign(
        SystemChange.TYPE, new SystemChange(kind, detail, at).toJson(), TestKeys.key("operator"));
  }

  Result run() {
    for (int life = 0; life < LIVES && wrong.isEmpty(); life++) {
      live(() -> {
        open();
        callers.recheck();
        callers.forget();
        for (int i = 0; i < CALLERS; i++) {
          begin(() -> {
            for (int call = 0; call < CALLS && !stopped; call++) {
              callers.call();
            }
          });
        }
      });
    }
    if (wrong.isEmpty()) {
      calm = true;
      clock.pass(Duration.ofDays(1));
      live(() -> {
        open();
        callers.enrol(); // the log's time goes on, and nothing is judged
      });
      live(this::look);
    }
    return new Result(counts, wrong, root, store.digest());
  }

  // One life of a process.

  private void live(Runnable work) {
    counts.lives++;
    process(work, calm);
    boolean crashes = !calm && random.nextInt(8) > 0;
    long crashAt = crashes ? random.nextLong(1L << 2 + random.nextInt(7)) : Long.MAX_VALUE;
    if (goesOn(crashAt)) {
      counts.crash(closing ? "closing" : ledger.isEmpty() ? "opening" : "working");
      imagine();
    }
  }

  /** Begins a process on what the one before has left, whose machine may have lost its power. */
  private void process(Runnable work, boolean isCalm) {
    scheduler = new Scheduler(random);
    faults = new SimulatedFaults(scheduler, random, counts, isCalm);
    store = store.after(faults);
    disk = random.nextBoolean() ? disk.afterCrash(random, faults) : disk.after(faults);
    clock.restart(isCalm);
    ledger = Optional.empty();
    running = 0;
    stopped = false;
    refusedAsStopped = false;
    closing = false;
    closedWell = false;
    begin(work);
  }

  /**
   * Lets the process go on to its end.
   *
   * @return whether it came to the crash instead
   */
  private boolean goesOn(long crashAt) {
    boolean crashed = false;
    while (!crashed && (running > 0 || !closing)) {
      if (running == 0) {
        closing = true;
        ledger.ifPresent(open -> begin(() -> close(open)));
      } else if (scheduler.steps() >= crashAt) {
        crashed = true;
      } else if (!scheduler.step()) {
        wrong.add("nobody can go on, " + running + " wait");
        break;
      }
    }
    counts.steps += scheduler.steps();
    if (!crashed) {
      ended();
    }
    return crashed;
  }

  /** A power cut leaves this or that of what was not synced: some of them are looked at. */
  private void imagine() {
    MemoryStore left = store;
    MemoryDisk power = disk;
    for (int image = 0; image < IMAGES && wrong.isEmpty(); image++) {
      counts.crash("images");
      store = left;
      disk = power.afterCrash(random, MemoryDisk.Faults.NONE);
      process(
          () -> {
            open();
            callers.recheck();
          },
          true);
      goesOn(Long.MAX_VALUE);
    }
    store = left;
    disk = power;
  }

  /** What must hold when a process has come to its end. */
  private void ended() {
    if (refusedAsStopped && !stopped) {
      wrong.add("the ledger has stopped, and the process was not told to end");
    }
    if (disk.open() != 0) {
      wrong.add(disk.open() + " files are still open");
    }
    if (closedWell) {
      Anchor anchor =
          Anchor.read(config(disk.after(MemoryDisk.Faults.NONE)).anchor()).orElseThrow();
      if (!anchor.root().equals(root.orElseThrow())) {
        wrong.add("the anchor is behind a ledger that was closed");
      }
    }
  }

  private void close(Ledger open) {
    try {
      open.close();
      root = Optional.of(open.root());
      closedWell = !stopped;
    } catch (WritException e) {
      refused("close", e);
    }
  }

  void begin(Runnable work) {
    running++;
    scheduler
        .thread(() -> {
          try {
            work.run();
          } catch (WritException e) {
            refused("start", e);
            if (!faults.struck() && !clock.misled()) {
              wrong.add("a start was refused: " + e);
            }
          } catch (Throwable e) {
            wrong.add(e + " at " + Arrays.toString(Arrays.copyOf(e.getStackTrace(), 6)));
          } finally {
            running--;
          }
        })
        .start();
  }

  /** Takes note of a refusal, and whether the caller had a right to be told so. */
  void refused(String what, WritException e) {
    counts.outcome(what + " " + e.code().code());
    refusedAsStopped |= e.code() == LedgerError.FAILED;
    boolean ofTime =
        e.code() == ExecutorError.TIME_WENT_BACK || e.code() == ExecutorError.TIME_LEAPT;
    if (ofTime && !clock.misled()) {
      wrong.add("refused though the clock is right: " + e.getMessage());
    }
  }

  private void open() {
    kernel = null;
    TestDriver driver = new TestDriver();
    for (String tool : List.of("calc", "mail", "pay", "sim")) {
      driver.does(tool, invocation -> effect(tool, invocation));
    }
    Ledger opened = store.ledger(config(disk), scheduler::thread);
    ledger = Optional.of(opened);
    opened.whenStopped(_ -> stopped = true);
    Kernel started =
        Kernel.open(
            new KernelConfig(
                opened,
                TestKeys.key("guardian"),
                TestKeys.key("executor"),
                TOOLS,
                List.of(driver),
                RunWorkspaces.NONE,
                clock::read,
                clock::elapsed,
                seeds));
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
    kernel = started;
  }

  private Outcome effect(String tool, Invocation invocation) {
    String what = tool + " " + new String(Jcs.write(invocation.params()), StandardCharsets.UTF_8);
    effects.merge(what, 1, Integer::sum);
    scheduler.yield(1);
    if (!calm && random.nextInt(12) == 0) {
      clock.pause();
    }
    return random.nextInt(10) == 0
        ? Behaviours.ends(Outcome.End.FAILED, "exit-1").run(invocation)
        : Callers.isLarge(invocation.params())
            ? Behaviours.gives(Callers.large(what), "text/plain").run(invocation)
            : Behaviours.echo(invocation);
  }

  // What is left.

  private void look() {
    open();
    callers.answered();
    AuditReport report =
        Audit.check(kernel.ledger(), new Tools(TOOLS, List.of(new TestDriver())), (_, _) -> {});
    report.problems().forEach(problem -> wrong.add(problem.toString()));
    // What the audit bears with in ledgers of before, no kernel writes any more.
    report.notVerified().stream().filter(line -> line.contains("bound 11")).forEach(wrong::add);
    counts.events = report.totals().events();
    store.contents().forEach(this::read);
    effects.forEach((what, times) -> {
      if (times > 1 && !what.startsWith("calc ")) {
        wrong.add(what + " ran " + times + " times");
      }
    });
  }

  private void read(Digest content) {
    try (InputStream in = kernel.ledger().openBlob(content)) {
      in.transferTo(OutputStream.nullOutputStream());
    } catch (IOException | WritException e) {
      wrong.add("content is lost: " + e);
    }
  }
}

package dev.writ.conform.world;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.ConformError;
import dev.writ.executor.ClockCheck;
import dev.writ.executor.Kernel;
import dev.writ.executor.KernelConfig;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.ClockCorrection;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.Tools;
import dev.writ.ledger.Fsck;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.verify.audit.Audit;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * A whole kernel on a temporary folder, made for one scenario: it can be stopped, started, crash
 * while a tool runs, and be put back from a backup.
 */
final class Installation implements AutoCloseable {
  static final String ORIGIN = "writ.example/log";

  /** Founded installations by what they were founded on: founding takes many synced writes. */
  private static final TreeMap<Digest, Path> FOUNDED = new TreeMap<>();

  final ScenarioClock clock;
  final ScriptedTools tools;
  final ScriptedWorkspaces workspaces = new ScriptedWorkspaces();
  final ScriptedDriver driver = new ScriptedDriver(this::crash, workspaces);
  private final Function<KernelConfig, Kernel> opener;
  private final Instant start;
  private final CountedRandom random = new CountedRandom();
  private final Path top = Folders.temporary();
  private Path home = top.resolve("0");
  private int homes;
  private boolean withDriver = true;
  private boolean withWorkspaces = true;
  private boolean crashed;
  private boolean open;
  private Ledger ledger;
  private Kernel kernel;

  /**
   * @param parties whom to enrol, an operator first; one each of guardian, executor and log
   */
  Installation(List<TestParty> parties, JsonValue.Obj policy, ScriptedTools tools, Instant start) {
    this(parties, policy, tools, start, Kernel::open);
  }

  /**
   * @param opener may have it run other tools, or with another part
   */
  Installation(
      List<TestParty> parties,
      JsonValue.Obj policy,
      ScriptedTools tools,
      Instant start,
      Function<KernelConfig, Kernel> opener) {
    this.opener = opener;
    this.tools = tools;
    this.start = start;
    this.clock = new ScenarioClock(start);
    Folders.copy(founded(parties, policy), home);
    open();
  }

  private Path founded(List<TestParty> parties, JsonValue.Obj policy) {
    Digest what =
        Digest.sha256(
            parties.toString().getBytes(StandardCharsets.UTF_8),
            Jcs.write(policy),
            start.toString().getBytes(StandardCharsets.UTF_8));
    synchronized (FOUNDED) {
      return FOUNDED.computeIfAbsent(
          what,
          _ -> {
            Path made = Folders.temporary();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> Folders.delete(made)));
            try (Ledger empty = Ledger.create(config(made))) {
              Kernel.found(
                  empty,
                  parties.stream().map(p -> enrolment(p)).toList(),
                  Envelope.sign(SystemState.POLICY_TYPE, policy, TestParty.key("owner")),
                  clock,
                  new CountedRandom());
            }
            return made;
          });
    }
  }

  private Envelope enrolment(TestParty party) {
    return Envelope.sign(
        SystemChange.TYPE,
        new SystemChange(EventKind.KEY_ENROLLED, party.trusted().toJson(), start).toJson(),
        TestParty.key("operator"));
  }

  private LedgerConfig config(Path at) {
    // The anchor's own clock: a thread of the ledger reads it, whenever it comes to.
    return new LedgerConfig(
        at.resolve("data"),
        at.resolve("anchor.json"),
        ORIGIN,
        TestParty.key("log"),
        InstantSource.fixed(start));
  }

  private void open() {
    ledger = Ledger.open(config(home));
    try {
      kernel =
          opener.apply(
              new KernelConfig(
                  ledger,
                  TestParty.key("guardian"),
                  TestParty.key("executor"),
                  tools,
                  withDriver ? List.<Driver>of(driver) : List.of(),
                  withWorkspaces ? workspaces : RunWorkspaces.NONE,
                  clock,
                  clock::elapsed,
                  random));
    } catch (RuntimeException e) {
      ledger.close();
      throw e;
    }
    open = true;
  }

  private void stop() {
    if (open) {
      open = false;
      ledger.close();
    }
  }

  /**
   * @throws WritException {@code CNF-023} where it was refused to start
   */
  Kernel kernel() {
    if (!open) {
      throw new WritException(ConformError.SCENARIO, "the kernel does not run");
    }
    return kernel;
  }

  Optional<LedgerView> ledgerIfOpen() {
    return open ? Optional.of(ledger) : Optional.empty();
  }

  /** Stops and starts: what is not in the ledger is gone. */
  void restart(boolean drivers, boolean workspacesToo) {
    stop();
    withDriver = drivers;
    withWorkspaces = workspacesToo;
    open();
  }

  /** The disk as it is at this moment; what this kernel does from here on never happened. */
  private synchronized void crash() {
    if (!crashed) {
      crashed = true;
      copyTo("crashed");
    }
  }

  /** After a crash: everything starts again from the disk as it was. */
  synchronized boolean startAgainIfCrashed() {
    if (!crashed) {
      return false;
    }
    crashed = false;
    stop();
    moveTo("crashed");
    open();
    return true;
  }

  /** Keeps what is on the disk, without the anchor, which is somewhere else. */
  void backup() {
    stop();
    Folders.delete(top.resolve("backup"));
    Folders.copy(home.resolve("data"), top.resolve("backup"));
    open();
  }

  /** Puts the backup back; the anchor knows better. */
  void restore() {
    stop();
    Folders.delete(home.resolve("data"));
    Folders.copy(top.resolve("backup"), home.resolve("data"));
    open();
  }

  /** Time goes on from an earlier one by whatever is written; it does not run afterwards. */
  LedgerView restartTime(Ledger.Incarnating restarting) {
    stop();
    Ledger.restartTime(config(home), restarting);
    try (Ledger written = Ledger.open(config(home))) {
      written.checkpoint();
    }
    return Ledger.openReadOnly(config(home).dir());
  }

  /** The operator signs that time goes on from the clock's, and it starts again. */
  void correctClock() {
    stop();
    ClockCheck.correct(
        new LedgerConfig(
            home.resolve("data"),
            home.resolve("anchor.json"),
            ORIGIN,
            TestParty.key("log"),
            InstantSource.fixed(clock.instant())),
        correction -> correction(correction, "operator"));
    open();
  }

  static Envelope correction(ClockCorrection correction, String signer) {
    return Envelope.sign(
        SystemChange.TYPE,
        new SystemChange(EventKind.CLOCK_CORRECTED, correction.toJson(), correction.to()).toJson(),
        TestParty.key(signer));
  }

  private void copyTo(String name) {
    Path to = top.resolve(name);
    Folders.delete(to);
    Folders.copy(home, to);
  }

  private void moveTo(String name) {
    Path next = top.resolve(String.valueOf(++homes));
    Folders.copy(top.resolve(name), next);
    home = next;
  }

  /** What an auditor finds wrong with the whole ledger; it is stopped for that. */
  Optional<Long> problems() {
    if (!open) {
      return Optional.empty();
    }
    long audit =
        Audit.check(ledger, new Tools(tools, List.of(driver)), (_, _) -> {}).problemsTotal();
    stop();
    long fsck =
        Fsck.check(
                Fsck.Options.of(config(home).dir())
                    .withLogKey(TestParty.key("log").verifyingKey())
                    .withAnchor(config(home).anchor()))
            .problemsTotal();
    return Optional.of(audit + fsck);
  }

  @Override
  public void close() {
    try {
      stop();
    } finally {
      Folders.delete(top);
    }
  }
}

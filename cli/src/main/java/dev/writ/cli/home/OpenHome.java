package dev.writ.cli.home;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.executor.Kernel;
import dev.writ.executor.KernelConfig;
import dev.writ.executor.SystemState;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.stage.Tools;
import dev.writ.gateway.Confining;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.tools.Drivers;
import dev.writ.tools.language.PoolSettings;
import dev.writ.tools.language.WarmPool;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.registry.ToolRegistry;
import dev.writ.tools.wasm.GuestPool;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.function.UnaryOperator;

/** A home at work: the ledger open for writing, and the kernel over it. One process at a time. */
public final class OpenHome implements AutoCloseable {
  private final Home home;
  private final Ledger ledger;
  private final Drivers drivers;
  private final ToolRegistry registry;
  private final Kernel kernel;

  /** What an approved tool may be without being callable. */
  private static final List<String> STAGES_WITHOUT_CALLS = List.of("draft", "retired");

  private OpenHome(
      Home home, Ledger ledger, Drivers drivers, UnaryOperator<Driver> wrap, InstantSource clock) {
    this.home = home;
    this.ledger = ledger;
    this.drivers = drivers;
    this.registry = ToolRegistry.open(home.tools());
    this.kernel =
        Kernel.open(
            new KernelConfig(
                ledger,
                home.key("guardian"),
                home.key("executor"),
                new Registry(registry),
                drivers.byName().values().stream().map(wrap).toList(),
                drivers.processes().runWorkspaces(),
                clock,
                new PassedTime(),
                new SecureRandom()));
    drivers.workers().allowOnly(this::mayRun);
  }

  /**
   * Whether policy still has a package that workers may wait for; whether a call may is its Gate's.
   */
  private boolean mayRun(Digest packageDigest) {
    SystemState now = kernel.system();
    return now.policy().stream()
        .flatMap(policy -> policy.tools().stream())
        .anyMatch(tool ->
            tool.ref().packageDigest().equals(packageDigest)
                && !STAGES_WITHOUT_CALLS.contains(tool.stage())
                && !now.isProhibited(tool.ref().name(), tool.ref().version()));
  }

  /** Opens a home for work. */
  public static OpenHome open(Home home, InstantSource clock, ProcessHost processes) {
    return open(home, clock, processes, UnaryOperator.identity());
  }

  /**
   * @param processes where the tools that are processes run; closed with the home
   * @param wrap what the kernel calls instead of each driver
   */
  public static OpenHome open(
      Home home, InstantSource clock, ProcessHost processes, UnaryOperator<Driver> wrap) {
    return open(home, clock, processes, wrap, PoolSettings.NONE);
  }

  /**
   * @param waiting how many workers of tool packages wait for their calls
   */
  public static OpenHome open(
      Home home,
      InstantSource clock,
      ProcessHost processes,
      UnaryOperator<Driver> wrap,
      PoolSettings waiting) {
    Umask.ownersAlone();
    Ledger ledger = null;
    Drivers drivers = null;
    try {
      SigningKey logKey = home.key("log");
      ledger =
          Ledger.open(new LedgerConfig(home.ledger(), home.anchor(), home.origin(), logKey, clock));
      drivers = Drivers.all(processes, waiting);
      return new OpenHome(home, ledger, drivers, wrap, clock);
    } catch (RuntimeException e) {
      if (drivers != null) {
        drivers.close();
      }
      if (ledger != null) {
        ledger.close();
      }
      processes.close();
      throw e;
    }
  }

  /** Opens a home's ledger for reading only, also while another process writes. */
  public static LedgerView read(Home home) {
    return Ledger.openReadOnly(home.ledger());
  }

  /** The tools of a home, for looking at only. */
  public static Tools tools(Home home, Drivers drivers) {
    return new Tools(
        new Registry(ToolRegistry.open(home.tools())), List.copyOf(drivers.byName().values()));
  }

  public Home home() {
    return home;
  }

  public Kernel kernel() {
    return kernel;
  }

  /** The workspaces of its runs. */
  public RunWorkspaces workspaces() {
    return drivers.processes().runWorkspaces();
  }

  /** The workers of tool packages that wait for their calls. */
  public WarmPool workers() {
    return drivers.workers();
  }

  /** What this installation grants of what a tool's manifest promises (protocol rule 14). */
  public Determinism granted(ToolManifest manifest) {
    Driver driver = drivers.byName().get(manifest.driver());
    return driver == null
        ? Determinism.RECORDED
        : driver.determinism().weaker(manifest.determinism());
  }

  /** What confines the tools that are processes here. */
  public Confining confining() {
    return new ServedSandbox(drivers, registry);
  }

  /** Guests, which are not processes: how many run, and how many wait for their turn. */
  public GuestPool guests() {
    return drivers.guests();
  }

  public ToolRegistry registry() {
    return registry;
  }

  @Override
  public void close() {
    drivers.close();
    ledger.close();
  }
}

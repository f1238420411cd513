package dev.writ.embed.home;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.Kernel;
import dev.writ.executor.KernelConfig;
import dev.writ.executor.Placements;
import dev.writ.executor.SystemState;
import dev.writ.executor.SystemStatement;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.storage.LeaseTerms;
import dev.writ.tools.Drivers;
import dev.writ.tools.language.WarmPool;
import dev.writ.tools.registry.ToolRegistry;
import dev.writ.tools.wasm.GuestPool;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A home that is open for work: the ledger, open for writing, and the kernel over it. One process
 * at a time.
 */
public final class OpenHome implements AutoCloseable {
  private final Home home;
  private final Ledger ledger;
  private final Drivers drivers;
  private final ToolRegistry registry;
  private final InstalledTools tools;
  private final Kernel kernel;
  private final Optional<CellMember> member;

  /** Read by this alone, and closed with it. */
  private final Optional<SystemFeed> ownFeed;

  /** Rollout stages in which an approved tool cannot be called. */
  private static final List<String> STAGES_WITHOUT_CALLS = List.of("draft", "retired");

  private OpenHome(
      Home home,
      Ledger ledger,
      Drivers drivers,
      Opening opening,
      Optional<SystemFeed> ownFeed,
      Optional<SystemFeed> feed) {
    this.ownFeed = ownFeed;
    Optional<SystemFeed> followed = feed.filter(_ -> home.cell() != CellPlacement.SYSTEM);
    followed.ifPresent(f -> f.requireStated(ledger, home.cell()));
    List<SystemStatement> stated = followed.map(f -> f.look().statements()).orElse(List.of());
    if (!stated.isEmpty()) {
      Kernel.copy(ledger, stated, opening.random());
    }
    this.home = home;
    this.ledger = ledger;
    this.drivers = drivers;
    this.registry = ToolRegistry.open(home.tools());
    this.tools = new InstalledTools(registry, opening.ownTools());
    KernelConfig config =
        new KernelConfig(
            ledger,
            home.key("guardian"),
            executorKey(home, opening),
            tools,
            Stream.concat(drivers.byName().values().stream(), opening.ownDrivers().stream())
                .map(driver -> opening.elsewhere().isPresent() ? new GuardedDriver(driver) : driver)
                .map(opening.wrap())
                .toList(),
            drivers.processes().runWorkspaces(),
            opening.region(),
            KernelConfig.SUMMARIZED_EVERY,
            new PatientSigning(Thread::sleep),
            opening.clock(),
            opening.elapsed(),
            opening.random());
    this.kernel =
        opening
            .elsewhere()
            .map(executor -> Kernel.guarding(config, executor))
            .orElseGet(() -> Kernel.open(config));
    this.member = feed.map(f -> new CellMember(home, f, kernel, opening.region(), stated.size()));
    member.ifPresent(kernel::inCell);
    drivers.workers().allowOnly(this::mayRun);
    kernel.contents().readArchived(new HomeArchive(home).contents());
    kernel.whenChanged(() -> RotatedKeys.take(home, kernel));
    RotatedKeys.take(home, kernel);
  }

  /** They know their sandbox profiles, and no tool of theirs can be started. */
  private static Drivers withoutTools(Opening opening) {
    opening.processes().close();
    return Drivers.withoutProcesses();
  }

  private static SigningKey executorKey(Home home, Opening opening) {
    Optional<ExecutorCard> card = ExecutorCard.elsewhere(home);
    if (card.isPresent() != opening.elsewhere().isPresent() || GuardianCard.isIn(home)) {
      throw new WritException(
          ExecutorError.NOT_APART,
          GuardianCard.isIn(home)
              ? home.dir() + " is an executor's home, which has no guardian"
              : card.isPresent()
                  ? "the executor of " + home.dir() + " is elsewhere, and only `writ serve` asks it"
                  : home.dir() + " has its executor in this process");
    }
    return card.isPresent()
        ? SigningKey.outside(card.get().executor(), opening.elsewhere().get()::sign)
        : home.key("executor");
  }

  /**
   * Whether policy still approves a package, so that workers for it may be kept. Whether a call is
   * allowed is decided at the Gate.
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

  /** The number of the cell that has a tenant, as the system cell's log says now. */
  public static int cellOf(Home home, String tenant) {
    if (home.cells() == 1) {
      return CellPlacement.SYSTEM;
    }
    try (LedgerView system = read(home.inCell(CellPlacement.SYSTEM))) {
      return SystemState.read(system).placements().cellOf(tenant, home.cells());
    }
  }

  /** The cells in which a tenant was before its moves, the latest first, as that log says now. */
  public static List<Integer> formerCells(Home home, String tenant) {
    if (home.cells() == 1) {
      return List.of();
    }
    try (LedgerView system = read(home.inCell(CellPlacement.SYSTEM))) {
      Placements placements = SystemState.read(system).placements();
      return placements.formerCells(tenant, placements.cellOf(tenant, home.cells()));
    }
  }

  /**
   * Opens a home for work. The resources in the opening are closed with it, also if opening fails.
   */
  public static OpenHome open(Home home, Opening opening) {
    return open(home, opening, Optional.empty());
  }

  /**
   * The same for a time, where several gateways share the ledger's database.
   *
   * @throws dev.writ.canonicalize.WritException also {@code LED-077} while another has a lease
   */
  public static OpenHome open(Home home, Opening opening, Optional<LeaseTerms> terms) {
    return open(home, opening, terms, Optional.empty());
  }

  /**
   * The same as one cell of several that are open in this process.
   *
   * @param shared what they all read of the system cell; the home's own where it is absent
   * @throws dev.writ.canonicalize.WritException also {@code EXE-993}, and the code of a statement
   *     of the system cell that does not hold
   */
  public static OpenHome open(
      Home home, Opening opening, Optional<LeaseTerms> terms, Optional<SystemFeed> shared) {
    Umask.ownersAlone();
    Ledger ledger = null;
    Drivers drivers = null;
    Optional<SystemFeed> own =
        shared.isEmpty() && home.cells() > 1
            ? Optional.of(new SystemFeed(home, SystemFeed.BOUND, opening.elapsed()))
            : Optional.empty();
    try {
      LedgerConfig config =
          new LedgerConfig(
              home.ledger(), home.anchor(), home.origin(), home.key("log"), opening.clock());
      ledger = terms.isPresent() ? Ledger.open(config, terms.get()) : Ledger.open(config);
      drivers =
          opening.elsewhere().isPresent()
              ? withoutTools(opening)
              : Drivers.all(opening.processes(), opening.waiting(), opening.servers());
      return new OpenHome(home, ledger, drivers, opening, own, shared.or(() -> own));
    } catch (RuntimeException | Error e) {
      own.ifPresent(SystemFeed::close);
      if (drivers != null) {
        drivers.close();
      }
      if (ledger != null) {
        ledger.close();
      }
      opening.processes().close();
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
        new InstalledTools(ToolRegistry.open(home.tools()), List.of()),
        List.copyOf(drivers.byName().values()));
  }

  public Home home() {
    return home;
  }

  public Kernel kernel() {
    return kernel;
  }

  /** How it is one cell of several; empty where it is the whole installation. */
  public Optional<CellMember> member() {
    return member;
  }

  /** The workspaces of its runs. */
  public RunWorkspaces workspaces() {
    return drivers.processes().runWorkspaces();
  }

  /** The workers of tool packages that wait for their calls. */
  public WarmPool workers() {
    return drivers.workers();
  }

  /**
   * The determinism that is granted to a tool: the weaker of its manifest's and its driver's
   * (protocol rule 14).
   */
  public Determinism granted(ToolManifest manifest) {
    Driver driver = drivers.byName().get(manifest.driver());
    return driver == null
        ? Determinism.RECORDED
        : driver.determinism().weaker(manifest.determinism());
  }

  /** The drivers of built-in tools and of packages. */
  public Drivers drivers() {
    return drivers;
  }

  /** All tools that can be called: built-in, registered, and the caller's own. */
  public List<ToolManifest> manifests() {
    return tools.all();
  }

  /** Its tools, as an export takes them. */
  public InstalledTools packages() {
    return tools;
  }

  /** The pool of guests (tools that are no processes): how many run, and how many wait. */
  public GuestPool guests() {
    return drivers.guests();
  }

  public ToolRegistry registry() {
    return registry;
  }

  @Override
  public void close() {
    try {
      drivers.close();
    } finally {
      try {
        ledger.close();
      } finally {
        ownFeed.ifPresent(SystemFeed::close);
      }
    }
  }
}

package dev.writ.tools;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Driver;
import dev.writ.tools.browser.BrowserDriver;
import dev.writ.tools.code.CodeDriver;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.exec.ExecDriver;
import dev.writ.tools.git.GitDriver;
import dev.writ.tools.http.call.HttpDriver;
import dev.writ.tools.js.JsDriver;
import dev.writ.tools.language.LanguageDrivers;
import dev.writ.tools.language.PoolSettings;
import dev.writ.tools.language.WarmPool;
import dev.writ.tools.mcp.KeptServers;
import dev.writ.tools.mcp.McpDriver;
import dev.writ.tools.permit.PermitDriver;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.sql.SqlDriver;
import dev.writ.tools.wasm.GuestPool;
import dev.writ.tools.wasm.ModuleCache;
import dev.writ.tools.wasm.WasmDriver;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** A set of drivers and the threads that they share. */
public final class Drivers implements AutoCloseable {
  private static final int MODULES_KEPT = 64;

  private final GuestPool pool;
  private final ProcessHost processes;
  private final WarmPool workers;
  private final HttpDriver http;
  private final Optional<McpDriver> mcp;
  private final SortedMap<String, Driver> byName;

  private Drivers(
      GuestPool pool,
      ProcessHost processes,
      WarmPool workers,
      HttpDriver http,
      List<Driver> drivers) {
    TreeMap<String, Driver> map = new TreeMap<>();
    drivers.forEach(driver -> map.put(driver.name(), driver));
    this.pool = pool;
    this.processes = processes;
    this.workers = workers;
    this.http = http;
    this.mcp =
        drivers.stream()
            .filter(driver -> driver instanceof McpDriver)
            .map(driver -> (McpDriver) driver)
            .findFirst();
    this.byName = Collections.unmodifiableSortedMap(map);
  }

  /** All built-in drivers, sized for this host; closing them closes the host of processes, too. */
  public static Drivers all(ProcessHost processes) {
    return all(GuestPool.ofThisHost(), processes);
  }

  /** The same, with threads of the caller's size. */
  public static Drivers all(GuestPool pool, ProcessHost processes) {
    return all(pool, processes, PoolSettings.NONE, Optional.empty());
  }

  /**
   * The same, with workers of tool packages that wait for their calls.
   *
   * @param waiting how many workers may wait
   */
  public static Drivers all(ProcessHost processes, PoolSettings waiting) {
    return all(processes, waiting, Optional.empty());
  }

  /**
   * The same.
   *
   * @param kept MCP servers that go on when the drivers are closed
   */
  public static Drivers all(
      ProcessHost processes, PoolSettings waiting, Optional<KeptServers> kept) {
    return all(GuestPool.ofThisHost(), processes, waiting, kept);
  }

  private static Drivers all(
      GuestPool pool, ProcessHost processes, PoolSettings waiting, Optional<KeptServers> kept) {
    WarmPool workers = new WarmPool(processes, waiting);
    List<Driver> drivers = new ArrayList<>(wasm(pool));
    drivers.addAll(CodeDriver.both(processes));
    drivers.add(new BrowserDriver(processes));
    drivers.add(new ExecDriver(processes));
    drivers.add(ExecDriver.ephemeral(processes));
    drivers.add(new GitDriver(processes));
    drivers.add(new PermitDriver());
    drivers.addAll(LanguageDrivers.all(processes, workers));
    HttpDriver http = new HttpDriver(processes);
    drivers.add(http);
    drivers.add(
        kept.map(servers -> new McpDriver(processes, servers))
            .orElseGet(() -> new McpDriver(processes)));
    return new Drivers(pool, processes, workers, http, drivers);
  }

  /**
   * All drivers, but those that run processes refuse to. For audits and replays of recorded runs:
   * the drivers still know their sandbox profiles, which snapshots name.
   */
  public static Drivers withoutProcesses() {
    return all(ProcessHost.missing(new WritException(ToolsError.PROCESSES_ABSENT, "")));
  }

  /**
   * The drivers {@code js}, {@code sql}, {@code wasm} and {@code wasm-metered}, sized for this
   * host.
   */
  public static Drivers wasmFamily() {
    return wasmFamily(GuestPool.ofThisHost());
  }

  /**
   * The same, with threads of the caller's size; closing the drivers closes the pool.
   *
   * @param pool the pool in which they run their guests
   */
  public static Drivers wasmFamily(GuestPool pool) {
    ProcessHost none = ProcessHost.missing(new WritException(ToolsError.PROCESSES_ABSENT, ""));
    return new Drivers(
        pool, none, new WarmPool(none, PoolSettings.NONE), new HttpDriver(none), wasm(pool));
  }

  private static List<Driver> wasm(GuestPool pool) {
    ModuleCache cache = new ModuleCache(MODULES_KEPT);
    return List.of(
        new JsDriver(pool),
        new SqlDriver(pool),
        WasmDriver.compiled(pool, cache),
        WasmDriver.metered(pool, cache));
  }

  /** Where the processes run. */
  public ProcessHost processes() {
    return processes;
  }

  /** Where the guests run. */
  public GuestPool guests() {
    return pool;
  }

  /** The workers of tool packages that wait for their calls. */
  public WarmPool workers() {
    return workers;
  }

  /** The drivers by their names. */
  public SortedMap<String, Driver> byName() {
    return byName;
  }

  /** Ends all guests and processes; afterwards every run is refused with {@code TOL-005}. */
  @Override
  public void close() {
    try {
      pool.close();
    } finally {
      mcp.ifPresent(McpDriver::close);
      http.close();
      workers.close();
      processes.close();
    }
  }
}

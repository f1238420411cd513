package dev.writ.tools;

import dev.writ.executor.driver.Driver;
import dev.writ.tools.js.JsDriver;
import dev.writ.tools.sql.SqlDriver;
import dev.writ.tools.wasm.GuestPool;
import dev.writ.tools.wasm.ModuleCache;
import dev.writ.tools.wasm.WasmDriver;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** A set of drivers and the threads that they share. */
public final class Drivers implements AutoCloseable {
  private static final int MODULES_KEPT = 64;

  private final GuestPool pool;
  private final SortedMap<String, Driver> byName;

  private Drivers(GuestPool pool, List<Driver> drivers) {
    TreeMap<String, Driver> map = new TreeMap<>();
    drivers.forEach(driver -> map.put(driver.name(), driver));
    this.pool = pool;
    this.byName = Collections.unmodifiableSortedMap(map);
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
   * @param pool where all of them run their guests
   */
  public static Drivers wasmFamily(GuestPool pool) {
    ModuleCache cache = new ModuleCache(MODULES_KEPT);
    return new Drivers(
        pool,
        List.of(
            new JsDriver(pool),
            new SqlDriver(pool),
            WasmDriver.compiled(pool, cache),
            WasmDriver.metered(pool, cache)));
  }

  /** The drivers by their names. */
  public SortedMap<String, Driver> byName() {
    return byName;
  }

  /** Ends all guests; afterwards every run is refused with {@code TOL-005}. */
  @Override
  public void close() {
    pool.close();
  }
}

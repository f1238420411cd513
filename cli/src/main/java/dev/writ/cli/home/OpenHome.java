package dev.writ.cli.home;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.executor.Kernel;
import dev.writ.executor.KernelConfig;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.stage.Tools;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.tools.Drivers;
import dev.writ.tools.registry.ToolRegistry;
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
                RunWorkspaces.NONE,
                clock,
                new SecureRandom()));
  }

  /** Opens a home for work. */
  public static OpenHome open(Home home, InstantSource clock) {
    return open(home, clock, UnaryOperator.identity());
  }

  /**
   * @param wrap what the kernel calls instead of each driver
   */
  public static OpenHome open(Home home, InstantSource clock, UnaryOperator<Driver> wrap) {
    SigningKey logKey = home.key("log");
    Ledger ledger =
        Ledger.open(new LedgerConfig(home.ledger(), home.anchor(), home.origin(), logKey, clock));
    Drivers drivers = null;
    try {
      drivers = Drivers.wasmFamily();
      return new OpenHome(home, ledger, drivers, wrap, clock);
    } catch (RuntimeException e) {
      if (drivers != null) {
        drivers.close();
      }
      ledger.close();
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

  public ToolRegistry registry() {
    return registry;
  }

  @Override
  public void close() {
    drivers.close();
    ledger.close();
  }
}

package dev.writ.embed.home;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.executor.ApartExecutor;
import dev.writ.executor.Kernel;
import dev.writ.executor.KernelConfig;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.tools.Drivers;
import dev.writ.tools.registry.ToolRegistry;
import java.util.List;

/** The home of an executor that is apart from its guardian, open for work. */
public final class OpenExecutor implements AutoCloseable {
  private final Ledger ledger;
  private final Drivers drivers;
  private final ApartExecutor executor;

  private OpenExecutor(Ledger ledger, Drivers drivers, ApartExecutor executor) {
    this.ledger = ledger;
    this.drivers = drivers;
    this.executor = executor;
  }

  /**
   * Opens it. What the process before began and did not end is in doubt from now on. The resources
   * in the opening are closed with it, also if opening fails.
   */
  public static OpenExecutor open(Home home, Opening opening) {
    Umask.ownersAlone();
    Ledger ledger = null;
    Drivers drivers = null;
    try {
      GuardianCard guardian = GuardianCard.read(GuardianCard.of(home));
      ledger =
          Ledger.open(
              new LedgerConfig(
                  home.ledger(), home.anchor(), home.origin(), home.key("log"), opening.clock()));
      drivers = Drivers.all(opening.processes(), opening.waiting(), opening.servers());
      SigningKey own = home.key("executor");
      ApartExecutor executor =
          Kernel.executing(
              new KernelConfig(
                  ledger,
                  own,
                  own,
                  new InstalledTools(ToolRegistry.open(home.tools()), List.of()),
                  drivers.byName().values().stream().map(opening.wrap()).toList(),
                  drivers.processes().runWorkspaces(),
                  opening.region(),
                  KernelConfig.SUMMARIZED_EVERY,
                  new PatientSigning(Thread::sleep),
                  opening.clock(),
                  opening.elapsed(),
                  opening.random()),
              guardian.log().name());
      return new OpenExecutor(ledger, drivers, executor);
    } catch (RuntimeException e) {
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

  public ApartExecutor executor() {
    return executor;
  }

  @Override
  public void close() {
    drivers.close();
    ledger.close();
  }
}

package dev.writ.tools.language;

import dev.writ.executor.driver.Driver;
import dev.writ.tools.process.ProcessHost;
import java.util.List;

/** A driver for each language of packages, beside WebAssembly. */
public final class LanguageDrivers {
  private LanguageDrivers() {}

  public static List<Driver> all(ProcessHost host) {
    return all(host, new WarmPool(host, PoolSettings.NONE));
  }

  /**
   * @param pool of the same host, which all of them share
   */
  public static List<Driver> all(ProcessHost host, WarmPool pool) {
    return List.of(
        new LanguageDriver(new PythonAdapter(), host, pool),
        new LanguageDriver(new NodeAdapter(), host, pool),
        new LanguageDriver(new JavaAdapter(), host, pool),
        new LanguageDriver(new DotNetAdapter(), host, pool),
        new LanguageDriver(new PerlAdapter(), host, pool),
        new LanguageDriver(new ExecutableAdapter(), host, pool));
  }
}

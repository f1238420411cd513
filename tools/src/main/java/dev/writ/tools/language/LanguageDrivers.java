package dev.writ.tools.language;

import dev.writ.executor.driver.Driver;
import dev.writ.tools.process.ProcessHost;
import java.util.List;

/** A driver for each language that packages are written in, beside WebAssembly. */
public final class LanguageDrivers {
  private LanguageDrivers() {}

  public static List<Driver> all(ProcessHost host) {
    return List.of(
        new LanguageDriver(new PythonAdapter(), host),
        new LanguageDriver(new NodeAdapter(), host),
        new LanguageDriver(new JavaAdapter(), host),
        new LanguageDriver(new PerlAdapter(), host),
        new LanguageDriver(new ExecutableAdapter(), host));
  }
}

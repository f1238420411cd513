package dev.writ.tools.process;

import dev.writ.executor.driver.DriverOutcome;

/** What a tool does in one call. */
@FunctionalInterface
public interface Program {
  /**
   * Runs it once, and returns the confined program's result as an outcome. A {@code WritException}
   * is a refusal of this call, and becomes an outcome, too.
   */
  DriverOutcome run(ProcessCall call);
}

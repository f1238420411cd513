package dev.writ.tools.process;

import dev.writ.executor.driver.DriverOutcome;

/** What a tool does in one call. */
@FunctionalInterface
public interface Program {
  /**
   * Runs it once. What the confined program did comes back as an outcome; a {@code WritException}
   * is a refusal of this call and becomes one too.
   */
  DriverOutcome run(ProcessCall call);
}

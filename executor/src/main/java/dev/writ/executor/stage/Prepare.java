package dev.writ.executor.stage;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.ExecutorError;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.stage.Preflight.Order;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import java.util.function.BiPredicate;

/**
 * Stage 3: everything the dispatch needs is at hand. The look at what is prohibited is live, not
 * part of the snapshot (PROTOCOL 12).
 */
public final class Prepare {
  private final Tools tools;
  private final BiPredicate<String, String> prohibited;
  private final BiPredicate<String, Input> readable;

  /** An order that can be dispatched. */
  public record Ready(
      Order order, ToolManifest manifest, Driver.Prepared operation, Determinism determinism) {}

  /**
   * @param prohibited tells by name and version whether a tool must not run
   * @param readable tells whether a tenant's store holds an input
   */
  public Prepare(
      Tools tools, BiPredicate<String, String> prohibited, BiPredicate<String, Input> readable) {
    this.tools = tools;
    this.prohibited = prohibited;
    this.readable = readable;
  }

  /**
   * @throws WritException {@code EXE-301} to {@code EXE-308}
   */
  public Ready prepare(Order order, Policy policy) {
    ToolManifest manifest = tools.resolve(order.request().effect(), policy);
    if (prohibited.test(manifest.name(), manifest.version())) {
      throw new WritException(
          ExecutorError.TOOL_PROHIBITED, manifest.name() + " " + manifest.version());
    }
    if (!manifest.ref().equals(order.intent().tool())) {
      throw new WritException(
          ExecutorError.TOOL_UNKNOWN,
          "the intent names package " + order.intent().tool().packageDigest());
    }
    for (Input input : order.request().effect().inputs()) {
      if (!readable.test(order.request().scope().tenant(), input)) {
        throw new WritException(ExecutorError.INPUT_UNKNOWN, input.name() + ", " + input.digest());
      }
    }
    Driver driver = tools.driver(manifest);
    driver.sandboxProfile(order.request().effect().sandbox()); // refuses one that is not there
    return new Ready(
        order,
        manifest,
        operation(driver, manifest, order.request().effect().operation()),
        driver.determinism().weaker(manifest.determinism()));
  }

  private Driver.Prepared operation(Driver driver, ToolManifest manifest, String operation) {
    try {
      return driver.prepare(manifest, operation, tools.content(manifest));
    } catch (WritException e) {
      throw e;
    } catch (RuntimeException | StackOverflowError | LinkageError e) {
      throw new WritException(ExecutorError.PREPARE_FAILED, e.getClass().getSimpleName(), e);
    }
  }
}

package dev.writ.executor.stage;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.ExpectedCall;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.stage.Preflight.Order;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Observed;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.engine.HostTerms;
import dev.writ.guardian.policy.governance.CanaryDraw;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;

/**
 * Stage 3: everything that the dispatch needs is available. Prohibited tools are checked now, not
 * by the snapshot (protocol rule 12).
 */
public final class Prepare {
  private final Tools tools;
  private final BiPredicate<String, String> prohibited;
  private final Surroundings.Readable readable;
  private final WorkspaceUse workspaces;

  /**
   * An order that can be dispatched.
   *
   * @param workspaceBefore the tree digest of the run's workspace, for a tool that uses it
   * @param host policy's terms for hosts; they are those of the decision, since the snapshot holds
   *     policy's digest
   */
  public record Ready(
      Order order,
      ToolManifest manifest,
      Driver.Prepared operation,
      Determinism determinism,
      Optional<Digest> workspaceBefore,
      HostTerms host) {

    /** The same, whose dispatch is durable before it begins, whatever tool it is. */
    public Ready durable() {
      return new Ready(
          order,
          manifest,
          operation,
          determinism.weaker(Determinism.REPRODUCIBLE),
          workspaceBefore,
          host);
    }
  }

  /**
   * @param prohibited tells by name and version whether a tool must not run
   * @param readable tells whether a request may name an input
   */
  public Prepare(
      Tools tools,
      BiPredicate<String, String> prohibited,
      Surroundings.Readable readable,
      WorkspaceUse workspaces) {
    this.tools = tools;
    this.prohibited = prohibited;
    this.readable = readable;
    this.workspaces = workspaces;
  }

  /**
   * @throws WritException {@code EXE-301} to {@code EXE-312}; for what was given up, why
   */
  public Ready prepare(Order order, Policy policy) {
    if (order.submission().givenUp().isPresent()) {
      throw order.submission().givenUp().get();
    }
    ToolManifest manifest = tools.resolve(order.request().effect(), policy);
    if (prohibited.test(manifest.name(), manifest.version())) {
      throw new WritException(
          ExecutorError.TOOL_PROHIBITED, manifest.name() + " " + manifest.version());
    }
    requireMayRun(order, manifest, policy);
    if (!manifest.ref().equals(order.intent().tool())) {
      throw new WritException(
          ExecutorError.TOOL_UNKNOWN,
          "the intent names package " + order.intent().tool().packageDigest());
    }
    List<String> charged = charged(order);
    for (Input input : order.request().effect().inputs()) {
      if (!readable.test(order.request(), charged, input)) {
        throw new ObservedException(
            ExecutorError.INPUT_UNKNOWN,
            input.name() + ", " + input.digest(),
            Observed.input(input.name()));
      }
    }
    boolean usesWorkspace = manifest.capabilities().workspace();
    if (usesWorkspace) {
      requireHeld(order, manifest);
      workspaces.requireSettled(order.request().scope());
    }
    Driver driver = tools.driver(manifest);
    driver.sandboxProfile(order.request().effect().sandbox()); // refuses one that is not there
    requireRuntime(driver, manifest, policy);
    Driver.Prepared operation = operation(driver, manifest, order, policy.host());
    Determinism determinism = driver.determinism().weaker(manifest.determinism());
    return new Ready(
        order,
        manifest,
        operation,
        usesWorkspace ? determinism.weaker(Determinism.REPRODUCIBLE) : determinism,
        usesWorkspace ? Optional.of(measure(order)) : Optional.empty(),
        policy.host());
  }

  /** The charged subjects, from the decision that the Gate verified. */
  private static List<String> charged(Order order) {
    return order.decision().inputs().get("charged") instanceof JsonValue.Arr subjects
        ? subjects.items().stream().map(subject -> ((JsonValue.Str) subject).value()).toList()
        : List.of(order.request().scope().subject());
  }

  /**
   * Checks the canary again: an operator may have narrowed it without changing the stage, and so
   * without changing the snapshot.
   */
  private static void requireMayRun(Order order, ToolManifest manifest, Policy policy) {
    Scope scope = order.request().scope();
    Optional<String> owner =
        order.decision().inputs().get("owner") instanceof JsonValue.Str name
            ? Optional.of(name.value())
            : Optional.empty();
    CanaryDraw draw = CanaryDraw.of(scope, owner);
    if (policy
        .tool(manifest.name(), manifest.version())
        .filter(tool -> policy.mayRun(tool, draw))
        .isEmpty()) {
      throw new WritException(
          ExecutorError.TOOL_NOT_APPROVED,
          manifest.name()
              + " "
              + manifest.version()
              + " does not run for "
              + draw.subject()
              + " of "
              + draw.tenant());
    }
  }

  /** Requires an approved runtime if policy asks for one. */
  private static void requireRuntime(Driver driver, ToolManifest manifest, Policy policy) {
    driver
        .runtime(manifest)
        .filter(runtime -> !policy.allowsRuntime(runtime.language(), runtime.version()))
        .ifPresent(runtime -> {
          throw new WritException(
              ExecutorError.RUNTIME_NOT_APPROVED, runtime.language() + " " + runtime.version());
        });
  }

  /**
   * Requires that the workspace is locked; it is not if the tool was registered after the request
   * came in.
   */
  private static void requireHeld(Order order, ToolManifest manifest) {
    if (!order.submission().holdsWorkspace()) {
      throw new WritException(
          ExecutorError.PREPARE_FAILED,
          manifest.name() + " " + manifest.version() + " was registered a moment ago");
    }
  }

  private Digest measure(Order order) {
    try {
      return workspaces.before(order.request().scope(), order.request().effect().workspaceBefore());
    } catch (WritException e) {
      throw e;
    } catch (RuntimeException | StackOverflowError | LinkageError e) {
      throw new WritException(
          ExecutorError.PREPARE_FAILED, "workspace: " + e.getClass().getSimpleName(), e);
    }
  }

  private Driver.Prepared operation(
      Driver driver, ToolManifest manifest, Order order, HostTerms host) {
    Effect effect = order.request().effect();
    ExpectedCall call =
        new ExpectedCall(
            order.request().scope(),
            effect.resources(),
            effect.sandbox(),
            Dispatch.approved(order.decision()));
    try {
      return driver.prepare(manifest, effect.operation(), tools.content(manifest), host, call);
    } catch (WritException e) {
      throw e;
    } catch (RuntimeException | StackOverflowError | LinkageError e) {
      throw new WritException(ExecutorError.PREPARE_FAILED, e.getClass().getSimpleName(), e);
    }
  }
}

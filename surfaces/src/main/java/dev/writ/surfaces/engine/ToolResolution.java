package dev.writ.surfaces.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.SystemState;
import dev.writ.executor.error.ExecutorError;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.pipeline.ToolPackages;
import dev.writ.gateway.pipeline.ToolUse;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.VersionRule;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.ledger.LedgerView;
import dev.writ.tools.author.ResourceClass;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Resolves a client's request to one exact effect. Requests outside the contract are refused here;
 * requests that policy does not allow are passed on, so that the Guardian signs their denial.
 */
final class ToolResolution {
  private static final Resources NOTHING = new Resources(0, 0, 0, 0);
  private static final String NO_SANDBOX = "none";

  private final Pipeline pipeline;
  private final ToolPackages packages;

  ToolResolution(Pipeline pipeline, ToolPackages packages) {
    this.pipeline = pipeline;
    this.packages = packages;
  }

  /**
   * @param resourceClass the class for scheduling
   */
  record Resolved(Effect effect, ResourceClass resourceClass) {}

  /** The language of a tool that is offered here; empty text where its package is gone. */
  String language(ToolRef tool) {
    return packages.manifest(tool).map(ToolManifest::driver).orElse("");
  }

  /**
   * @throws WritException {@code GWY-201} to {@code GWY-204}, {@code EXE-306}
   */
  Resolved resolve(Caller caller, ToolExecutionRequest asked) {
    Policy policy = pipeline.policy();
    requirePolicy(policy, asked);
    CanaryDraw draw =
        pipeline.kernel().access().draw(caller.who(policy), asked.run(caller.subject()));
    Optional<ApprovedTool> approved =
        asked.toolVersion().isPresent()
            ? policy.tool(asked.toolId(), asked.toolVersion().get())
            : policy.defaultVersion(asked.toolId(), draw).or(() -> notRunning(policy, draw, asked));
    String version =
        asked
            .toolVersion()
            .or(() -> approved.map(tool -> tool.ref().version()))
            .orElseThrow(() -> new WritException(EngineError.NOT_OFFERED, asked.toolId()));
    Optional<ToolManifest> manifest = approved.flatMap(tool -> packages.manifest(tool.ref()));
    if (manifest.isEmpty()) {
      return new Resolved(effect(caller, asked, version, NOTHING, NO_SANDBOX), ResourceClass.SMALL);
    }
    requireOffered(manifest.get(), asked);
    ResourceClass resourceClass = resourceClass(manifest.get(), asked);
    Optional<ToolUse> use = ToolUse.of(policy, caller, manifest.get(), asked.operation());
    Resources most =
        ToolUse.least(
            policy.resourceClass(resourceClass.text()).orElseThrow(),
            use.map(ToolUse::most).orElse(manifest.get().resourcesMax()));
    return new Resolved(
        effect(
            caller,
            asked,
            version,
            within(most, asked),
            use.map(ToolUse::sandbox).orElseGet(() -> manifest.get().sandboxes().getFirst())),
        resourceClass);
  }

  /**
   * A version to name in the request if none may run (all are revoked, or canaries for others), so
   * that the Guardian signs the refusal.
   */
  private Optional<ApprovedTool> notRunning(
      Policy policy, CanaryDraw draw, ToolExecutionRequest asked) {
    SystemState system = pipeline.kernel().system();
    return policy.tools().stream()
        .filter(tool -> tool.ref().name().equals(asked.toolId()))
        .filter(tool ->
            system.isProhibited(tool.ref().name(), tool.ref().version())
                || !policy.mayRun(tool, draw))
        .max(Comparator.comparing(tool -> tool.ref().version(), VersionRule.ORDER));
  }

  private static void requirePolicy(Policy policy, ToolExecutionRequest asked) {
    asked
        .executionPolicyId()
        .filter(id -> !id.equals(policy.name()) && !id.equals(policy.digest().toString()))
        .ifPresent(id -> {
          throw new WritException(
              EngineError.POLICY,
              "executionPolicyId "
                  + id
                  + "; in force is "
                  + policy.name()
                  + ", "
                  + policy.digest());
        });
  }

  private static void requireOffered(ToolManifest manifest, ToolExecutionRequest asked) {
    if (!ToolPackages.isPackage(manifest)) {
      throw new WritException(EngineError.NOT_OFFERED, asked.toolId());
    }
    asked
        .language()
        .filter(language -> !language.equals(manifest.driver()))
        .ifPresent(language -> {
          throw new WritException(
              EngineError.LANGUAGE,
              "language " + language + "; the tool's is " + manifest.driver());
        });
  }

  private static ResourceClass resourceClass(ToolManifest manifest, ToolExecutionRequest asked) {
    ResourceClass own = ToolPackages.ownClass(manifest);
    ResourceClass wanted = asked.resourceClass().orElse(own);
    if (wanted.compareTo(own) > 0) {
      throw new WritException(
          EngineError.RESOURCE_CLASS,
          "resourceClass " + wanted.text() + "; the tool's is " + own.text());
    }
    return wanted;
  }

  private static Resources within(Resources most, ToolExecutionRequest asked) {
    long wall = Math.min(most.wallMs(), asked.timeoutBudgetMs().orElse(Long.MAX_VALUE));
    return new Resources(most.cpuMs(), most.memoryBytes(), most.outputBytes(), wall);
  }

  private Effect effect(
      Caller caller,
      ToolExecutionRequest asked,
      String version,
      Resources resources,
      String sandbox) {
    List<Input> inputs =
        asked.inputArtifacts().stream()
            .map(artifact -> input(caller, artifact))
            .sorted(Comparator.comparing(Input::name))
            .toList();
    return new Effect(
        asked.toolId(),
        version,
        asked.operation(),
        asked.inputPayload(),
        inputs,
        resources,
        sandbox,
        Optional.empty());
  }

  /**
   * References to content that the caller may name; unknown and foreign digests get the same
   * refusal.
   */
  private Input input(Caller caller, ToolExecutionRequest.Artifact artifact) {
    LedgerView ledger = pipeline.ledger();
    boolean known =
        pipeline.kernel().access().mayName(caller.who(pipeline.policy()), artifact.digest())
            && ledger.hasBlob(artifact.digest());
    if (!known) {
      throw new WritException(
          ExecutorError.INPUT_UNKNOWN, artifact.name() + ", " + artifact.digest());
    }
    return new Input(
        artifact.name(),
        artifact.digest(),
        ledger.blobSize(artifact.digest()),
        artifact.mediaType());
  }
}

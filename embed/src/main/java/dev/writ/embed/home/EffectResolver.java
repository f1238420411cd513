package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.EmbedError;
import dev.writ.executor.SystemState;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.EffectDraft;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.guardian.policy.governance.GovernedTool;
import dev.writ.tools.browser.BrowserDriver;
import dev.writ.tools.wasm.SandboxProfile;
import java.util.List;
import java.util.Optional;

/** Completes a draft with defaults, so that it is one exact effect. */
public final class EffectResolver {
  private static final long MIB = 1L << 20;

  private final SystemState system;
  private final List<ToolManifest> tools;

  /**
   * @param system says which version of a tool is the default
   * @param tools all tools that may be called
   */
  public EffectResolver(SystemState system, List<ToolManifest> tools) {
    this.system = system;
    this.tools = tools;
  }

  /**
   * The exact effect of an agent's draft in its run.
   *
   * @throws WritException {@code CLI-015} where there is no such tool, {@code CLI-016} where it has
   *     several versions or operations and none is the default
   */
  public Effect resolve(EffectDraft draft, CanaryDraw agent) {
    ToolManifest manifest =
        draft
            .version()
            .map(version -> exact(draft.tool(), version))
            .orElseGet(() -> byDefault(draft.tool(), agent));
    return new Effect(
        manifest.name(),
        manifest.version(),
        draft.operation().orElseGet(() -> onlyOperation(manifest)),
        draft.params(),
        draft.inputs(),
        resources(draft.resources(), manifest),
        draft.sandbox().orElseGet(() -> usual(manifest)),
        draft.workspaceBefore());
  }

  private ToolManifest exact(String name, String version) {
    return tools.stream()
        .filter(m -> m.name().equals(name) && m.version().equals(version))
        .findFirst()
        .orElseThrow(() -> absent(name + " " + version));
  }

  private ToolManifest byDefault(String name, CanaryDraw agent) {
    Optional<ToolRef> chosen =
        system.policyInForce().defaultVersion(name, agent).map(ApprovedTool::ref);
    return tools.stream()
        .filter(m -> chosen.filter(m.ref()::equals).isPresent())
        .findFirst()
        .orElseGet(() -> only(name));
  }

  private ToolManifest only(String name) {
    List<ToolManifest> named = tools.stream().filter(m -> m.name().equals(name)).toList();
    if (named.isEmpty()) {
      throw absent(name);
    }
    if (named.size() > 1) {
      throw new WritException(
          EmbedError.TOOL_AMBIGUOUS,
          name
              + " has versions "
              + named.stream().map(m -> m.version() + " (" + state(m) + ")").toList()
              + ", none of which is the default for this call");
    }
    return named.getFirst();
  }

  /** Why a version may not be the default, or its stage. */
  private String state(ToolManifest manifest) {
    Policy policy = system.policyInForce();
    Optional<GovernedTool> governed = policy.governed(manifest.name(), manifest.version());
    if (policy.revokes(manifest.packageDigest())
        || governed.filter(GovernedTool::revoked).isPresent()) {
      return "revoked";
    }
    return governed
        .map(tool -> tool.stage().text())
        .or(() -> policy.tool(manifest.name(), manifest.version()).map(ApprovedTool::stage))
        .orElse("not approved");
  }

  private WritException absent(String tool) {
    return new WritException(
        EmbedError.NOT_FOUND,
        "tool "
            + tool
            + "; there are "
            + tools.stream().map(ToolManifest::name).distinct().toList());
  }

  private static String onlyOperation(ToolManifest manifest) {
    if (manifest.operations().size() != 1) {
      throw new WritException(
          EmbedError.TOOL_AMBIGUOUS,
          manifest.name()
              + " has operations "
              + manifest.operations().stream().map(ToolManifest.Operation::name).toList());
    }
    return manifest.operations().getFirst().name();
  }

  /** Resources that the draft does not declare get modest defaults, within the tool's maximum. */
  private static Resources resources(EffectDraft.Declared declared, ToolManifest manifest) {
    Resources most = manifest.resourcesMax();
    boolean guest = manifest.sandboxes().contains(SandboxProfile.NAME);
    long memory = manifest.driver().equals(BrowserDriver.NAME) ? 1024 : guest ? 64 : 256;
    return new Resources(
        declared.cpuMs().orElse(Math.min(guest ? 2_000 : 10_000, most.cpuMs())),
        declared.memoryBytes().orElse(Math.min(memory * MIB, most.memoryBytes())),
        declared.outputBytes().orElse(Math.min(MIB, most.outputBytes())),
        declared.wallMs().orElse(Math.min(guest ? 5_000 : 20_000, most.wallMs())));
  }

  /**
   * {@code default} if the tool has it, otherwise the first profile; the list is sorted by name and
   * states no preference.
   */
  private static String usual(ToolManifest manifest) {
    return manifest.sandboxes().contains("default") ? "default" : manifest.sandboxes().getFirst();
  }
}

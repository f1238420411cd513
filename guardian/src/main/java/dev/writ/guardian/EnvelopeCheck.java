package dev.writ.guardian;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Role;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.guardian.policy.governance.GovernedTool;
import dev.writ.guardian.policy.rule.NetworkPlace;
import dev.writ.guardian.policy.seed.SeedProfile;
import dev.writ.guardian.policy.seed.WorkspacePaths;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Check 4, envelope: the effect stays inside the tool's manifest, and a single role of the subject
 * covers it whole.
 */
final class EnvelopeCheck {
  static final String NAME = "envelope";

  private EnvelopeCheck() {}

  /** Why not. */
  private record Violation(GuardianError code, String detail) {}

  /** The sandbox profile that always needs a signed approval, whatever policy says (seed 000). */
  private static final String PRIVILEGED = SeedProfile.PRIVILEGED.text();

  static CheckOutcome run(Matter matter) {
    Optional<Violation> violation = manifest(matter);
    if (violation.isEmpty()) {
      violation = workspace(matter);
    }
    if (violation.isEmpty()) {
      violation = privileged(matter);
    }
    if (violation.isEmpty() && matter.policy().observes()) {
      violation = secrets(matter);
    }
    if (violation.isEmpty()) {
      return roles(matter)
          .map(v -> Outcomes.enforced(Outcomes.refuse(NAME, v.code, v.detail), matter.policy()))
          .orElseGet(() -> Outcomes.pass(NAME, "within manifest and role"));
    }
    return violation
        .map(v -> Outcomes.refuse(NAME, v.code, v.detail))
        .orElseGet(() -> Outcomes.pass(NAME, "within manifest and role"));
  }

  private static Optional<Violation> manifest(Matter matter) {
    Effect effect = matter.effect();
    ToolManifest manifest = matter.manifest();
    ToolSchemas schemas;
    try {
      schemas = ToolSchemas.of(manifest);
    } catch (WritException e) {
      return violation((GuardianError) e.code(), e.found());
    }
    ToolRef found = new ToolRef(manifest.name(), manifest.version(), schemas.packageDigest());
    Optional<ApprovedTool> approved = matter.tool().filter(tool -> tool.ref().equals(found));
    if (approved.isEmpty()) {
      return violation(
          GuardianError.ENVELOPE_TOOL,
          effect.tool()
              + " "
              + effect.version()
              + ", resolved to "
              + found.name()
              + " "
              + found.version()
              + " "
              + found.packageDigest());
    }
    CanaryDraw draw = CanaryDraw.of(matter.scope(), matter.inputs().owner());
    if (!matter.policy().mayRun(approved.get(), draw)) {
      return violation(
          GuardianError.ENVELOPE_STAGE,
          found.name() + " " + found.version() + ", " + stage(approved.get()));
    }
    Optional<Violation> off = switchedOff(matter);
    if (off.isPresent()) {
      return off;
    }
    if (manifest.operation(effect.operation()).isEmpty()) {
      return violation(GuardianError.ENVELOPE_OPERATION, effect.operation());
    }
    try {
      schemas.requireInput(effect.operation(), effect.params());
    } catch (WritException e) {
      return violation((GuardianError) e.code(), e.found());
    }
    Optional<String> above = above(effect.resources(), manifest.resourcesMax());
    if (above.isPresent()) {
      return violation(GuardianError.ENVELOPE_MANIFEST_RESOURCES, above.get());
    }
    if (!manifest.sandboxes().contains(effect.sandbox())) {
      return violation(
          GuardianError.ENVELOPE_SANDBOX,
          effect.sandbox() + ", the tool has " + manifest.sandboxes());
    }
    return Optional.empty();
  }

  private static String stage(ApprovedTool tool) {
    return tool.governed().filter(GovernedTool::revoked).isPresent()
        ? "revoked"
        : "stage " + tool.stage();
  }

  /**
   * A feature flag by tenant, tool and category (seed 004). The category is the manifest's own,
   * which is trusted because the manifest is approved.
   */
  private static Optional<Violation> switchedOff(Matter matter) {
    ToolManifest manifest = matter.manifest();
    return matter
        .policy()
        .engine()
        .offBy(matter.scope().tenant(), manifest.name(), manifest.category())
        .map(flag ->
            new Violation(
                GuardianError.ENVELOPE_SWITCHED_OFF,
                "match " + new String(Jcs.write(flag.match()), StandardCharsets.UTF_8)));
  }

  private static Optional<String> above(Resources asked, Resources ceiling) {
    if (asked.cpuMs() > ceiling.cpuMs()) {
      return Optional.of("cpu_ms " + asked.cpuMs() + ", at most " + ceiling.cpuMs());
    }
    if (asked.memoryBytes() > ceiling.memoryBytes()) {
      return Optional.of(
          "memory_bytes " + asked.memoryBytes() + ", at most " + ceiling.memoryBytes());
    }
    if (asked.outputBytes() > ceiling.outputBytes()) {
      return Optional.of(
          "output_bytes " + asked.outputBytes() + ", at most " + ceiling.outputBytes());
    }
    if (asked.wallMs() > ceiling.wallMs()) {
      return Optional.of("wall_ms " + asked.wallMs() + ", at most " + ceiling.wallMs());
    }
    return Optional.empty();
  }

  /**
   * Protocol rule 20: an effect that uses a workspace and is approved or reproducible pins the
   * workspace's tree.
   */
  private static Optional<Violation> workspace(Matter matter) {
    boolean uses = matter.manifest().capabilities().workspace();
    boolean pins = matter.effect().workspaceBefore().isPresent();
    if (!uses && pins) {
      return violation(GuardianError.ENVELOPE_WORKSPACE, "the tool uses none, the effect pins one");
    }
    int rule = ProofCheck.ruleNumber(matter);
    boolean approved =
        rule >= 0
            && !matter.policy().observes()
            && matter.policy().rules().get(rule).require().asksApprovals();
    if (uses && !pins && (approved || matter.manifest().determinism() != Determinism.RECORDED)) {
      return violation(
          GuardianError.ENVELOPE_WORKSPACE,
          approved ? "its approval must pin it" : "a reproducible tool must pin it");
    }
    return Optional.empty();
  }

  /**
   * Requires an approval for the privileged profile. The first check has passed, so policy's own
   * requirements are met, but policy may ask for no approval.
   */
  private static Optional<Violation> privileged(Matter matter) {
    return matter.effect().sandbox().equals(PRIVILEGED) && !matter.inputs().approved()
        ? violation(GuardianError.ENVELOPE_APPROVAL, matter.effect().sandbox())
        : Optional.empty();
  }

  /**
   * The violation in the role that covers most of the effect; empty if one role covers it whole.
   */
  private static Optional<Violation> roles(Matter matter) {
    Violation nearest =
        new Violation(
            GuardianError.ENVELOPE_ROLE_TOOL,
            matter.effect().tool()
                + "/"
                + matter.effect().operation()
                + ", roles "
                + matter.holdingRoles());
    for (String name : matter.holdingRoles()) {
      Role role = matter.policy().roles().get(name);
      Optional<Violation> violation = role(role, matter);
      if (violation.isEmpty()) {
        return violation;
      }
      if (violation.get().code.compareTo(nearest.code) > 0) {
        nearest = violation.get();
      }
    }
    return Optional.of(nearest);
  }

  /** Why the role does not cover the effect; empty if it does. */
  static Optional<GuardianError> refusal(Role role, Matter matter) {
    return role(role, matter).map(Violation::code);
  }

  private static Optional<Violation> role(Role role, Matter matter) {
    Effect effect = matter.effect();
    if (!role.mayUse(effect.tool(), effect.operation())) {
      return violation(GuardianError.ENVELOPE_ROLE_TOOL, role.name() + " may use " + role.tools());
    }
    Optional<String> above = above(effect.resources(), role.resources());
    if (above.isPresent()) {
      return violation(GuardianError.ENVELOPE_ROLE_RESOURCES, above.get() + " for " + role.name());
    }
    if (!role.sandboxes().contains(effect.sandbox())) {
      return violation(
          GuardianError.ENVELOPE_SANDBOX,
          effect.sandbox() + ", " + role.name() + " has " + role.sandboxes());
    }
    Optional<Violation> violation = capabilities(role, effect, matter.manifest().capabilities());
    return violation.isPresent() ? violation : grants(role, matter);
  }

  private static Optional<Violation> capabilities(
      Role role, Effect effect, ToolManifest.Capabilities capabilities) {
    Optional<String> path =
        refused(
            effect,
            capabilities.paths(),
            text -> WorkspacePaths.isNormal(text) && WorkspacePaths.isUnder(text, role.paths()));
    if (path.isPresent()) {
      return violation(
          GuardianError.ENVELOPE_PATH, path.get() + ", " + role.name() + " has " + role.paths());
    }
    for (String pointer : capabilities.environment()) {
      Optional<JsonValue> value = JsonPointers.find(effect.params(), pointer);
      if (value.isPresent() && !environmentFits(value.get(), role)) {
        return violation(
            GuardianError.ENVELOPE_ENVIRONMENT,
            "params" + pointer + ", " + role.name() + " has " + role.environment());
      }
    }
    Predicate<String> reachable =
        text -> NetworkPlace.parse(text).filter(p -> p.isCovered(role.network())).isPresent();
    Optional<String> place =
        refused(effect, capabilities.network(), reachable)
            .or(() -> capabilities.hosts().stream().filter(reachable.negate()).findFirst());
    return place.isPresent()
        ? violation(
            GuardianError.ENVELOPE_NETWORK,
            place.get() + ", " + role.name() + " has " + role.network())
        : Optional.empty();
  }

  /** Secrets are granted also where policy only observes: by one of the subject's roles. */
  private static Optional<Violation> secrets(Matter matter) {
    Optional<Violation> missing = Optional.empty();
    for (String name : matter.holdingRoles()) {
      missing = secrets(matter.policy().roles().get(name), matter);
      if (missing.isEmpty()) {
        return missing;
      }
    }
    boolean asks =
        !matter.manifest().capabilities().ownSecrets().isEmpty()
            || refused(matter.effect(), matter.manifest().capabilities().secrets(), _ -> false)
                .isPresent();
    return missing.isEmpty() && asks
        ? violation(GuardianError.ENVELOPE_SECRET, "no role of the subject has it")
        : missing;
  }

  /** Programs and secrets that would exist in the sandbox, each by its name. */
  private static Optional<Violation> grants(Role role, Matter matter) {
    Optional<Violation> secret = secrets(role, matter);
    if (secret.isPresent()) {
      return secret;
    }
    Effect effect = matter.effect();
    ToolManifest.Capabilities capabilities = matter.manifest().capabilities();
    List<String> commands = matter.policy().commandsOf(role.name());
    return refused(effect, capabilities.commands(), commands::contains)
        .map(at ->
            new Violation(
                GuardianError.ENVELOPE_COMMAND, at + ", " + role.name() + " has " + commands));
  }

  private static Optional<Violation> secrets(Role role, Matter matter) {
    Effect effect = matter.effect();
    ToolManifest.Capabilities capabilities = matter.manifest().capabilities();
    Scope scope = matter.scope();
    Predicate<String> granted =
        name ->
            matter
                .policy()
                .grantsSecret(name, scope.tenant(), scope.subject(), role.name(), effect.tool());
    return refused(effect, capabilities.secrets(), granted)
        .or(() ->
            capabilities.ownSecrets().stream()
                .filter(granted.negate())
                .findFirst()
                .map(name -> "the tool's own " + name))
        .map(at -> new Violation(GuardianError.ENVELOPE_SECRET, at + ", for " + role.name()));
  }

  private static boolean environmentFits(JsonValue value, Role role) {
    return value instanceof JsonValue.Obj object
        && role.environment().containsAll(object.members().keySet())
        && object.members().values().stream().allMatch(v -> v instanceof JsonValue.Str);
  }

  /** The place of a string, or of a list with a string, that is not allowed. */
  private static Optional<String> refused(
      Effect effect, List<String> pointers, Predicate<String> fits) {
    for (String pointer : pointers) {
      Optional<JsonValue> value = JsonPointers.find(effect.params(), pointer);
      if (value.isPresent() && !fits(value.get(), fits)) {
        return Optional.of("params" + pointer);
      }
    }
    return Optional.empty();
  }

  private static boolean fits(JsonValue value, Predicate<String> fits) {
    return switch (value) {
      case JsonValue.Str text -> fits.test(text.value());
      case JsonValue.Arr list ->
          list.items().stream()
              .allMatch(item -> item instanceof JsonValue.Str text && fits.test(text.value()));
      default -> false;
    };
  }

  private static Optional<Violation> violation(GuardianError code, String detail) {
    return Optional.of(new Violation(code, detail));
  }
}

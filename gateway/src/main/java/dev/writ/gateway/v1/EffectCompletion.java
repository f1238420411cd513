package dev.writ.gateway.v1;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Kernel;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.pipeline.ToolPackages;
import dev.writ.gateway.pipeline.ToolUse;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import java.util.List;
import java.util.Optional;

/**
 * Completes an effect of which a caller stated only some members, by policy and the tool's
 * manifest. It decides nothing: what cannot be completed gets a version that no policy approves, so
 * that the Guardian signs a refusal.
 */
final class EffectCompletion {
  /** A version that no tool has. */
  private static final String NO_VERSION = "not listed";

  /** Modest resources, as {@code writ run} declares them. */
  private static final Resources MODEST = new Resources(2000, 64L << 20, 1L << 20, 5000);

  private final Kernel kernel;
  private final ToolPackages packages;

  EffectCompletion(Kernel kernel, ToolPackages packages) {
    this.kernel = kernel;
    this.packages = packages;
  }

  /** What a caller stated; all but the tool may be left out. */
  record Stated(
      String tool,
      Optional<String> version,
      Optional<String> operation,
      JsonValue.Obj params,
      List<Input> inputs,
      Optional<Resources> resources,
      Optional<String> sandbox,
      Optional<Digest> workspaceBefore) {

    static Stated read(Fields fields) {
      Stated stated =
          new Stated(
              fields.name("tool"),
              fields.optional("version", fields::name),
              fields.optional("operation", fields::name),
              fields.optional("params", fields::obj).orElseGet(() -> JsonValue.object().build()),
              fields.optional("inputs", key -> fields.list(key, Input::read)).orElse(List.of()),
              fields.optional("resources", key -> Resources.read(fields.fields(key))),
              fields.optional("sandbox", fields::name),
              fields.optional("workspace_before", fields::digest));
      fields.end();
      return stated;
    }
  }

  Effect complete(Caller caller, String run, Stated stated) {
    Policy policy = kernel.system().policyInForce();
    Optional<String> version =
        stated
            .version()
            .or(() ->
                policy
                    .defaultVersion(stated.tool(), kernel.access().draw(caller.who(policy), run))
                    .map(tool -> tool.ref().version()));
    Optional<ToolManifest> manifest =
        version.flatMap(v ->
            policy.tools().stream()
                .map(tool -> tool.ref())
                .filter(ref -> ref.name().equals(stated.tool()) && ref.version().equals(v))
                .findFirst()
                .flatMap(packages::manifest));
    String operation =
        stated.operation().or(() -> manifest.flatMap(EffectCompletion::only)).orElse("call");
    Optional<ToolUse> use = manifest.flatMap(m -> ToolUse.of(policy, caller, m, operation));
    return new Effect(
        stated.tool(),
        version.orElse(NO_VERSION),
        operation,
        stated.params(),
        stated.inputs(),
        stated
            .resources()
            .orElseGet(() -> use.map(u -> ToolUse.least(MODEST, u.most())).orElse(MODEST)),
        stated.sandbox().or(() -> use.map(ToolUse::sandbox)).orElse("none"),
        stated.workspaceBefore());
  }

  private static Optional<String> only(ToolManifest manifest) {
    return manifest.operations().size() == 1
        ? Optional.of(manifest.operations().getFirst().name())
        : Optional.empty();
  }
}

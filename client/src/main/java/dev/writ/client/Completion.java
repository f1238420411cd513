package dev.writ.client;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.EffectDraft;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Resources;
import java.util.List;

/**
 * Completes what an effect leaves out (spec/client.md, 6), and states it for a server that does.
 */
final class Completion {
  private static final Resources MODEST = new Resources(2000, 64L << 20, 1L << 20, 5000);

  private Completion() {}

  /**
   * @param operations those that the caller may use
   * @return the whole effect; what cannot be completed, in a version that no policy approves
   */
  static Effect complete(EffectDraft draft, List<AvailableOperation> operations) {
    List<AvailableOperation> known =
        operations.stream()
            .filter(o -> o.tool().equals(draft.tool()))
            .filter(o -> draft.version().map(o.version()::equals).orElse(o.isDefault()))
            .filter(o -> draft.operation().map(o.name()::equals).orElse(true))
            .toList();
    if (known.size() != 1) {
      return effect(draft, "not listed", "call", "none", MODEST);
    }
    AvailableOperation found = known.getFirst();
    Resources most = found.resources();
    return effect(
        draft,
        found.version(),
        found.name(),
        found.sandbox(),
        new Resources(
            Math.min(MODEST.cpuMs(), most.cpuMs()),
            Math.min(MODEST.memoryBytes(), most.memoryBytes()),
            Math.min(MODEST.outputBytes(), most.outputBytes()),
            Math.min(MODEST.wallMs(), most.wallMs())));
  }

  private static Effect effect(
      EffectDraft draft, String version, String operation, String sandbox, Resources usual) {
    EffectDraft.Declared declared = draft.resources();
    return new Effect(
        draft.tool(),
        draft.version().orElse(version),
        draft.operation().orElse(operation),
        draft.params(),
        draft.inputs(),
        new Resources(
            declared.cpuMs().orElse(usual.cpuMs()),
            declared.memoryBytes().orElse(usual.memoryBytes()),
            declared.outputBytes().orElse(usual.outputBytes()),
            declared.wallMs().orElse(usual.wallMs())),
        draft.sandbox().orElse(sandbox),
        draft.workspaceBefore());
  }

  /** Whether nothing is left to be completed. */
  static boolean isWhole(EffectDraft draft) {
    return draft.version().isPresent()
        && draft.operation().isPresent()
        && draft.sandbox().isPresent()
        && declaresAll(draft.resources());
  }

  private static boolean declaresAll(EffectDraft.Declared declared) {
    return declared.cpuMs().isPresent()
        && declared.memoryBytes().isPresent()
        && declared.outputBytes().isPresent()
        && declared.wallMs().isPresent();
  }

  /**
   * The members that are not left out. Resources are stated as a whole or not at all.
   *
   * @param operations as for {@link #complete}; read where some resources are declared
   */
  static JsonValue.Obj stated(EffectDraft draft, List<AvailableOperation> operations) {
    ObjectBuilder stated =
        JsonValue.object()
            .put("tool", draft.tool())
            .put("params", draft.params())
            .putIfPresent("version", draft.version(), JsonValue::of)
            .putIfPresent("operation", draft.operation(), JsonValue::of)
            .putIfPresent("sandbox", draft.sandbox(), JsonValue::of)
            .putIfPresent(
                "workspace_before", draft.workspaceBefore(), d -> JsonValue.of(d.toString()));
    if (!draft.inputs().isEmpty()) {
      stated.putList("inputs", draft.inputs(), Completion::json);
    }
    if (!draft.resources().equals(EffectDraft.Declared.NONE)) {
      stated.put("resources", complete(draft, operations).resources().toJson());
    }
    return stated.build();
  }

  private static JsonValue json(Input input) {
    return JsonValue.object()
        .put("name", input.name())
        .put("digest", input.digest())
        .put("size", input.size())
        .put("media_type", input.mediaType())
        .build();
  }
}

package dev.writ.guardian.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import java.util.List;
import java.util.Optional;

/**
 * One exact call of a tool, which a decision allows and an intent permits. Documents refer to it by
 * its digest.
 *
 * @param tool the tool's name
 * @param version the tool's exact version
 * @param operation the operation of its manifest
 * @param params a JSON object that is valid by the manifest's schema
 * @param inputs files by digest, sorted by name
 * @param resources the declared ceiling
 * @param sandbox the sandbox profile's name; {@code wasm} for tools that run inside WebAssembly
 * @param workspaceBefore pins the tree digest of the run's workspace (protocol rule 20)
 */
public record Effect(
    String tool,
    String version,
    String operation,
    JsonValue.Obj params,
    List<Input> inputs,
    Resources resources,
    String sandbox,
    Optional<Digest> workspaceBefore) {

  public Effect {
    inputs = List.copyOf(inputs);
    for (int i = 1; i < inputs.size(); i++) {
      if (inputs.get(i - 1).name().compareTo(inputs.get(i).name()) >= 0) {
        throw new WritException(
            GuardianError.LIST_ORDER, "effect/inputs/" + i + " is not after the one before");
      }
    }
  }

  /** Begins a draft of an effect of that tool. */
  public static EffectDraft of(String tool) {
    return EffectDraft.of(tool);
  }

  public static Effect read(Fields fields) {
    Effect effect =
        new Effect(
            fields.name("tool"),
            fields.name("version"),
            fields.name("operation"),
            fields.obj("params"),
            fields.list("inputs", Input::read),
            Resources.read(fields.fields("resources")),
            fields.name("sandbox"),
            fields.optional("workspace_before", fields::digest));
    fields.end();
    return effect;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tool", tool)
        .put("version", version)
        .put("operation", operation)
        .put("params", params)
        .putList("inputs", inputs, Input::toJson)
        .put("resources", resources.toJson())
        .put("sandbox", sandbox)
        .putIfPresent("workspace_before", workspaceBefore, d -> JsonValue.of(d.toString()))
        .build();
  }

  public Digest digest() {
    return Jcs.digest(toJson());
  }

  /** The digest of the parameters alone, which receipts show as {@code args_hash}. */
  public Digest argsHash() {
    return Jcs.digest(params);
  }
}

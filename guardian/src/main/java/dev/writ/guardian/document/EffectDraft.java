package dev.writ.guardian.document;

import dev.writ.canonicalize.Comparing;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An effect that need not be complete: a tool and its parameters. Missing members (version,
 * operation, resources, sandbox) are completed by the policy in force when it is submitted.
 * Immutable: each method returns another draft.
 *
 * @param version empty for policy's default version
 * @param operation empty for a tool with only one
 * @param inputs in any order
 * @param resources the resources that are declared; others get modest defaults within the tool's
 *     maximum
 * @param sandbox empty for the tool's usual profile
 */
public record EffectDraft(
    String tool,
    Optional<String> version,
    Optional<String> operation,
    JsonValue.Obj params,
    List<Input> inputs,
    Declared resources,
    Optional<String> sandbox,
    Optional<Digest> workspaceBefore) {

  /**
   * Declared resources.
   *
   * @param cpuMs processor time in milliseconds
   * @param memoryBytes memory in bytes
   * @param outputBytes size of the output in bytes
   * @param wallMs elapsed time in milliseconds
   */
  public record Declared(
      Optional<Long> cpuMs,
      Optional<Long> memoryBytes,
      Optional<Long> outputBytes,
      Optional<Long> wallMs) {
    /** Nothing. */
    public static final Declared NONE =
        new Declared(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
  }

  public EffectDraft {
    inputs = inputs.stream().sorted(Comparing.by(Input::name)).toList();
  }

  static EffectDraft of(String tool) {
    return new EffectDraft(
        tool,
        Optional.empty(),
        Optional.empty(),
        JsonValue.object().build(),
        List.of(),
        Declared.NONE,
        Optional.empty(),
        Optional.empty());
  }

  /** Uses another version than policy's default. */
  public EffectDraft version(String exact) {
    return new EffectDraft(
        tool, Optional.of(exact), operation, params, inputs, resources, sandbox, workspaceBefore);
  }

  /** Names the operation, for a tool that has several. */
  public EffectDraft operation(String name) {
    return new EffectDraft(
        tool, version, Optional.of(name), params, inputs, resources, sandbox, workspaceBefore);
  }

  /** A parameter that is text. */
  public EffectDraft param(String name, String value) {
    return param(name, JsonValue.of(value));
  }

  /** Sets an integer parameter. */
  public EffectDraft param(String name, long value) {
    return param(name, JsonValue.of(value));
  }

  /** Sets a parameter that is true or false. */
  public EffectDraft param(String name, boolean value) {
    return param(name, JsonValue.of(value));
  }

  /** Sets a parameter of any form; replaces an earlier one of that name. */
  public EffectDraft param(String name, JsonValue value) {
    ObjectBuilder all = JsonValue.object();
    params
        .members()
        .forEach((key, old) -> {
          if (!key.equals(name)) {
            all.put(key, old);
          }
        });
    return params(all.put(name, value).build());
  }

  /** All parameters at once. */
  public EffectDraft params(JsonValue.Obj all) {
    return new EffectDraft(
        tool, version, operation, all, inputs, resources, sandbox, workspaceBefore);
  }

  /** Adds a file for the tool to read, which must be in the store already. */
  public EffectDraft input(Input file) {
    List<Input> all = new ArrayList<>(inputs);
    all.add(file);
    return new EffectDraft(
        tool, version, operation, params, all, resources, sandbox, workspaceBefore);
  }

  /** Resources declared by hand. */
  public EffectDraft resources(Declared declared) {
    return new EffectDraft(
        tool, version, operation, params, inputs, declared, sandbox, workspaceBefore);
  }

  /** Uses another sandbox profile than the tool's usual one. */
  public EffectDraft sandbox(String profile) {
    return new EffectDraft(
        tool, version, operation, params, inputs, resources, Optional.of(profile), workspaceBefore);
  }

  /** Pins the run's workspace by its tree digest (protocol rule 20). */
  public EffectDraft workspaceBefore(Digest tree) {
    return new EffectDraft(
        tool, version, operation, params, inputs, resources, sandbox, Optional.of(tree));
  }
}

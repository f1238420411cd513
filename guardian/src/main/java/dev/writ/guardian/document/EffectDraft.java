package dev.writ.guardian.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * An effect as a caller thinks of it, before it is exact: which tool and which parameters. What it
 * leaves open (version, operation, resources, sandbox) is settled against the policy in force when
 * it is asked for. Immutable: each method gives another one.
 *
 * @param version empty for the one that policy has as the default
 * @param operation empty for a tool that has one alone
 * @param inputs in any order
 * @param resources what is declared by hand; the rest is a modest amount within what the tool may
 *     use
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
   * Resources declared by hand.
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
    inputs = inputs.stream().sorted(Comparator.comparing(Input::name)).toList();
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

  /** Another version than policy's default. */
  public EffectDraft version(String exact) {
    return new EffectDraft(
        tool, Optional.of(exact), operation, params, inputs, resources, sandbox, workspaceBefore);
  }

  /** Which operation, of a tool that has several. */
  public EffectDraft operation(String name) {
    return new EffectDraft(
        tool, version, Optional.of(name), params, inputs, resources, sandbox, workspaceBefore);
  }

  /** A parameter that is text. */
  public EffectDraft param(String name, String value) {
    return param(name, JsonValue.of(value));
  }

  /** A parameter that is an integer. */
  public EffectDraft param(String name, long value) {
    return param(name, JsonValue.of(value));
  }

  /** A parameter that is true or false. */
  public EffectDraft param(String name, boolean value) {
    return param(name, JsonValue.of(value));
  }

  /** A parameter of any form; one of that name before is replaced. */
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

  /** A file for the tool to read, which is in the store already. */
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

  /** Another sandbox profile than the tool's usual one. */
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

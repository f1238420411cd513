package dev.writ.gateway.ops;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Workload;
import dev.writ.guardian.policy.Policy;
import java.util.List;
import java.util.Optional;

/**
 * What an effect is counted under. Each word comes from policy or from a registered manifest;
 * anything that a caller made up is {@code other}, so that no caller can make the metrics grow.
 *
 * @param language of the tool, by its driver; {@code none} where the tool is not known
 * @param workload {@code cpu} or {@code io}; {@code none} where the tool is not known
 * @param role that was asked for, or else all that the subject has
 * @param command the program's name, where policy lists it; {@code none} for a tool that runs none
 */
record EffectLabels(
    String surface, String tool, String language, String workload, String role, String command) {
  static final String NONE = "none";
  static final String OTHER = "other";

  static EffectLabels of(
      Policy policy, String surface, Request request, Optional<ToolManifest> manifest) {
    String tool = request.effect().tool();
    boolean known = policy.tools().stream().anyMatch(t -> t.ref().name().equals(tool));
    return new EffectLabels(
        surface,
        known ? tool : OTHER,
        known ? manifest.map(ToolManifest::driver).orElse(NONE) : NONE,
        known ? manifest.map(m -> Workload.of(m).text()).orElse(NONE) : NONE,
        role(policy, request),
        command(policy, request));
  }

  /**
   * A surface states the role that its caller asked for, whether the subject has it or not; what an
   * agent states of itself counts only where it has that role.
   */
  private static String role(Policy policy, Request request) {
    List<String> held = policy.rolesOf(request.scope().tenant(), request.scope().subject());
    if (!(request.context().get("role") instanceof JsonValue.Str named)) {
      return String.join(",", held);
    }
    boolean known =
        policy.roles().containsKey(named.value())
            || policy.commands().filter(c -> c.roles().containsKey(named.value())).isPresent();
    if (request.origin().isPresent()) {
      return known ? named.value() : OTHER;
    }
    return held.contains(named.value()) ? named.value() : String.join(",", held);
  }

  private static String command(Policy policy, Request request) {
    Optional<String> program = program(request.effect().params());
    return program.map(name -> isListed(policy, name) ? name : OTHER).orElse(NONE);
  }

  /** The first word of the command line of a tool that takes one. */
  private static Optional<String> program(JsonValue.Obj params) {
    if (params.get("argv") instanceof JsonValue.Arr words
        && !words.items().isEmpty()
        && words.items().getFirst() instanceof JsonValue.Str first) {
      boolean line = words.items().size() == 3 && JsonValue.of("-c").equals(words.items().get(1));
      return line && words.items().getLast() instanceof JsonValue.Str text
          ? Optional.of(firstWord(text.value()))
          : Optional.of(first.value());
    }
    return params.get("shell") instanceof JsonValue.Str text
        ? Optional.of(firstWord(text.value()))
        : Optional.empty();
  }

  private static String firstWord(String line) {
    return line.strip().split("\\s", 2)[0];
  }

  private static boolean isListed(Policy policy, String program) {
    return policy
        .commands()
        .filter(commands ->
            commands.images().containsKey(program)
                || commands.roles().values().stream()
                    .anyMatch(role -> role.commands().contains(program)))
        .isPresent();
  }
}

package dev.writ.guardian.document;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What helps the caller of a request that was not allowed, or would not be if policy did not only
 * observe: what was missing, and what would help (spec/guidance.md). It is derived from the signed
 * decision, request and policy, and is itself signed by nobody.
 *
 * @param observed the verdict that policy would give if it did not only observe, of a request that
 *     it let through; empty where the refusal is enforced
 * @param code of the check that decided
 * @param check its name
 * @param reason its finding, as the decision states it
 * @param message what policy says about the requirement that is not met
 * @param parameters that do not fit the tool's schema, whatever check decided
 * @param missing what was missing, in the order in which it was looked at
 * @param waitsUntil when policy lets it wait no longer, of a request that waits for approvals
 * @param remedy what the catalogue of errors says about the code
 */
public record Guidance(
    Optional<Verdict> observed,
    String code,
    String check,
    String reason,
    Optional<String> message,
    List<ParameterFault> parameters,
    List<Lack> missing,
    Optional<Instant> waitsUntil,
    Optional<String> remedy) {

  public Guidance {
    parameters = List.copyOf(parameters);
    missing = List.copyOf(missing);
  }

  /**
   * When the same would be judged otherwise for no other reason than time, at the latest; empty
   * where time alone does not help.
   */
  public Optional<Instant> retryAt() {
    return !parameters.isEmpty()
            || missing.isEmpty()
            || missing.stream().anyMatch(lack -> lack.freeAt().isEmpty())
        ? Optional.empty()
        : missing.stream().flatMap(lack -> lack.freeAt().stream()).max(Comparator.naturalOrder());
  }

  /**
   * For people and models, a sentence each: the faults of parameters come first, behind the one
   * that says that nothing of it was enforced, where that is so.
   */
  public List<String> lines() {
    return Stream.of(notEnforced().stream().toList(), faults(), further())
        .flatMap(List::stream)
        .toList();
  }

  private Optional<String> notEnforced() {
    return observed.map(verdict ->
        "Not enforced, since policy only observes; it would "
            + (verdict == Verdict.ESCALATE ? "wait for an approval" : "be denied")
            + " ("
            + check
            + " check, "
            + code
            + "): "
            + reason
            + ".");
  }

  /** The faults of parameters, a sentence each: they are told before why it was refused. */
  public List<String> faults() {
    return parameters.stream().map(ParameterFault::sentence).toList();
  }

  /** The rest: what policy says, and what was missing. */
  public List<String> further() {
    List<String> lines = new ArrayList<>();
    message.ifPresent(lines::add);
    missing.forEach(lack -> lines.add(lack.sentence()));
    if (lines.isEmpty() && parameters.isEmpty()) {
      remedy.ifPresent(lines::add);
    }
    waitsUntil.ifPresent(at ->
        lines.add("Approvals count until " + Timestamps.format(at) + "; after that, ask anew."));
    return lines;
  }

  /** What is absent is left out. */
  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .putIfPresent("observed", observed, verdict -> JsonValue.of(verdict.name()))
        .put("code", code)
        .put("check", check)
        .put("reason", reason)
        .putIfPresent("message", message, JsonValue::of)
        .putList("parameters", parameters, ParameterFault::toJson)
        .putList("missing", missing, Lack::toJson)
        .putIfPresent("waits_until", waitsUntil, at -> JsonValue.of(Timestamps.format(at)))
        .putIfPresent("retry_at", retryAt(), at -> JsonValue.of(Timestamps.format(at)))
        .putList("help", lines(), JsonValue::of)
        .build();
  }
}

package dev.writ.adapters;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.client.AvailableOperation;
import dev.writ.client.VerifiedOutcome;
import dev.writ.client.WritClient;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Verdict;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The operations that a caller may use, by names that model APIs accept, and what a model is told
 * of their outcomes. Each call is an effect of Writ.
 */
public final class OfferedTools {
  private static final int NAME_MAX = 64;

  private final WritClient client;
  private final String run;
  private final Duration wait;
  private final SortedMap<String, AvailableOperation> byName;

  private OfferedTools(
      WritClient client, String run, Duration wait, SortedMap<String, AvailableOperation> byName) {
    this.client = client;
    this.run = run;
    this.wait = wait;
    this.byName = byName;
  }

  /**
   * @param only which of the default versions' operations
   * @param run the run of their effects
   * @param wait how long a call waits for an approval
   * @throws IllegalArgumentException where two have one name
   */
  public static OfferedTools of(
      WritClient client, Predicate<AvailableOperation> only, String run, Duration wait) {
    List<AvailableOperation> usable =
        client.operations().stream().filter(AvailableOperation::isDefault).filter(only).toList();
    TreeMap<String, AvailableOperation> byName = new TreeMap<>();
    for (AvailableOperation operation : usable) {
      boolean several = usable.stream().filter(o -> o.tool().equals(operation.tool())).count() > 1;
      String whole = several ? operation.tool() + "_" + operation.name() : operation.tool();
      String legal = whole.replaceAll("[^A-Za-z0-9_-]", "_");
      String name = legal.substring(0, Math.min(NAME_MAX, legal.length()));
      if (byName.put(name, operation) != null) {
        throw new IllegalArgumentException("two operations are named " + name);
      }
    }
    return new OfferedTools(client, run, wait, byName);
  }

  /** The operations by their names. */
  public SortedMap<String, AvailableOperation> operations() {
    return Collections.unmodifiableSortedMap(byName);
  }

  /**
   * Has one call done.
   *
   * @param arguments JSON, as the model wrote it; null or blank where it wrote nothing
   * @param callId the framework's name of the call, where it has one: the idempotency key in the
   *     run. A blank one names nothing: some models give all their calls the same
   * @return what the model is told: the output, or why there is none
   * @throws WritException as {@link WritClient#call}
   */
  public String call(String name, String arguments, Optional<String> callId) {
    AvailableOperation operation = byName.get(name);
    if (operation == null) {
      return "There is no tool named " + name + ".";
    }
    JsonValue params;
    try {
      String written = arguments == null || arguments.isBlank() ? "{}" : arguments;
      params = Jcs.parse(written.getBytes(StandardCharsets.UTF_8));
    } catch (WritException e) {
      return "The arguments are no JSON.";
    }
    if (!(params instanceof JsonValue.Obj object)) {
      return "The arguments are no object.";
    }
    WritClient.Terms terms = WritClient.Terms.in(run);
    VerifiedOutcome outcome =
        client.call(
            Effect.of(operation.tool())
                .version(operation.version())
                .operation(operation.name())
                .params(object),
            callId.filter(id -> !id.isBlank()).map(id -> terms.key(run + "/" + id)).orElse(terms));
    return told(outcome.waits() && wait.isPositive() ? client.await(outcome, wait) : outcome);
  }

  private static String told(VerifiedOutcome outcome) {
    if (outcome.succeeded()) {
      return outcome.output().isPresent()
          ? outcome.text()
          : "Done; the output was not retained. Receipt: " + outcome.receiptId().orElseThrow();
    }
    if (outcome.receipt().isPresent()) {
      return "FAILED: "
          + outcome.receipt().get().status().text()
          + " "
          + outcome.reason()
          + ". Receipt: "
          + outcome.receiptId().orElseThrow();
    }
    String why = outcome.code().orElse("") + ": " + outcome.reason();
    List<String> lines = new ArrayList<>();
    lines.add(
        outcome.decision().verdict() == Verdict.ESCALATE
            ? "WAITS FOR APPROVAL, nothing was done: " + why + ". Request: " + outcome.requestId()
            : "DENIED " + why + ". Signed denial: " + outcome.decisionId());
    lines.addAll(outcome.help());
    return String.join("\n", lines);
  }
}

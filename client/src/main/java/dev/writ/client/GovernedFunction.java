package dev.writ.client;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.client.error.ClientError;
import dev.writ.guardian.document.Effect;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;

/**
 * A function of this process, judged with its arguments before it runs and reported after
 * (spec/client.md, 12). Receipts prove that the call was permitted and what this process says came
 * of it. The kernel neither ran the function nor keeps anybody from calling it directly.
 */
public final class GovernedFunction implements Function<JsonValue.Obj, JsonValue> {
  private static final String TOOL = "function";

  private final WritClient client;
  private final String name;
  private final String run;
  private final Function<JsonValue.Obj, JsonValue> function;
  private final Optional<Function<JsonValue.Obj, String>> keyOf;
  private final Duration wait;

  private GovernedFunction(
      WritClient client,
      String name,
      String run,
      Function<JsonValue.Obj, JsonValue> function,
      Optional<Function<JsonValue.Obj, String>> keyOf,
      Duration wait) {
    this.client = client;
    this.name = name;
    this.run = run;
    this.function = function;
    this.keyOf = keyOf;
    this.wait = wait;
  }

  /**
   * @param name as policy knows it, in {@code params.function}
   * @param run the run of its permits and reports
   */
  public static GovernedFunction of(
      WritClient client, String name, String run, Function<JsonValue.Obj, JsonValue> function) {
    return new GovernedFunction(client, name, run, function, Optional.empty(), Duration.ZERO);
  }

  /** The same, for calls that must not happen twice: each is named by its arguments. */
  public GovernedFunction once(Function<JsonValue.Obj, String> key) {
    return new GovernedFunction(client, name, run, function, Optional.of(key), wait);
  }

  /** The same, waiting so long for an approval. */
  public GovernedFunction waiting(Duration atMost) {
    return new GovernedFunction(client, name, run, function, keyOf, atMost);
  }

  /**
   * @throws WritException {@code GWY-066} where it was not let run, {@code GWY-065} where it may
   *     have run before; else as {@link WritClient#call}
   */
  @Override
  public JsonValue apply(JsonValue.Obj arguments) {
    Digest permit = permit(arguments);
    JsonValue result;
    try {
      result = function.apply(arguments);
    } catch (RuntimeException e) {
      report(permit, "raised", JsonValue.of(e.getClass().getSimpleName()));
      throw e;
    }
    report(permit, "returned", result);
    return result;
  }

  private Digest permit(JsonValue.Obj arguments) {
    Optional<String> key = keyOf.map(of -> name + "/" + of.apply(arguments));
    WritClient.Terms terms = WritClient.Terms.in(run);
    VerifiedOutcome outcome =
        client.call(
            Effect.of(TOOL)
                .operation("permit")
                .param("function", name)
                .param("arguments", arguments),
            key.map(terms::key).orElse(terms));
    if (outcome.waits() && wait.isPositive()) {
      outcome = client.await(outcome, wait);
    }
    if (!outcome.succeeded()) {
      throw new WritException(
          ClientError.NOT_PERMITTED,
          outcome.decision().verdict()
              + " "
              + outcome.code().orElse("")
              + " "
              + outcome.reason()
              + ", decision "
              + outcome.decisionId());
    }
    if (key.isPresent() && outcome.repeated()) {
      throw new WritException(
          ClientError.PERMITTED_BEFORE, "the permit is " + outcome.receiptId().orElseThrow());
    }
    return outcome.receiptId().orElseThrow();
  }

  private void report(Digest permit, String ended, JsonValue result) {
    client.call(
        Effect.of(TOOL)
            .operation("report")
            .param("function", name)
            .param("permit", permit.toString())
            .param("ended", ended)
            .param("result", Jcs.digest(result).toString()),
        WritClient.Terms.in(run).consuming(permit));
  }
}

package dev.writ.console.operation;

import static dev.writ.gateway.http.Route.Access.CALLER;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Kernel;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.guardian.policy.PolicyPerson.Look;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;

/** How a server is, for operators and auditors (spec/operations-desk.md). */
public final class OperationSurface implements Surface {
  private static final String PATH = "/v1/operations";
  private static final int INCIDENTS_MAX = 100;
  private static final int INCIDENTS = 20;

  private final Pipeline pipeline;
  private final String version;
  private final OperatedServer state;

  /**
   * @param version of the server
   */
  public OperationSurface(Pipeline pipeline, String version, OperatedServer state) {
    this.pipeline = pipeline;
    this.version = version;
    this.state = state;
  }

  @Override
  public String name() {
    return "operations";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        route(
            "",
            _ ->
                Overview.of(
                    version, state.health(), kernel().ledger(), pipeline.policy().waived(), now())),
        route("/budgets", call -> BudgetRows.of(kernel(), call.caller().tenant())),
        route(
            "/keys",
            call ->
                KeyRows.of(
                    kernel().system().trust().keys().values(), call.caller().tenant(), now())),
        route("/incidents", this::incidents),
        route(
            "/sinks",
            call ->
                JsonValue.object()
                    .putList("sinks", state.sinks(call.caller().tenant()), SinkView::toJson)
                    .build()),
        route(
            "/checkpoints",
            _ ->
                JsonValue.object()
                    .putIfPresent("published", state.checkpoints(), CheckpointView::toJson)
                    .build()));
  }

  /** All of them are for operators and auditors, and are never kept by anybody on the way. */
  private Route route(String path, Function<HttpCall, JsonValue.Obj> answer) {
    return Route.get(
        PATH + path,
        CALLER,
        call -> {
          requireOperator(call.caller());
          return HttpAnswer.json(200, answer.apply(call)).with("Cache-Control", "no-store");
        });
  }

  private void requireOperator(Caller caller) {
    List<Look> looks = caller.looksAs(pipeline.policy());
    if (!looks.contains(Look.OPERATOR) && !looks.contains(Look.AUDITOR)) {
      throw new WritException(OperationError.NOT_OPERATOR, caller.subject());
    }
  }

  private Kernel kernel() {
    return pipeline.kernel();
  }

  /** The ledger's time where the clock does not fit it: then above all it must be said. */
  private Instant now() {
    try {
      return pipeline.look();
    } catch (WritException e) {
      return kernel().ledger().highWater();
    }
  }

  private JsonValue.Obj incidents(HttpCall call) {
    long limit = number(call, "limit", INCIDENTS);
    if (limit < 1 || limit > INCIDENTS_MAX) {
      throw new WritException(GatewayError.PARAMETER, "limit is 1 to " + INCIDENTS_MAX);
    }
    long size = kernel().ledger().treeSize();
    long before = Math.min(size, number(call, "before", size));
    return state.incidents(call.caller().tenant(), before, Math.toIntExact(limit)).toJson();
  }

  private static long number(HttpCall call, String name, long otherwise) {
    List<String> values = call.query().getOrDefault(name, List.of());
    if (values.isEmpty()) {
      return otherwise;
    }
    if (values.size() > 1 || !values.getFirst().matches("[0-9]{1,15}")) {
      throw new WritException(GatewayError.PARAMETER, name + " is one number");
    }
    return Long.parseLong(values.getFirst());
  }
}

package dev.writ.surfaces.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.IncidentKind;
import dev.writ.gateway.pipeline.IncidentSource;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.pipeline.ToolPackages;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.schedule.Ticket;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.surfaces.engine.EngineExecutions.Key;
import dev.writ.surfaces.engine.EngineExecutions.Known;
import dev.writ.tools.author.ResourceClass;
import dev.writ.tools.language.PoolName;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Seed 004's universal contract: spec/surface-engine.md. */
public final class EngineSurface implements Surface, IncidentSource {
  public static final String NAME = "engine";
  public static final String PATH = "/v1/tool-executions";
  public static final int BODY_BYTES_MAX = 1 << 20;

  /** How long a call without a budget may wait; policy's queue may allow less. */
  private static final Duration PATIENCE = Duration.ofHours(1);

  /** Member of the request's context, like the resource class. */
  static final String BUDGET = "timeoutBudgetMs";

  static final String CORRELATION = "correlationId";

  static final String REGION = "region";

  private static final String RESOURCE_CLASS = "resourceClass";

  private final Pipeline pipeline;
  private final ToolResolution resolution;
  private final EngineExecutions executions;
  private final Turns turns;
  private final EngineResults results;
  private final EnginePlace place;

  public EngineSurface(Pipeline pipeline, ToolPackages packages, Lane lane) {
    this(pipeline, packages, lane, EnginePlace.NONE);
  }

  public EngineSurface(Pipeline pipeline, ToolPackages packages, Lane lane, EnginePlace place) {
    this.place = place;
    this.pipeline = pipeline;
    this.resolution = new ToolResolution(pipeline, packages);
    this.executions = new EngineExecutions(pipeline.ledger());
    this.turns = new Turns(pipeline, lane, executions, place.queue());
    this.results = new EngineResults(pipeline.ledger(), pipeline.kernel().explanations()::guidance);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.post(PATH, Route.Access.CALLER, BODY_BYTES_MAX, this::post),
        Route.get(PATH + "/{request}", Route.Access.CALLER, this::get),
        Route.get(PATH + "/{request}/logs", Route.Access.CALLER, this::logs),
        new Route(
            "POST",
            PATH + "/{request}/cancel",
            Route.Access.CALLER,
            new Route.Body.None(),
            _ -> true,
            this::cancel));
  }

  /** The seed's own words for an execution. */
  @Override
  public SortedMap<String, String> namesOf(Digest id, Request request) {
    TreeMap<String, String> names = new TreeMap<>();
    names.put(CORRELATION, EngineResults.correlation(request));
    names.put("requestId", EngineResults.requestId(request));
    return names;
  }

  /** A time budget that was over, and a tool that was revoked: both end an execution early. */
  @Override
  public Optional<IncidentKind> incidentOf(Receipt receipt, Request request) {
    return new EngineJournal(pipeline.ledger()).kindOfCancelled(receipt, request);
  }

  private HttpAnswer post(HttpCall call) {
    long since = System.nanoTime();
    requireJson(call);
    ToolExecutionRequest asked = ToolExecutionRequest.parse(call.body());
    Caller caller = call.caller();
    asked
        .tenantId()
        .filter(tenant -> !tenant.equals(caller.tenant()))
        .ifPresent(_ -> {
          throw new WritException(GatewayError.NOT_GRANTED, "tenantId is not the caller's own");
        });
    Key key = Key.of(caller, asked.requestId());
    EngineExecutions.Turn turn = executions.turn(key, call.rawDigest());
    if (!turn.isFirst()) {
      return joined(call, key, turn.execution());
    }
    boolean handedOver = false;
    try {
      Optional<Turns.Allowed> allowed = judged(call, asked, key, turn.execution(), since);
      if (allowed.isPresent() && prefersAsync(call)) {
        pipeline.inBackground(
            caller.tenant(), () -> turns.runInBackground(allowed.get(), turn.execution()));
        handedOver = true;
        return accepted(key, turn.execution());
      }
      allowed.ifPresent(go -> turns.run(go, turn.execution()));
      return answer(executions.find(key).orElseThrow());
    } finally {
      if (!handedOver) {
        executions.end(key, turn.execution());
      }
    }
  }

  /** A call with the same body is at work: this one gets the same answer. */
  private HttpAnswer joined(HttpCall call, Key key, EngineExecution execution) {
    if (prefersAsync(call)) {
      return accepted(key, execution);
    }
    try {
      execution.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(GatewayError.DRAINING, "");
    }
    return answer(
        executions
            .find(key)
            .orElseThrow(() -> new WritException(EngineError.NOT_DISPATCHED, key.requestId())));
  }

  /**
   * Judges the request, or finds its earlier judgement.
   *
   * @return empty if nothing remains to execute: not allowed, or served before
   */
  private Optional<Turns.Allowed> judged(
      HttpCall call, ToolExecutionRequest asked, Key key, EngineExecution execution, long since) {
    Caller caller = call.caller();
    Optional<Known> before = executions.find(key, call.rawDigest());
    Answer answer =
        before.isPresent()
            ? pipeline.decideAgain(caller, before.get().request())
            : pipeline.decide(vouched(call, asked, key));
    execution.judged(answer.request());
    boolean goes = answer.served().isEmpty() && answer.decision().verdict() == Verdict.ALLOW;
    if (before.isEmpty() || goes) {
      executions.remember(key, new Known(answer.request()));
    }
    return goes
        ? Optional.of(allowed(caller, asked, key, answer.request(), since))
        : Optional.empty();
  }

  private Pipeline.Vouched vouched(HttpCall call, ToolExecutionRequest asked, Key key) {
    Caller caller = call.caller();
    ToolResolution.Resolved resolved = resolution.resolve(caller, asked);
    JsonValue.Obj engine =
        JsonValue.object()
            .put("requestId", asked.requestId())
            .put(RESOURCE_CLASS, resolved.resourceClass().text())
            .putIfPresent(CORRELATION, asked.correlationId(), JsonValue::of)
            .putIfPresent(BUDGET, asked.timeoutBudgetMs(), JsonValue::of)
            .putIfPresent(REGION, place.region(), JsonValue::of)
            .build();
    return new Pipeline.Vouched(
        NAME,
        caller.method(),
        caller.principal(),
        call.rawDigest(),
        caller.tenant(),
        asked.run(caller.subject()),
        caller.subject(),
        resolved.effect(),
        List.of(),
        Optional.of(key.idempotency()),
        true,
        call.trace()
            .putTo(
                JsonValue.object()
                    .put(NAME, engine)
                    .putIfPresent(CORRELATION, asked.correlationId(), JsonValue::of))
            .build());
  }

  private Turns.Allowed allowed(
      Caller caller, ToolExecutionRequest asked, Key key, Digest id, long since) {
    Request request = Request.read(pipeline.ledger().document(id).orElseThrow().document());
    String resourceClass =
        request.context().get(NAME) instanceof JsonValue.Obj engine
                && engine.get(RESOURCE_CLASS) instanceof JsonValue.Str text
            ? text.value()
            : ResourceClass.SMALL.text();
    Duration patience =
        asked
            .timeoutBudgetMs()
            .map(ms -> Duration.ofMillis(Math.max(1, ms - Turns.elapsedMs(since))))
            .orElse(PATIENCE);
    Ticket ticket =
        new Ticket(
            caller.tenant(), caller.subject(), request.effect().tool(), resourceClass, patience);
    return new Turns.Allowed(
        caller, key, id, ticket, workers(request, id), asked.timeoutBudgetMs(), since);
  }

  /** Whose workers an allowed request waits for; empty if it was withdrawn meanwhile. */
  private Optional<Turns.Workers> workers(Request request, Digest id) {
    return RequestRow.parse(pipeline.ledger().get(Tables.REQUEST, Tables.key(id)).orElseThrow())
        .intent()
        .map(intent ->
            Intent.read(pipeline.ledger().document(intent).orElseThrow().document()).tool())
        .map(tool ->
            new Turns.Workers(
                new PoolName(
                    resolution.language(tool),
                    pipeline.policy().engine().classes().leastFor(request.effect().resources())),
                tool.packageDigest()));
  }

  private HttpAnswer get(HttpCall call) {
    Key key = key(call);
    Optional<EngineExecution> execution = executions.atWork(key);
    if (execution.isPresent()) {
      return HttpAnswer.json(200, unfinished(key, execution.get().state()));
    }
    return results
        .of(known(key))
        .map(result -> headed(HttpAnswer.json(200, result.toJson()), result))
        .orElseGet(() -> HttpAnswer.json(200, unfinished(key, ExecutionState.Running)));
  }

  /** Sent as JSON, as it is stored; browsers do not run it. */
  private HttpAnswer logs(HttpCall call) {
    Key key = key(call);
    byte[] logs =
        results
            .logs(known(key))
            .orElseThrow(() -> new WritException(GatewayError.UNKNOWN_ID, key.requestId()));
    return HttpAnswer.of(200, "application/json", logs).with("Cache-Control", "no-store");
  }

  private HttpAnswer cancel(HttpCall call) {
    Key key = key(call);
    Optional<EngineExecution> execution = executions.atWork(key);
    if (execution.isEmpty()) {
      known(key); // is it there at all?
      throw new WritException(GatewayError.NOT_CANCELLED, key.requestId() + " is over");
    }
    if (!execution.get().cancelInTheQueue()) {
      pipeline.cancel(call.caller(), execution.get().request().orElseThrow());
    }
    return HttpAnswer.json(202, JsonValue.object().put("cancelling", key.requestId()).build());
  }

  private static Key key(HttpCall call) {
    String requestId = call.value("request");
    if (!ToolExecutionRequest.isRequestId(requestId)) {
      throw new WritException(GatewayError.UNKNOWN_ID, "no requestId");
    }
    return Key.of(call.caller(), requestId);
  }

  /** The caller's own execution; unknown and foreign ones get the same refusal. */
  private Known known(Key key) {
    return executions
        .find(key)
        .orElseThrow(() -> new WritException(GatewayError.UNKNOWN_ID, key.requestId()));
  }

  private static JsonValue.Obj unfinished(Key key, ExecutionState state) {
    return JsonValue.object().put("requestId", key.requestId()).put("state", state.name()).build();
  }

  private static HttpAnswer accepted(Key key, EngineExecution execution) {
    return HttpAnswer.json(202, unfinished(key, execution.state()))
        .with("Location", PATH + "/" + key.requestId())
        .with("Preference-Applied", "respond-async");
  }

  private HttpAnswer answer(Known known) {
    ToolExecutionResult result =
        results
            .of(known)
            .orElseThrow(
                () -> new WritException(ExecutorError.RUNNING, "request " + known.request()));
    int status = result.status() == ToolExecutionResult.Status.PolicyDenied ? 403 : 200;
    return headed(HttpAnswer.json(status, result.toJson()), result);
  }

  private static HttpAnswer headed(HttpAnswer answer, ToolExecutionResult result) {
    HttpAnswer headed =
        answer
            .with("Writ-Request", result.ids().request().toString())
            .with("Writ-Decision", result.ids().decision().toString())
            .with("Cache-Control", "no-store");
    return result
        .ids()
        .receipt()
        .map(id -> headed.with("Writ-Receipt", id.toString()))
        .orElse(headed);
  }

  /** RFC 7240: whether the client accepts an answer before the end. */
  private static boolean prefersAsync(HttpCall call) {
    return call.headers().all("prefer").stream()
        .flatMap(value -> Stream.of(value.split("[,;]")))
        .anyMatch(preference -> preference.strip().equalsIgnoreCase("respond-async"));
  }

  /** Requires JSON: other media types can be sent by any web page without a preflight. */
  private static void requireJson(HttpCall call) {
    String type = call.headers().one("content-type").orElse("");
    if (!type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT).equals("application/json")) {
      throw new WritException(GatewayError.MEDIA_TYPE, "application/json is taken");
    }
  }
}

package dev.writ.gateway.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.ExecutorError;
import dev.writ.gateway.Caller;
import dev.writ.gateway.GatewayError;
import dev.writ.gateway.HttpAnswer;
import dev.writ.gateway.HttpCall;
import dev.writ.gateway.Pipeline;
import dev.writ.gateway.Problems;
import dev.writ.gateway.Route;
import dev.writ.gateway.Surface;
import dev.writ.gateway.engine.Executions.Key;
import dev.writ.gateway.engine.Executions.Known;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.schedule.LaneError;
import dev.writ.gateway.schedule.Ticket;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.tools.author.ResourceClass;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/** Seed 004's universal contract: spec/surface-engine.md. */
public final class EngineSurface implements Surface {
  public static final String NAME = "engine";
  public static final String PATH = "/v1/tool-executions";
  public static final int BODY_BYTES_MAX = 1 << 20;

  /** How long a call that names no budget may wait; policy's queue may say less. */
  private static final Duration PATIENCE = Duration.ofHours(1);

  /** What a tool has after its budget to be ended by its own limit, before it is cancelled. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  /** In the request's context, as the resource class is. */
  static final String BUDGET = "timeoutBudgetMs";

  private static final String RESOURCE_CLASS = "resourceClass";

  private final Pipeline pipeline;
  private final Resolution resolution;
  private final Lane lane;
  private final Executions executions;
  private final Results results;

  public EngineSurface(Pipeline pipeline, ToolPackages packages, Lane lane) {
    this.pipeline = pipeline;
    this.resolution = new Resolution(pipeline, packages);
    this.lane = lane;
    this.executions = new Executions(pipeline.ledger());
    this.results = new Results(pipeline.ledger());
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

  /**
   * An execution that was allowed and goes on to its turn.
   *
   * @param since when the call came, by {@link System#nanoTime}
   */
  private record Allowed(
      Caller caller, Key key, Digest request, Ticket ticket, Optional<Long> budgetMs, long since) {}

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
    Executions.Turn turn = executions.turn(key, call.rawDigest());
    if (!turn.isFirst()) {
      return joined(call, key, turn.execution());
    }
    boolean handedOver = false;
    try {
      Optional<Allowed> allowed = judged(call, asked, key, turn.execution(), since);
      if (allowed.isPresent() && prefersAsync(call)) {
        pipeline.inBackground(
            caller.tenant(), () -> runInBackground(allowed.get(), turn.execution()));
        handedOver = true;
        return accepted(key, turn.execution());
      }
      allowed.ifPresent(go -> run(go, turn.execution()));
      return answer(executions.find(key).orElseThrow());
    } finally {
      if (!handedOver) {
        executions.end(key, turn.execution());
      }
    }
  }

  /** Another call with the same body is at work: this one has the same answer. */
  private HttpAnswer joined(HttpCall call, Key key, Execution execution) {
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
   * Judges it, or looks up how it was judged.
   *
   * @return empty where that was all: not allowed, or served before
   */
  private Optional<Allowed> judged(
      HttpCall call, ToolExecutionRequest asked, Key key, Execution execution, long since) {
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
    Resolution.Resolved resolved = resolution.resolve(caller, asked);
    JsonValue.Obj engine =
        JsonValue.object()
            .put("requestId", asked.requestId())
            .put(RESOURCE_CLASS, resolved.resourceClass().text())
            .putIfPresent("correlationId", asked.correlationId(), JsonValue::of)
            .putIfPresent(BUDGET, asked.timeoutBudgetMs(), JsonValue::of)
            .build();
    return new Pipeline.Vouched(
        NAME,
        caller.method(),
        caller.principal(),
        call.rawDigest(),
        caller.tenant(),
        asked.run(),
        caller.subject(),
        resolved.effect(),
        List.of(),
        Optional.of(key.idempotency()),
        true,
        JsonValue.object()
            .put(NAME, engine)
            .put("traceparent", call.trace().traceparent())
            .build());
  }

  private Allowed allowed(
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
            .map(ms -> Duration.ofMillis(Math.max(1, ms - elapsedMs(since))))
            .orElse(PATIENCE);
    Ticket ticket =
        new Ticket(
            caller.tenant(), caller.subject(), request.effect().tool(), resourceClass, patience);
    return new Allowed(caller, key, id, ticket, asked.timeoutBudgetMs(), since);
  }

  private static long elapsedMs(long since) {
    return (System.nanoTime() - since) / 1_000_000;
  }

  private void runInBackground(Allowed go, Execution execution) {
    try {
      run(go, execution);
    } catch (WritException e) {
      // Its word is remembered: whoever asks how it stands is told.
    } finally {
      executions.end(go.key(), execution);
    }
  }

  /**
   * Waits for its turn and has it executed; what came of it is remembered.
   *
   * @throws WritException where the queue has no room, or the kernel refuses for a reason of the
   *     moment
   */
  private void run(Allowed go, Execution execution) {
    long queuedAt = System.nanoTime();
    AtomicBoolean begun = new AtomicBoolean();
    AtomicBoolean overBudget = new AtomicBoolean();
    try {
      execution.queue();
      Lane.Ran<Boolean> ran =
          lane.run(
              go.ticket(),
              () -> {
                begun.set(execution.begin());
                if (begun.get()) {
                  execute(go, execution, overBudget);
                }
                return begun.get();
              });
      remember(
          go,
          ran.waitedMs(),
          ran.value() ? Optional.empty() : Optional.of(Ending.notDispatched()),
          overBudget.get());
    } catch (WritException e) {
      ended(go, execution, begun.get(), elapsedMs(queuedAt), e);
    } catch (RuntimeException e) {
      boolean toldToGo = !begun.get() && execution.isCancelled();
      remember(
          go,
          elapsedMs(queuedAt),
          Optional.of(toldToGo ? Ending.notDispatched() : Ending.refused(GatewayError.INTERNAL)),
          false);
      if (!toldToGo) {
        throw e;
      }
    } finally {
      execution.leave();
    }
  }

  /** The lane, or the kernel, has refused what was allowed. */
  private void ended(
      Allowed go, Execution execution, boolean begun, long waitedMs, WritException refused) {
    boolean timeIsOver =
        refused.code() == LaneError.QUEUE_TTL || Problems.status(refused.code()) == 504;
    if (!begun && execution.isCancelled()) {
      remember(go, waitedMs, Optional.of(Ending.notDispatched()), false);
    } else if (!begun && timeIsOver) {
      remember(go, waitedMs, Optional.of(Ending.inTheQueue()), false);
    } else {
      remember(go, begun ? 0 : waitedMs, Optional.of(Ending.refused(refused.code())), false);
      if (!begun || !Ending.isPolicys(refused.code().code())) {
        throw refused;
      }
    }
  }

  private void remember(Allowed go, long waitedMs, Optional<Ending> undispatched, boolean over) {
    executions.remember(
        go.key(), new Known(go.request(), Optional.of(waitedMs), undispatched, over));
  }

  /** The live decision is executed; what took it back in the meantime refuses it. */
  private void execute(Allowed go, Execution execution, AtomicBoolean overBudget) {
    CountDownLatch done = new CountDownLatch(1);
    go.budgetMs()
        .ifPresent(ms ->
            Thread.ofVirtual()
                .start(() -> cancelWhenOver(go, ms - elapsedMs(go.since()), done, overBudget)));
    try {
      pipeline.again(go.caller(), go.request(), Optional.empty());
    } finally {
      done.countDown();
    }
  }

  private void cancelWhenOver(
      Allowed go, long leftMs, CountDownLatch done, AtomicBoolean overBudget) {
    try {
      if (!done.await(Math.max(0, leftMs) + GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
        overBudget.set(true);
        pipeline.cancel(go.caller(), go.request());
      }
    } catch (WritException e) {
      // It ended at the last moment: it is as it ended.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private HttpAnswer get(HttpCall call) {
    Key key = key(call);
    Optional<Execution> execution = executions.atWork(key);
    if (execution.isPresent()) {
      return HttpAnswer.json(200, unfinished(key, execution.get().state()));
    }
    return results
        .of(known(key))
        .map(result -> headed(HttpAnswer.json(200, result.toJson()), result))
        .orElseGet(() -> HttpAnswer.json(200, unfinished(key, ExecutionState.Running)));
  }

  /** Stored as JSON, told as such; nothing of it is run by a browser. */
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
    Optional<Execution> execution = executions.atWork(key);
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

  /** The caller's own; an unknown one and another's are alike. */
  private Known known(Key key) {
    return executions
        .find(key)
        .orElseThrow(() -> new WritException(GatewayError.UNKNOWN_ID, key.requestId()));
  }

  private static JsonValue.Obj unfinished(Key key, ExecutionState state) {
    return JsonValue.object().put("requestId", key.requestId()).put("state", state.name()).build();
  }

  private static HttpAnswer accepted(Key key, Execution execution) {
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

  /** RFC 7240: the answer may come before the end. */
  private static boolean prefersAsync(HttpCall call) {
    return call.headers().all("prefer").stream()
        .flatMap(value -> Stream.of(value.split("[,;]")))
        .anyMatch(preference -> preference.strip().equalsIgnoreCase("respond-async"));
  }

  /** Another media type is what a web page can send without asking. */
  private static void requireJson(HttpCall call) {
    String type = call.headers().one("content-type").orElse("");
    if (!type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT).equals("application/json")) {
      throw new WritException(GatewayError.MEDIA_TYPE, "application/json is taken");
    }
  }
}

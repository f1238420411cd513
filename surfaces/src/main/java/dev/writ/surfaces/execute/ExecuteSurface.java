package dev.writ.surfaces.execute;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.executor.Answer;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Problems;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.profile.ExecuteAdmission;
import dev.writ.guardian.profile.ExecuteRequest;
import dev.writ.guardian.profile.Finding;
import dev.writ.guardian.profile.RejectionCode;
import dev.writ.surfaces.text.DocumentIds;
import dev.writ.surfaces.text.ToolText;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Seed 000, the strict execution gateway: spec/surface-execute.md. */
public final class ExecuteSurface implements Surface {
  /** Longest body; the seed's requests are small. */
  public static final int BODY_BYTES_MAX = 1 << 20;

  /** The run of requests that name no trace. */
  static final String RUN_OF_NOTHING = "execute";

  private final Pipeline pipeline;
  private final Executions executions;
  private final Consumer<JsonValue.Obj> audit;

  /**
   * @param audit gets one line for each request of a known caller: ten fields, no payload
   */
  public ExecuteSurface(Pipeline pipeline, Consumer<JsonValue.Obj> audit) {
    this.pipeline = pipeline.withoutWaiting(); // the seed forbids queues
    this.executions = new Executions(pipeline.ledger());
    this.audit = audit;
  }

  @Override
  public String name() {
    return ExecuteAdmission.PROFILE;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.post("/execute", Route.Access.CALLER, BODY_BYTES_MAX, this::execute)
            .when(headers ->
                headers.fields().keySet().stream().noneMatch(h -> h.startsWith("x-logline-"))),
        Route.get("/health", Route.Access.PUBLIC, _ -> health()));
  }

  private static HttpAnswer health() {
    return HttpAnswer.json(200, JsonValue.object().put("status", "healthy").build());
  }

  private HttpAnswer execute(HttpCall call) {
    StateTrail trail = new StateTrail();
    trail.reached(RequestState.REQUEST_RECEIVED);
    Instant startedAt = pipeline.now();
    trail.reached(RequestState.VALIDATION);
    return execute(call, startedAt, trail).withStates(trail.states());
  }

  private HttpAnswer execute(HttpCall call, Instant startedAt, StateTrail trail) {
    ExecuteRequest asked = ExecuteRequest.parse(call.body());
    try (Executions.Turn turn = executions.turn(call.caller(), asked, call.rawDigest())) {
      ExecuteAdmission.Result result =
          ExecuteAdmission.check(
              call.body(),
              new ExecuteAdmission.Asker(call.caller().tenant(), call.caller().subject()),
              pipeline.policy(),
              turn,
              startedAt);
      return result.effect().isPresent()
          ? vouched(call, result, turn, startedAt, trail)
          : refused(call, result, startedAt, trail);
    }
  }

  /**
   * Passes a refusal by the profile on to the Guardian, without payload, so that it signs the
   * refusal.
   */
  private HttpAnswer refused(
      HttpCall call, ExecuteAdmission.Result result, Instant startedAt, StateTrail trail) {
    trail.reached(RequestState.REJECTED);
    Finding.Refusal refusal = result.finding().refusal().orElseThrow();
    HttpAnswer rejection =
        rejection(
            result.request(),
            RejectionCode.of(refusal.code()).orElseThrow(),
            refusal.reason(),
            startedAt);
    try {
      return DocumentIds.on(
          rejection,
          pipeline.vouch(
              vouched(call, result.request(), ExecuteAdmission.NO_EFFECT, Optional.empty())));
    } catch (WritException e) {
      // Not admitted, or the ledger cannot be written: the profile's unsigned refusal stands.
      return rejection;
    }
  }

  private HttpAnswer vouched(
      HttpCall call,
      ExecuteAdmission.Result result,
      Executions.Turn turn,
      Instant startedAt,
      StateTrail trail) {
    ExecuteRequest request = result.request();
    Pipeline observed = pipeline.observedBy(trail);
    try {
      requireEphemeral(result.effect().orElseThrow());
      Answer answer =
          turn.waiting().isPresent()
              ? observed.again(call.caller(), turn.waiting().get(), Optional.of(call.body()))
              : observed.vouch(
                  vouched(call, request, result.effect().orElseThrow(), request.requestId()));
      turn.reached();
      boolean served = answer.served().isPresent();
      trail.reached(served ? RequestState.RESPONSE : RequestState.REJECTED);
      return DocumentIds.on(
          served
              ? response(request, answer.served().get())
              : notAllowed(call, request, answer, startedAt),
          answer);
    } catch (WritException e) {
      trail.reached(RequestState.REJECTED);
      Optional<RejectionCode> code = RejectionCode.ofRefusal(e.code().code());
      return code.isPresent()
          ? rejection(request, code.get(), e.code().meaning(), startedAt)
          : unavailable(
              request,
              problem(call, e.code().code(), e.code().meaning(), Optional.of(e.code().remedy())),
              startedAt);
    }
  }

  /**
   * The seed's filesystem is always ephemeral, whatever policy names.
   *
   * @throws WritException {@code GWY-131}
   */
  private void requireEphemeral(Effect effect) {
    if (pipeline.kernel().usesWorkspace(effect)) {
      throw new WritException(ExecuteError.KEEPS_FILES, effect.tool() + " " + effect.version());
    }
  }

  private HttpAnswer notAllowed(
      HttpCall call, ExecuteRequest request, Answer answer, Instant startedAt) {
    String ours = answer.decision().code().orElse("");
    String reason =
        answer
            .decision()
            .refusing()
            .map(check -> check.detail())
            .map(detail -> detail + help(answer))
            .orElse("");
    Optional<RejectionCode> code = RejectionCode.ofRefusal(ours);
    return code.isPresent()
        ? rejection(request, code.get(), reason, startedAt)
        : unavailable(request, problem(call, ours, reason, Optional.empty()), startedAt);
  }

  /** What would help, in the seed's one text for people: its answer has no room beside. */
  private String help(Answer answer) {
    return pipeline
        .kernel()
        .explanations()
        .guidance(answer)
        .filter(guidance -> guidance.message().isPresent() || !guidance.missing().isEmpty())
        .map(guidance -> ". " + String.join(" ", guidance.lines()))
        .orElse("");
  }

  private Pipeline.Vouched vouched(
      HttpCall call, ExecuteRequest request, Effect effect, Optional<String> key) {
    Caller caller = call.caller();
    return new Pipeline.Vouched(
        name(),
        caller.method(),
        caller.principal(),
        call.rawDigest(),
        caller.tenant(),
        request.traceId().orElse(RUN_OF_NOTHING),
        caller.subject(),
        effect,
        List.of(),
        key,
        request.persist(),
        call.trace().putTo(JsonValue.object()).build(),
        Optional.of(call.body()),
        key.isPresent() ? request.executionTraceId() : Optional.empty());
  }

  private HttpAnswer response(ExecuteRequest request, Served served) {
    Receipt receipt = served.receipt();
    ToolText text = ToolText.of(served, pipeline);
    List<String> artifacts =
        receipt.retained()
            ? receipt.artifacts().stream()
                .map(artifact -> "/v1/blobs/" + artifact.content().digest() + "?of=" + served.id())
                .toList()
            : List.of();
    log(
        request,
        Optional.empty(),
        Optional.of((long) text.exitCode()),
        receipt.startedAt(),
        receipt.finishedAt());
    return HttpAnswer.json(
        200,
        JsonValue.object()
            .put("execution_request_id", text(request.written("execution_request_id")))
            .put("status", text.succeeded() ? "success" : "error")
            .put("exit_code", text.exitCode())
            .put("stdout", request.captures("stdout") ? text.stdout() : "")
            .put("stderr", request.captures("stderr") ? text.stderr() : "")
            .putList("artifacts", artifacts, JsonValue::of)
            .put("started_at", receipt.startedAt())
            .put("finished_at", receipt.finishedAt())
            .build());
  }

  private HttpAnswer rejection(
      ExecuteRequest request, RejectionCode code, String reason, Instant startedAt) {
    Instant now = pipeline.now();
    log(request, Optional.of(code.code()), Optional.empty(), startedAt, now);
    return HttpAnswer.json(
        403,
        JsonValue.object()
            .put("execution_request_id", text(request.written("execution_request_id")))
            .put("status", "rejected")
            .put("rejection_code", code.code())
            .put("reason", reason.isEmpty() ? code.meaning() : reason)
            .put("trace_id", text(request.written("context", "trace_id")))
            .put("timestamp", now)
            .build());
  }

  /** Not the request's fault: no sandbox, no driver or no ledger. The client may retry. */
  private HttpAnswer unavailable(ExecuteRequest request, HttpAnswer problem, Instant startedAt) {
    log(request, Optional.empty(), Optional.empty(), startedAt, startedAt);
    return problem;
  }

  /**
   * What was found is for the log alone: it is of the host, such as why a disk fails.
   *
   * @param remedy absent for a decision, which says why and not what would help
   */
  private static HttpAnswer problem(
      HttpCall call, String code, String reason, Optional<String> remedy) {
    return HttpAnswer.of(
            503,
            Problems.MEDIA_TYPE,
            Jcs.write(
                JsonValue.object()
                    .put("type", "urn:writ:error:" + code)
                    .put("title", reason)
                    .put("status", 503)
                    .put("code", code)
                    .putIfPresent("remedy", remedy, JsonValue::of)
                    .put("trace_id", call.trace().traceId())
                    .build()))
        .with("Cache-Control", "no-store")
        .with("Retry-After", "1");
  }

  /** The seed's ten fields and nothing else. */
  private void log(
      ExecuteRequest request,
      Optional<String> rejectionCode,
      Optional<Long> exitCode,
      Instant startedAt,
      Instant finishedAt) {
    audit.accept(
        JsonValue.object()
            .put("execution_request_id", text(request.written("execution_request_id")))
            .put("intent_id", text(request.written("intent_ref", "intent_id")))
            .put("tenant_id", text(request.written("context", "tenant_id")))
            .put("subject_id", text(request.written("context", "subject_id")))
            .put("trace_id", text(request.written("context", "trace_id")))
            .put("sandbox_profile", text(request.auditProfile()))
            .put("rejection_code", text(rejectionCode))
            .put("exit_code", exitCode.<JsonValue>map(JsonValue::of).orElse(JsonValue.NULL))
            .put("started_at", Timestamps.format(startedAt))
            .put("finished_at", Timestamps.format(finishedAt))
            .build());
  }

  private static JsonValue text(Optional<String> text) {
    return text.<JsonValue>map(JsonValue::of).orElse(JsonValue.NULL);
  }

  /** For tests: how many requests are at work. */
  int atWork() {
    return executions.atWork();
  }
}

package dev.writ.surfaces.logline;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.executor.Answer;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Problems;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.pipeline.WaitingRequests;
import dev.writ.gateway.v1.Reader;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.event.RunId;
import dev.writ.surfaces.logline.LoglineAuthentication.Authenticated;
import dev.writ.surfaces.text.DocumentIds;
import dev.writ.surfaces.text.ToolText;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** Seed 001, the LogLine executor: spec/surface-logline.md. */
public final class LoglineSurface implements Surface {
  public static final String NAME = "logline";
  public static final int BODY_BYTES_MAX = 8 << 20;

  static final String METHOD = "hmac";

  private static final String OPERATION = "operation";
  private static final Limits LIMITS = new Limits(BODY_BYTES_MAX, 64);

  private final Pipeline pipeline;
  private final LoglineConfig config;
  private final UsedSignatures signatures;
  private final LoglineAuthentication authentication;
  private final LoglineArtifacts artifacts;
  private final LoglineRuns runs;
  private final WaitingRequests waiting;

  public LoglineSurface(Pipeline pipeline, LoglineConfig config) {
    this.pipeline = pipeline;
    this.config = config;
    this.signatures = new UsedSignatures(pipeline.kernel(), LoglineAuthentication.SKEW);
    this.authentication = new LoglineAuthentication(config.secrets(), signatures);
    this.artifacts = new LoglineArtifacts(pipeline, config.artifactsBytes());
    this.runs = new LoglineRuns(pipeline);
    this.waiting = new WaitingRequests(pipeline.ledger(), pipeline.kernel()::system);
  }

  @Override
  public String name() {
    return NAME;
  }

  /** One of the three headers is enough to select this surface; no other route accepts them. */
  @Override
  public List<Route> routes() {
    return List.of(
            Route.post("/execute", Route.Access.SURFACE, BODY_BYTES_MAX, refusing(this::execute))
                .checking(LoglineAuthentication::requireHead),
            Route.get(LoglineArtifacts.PATH, Route.Access.SURFACE, refusing(this::artifact))
                .checking(LoglineAuthentication::requireSigned),
            new Route(
                    "DELETE",
                    LoglineRuns.PATH,
                    Route.Access.SURFACE,
                    new Route.Body.None(),
                    _ -> true,
                    refusing(this::endRun))
                .checking(LoglineAuthentication::requireSigned))
        .stream()
        .map(route ->
            route.when(headers ->
                headers.fields().keySet().stream().anyMatch(h -> h.startsWith("x-logline-"))))
        .toList();
  }

  /** Refusals in the seed's form. */
  private static Route.Handler refusing(Route.Handler handler) {
    return call -> {
      try {
        return handler.handle(call);
      } catch (WritException e) {
        return error(status(e), e);
      }
    };
  }

  @Override
  public Optional<HttpAnswer> refusal(int status, WritException refused) {
    return Optional.of(error(status(refused), refused));
  }

  /**
   * The seed's body.
   *
   * @param ends whether the run ends with this execution
   */
  private record Body(
      String tool,
      JsonValue.Obj input,
      String run,
      String tenant,
      boolean ends,
      JsonValue.Obj context) {}

  private HttpAnswer execute(HttpCall call) {
    Authenticated caller = authenticated(call, call.body(), false);
    call.admission().admit("", caller.credential()); // its tenant is in the body
    call.admission().weigh(call.body());
    Body body = body(call.body());
    if (!body.tool.equals(
        LoglineAuthentication.header(call.headers(), LoglineAuthentication.TOOL))) {
      throw new WritException(LoglineError.TOOL_MISMATCH, "");
    }
    Caller acting = admitted(call, caller, body.tenant);
    boolean isNew =
        pipeline.standing(body.tenant, acting.subject(), caller.signature())
            instanceof Pipeline.Standing.New;
    if (!isNew) {
      throw new WritException(LoglineError.REPLAYED, "");
    }
    Answer answer = judged(caller, acting, vouched(call, caller, body, acting.subject()));
    return DocumentIds.on(
        answer
            .served()
            .map(served -> answer(served, body.ends ? runs.endOf(served) : Optional.empty()))
            .orElseGet(() -> denied(answer)),
        answer);
  }

  /**
   * The same bytes, while a request of them waits for approval or after it was decided, are that
   * one, whatever their signature is.
   */
  private Answer judged(Authenticated caller, Caller acting, Pipeline.Vouched asked) {
    Optional<Digest> earlier =
        waiting.find(
            new RunId(asked.tenant(), asked.run()),
            request -> isSame(request, asked),
            pipeline.look());
    if (earlier.isEmpty()) {
      return pipeline.vouch(asked);
    }
    signatures.storeAlone(caller.used()); // no request has it as its key
    return pipeline.again(acting, earlier.get(), Optional.empty());
  }

  private static boolean isSame(Request request, Pipeline.Vouched asked) {
    return request.scope().subject().equals(asked.subject())
        && request.effect().digest().equals(asked.effect().digest())
        && request
            .origin()
            .filter(origin -> origin.surface().equals(NAME) && origin.raw().equals(asked.raw()))
            .isPresent();
  }

  /** Whom the caller acts as in a tenant; nobody where its secret is not for that tenant. */
  private static Optional<Caller> acting(Authenticated caller, String tenant) {
    LoglineConfig.Secret secret = caller.secret();
    return Optional.ofNullable(secret.subjects().get(tenant))
        .map(subject -> new Caller(METHOD, secret.name(), tenant, subject, List.of()));
  }

  /**
   * The same, counted against the limits of that tenant.
   *
   * @throws WritException {@code GWY-109}
   */
  private static Caller admitted(HttpCall call, Authenticated caller, String tenant) {
    Caller acting =
        acting(caller, tenant)
            .orElseThrow(() -> new WritException(LoglineError.TENANT, caller.secret().name()));
    call.admission().admit(tenant, caller.credential());
    return acting;
  }

  /**
   * Whoever is refused leaves no trace of a clock that is ahead for a moment. Whoever is not does:
   * signatures that were forgotten then as too old must stay so.
   */
  private Authenticated authenticated(HttpCall call, byte[] signed, boolean isStored) {
    Authenticated caller =
        authentication.authenticate(call.headers(), signed, pipeline.look(), isStored);
    pipeline.now();
    return caller;
  }

  /** For a call without a body, which is authenticated by its method and path. */
  private Authenticated authenticated(HttpCall call) {
    Authenticated caller = authenticated(call, LoglineAuthentication.bodyless(call), true);
    call.admission().admit("", caller.credential());
    signatures.store(caller.used());
    if (!call.query().isEmpty()) { // it is not signed
      throw new WritException(GatewayError.PARAMETER, call.query().firstKey());
    }
    return caller;
  }

  private HttpAnswer artifact(HttpCall call) {
    Authenticated caller = authenticated(call);
    String id = call.value("receipt");
    Receipt receipt = artifacts.receipt(id);
    String tenant = receipt.scope().tenant();
    if (acting(caller, tenant).isEmpty()) {
      throw Reader.unknown(id);
    }
    return artifacts.get(call, admitted(call, caller, tenant), receipt);
  }

  private HttpAnswer endRun(HttpCall call) {
    Authenticated caller = authenticated(call);
    runs.end(admitted(call, caller, call.value("tenant")), call.value("run"));
    return HttpAnswer.json(200, JsonValue.object().put("status", "success").build());
  }

  private static Body body(byte[] bytes) {
    try {
      Fields fields = Fields.of("request", Jcs.parse(bytes, LIMITS));
      String tool = fields.name("tool_id");
      JsonValue.Obj input = fields.obj("input");
      JsonValue.Obj context = fields.obj("context");
      fields.end();
      Fields inner = Fields.of("request/context", context);
      Optional<String> snake = inner.optional("run_id", inner::name);
      Optional<String> camel = inner.optional("runId", inner::name);
      String run =
          snake
              .or(() -> camel)
              .filter(id -> camel.isEmpty() || camel.get().equals(id))
              .orElseThrow(() ->
                  new WritException(
                      LoglineError.BODY, "context names no run_id, or another as runId"));
      boolean ends = inner.optional("end", inner::bool).orElse(false);
      return new Body(tool, input, run, inner.name("tenant_id"), ends, context);
    } catch (WritException e) {
      throw e.code() instanceof CanonicalizeError
          ? new WritException(LoglineError.BODY, e.code().code() + " " + e.found())
          : e;
    }
  }

  private Pipeline.Vouched vouched(HttpCall call, Authenticated caller, Body body, String subject) {
    LoglineConfig.Tool tool = config.tools().get(body.tool);
    if (tool == null) {
      throw new WritException(LoglineError.TOOL, "");
    }
    boolean byInput = tool.operation().equals(LoglineConfig.Tool.BY_INPUT);
    Effect effect =
        new Effect(
            tool.name(),
            tool.version(),
            byInput ? operation(body.input) : tool.operation(),
            params(tool, body.input),
            List.of(),
            tool.resources(),
            tool.sandbox(),
            Optional.empty());
    return new Pipeline.Vouched(
        NAME,
        METHOD,
        caller.secret().name(),
        call.rawDigest(),
        body.tenant,
        body.run,
        subject,
        effect,
        List.of(),
        Optional.of(caller.signature()),
        true,
        call.trace().putTo(JsonValue.object().put("logline", body.context)).build());
  }

  /**
   * The form of every name in a document of ours: 1 to 256 characters, none of them a control
   * character.
   */
  private static String operation(JsonValue.Obj input) {
    if (input.get(OPERATION) instanceof JsonValue.Str name
        && !name.value().isEmpty()
        && name.value().length() <= 256
        && name.value().chars().noneMatch(c -> c < 0x20 || c == 0x7f)) {
      return name.value();
    }
    throw new WritException(LoglineError.BODY, "input names no operation of the tool");
  }

  /** The input without the operation's name, and what the configuration adds. */
  private static JsonValue.Obj params(LoglineConfig.Tool tool, JsonValue.Obj input) {
    TreeMap<String, JsonValue> params = new TreeMap<>(tool.defaults().members());
    params.putAll(input.members());
    if (tool.operation().equals(LoglineConfig.Tool.BY_INPUT)) {
      params.remove(OPERATION);
    }
    return new JsonValue.Obj(params);
  }

  private static HttpAnswer denied(Answer answer) {
    String code = answer.decision().code().orElse("");
    String reason = answer.decision().refusing().map(check -> check.detail()).orElse("");
    return error(403, code, reason);
  }

  /**
   * @param run how the run ended, for a caller that asked for that
   */
  private HttpAnswer answer(Served served, Optional<JsonValue.Obj> run) {
    ToolText text = ToolText.of(served, pipeline);
    TreeMap<String, JsonValue> result = new TreeMap<>(text.members().members());
    boolean inMembers = !result.isEmpty() && !result.containsKey("stdout");
    result.put("stdout", JsonValue.of(inMembers ? "" : text.stdout()));
    if (!served.receipt().artifacts().isEmpty()) {
      result.put("artifacts", artifacts.of(served));
    }
    result.put("stderr", JsonValue.of(text.stderr()));
    result.put("duration_ms", JsonValue.of(ToolText.durationMs(served.receipt())));
    return HttpAnswer.json(
        200,
        JsonValue.object()
            .put("status", text.succeeded() ? "success" : "error")
            .put("result", new JsonValue.Obj(result))
            .putIfPresent("run", run, r -> r)
            .build());
  }

  /** An unknown caller learns nothing else. */
  private static int status(WritException e) {
    return switch (e.code()) {
      case LoglineError code ->
          switch (code) {
            case NO_SECRET, SECRET_SHORT -> 503;
            case HEADERS, TIMESTAMP, SIGNATURE -> 401;
            case REPLAYED -> 409;
            case BODY, TOOL_MISMATCH -> 400;
            case TENANT -> 403;
            case TOOL -> 404;
          };
      default -> Problems.status(e.code());
    };
  }

  private static HttpAnswer error(int status, WritException e) {
    HttpAnswer answer =
        error(
            status,
            e.code().code(),
            e.code().meaning() + (e.found().isEmpty() ? "" : ": " + Problems.shortened(e.found())));
    return status == 429 || status == 503 ? answer.with("Retry-After", "1") : answer;
  }

  /** The seed's form of an error, with our code added. */
  private static HttpAnswer error(int status, String code, String message) {
    return HttpAnswer.json(
            status,
            JsonValue.object()
                .put("status", "error")
                .put(
                    "result",
                    JsonValue.object()
                        .put("stdout", "")
                        .put("stderr", message)
                        .put("duration_ms", 0)
                        .build())
                .put("code", code)
                .build())
        .with("Cache-Control", "no-store");
  }
}

package dev.writ.surfaces.logline;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.executor.Answer;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.http.HttpAnswer;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Problems;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.guardian.document.Effect;
import dev.writ.surfaces.logline.LoglineAuthentication.Authenticated;
import dev.writ.surfaces.text.ToolText;
import java.util.List;
import java.util.Optional;

/** Seed 001, the LogLine executor: spec/surface-logline.md. */
public final class LoglineSurface implements Surface {
  public static final String NAME = "logline";
  public static final int BODY_BYTES_MAX = 8 << 20;

  private static final String METHOD = "hmac";
  private static final String OPERATION = "operation";
  private static final Limits LIMITS = new Limits(BODY_BYTES_MAX, 64);

  private final Pipeline pipeline;
  private final LoglineConfig config;
  private final LoglineAuthentication authentication;

  public LoglineSurface(Pipeline pipeline, LoglineConfig config) {
    this.pipeline = pipeline;
    this.config = config;
    this.authentication = new LoglineAuthentication(config.secrets());
  }

  @Override
  public String name() {
    return NAME;
  }

  /** One of the three headers is enough to select this surface; no other route accepts them. */
  @Override
  public List<Route> routes() {
    return List.of(
        Route.post("/execute", Route.Access.SURFACE, BODY_BYTES_MAX, this::execute)
            .when(headers ->
                headers.fields().keySet().stream().anyMatch(h -> h.startsWith("x-logline-")))
            .checking(LoglineAuthentication::requireHead));
  }

  @Override
  public Optional<HttpAnswer> refusal(int status, WritException refused) {
    return Optional.of(error(status(refused), refused));
  }

  /** The seed's body. */
  private record Body(
      String tool, JsonValue.Obj input, String run, String tenant, JsonValue.Obj context) {}

  private HttpAnswer execute(HttpCall call) {
    try {
      Authenticated caller = authentication.authenticate(call, pipeline.now());
      String credential = METHOD + " " + caller.secret().name();
      call.admission().admit("", credential); // its tenant is in the body
      call.admission().weigh(call.body());
      Body body = body(call.body());
      if (!body.tool.equals(caller.tool())) {
        throw new WritException(LoglineError.TOOL_MISMATCH, "");
      }
      String subject = caller.secret().subjects().get(body.tenant);
      if (subject == null) {
        throw new WritException(LoglineError.TENANT, caller.secret().name());
      }
      call.admission().admit(body.tenant, credential);
      boolean isNew =
          pipeline.standing(body.tenant, subject, caller.signature())
              instanceof Pipeline.Standing.New;
      if (!isNew) {
        throw new WritException(LoglineError.REPLAYED, "");
      }
      return answer(pipeline.vouch(vouched(call, caller, body, subject)));
    } catch (WritException e) {
      return error(status(e), e);
    }
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
      return new Body(tool, input, run, inner.name("tenant_id"), context);
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
            byInput ? without(body.input, OPERATION) : body.input,
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
        JsonValue.object()
            .put("logline", body.context)
            .put("traceparent", call.trace().traceparent())
            .build());
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

  private static JsonValue.Obj without(JsonValue.Obj object, String key) {
    var rest = JsonValue.object();
    object
        .members()
        .forEach((name, value) -> {
          if (!name.equals(key)) {
            rest.put(name, value);
          }
        });
    return rest.build();
  }

  private HttpAnswer answer(Answer answer) {
    if (answer.served().isEmpty()) {
      String code = answer.decision().code().orElse("");
      String reason =
          answer.decision().checks().stream()
              .filter(check -> check.code().isPresent())
              .map(check -> check.detail())
              .findFirst()
              .orElse("");
      return error(403, code, reason);
    }
    Served served = answer.served().get();
    ToolText text = ToolText.of(served, pipeline);
    var result = JsonValue.object();
    text.members()
        .members()
        .forEach((key, value) -> {
          if (!List.of("stdout", "stderr", "duration_ms").contains(key)) {
            result.put(key, value);
          }
        });
    result
        .put("stdout", text.stdout())
        .put("stderr", text.stderr())
        .put("duration_ms", ToolText.durationMs(served.receipt()));
    return HttpAnswer.json(
        200,
        JsonValue.object()
            .put("status", text.succeeded() ? "success" : "error")
            .put("result", result.build())
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
            e.code().meaning() + (e.found().isEmpty() ? "" : ": " + e.found()));
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

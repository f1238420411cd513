package dev.writ.surfaces.tools;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.http.Caller;
import dev.writ.gateway.http.HttpAnswer;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Problems;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.v1.BlobAnswer;
import dev.writ.gateway.v1.Reader;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.CommandProfile;
import dev.writ.guardian.profile.CommandAdmission;
import dev.writ.guardian.profile.CommandRequest;
import dev.writ.guardian.profile.ExecuteAdmission;
import dev.writ.guardian.profile.ProfileError;
import dev.writ.ledger.LedgerView;
import dev.writ.surfaces.text.ToolText;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Seed 002, the tool gateway: spec/surface-tools.md. */
public final class ToolsSurface implements Surface {
  public static final String NAME = CommandAdmission.PROFILE;

  /** Name of the seed's stream. */
  public static final String STREAM = "swe:tools:exec:stream";

  private static final String EXEC = "/v1/tools/exec";

  public static final int BODY_BYTES_MAX = 1 << 20;

  private final Pipeline pipeline;
  private final LedgerView ledger;
  private final ExecStream stream;
  private final Reader reader;
  private final Optional<WorkspaceRoot> root;

  /**
   * @param root the root of workspaces, if they are directories of this machine
   */
  public ToolsSurface(Pipeline pipeline, Optional<WorkspaceRoot> root) {
    this.pipeline = pipeline;
    this.ledger = pipeline.ledger();
    this.stream = new ExecStream(pipeline);
    this.reader = new Reader(pipeline.kernel());
    this.root = root;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.post(EXEC, Route.Access.CALLER, BODY_BYTES_MAX, this::exec),
        Route.get(EXEC + "/{exec_id}/artifacts/{+name}", Route.Access.CALLER, this::artifact),
        Route.get("/v1/streams/" + STREAM, Route.Access.CALLER, stream::open));
  }

  /** The seed's own words for an execution. */
  @Override
  public SortedMap<String, String> namesOf(Digest id, Request request) {
    TreeMap<String, String> names = new TreeMap<>();
    names.put("case_id", request.scope().run());
    names.put("exec_id", ExecEvent.execId(id));
    names.put("subtask_id", ExecEvent.said(request, "subtask_id"));
    return names;
  }

  private HttpAnswer exec(HttpCall call) {
    Caller caller = call.caller();
    CommandAdmission.Admitted admitted;
    try {
      admitted =
          CommandAdmission.admit(
              call.body(),
              new ExecuteAdmission.Asker(caller.tenant(), caller.subject()),
              pipeline.policy());
      requireRole(caller, admitted.request());
      root.ifPresent(directory -> directory.require(relative(admitted.request())));
    } catch (WritException e) {
      return refused(call, e);
    }
    Answer answer = pipeline.vouch(vouched(call, admitted.request(), admitted.effect()));
    if (answer.served().isEmpty()) {
      return denied(call, answer);
    }
    Served served = answer.served().get();
    Request request =
        Request.read(ledger.document(served.receipt().request()).orElseThrow().document());
    ExecEvent told =
        new ExecEvent(
            served.receipt().request(), request, served.receipt(), ToolText.of(served, pipeline));
    return HttpAnswer.json(200, told.response())
        .with("Content-Location", EXEC + "/" + told.execId())
        .with("Writ-Request", served.receipt().request().toString())
        .with("Writ-Receipt", served.id().toString());
  }

  /** The path of an artifact in the answer, below the answer's own location. */
  private HttpAnswer artifact(HttpCall call) {
    String execId = call.value("exec_id");
    Receipt receipt =
        ExecEvent.request(execId)
            .flatMap(request -> ledger.get(Tables.SERVED, Tables.key(request)))
            .map(Digest::ofBytes)
            .map(id -> reader.document(call.caller(), id, Receipt.TYPE))
            .map(envelope -> Receipt.read(envelope.document()))
            .orElseThrow(() -> Reader.unknown(execId));
    Content content =
        receipt.artifacts().stream()
            .filter(artifact -> artifact.name().equals(call.value("name")))
            .map(Receipt.Artifact::content)
            .findFirst()
            .orElseThrow(() -> Reader.unknown(execId));
    return BlobAnswer.of(
        ledger, call.caller().tenant(), content.digest(), content.mediaType(), call.headers());
  }

  /** A credential may be narrowed to some of its subject's roles. */
  private static void requireRole(Caller caller, CommandRequest request) {
    if (!caller.roles().isEmpty() && !caller.roles().contains(request.role())) {
      throw new WritException(ProfileError.COMMAND_ROLE, caller.principal());
    }
  }

  private String relative(CommandRequest request) {
    CommandProfile profile = pipeline.policy().commands().orElseThrow();
    return profile
        .underRoot(request.cwd().orElse(profile.workspaceRoot()))
        .orElse("."); // the profile accepted it, perhaps under an earlier policy
  }

  private Pipeline.Vouched vouched(HttpCall call, CommandRequest request, Effect effect) {
    JsonValue.Obj exec =
        JsonValue.object()
            .put("role", request.role())
            .put("cmd", request.cmd())
            .putIfPresent("subtask_id", request.subtaskId(), JsonValue::of)
            .build();
    return new Pipeline.Vouched(
        NAME,
        call.caller().method(),
        call.caller().principal(),
        call.rawDigest(),
        call.caller().tenant(),
        request.caseId(),
        call.caller().subject(),
        effect,
        List.of(),
        Optional.empty(),
        true,
        JsonValue.object()
            .put("exec", exec)
            .put("role", request.role())
            .put("traceparent", call.trace().traceparent())
            .build(),
        Optional.of(call.body()),
        Optional.empty());
  }

  /** Refused by the profile: 400 for a body that cannot be read, otherwise 403. */
  private HttpAnswer refused(HttpCall call, WritException e) {
    if (!(e.code() instanceof ProfileError code)) {
      throw e;
    }
    if (code == ProfileError.COMMAND_BODY) {
      return problem(call, 400, e.code().code(), e.code().meaning(), e.found());
    }
    try { // lets the Guardian sign the refusal, too
      pipeline.vouch(vouched(call, CommandRequest.parse(call.body()), ExecuteAdmission.NO_EFFECT));
    } catch (WritException again) {
      // Not admitted, or the ledger cannot be written: the profile's unsigned refusal stands.
    }
    return problem(call, 403, e.code().code(), e.code().meaning(), e.found());
  }

  private static HttpAnswer denied(HttpCall call, Answer answer) {
    String code = answer.decision().code().orElse("");
    String detail =
        answer.decision().checks().stream()
            .filter(check -> check.code().isPresent())
            .map(check -> check.detail())
            .findFirst()
            .orElse("");
    return problem(call, 403, code, answer.decision().verdict().name(), detail);
  }

  private static HttpAnswer problem(
      HttpCall call, int status, String code, String title, String detail) {
    return HttpAnswer.of(
        status,
        Problems.MEDIA_TYPE,
        Jcs.write(
            JsonValue.object()
                .put("type", "urn:writ:error:" + code)
                .put("title", title)
                .put("status", status)
                .put("detail", detail)
                .put("code", code)
                .put("trace_id", call.trace().traceId())
                .build()));
  }
}

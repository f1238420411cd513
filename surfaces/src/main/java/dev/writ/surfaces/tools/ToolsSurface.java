package dev.writ.surfaces.tools;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Kernel;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Problems;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.v1.BlobAnswer;
import dev.writ.gateway.v1.Reader;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.guardian.profile.CommandAdmission;
import dev.writ.ledger.LedgerView;
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

  private final Kernel kernel;
  private final LedgerView ledger;
  private final ExecCalls calls;
  private final ExecStream stream;
  private final Reader reader;

  /**
   * @param root the root of workspaces, if they are directories of this machine
   */
  public ToolsSurface(Pipeline pipeline, Optional<WorkspaceRoot> root) {
    this.kernel = pipeline.kernel();
    this.ledger = pipeline.ledger();
    this.calls = new ExecCalls(pipeline, root);
    this.stream = new ExecStream(pipeline);
    this.reader = new Reader(pipeline.kernel());
  }

  /** Its commands, for a server of another protocol. */
  public ExecCalls calls() {
    return calls;
  }

  /** Its stream, for a server of another protocol. */
  public ExecStream stream() {
    return stream;
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

  @Override
  public void drains() {
    stream.wake();
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
    return switch (calls.exec(new ExecCalls.Asked(call.caller(), call.body(), call.trace()))) {
      case ExecCalls.Ended.Executed done ->
          HttpAnswer.json(200, done.response())
              .with("Content-Location", EXEC + "/" + done.execId())
              .with("Writ-Request", done.request().toString())
              .with("Writ-Receipt", done.receipt().toString());
      case ExecCalls.Ended.Denied denied -> problem(call, denied);
    };
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
    HttpAnswer answer =
        BlobAnswer.of(
            kernel, call.caller().tenant(), content.digest(), content.mediaType(), call.headers());
    reader.records().effect(call.caller(), receipt.scope(), content.digest(), ReadClass.OUTPUTS);
    return answer;
  }

  private static HttpAnswer problem(HttpCall call, ExecCalls.Ended.Denied denied) {
    HttpAnswer answer =
        HttpAnswer.of(
            denied.status(),
            Problems.MEDIA_TYPE,
            Jcs.write(
                JsonValue.object()
                    .put("type", "urn:writ:error:" + denied.code())
                    .put("title", denied.title())
                    .put("status", denied.status())
                    .put("detail", denied.detail())
                    .putIfPresent("remedy", denied.remedy(), JsonValue::of)
                    .put("code", denied.code())
                    .put("trace_id", call.trace().traceId())
                    .putIfPresent("guidance", denied.guidance(), Guidance::toJson)
                    .build()));
    return denied
        .signed()
        .map(signed ->
            answer
                .with("Writ-Request", signed.request().toString())
                .with("Writ-Decision", signed.decision().toString()))
        .orElse(answer);
  }
}

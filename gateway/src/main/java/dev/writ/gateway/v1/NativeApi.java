package dev.writ.gateway.v1;

import static dev.writ.gateway.http.Route.Access.CALLER;
import static dev.writ.gateway.http.Route.Access.DOCUMENT;
import static dev.writ.gateway.http.Route.Access.PUBLIC;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.executor.document.ExecutionOrder;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.driver.SandboxObserver;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Backend;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.pipeline.ToolWork;
import dev.writ.gateway.schedule.Ticket;
import dev.writ.gateway.view.Effects;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.note.Checkpoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The native API: signed documents in, signed documents out (spec/gateway.md). */
public final class NativeApi implements Surface {
  private static final int ORDER_BYTES_MAX = 8 << 20;
  private static final int SMALL_BYTES_MAX = 64 << 10;

  private final Backend backend;
  private final Kernel kernel;
  private final Running running;
  private final int requestBytesMax;
  private final List<Route> routes = new ArrayList<>();

  /**
   * @param requestBytesMax of a submission with its evidence; policy limits the request itself
   * @param blobBytesMax of one uploaded blob
   */
  public NativeApi(Backend backend, RunBundle bundles, int requestBytesMax, long blobBytesMax) {
    this(backend, bundles, requestBytesMax, blobBytesMax, List.of());
  }

  /**
   * @param others routes of the server's other surfaces, which the OpenAPI document may describe
   */
  public NativeApi(
      Backend backend,
      RunBundle bundles,
      int requestBytesMax,
      long blobBytesMax,
      List<Route> others) {
    this.backend = backend;
    this.kernel = backend.kernel();
    this.running = backend.running();
    this.requestBytesMax = requestBytesMax;
    Reader reader = new Reader(kernel);
    submissions();
    Effects effects = new Effects(kernel.ledger());
    LiveEffects live = new LiveEffects(kernel.ledger(), effects, backend.changes());
    routes.addAll(new LiveRoutes(reader, effects, live).routes());
    routes.addAll(
        new EffectRoutes(reader, effects, bundles.packages(), backend.statistics()).routes());
    routes.addAll(
        new DocumentRoutes(reader, backend.changes(), backend.places()::isDraining).routes());
    routes.addAll(new BlobRoutes(reader, blobBytesMax).routes());
    routes.addAll(new RunRoutes(reader, backend.changes(), bundles).routes());
    routes.addAll(new LogRoutes(reader).routes());
    routes.addAll(new ReadRoutes(kernel).routes());
    routes.addAll(new ToolRoutes(kernel, bundles.packages()).routes());
    routes.addAll(new AdminRoutes(kernel, running, backend.changes()).routes());
    HttpAnswer[] document = new HttpAnswer[1];
    routes.add(Route.get("/v1/openapi.json", PUBLIC, _ -> document[0]));
    document[0] =
        HttpAnswer.of(
            200,
            "application/json",
            OpenApi.of(Stream.concat(routes.stream(), others.stream()).toList()));
  }

  @Override
  public String name() {
    return "native";
  }

  @Override
  public List<Route> routes() {
    return List.copyOf(routes);
  }

  private void submissions() {
    routes.add(Route.post("/v1/effects", DOCUMENT, requestBytesMax, this::effect));
    routes.add(Route.post("/v1/decisions", DOCUMENT, requestBytesMax, this::decision));
    routes.add(Route.post("/v1/executions", DOCUMENT, ORDER_BYTES_MAX, this::execution));
    routes.add(
        new Route(
            "POST",
            "/v1/executions/{id}/cancel",
            CALLER,
            new Route.Body.None(),
            _ -> true,
            this::cancel));
    routes.add(Route.post("/v1/approvals", DOCUMENT, SMALL_BYTES_MAX, this::approval));
    routes.add(Route.post("/v1/runs/{run}/close", DOCUMENT, SMALL_BYTES_MAX, this::close));
  }

  private HttpAnswer effect(HttpCall call) {
    Bodies.Submission asked = Bodies.submission(call);
    Bodies.requireSameKey(call, asked.request());
    return ofSigner(
        call,
        asked.request(),
        signer -> {
          verified(asked.request(), Request.TYPE);
          Request request = Request.read(asked.request().document());
          Answer answer =
              inTurn(
                  Ticket.of(
                      request.scope(),
                      request.effect(),
                      kernel.system().policyInForce().engine().classes(),
                      Ticket.AS_POLICY_SAYS),
                  () -> submitted(signer, asked, request));
          return Replies.of(answer, kernel.explanations().guidance(answer));
        });
  }

  /**
   * The signer, verified before the request waits for a turn, so that nobody else can use up a
   * tenant's turns. The kernel verifies it again when the turn has come.
   */
  private TrustedKey verified(Envelope signed, String type) {
    return kernel.system().trust().verify(signed, type, kernel.look()).getFirst();
  }

  /** Waits for its turn among all effects of the server. */
  private <T> T inTurn(Ticket ticket, Supplier<T> work) {
    return backend.lane().run(ticket, work).value();
  }

  /**
   * An intent does not state the resources of its effect, so the actual use is charged, not the
   * declared one.
   */
  private static Ticket ordered(TrustedKey by, Envelope intent) {
    return new Ticket(
        by.tenant().orElse(""),
        by.subject(),
        Intent.read(intent.document()).tool().name(),
        "small",
        Ticket.AS_POLICY_SAYS);
  }

  private Answer submitted(TrustedKey signer, Bodies.Submission asked, Request request) {
    return observed(
        signer,
        asked.request().id(),
        Optional.of(request),
        () -> kernel.submit(asked.request(), asked.evidence()));
  }

  private Answer executed(TrustedKey signer, Envelope decision, Envelope intent, Envelope order) {
    Digest id = requestOf(intent);
    Optional<Request> request =
        kernel
            .ledger()
            .document(id)
            .filter(envelope -> envelope.payloadType().equals(Request.TYPE))
            .map(envelope -> Request.read(envelope.document()))
            .filter(r -> signer.tenant().equals(Optional.of(r.scope().tenant())))
            .filter(r -> signer.subject().equals(r.scope().subject()));
    return observed(
        signer,
        id,
        request,
        () -> {
          Served served = kernel.execute(decision, intent, order);
          return new Answer(
              id,
              decision,
              Decision.read(decision.document()),
              Optional.of(intent),
              Optional.of(served));
        });
  }

  /**
   * Has an effect done so that it can be cancelled, and is counted.
   *
   * @param request the signer's; absent if there is none, which the kernel refuses
   */
  private Answer observed(
      TrustedKey signer, Digest id, Optional<Request> request, Supplier<Answer> work) {
    ToolWork tool = new ToolWork(SandboxObserver.NONE, backend.effects().tools());
    try {
      Answer answer = running.during(id, signer.tenant().orElse(""), signer.subject(), tool, work);
      request.ifPresent(r -> backend.effects().answered(name(), r, answer, tool));
      return answer;
    } catch (WritException e) {
      request.ifPresent(r -> backend.effects().refused(name(), id, r, e.code(), tool));
      throw e;
    }
  }

  private HttpAnswer decision(HttpCall call) {
    Bodies.Submission asked = Bodies.submission(call);
    Bodies.requireSameKey(call, asked.request());
    return ofSigner(
        call,
        asked.request(),
        _ -> {
          Answer answer = kernel.decide(asked.request(), asked.evidence());
          if (answer.decision().verdict() != Verdict.ALLOW) { // else it is told once it is executed
            Request request = Request.read(asked.request().document());
            backend.effects().answered(name(), request, answer, new ToolWork());
          }
          return Replies.of(answer, kernel.explanations().guidance(answer));
        });
  }

  private HttpAnswer execution(HttpCall call) {
    Bodies.requireJson(call);
    Fields fields = Fields.of("body", Jcs.parse(call.body()));
    Envelope decision = Bodies.envelope(call, fields, "decision");
    Envelope intent = Bodies.envelope(call, fields, "intent");
    Envelope order = Bodies.envelope(call, fields, "order");
    fields.end();
    if (!order.payloadType().equals(ExecutionOrder.TYPE)) {
      throw new WritException(GatewayError.PARAMETER, "order is no order");
    }
    return ofSigner(
        call,
        order,
        signer -> {
          Answer answer =
              inTurn(
                  ordered(verified(order, ExecutionOrder.TYPE), intent),
                  () -> executed(signer, decision, intent, order));
          return Replies.of(answer.served().orElseThrow(), Optional.empty());
        });
  }

  /** The request of an unverified intent, only as the name by which it can be cancelled. */
  private static Digest requestOf(Envelope intent) {
    return intent.document() instanceof JsonValue.Obj document
            && document.get("request") instanceof JsonValue.Str request
        ? Digest.parse(request.value())
        : intent.id();
  }

  private HttpAnswer cancel(HttpCall call) {
    running.cancel(Bodies.id(call, "id"), call.caller().tenant(), call.caller().subject());
    return HttpAnswer.json(202, JsonValue.object().put("cancelling", call.value("id")).build());
  }

  private HttpAnswer approval(HttpCall call) {
    Envelope approval = Bodies.envelope(call);
    if (!approval.payloadType().equals(Approval.TYPE)) {
      throw new WritException(GatewayError.PARAMETER, "the body is no approval");
    }
    return ofSigner(
        call,
        approval,
        _ -> {
          Answer answer = kernel.approve(approval);
          return HttpAnswer.json(
              200,
              JsonValue.object()
                  .put("request_id", answer.request())
                  .put("verdict", answer.decision().verdict().name())
                  .put("decision_id", answer.decisionEnvelope().id())
                  .build());
        });
  }

  private HttpAnswer close(HttpCall call) {
    Envelope close = Bodies.envelope(call);
    RunClose read = RunClose.read(close.document());
    if (!read.run().equals(RunRoutes.named(call))) {
      throw new WritException(
          GatewayError.PARAMETER, "the address names another run than the document");
    }
    return ofSigner(
        call,
        close,
        _ -> {
          Checkpoint checkpoint = kernel.closeRun(close);
          return HttpAnswer.of(200, LogRoutes.CHECKPOINT_TYPE, checkpoint.toBytes());
        });
  }

  /** Runs the work within the limits of the signer. */
  private HttpAnswer ofSigner(
      HttpCall call, Envelope envelope, Function<TrustedKey, HttpAnswer> work) {
    TrustedKey signer = Bodies.admit(call, envelope, kernel);
    try {
      return work.apply(signer);
    } finally {
      backend.changes().happened();
    }
  }
}

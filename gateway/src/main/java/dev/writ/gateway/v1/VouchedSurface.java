package dev.writ.gateway.v1;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.pipeline.ToolPackages;
import dev.writ.gateway.pipeline.WaitingRequests;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import java.util.List;
import java.util.Optional;

/**
 * The native API for callers without a key: they state an effect, and the server signs the request
 * for them (spec/client.md). The answer has that request, so that a client can verify all of it.
 */
public final class VouchedSurface implements Surface {
  public static final String NAME = "vouched";
  private static final String PATH = "/v1/vouched-effects";
  private static final int BYTES_MAX = 1 << 20;

  private final Pipeline pipeline;
  private final EffectCompletion completion;
  private final WaitingRequests waiting;

  /**
   * @param packages the registered tools
   */
  public VouchedSurface(Pipeline pipeline, ToolPackages packages) {
    this.pipeline = pipeline;
    this.completion = new EffectCompletion(pipeline.kernel(), packages);
    this.waiting = new WaitingRequests(pipeline.ledger(), pipeline.kernel()::system);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.post(PATH, Route.Access.CALLER, BYTES_MAX, this::ask),
        new Route(
            "POST",
            PATH + "/{id}",
            Route.Access.CALLER,
            new Route.Body.None(),
            _ -> true,
            this::again));
  }

  private HttpAnswer ask(HttpCall call) {
    Bodies.requireJson(call);
    Caller caller = call.caller();
    Fields fields = Fields.of("body", Jcs.parse(call.body()));
    String run = fields.name("run");
    Optional<String> key = fields.optional("idempotency_key", fields::name);
    List<Digest> consumes =
        fields.optional("consumes", k -> fields.list(k, Fields::digestItem)).orElse(List.of());
    boolean keep =
        fields
            .optional(
                "retention", k -> fields.oneOf(k, List.of("keep", "drop-output"), text -> text))
            .map("keep"::equals)
            .orElse(true);
    EffectCompletion.Stated stated = EffectCompletion.Stated.read(fields.fields("effect"));
    fields.end();
    Bodies.requireSameKey(call, key);
    return answer(
        asked(
            caller,
            new Pipeline.Vouched(
                NAME,
                caller.method(),
                caller.principal(),
                call.rawDigest(),
                caller.tenant(),
                run,
                caller.subject(),
                completion.complete(caller, run, stated),
                consumes,
                key,
                keep,
                call.trace().putTo(JsonValue.object()).build())));
  }

  /**
   * Under a key a repeat is the request that waits for approval, or that was decided meanwhile: a
   * key is taken at the dispatch only, and the approver would approve another one each time.
   */
  private Answer asked(Caller caller, Pipeline.Vouched asked) {
    Optional<Digest> earlier =
        asked.idempotencyKey().isPresent()
            ? waiting.find(asked, caller, pipeline.look())
            : Optional.empty();
    return earlier.isPresent()
        ? pipeline.again(caller, earlier.get(), Optional.empty())
        : pipeline.vouch(asked);
  }

  /** The same signed request once more: after an approval it is executed. */
  private HttpAnswer again(HttpCall call) {
    Caller caller = call.caller();
    Digest id = Bodies.id(call, "id");
    request(id)
        .map(envelope -> Request.read(envelope.document()))
        .filter(request -> request.scope().tenant().equals(caller.tenant()))
        .filter(request -> request.scope().subject().equals(caller.subject()))
        .flatMap(Request::origin)
        .map(Origin::surface)
        .filter(NAME::equals)
        .orElseThrow(() -> new WritException(GatewayError.UNKNOWN_ID, id.toString()));
    return answer(pipeline.again(caller, id, Optional.empty()));
  }

  private Optional<Envelope> request(Digest id) {
    return pipeline
        .ledger()
        .document(id)
        .filter(envelope -> envelope.payloadType().equals(Request.TYPE));
  }

  /** With the request that the decision is on, which under an idempotency key may be another. */
  private HttpAnswer answer(Answer answer) {
    return Replies.of(
        answer,
        pipeline.kernel().explanations().guidance(answer),
        request(answer.decision().request()));
  }
}

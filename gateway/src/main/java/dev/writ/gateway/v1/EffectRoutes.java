package dev.writ.gateway.v1;

import static dev.writ.gateway.http.Route.Access.CALLER;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.gateway.http.Caller;
import dev.writ.gateway.http.HttpAnswer;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.view.Effects;
import dev.writ.gateway.view.Waiting;
import dev.writ.guardian.policy.Policy;
import dev.writ.verify.bundle.BundleExport;
import java.util.List;
import java.util.Optional;

/** Effects as rows, the whole story of one, and what waits for approval. */
final class EffectRoutes {
  /** Entries of a page of waiting requests, as long as their payloads fit into it. */
  private static final int WAITING_MAX = 1000;

  private final Reader reader;
  private final Effects effects;
  private final Waiting waiting;

  EffectRoutes(Reader reader, Effects effects, BundleExport.Packages packages) {
    this.reader = reader;
    this.effects = effects;
    this.waiting =
        new Waiting(
            reader.kernel().ledger(),
            () -> reader.kernel().system().policyInForce(),
            packages::manifest);
  }

  List<Route> routes() {
    return List.of(
        Route.get("/v1/effects", CALLER, this::list),
        Route.get("/v1/effects/{id}", CALLER, this::show),
        Route.get("/v1/approvals", CALLER, this::waiting));
  }

  private HttpAnswer list(HttpCall call) {
    return HttpAnswer.json(
        200, effects.page(EffectQueries.of(call), new CallerSight(reader, call.caller())).toJson());
  }

  private HttpAnswer show(HttpCall call) {
    Digest id = Bodies.id(call, "id");
    return HttpAnswer.json(
        200,
        effects
            .detail(id, new CallerSight(reader, call.caller()), new KernelSurround(reader.kernel()))
            .orElseThrow(() -> Reader.unknown(id))
            .toJson());
  }

  /** The tenant's requests that wait for approval, for its approvers. */
  private HttpAnswer waiting(HttpCall call) {
    Caller caller = call.caller();
    int limit = EffectQueries.limit(call, WAITING_MAX, WAITING_MAX);
    Optional<Digest> after = Bodies.parameter(call, "after").map(Digest::parse);
    Policy policy = reader.kernel().system().policyInForce();
    boolean approves = caller.approves(policy);
    Waiting.Page page =
        approves
            ? waiting.page(caller.tenant(), after, limit)
            : new Waiting.Page(List.of(), Optional.empty());
    ObjectBuilder json =
        JsonValue.object()
            .putList("waiting", page.waiting(), view -> view.toJson())
            .putIfPresent("next_after", page.next(), id -> JsonValue.of(id.toString()));
    if (approves) {
      json.putList("my_roles", caller.approverRoles(policy), JsonValue::of);
    }
    return HttpAnswer.json(200, json.build());
  }
}

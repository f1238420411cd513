package dev.writ.gateway.v1;

import static dev.writ.gateway.http.Route.Access.CALLER;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.statistics.Statistics;
import dev.writ.gateway.view.EffectDetail;
import dev.writ.gateway.view.Effects;
import dev.writ.gateway.view.Waiting;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.verify.bundle.BundleExport;
import java.util.List;
import java.util.Optional;

/** Effects as rows, the whole story of one, what waits for approval, and counts of the last day. */
final class EffectRoutes {
  /** Entries of a page of waiting requests, as long as their payloads fit into it. */
  private static final int WAITING_MAX = 1000;

  /** A story has the request as it was signed, and what it says, until it is sent. */
  private static final int COPIES = 4;

  private static final long DAY_S = 86_400;

  private final Reader reader;
  private final Effects effects;
  private final Waiting waiting;
  private final Statistics statistics;

  EffectRoutes(
      Reader reader, Effects effects, BundleExport.Packages packages, Statistics statistics) {
    this.statistics = statistics;
    this.reader = reader;
    this.effects = effects;
    this.waiting =
        new Waiting(reader.kernel().ledger(), () -> reader.kernel().system(), packages::manifest);
  }

  List<Route> routes() {
    return List.of(
        Route.get("/v1/effects", CALLER, this::list),
        Route.get("/v1/effects/{id}", CALLER, this::show),
        Route.get("/v1/approvals", CALLER, this::waiting),
        Route.get("/v1/statistics", CALLER, this::statistics));
  }

  private HttpAnswer list(HttpCall call) {
    return HttpAnswer.json(
        200, effects.page(EffectQueries.of(call), new CallerSight(reader, call.caller())).toJson());
  }

  private HttpAnswer show(HttpCall call) {
    Digest id = Bodies.id(call, "id");
    CallerSight sight = new CallerSight(reader, call.caller());
    effects.find(id, sight).orElseThrow(() -> Reader.unknown(id));
    byte[] request = reader.kernel().ledger().document(id).orElseThrow().payload();
    call.admission().weigh(request);
    call.admission().reserve((long) COPIES * request.length);
    EffectDetail detail =
        effects
            .detail(id, sight, new KernelSurround(reader.kernel()))
            .orElseThrow(() -> Reader.unknown(id));
    if (detail.contents()) {
      reader
          .records()
          .effect(
              call.caller(),
              detail.row().scope(),
              id,
              ReadClass.PARAMETERS,
              ReadClass.OBSERVATIONS);
    }
    return HttpAnswer.json(200, detail.toJson());
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
            ? Bodies.parameter(call, "request")
                .map(Digest::parse)
                .map(id ->
                    waiting.only(caller.tenant(), call.receivedAt(), id, call.admission()::weigh))
                .orElseGet(() ->
                    waiting.page(
                        caller.tenant(), call.receivedAt(), after, limit, call.admission()::weigh))
            : new Waiting.Page(List.of(), Optional.empty());
    reader.records().waiting(caller, page.waiting());
    ObjectBuilder json =
        JsonValue.object()
            .putList("waiting", page.waiting(), view -> view.toJson())
            .putIfPresent("next_after", page.next(), id -> JsonValue.of(id.toString()));
    if (approves) {
      json.putList("my_roles", caller.approverRoles(policy), JsonValue::of);
    }
    return HttpAnswer.json(200, json.build());
  }

  private HttpAnswer statistics(HttpCall call) {
    Caller caller = call.caller();
    long seconds = Bodies.number(call, "step_s").orElse(60L);
    long steps = Bodies.number(call, "steps").orElse(60L);
    if (seconds < 60 || seconds % 60 != 0 || steps < 1 || steps > DAY_S / seconds) {
      throw new WritException(
          GatewayError.PARAMETER,
          "step_s is a multiple of 60, and step_s × steps at most a day, " + DAY_S);
    }
    if (!reader.seesAllRows(caller)) {
      throw new WritException(GatewayError.STATISTICS_OF_ALL, caller.subject());
    }
    int step = Math.toIntExact(seconds / 60);
    return HttpAnswer.json(200, statistics.table(caller.tenant(), step, Math.toIntExact(steps)));
  }
}

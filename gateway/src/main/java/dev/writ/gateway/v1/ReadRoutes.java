package dev.writ.gateway.v1;

import static dev.writ.gateway.http.Route.Access.CALLER;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.Kernel;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.view.StatedReads;
import dev.writ.guardian.policy.PolicyPerson.Look;
import dev.writ.guardian.policy.retention.ReadClass;
import java.util.List;

/** What people read, for the auditors of their tenant (spec/read-event.md). */
final class ReadRoutes {
  private static final int LIMIT = 50;
  private static final int LIMIT_MAX = 200;
  private static final List<String> PARAMETERS =
      List.of("limit", "before", "subject", "run", "what", "from", "to");

  private final Kernel kernel;

  ReadRoutes(Kernel kernel) {
    this.kernel = kernel;
  }

  List<Route> routes() {
    return List.of(Route.get("/v1/reads", CALLER, this::reads));
  }

  private HttpAnswer reads(HttpCall call) {
    Caller caller = call.caller();
    if (!caller.looksAs(kernel.system().policyInForce()).contains(Look.AUDITOR)) {
      throw new WritException(GatewayError.NOT_AUDITOR, caller.subject());
    }
    StatedReads.Page page = new StatedReads(kernel.ledger(), caller.tenant()).page(query(call));
    return HttpAnswer.json(200, page.toJson(signers(page))).with("Cache-Control", "no-store");
  }

  private static StatedReads.Query query(HttpCall call) {
    EffectQueries.requireKnown(call, PARAMETERS);
    return new StatedReads.Query(
        EffectQueries.limit(call, LIMIT, LIMIT_MAX),
        Bodies.number(call, "before"),
        EffectQueries.text(call, "subject"),
        EffectQueries.text(call, "run"),
        EffectQueries.word(call, "what", ReadClass.ALL, ReadClass::text),
        EffectQueries.time(call, "from"),
        EffectQueries.time(call, "to"));
  }

  /** The keys that have signed what is on the page. */
  private List<JsonValue> signers(StatedReads.Page page) {
    Trust trust = kernel.system().trust();
    return page.rows().stream()
        .flatMap(row -> row.statement().signatures().stream())
        .flatMap(signature -> trust.key(signature.kid()).stream())
        .distinct()
        .<JsonValue>map(TrustedKey::toJson)
        .toList();
  }
}

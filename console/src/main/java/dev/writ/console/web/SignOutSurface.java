package dev.writ.console.web;

import static dev.writ.gateway.http.Route.Access.CALLER;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.console.operation.OperationError;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.guardian.policy.PolicyPerson.Look;
import java.util.List;
import java.util.function.Consumer;

/**
 * Signing out everywhere: all sessions of the caller, or, for an operator, of somebody of the
 * tenant (spec/console.md, 2a).
 */
public final class SignOutSurface implements Surface {
  private final Pipeline pipeline;
  private final Sessions sessions;
  private final Consumer<Ended> told;

  /**
   * What was ended.
   *
   * @param by the subject that asked for it
   * @param count sessions that were open
   */
  public record Ended(String tenant, String subject, String by, int count) {}

  /**
   * @param told is told of each, for the log of whoever runs the server
   */
  public SignOutSurface(Pipeline pipeline, Sessions sessions, Consumer<Ended> told) {
    this.pipeline = pipeline;
    this.sessions = sessions;
    this.told = told;
  }

  @Override
  public String name() {
    return "sign-out";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        new Route(
            "DELETE", "/console/sessions", CALLER, new Route.Body.None(), _ -> true, this::end));
  }

  private HttpAnswer end(HttpCall call) {
    Caller caller = call.caller();
    List<String> named = call.query().getOrDefault("subject", List.of(caller.subject()));
    if (named.size() > 1 || named.getFirst().isEmpty()) {
      throw new WritException(GatewayError.PARAMETER, "subject is one name");
    }
    String subject = named.getFirst();
    boolean own = caller.isOf(caller.tenant(), subject);
    if (!own && !caller.looksAs(pipeline.policy()).contains(Look.OPERATOR)) {
      throw new WritException(OperationError.OTHERS_SESSIONS, caller.subject());
    }
    int count = sessions.endAll(caller.tenant(), subject, call.receivedAt());
    told.accept(new Ended(caller.tenant(), subject, caller.subject(), count));
    HttpAnswer answer =
        HttpAnswer.json(200, JsonValue.object().put("ended", count).build())
            .with("Cache-Control", "no-store");
    return own ? answer.with("Set-Cookie", sessions.forgotten()) : answer;
  }
}

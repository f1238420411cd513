package dev.writ.console.web;

import static dev.writ.gateway.http.Route.Access.CALLER;
import static dev.writ.gateway.http.Route.Access.PUBLIC;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.console.oidc.OidcSurface;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.AccessAuthentication;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.http.auth.SignInCodes;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.guardian.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/** The console: its page and the sessions of who signs in. What it shows it reads from the API. */
public final class ConsoleSurface implements Surface {
  private static final String SESSION = "/console/session";

  /** The kinds of credentials that open a session. */
  private static final List<String> OPENING =
      List.of(Tokens.METHOD, Certificates.METHOD, SignInCodes.METHOD);

  /** Nothing but what this origin serves runs or is shown, and no text becomes markup. */
  private static final String CONTENT_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:;"
          + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
          + " require-trusted-types-for 'script'; trusted-types 'none'";

  private static final List<Map.Entry<String, String>> GUARDS =
      List.of(
          Map.entry("Content-Security-Policy", CONTENT_POLICY),
          Map.entry("Cross-Origin-Opener-Policy", "same-origin"),
          Map.entry("Cross-Origin-Resource-Policy", "same-origin"),
          Map.entry(
              "Permissions-Policy",
              "camera=(), geolocation=(), microphone=(), payment=(), usb=(),"
                  + " publickey-credentials-create=(self), publickey-credentials-get=(self)"),
          Map.entry("Referrer-Policy", "no-referrer"));

  /** Roles whose keys people keep. */
  private static final List<KeyRole> PERSONAL =
      List.of(KeyRole.APPROVER, KeyRole.OPERATOR, KeyRole.POLICY_OWNER);

  private final Pipeline pipeline;
  private final Sessions sessions;
  private final Server server;

  /** Made when the first page asks: most servers have none. */
  private SortedMap<String, Asset> assets;

  /**
   * What the page says of the server.
   *
   * @param certificates whether a client certificate signs somebody in
   */
  public record Server(String version, String region, boolean certificates) {}

  public ConsoleSurface(Pipeline pipeline, Sessions sessions, Server server) {
    this.pipeline = pipeline;
    this.sessions = sessions;
    this.server = server;
  }

  @Override
  public String name() {
    return "console";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/", PUBLIC, call -> asset(call, "index.html")),
        Route.get("/console/sign-in", PUBLIC, _ -> ways()),
        new Route(
            "POST", "/console/sign-in-codes", CALLER, new Route.Body.None(), _ -> true, this::code),
        new Route("POST", SESSION, CALLER, new Route.Body.None(), _ -> true, this::signIn),
        Route.get(SESSION, CALLER, this::session),
        new Route("DELETE", SESSION, CALLER, new Route.Body.None(), _ -> true, this::signOut),
        Route.get("/console/{+file}", PUBLIC, call -> asset(call, call.value("file"))));
  }

  private synchronized SortedMap<String, Asset> assets() {
    if (assets == null) {
      assets = Assets.all();
    }
    return assets;
  }

  private HttpAnswer asset(HttpCall call, String name) {
    Asset asset = assets().get(name);
    if (asset == null) {
      throw new WritException(GatewayError.NO_ROUTE, "");
    }
    HttpAnswer answer = asset.answer(call.headers());
    for (Map.Entry<String, String> guard : GUARDS) {
      answer = answer.with(guard.getKey(), guard.getValue());
    }
    return answer;
  }

  private HttpAnswer ways() {
    List<String> ways = new ArrayList<>(List.of("token"));
    if (server.certificates()) {
      ways.add("certificate");
    }
    if (sessions.provider().isPresent()) {
      ways.add(OidcSurface.WAY);
    }
    return fresh(
        HttpAnswer.json(200, JsonValue.object().putList("ways", ways, JsonValue::of).build()));
  }

  /** A code for who shows an access document: its key then opens a session in a browser. */
  private HttpAnswer code(HttpCall call) {
    Caller caller = call.caller();
    if (!caller.method().equals(AccessAuthentication.METHOD)) {
      throw new WritException(GatewayError.NO_SESSION_FOR, "it is of the kind " + caller.method());
    }
    SignInCodes.Issued issued = sessions.codes().issue(caller, call.receivedAt());
    return fresh(
        HttpAnswer.json(
            201,
            JsonValue.object()
                .put("code", issued.text())
                .put("expires_at", issued.expiresAt())
                .build()));
  }

  /** Opens a session for who shows a token, a certificate or a code. */
  private HttpAnswer signIn(HttpCall call) {
    Caller caller = call.caller();
    if (!OPENING.contains(caller.method())) {
      throw new WritException(GatewayError.NO_SESSION_FOR, "it is of the kind " + caller.method());
    }
    return fresh(empty()).with("Set-Cookie", sessions.open(caller, call.receivedAt()));
  }

  private HttpAnswer session(HttpCall call) {
    Caller caller = call.caller();
    Sessions.Seen seen =
        sessions
            .of(call.headers(), call.receivedAt())
            .orElseThrow(() -> new WritException(GatewayError.SESSION_ENDED, "there is none"));
    Policy policy = pipeline.policy();
    return fresh(
        HttpAnswer.json(
            200,
            JsonValue.object()
                .put("tenant", caller.tenant())
                .put("subject", caller.subject())
                .putList("roles", List.copyOf(caller.who(policy).roles()), JsonValue::of)
                .putList("people_roles", caller.looksAs(policy), look -> JsonValue.of(look.word()))
                .putList(
                    "approver_roles",
                    policy.approverRoles(caller.tenant(), caller.subject()).stream()
                        .filter(role -> caller.roles().isEmpty() || caller.roles().contains(role))
                        .toList(),
                    JsonValue::of)
                .putList("keys", keys(caller), TrustedKey::toJson)
                .put("by", seen.by().method())
                .put("csrf", seen.csrf())
                .put("now", pipeline.look())
                .put("expires_at", seen.endsAt())
                .put("log_origin", pipeline.ledger().origin())
                .put(
                    "server",
                    JsonValue.object()
                        .put("version", server.version())
                        .put("region", server.region())
                        .build())
                .build()));
  }

  /** The enrolled keys of the person: in its tenant, and those of the installation by its name. */
  private List<TrustedKey> keys(Caller caller) {
    return pipeline.kernel().system().trust().keys().values().stream()
        .filter(key -> PERSONAL.contains(key.role()))
        .filter(key -> key.subject().equals(caller.subject()))
        .filter(key -> key.tenant().filter(t -> !t.equals(caller.tenant())).isEmpty())
        .toList();
  }

  private HttpAnswer signOut(HttpCall call) {
    sessions.of(call.headers(), call.receivedAt()).ifPresent(seen -> sessions.end(seen.id()));
    return fresh(empty()).with("Set-Cookie", sessions.forgotten());
  }

  private static HttpAnswer empty() {
    return new HttpAnswer(204, List.of(), new HttpAnswer.Body.Bytes(new byte[0]));
  }

  private static HttpAnswer fresh(HttpAnswer answer) {
    return answer.with("Cache-Control", "no-store");
  }
}

package dev.writ.console.oidc;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Hosts;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.auth.OidcProvider;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.http.message.HttpAnswer;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Sends a browser to the provider by whom people sign in, and opens a session when it comes back.
 * Whoever is refused gets the page for signing in, with the code of the refusal.
 */
public final class OidcSurface implements Surface {
  /** The way's name in what the page is told. */
  public static final String WAY = "oidc";

  private static final String BEGIN = "/console/oidc";
  private static final String CALLBACK = "/console/oidc/callback";
  private static final String OUT = "/console/oidc/out";

  /** What an address of the page may have behind {@code #}. */
  private static final String TARGET = "#/[A-Za-z0-9/?&=.,:;%_~+*'()!@$-]{0,1000}";

  private static final List<String> OWN_SITE = List.of("same-origin", "none");

  /** Of refusals in one second: strangers can cause them. */
  private static final int TOLD_MAX = 10;

  private final Sessions sessions;
  private final Attempts attempts;
  private final InstantSource clock;
  private final Consumer<WritException> refusals;
  private Provider provider;
  private long second;
  private int told;

  /**
   * @param clock the server's
   * @param refusals is told, for whoever runs the server, what the page is not: why. It says
   *     nothing of the person, and no secret
   */
  public OidcSurface(
      Sessions sessions,
      SecureRandom random,
      InstantSource clock,
      Consumer<WritException> refusals) {
    this.sessions = sessions;
    this.clock = clock;
    this.refusals = refusals;
    this.attempts = new Attempts(random, sessions.isSecure());
  }

  @Override
  public String name() {
    return "sign-in";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get(BEGIN, Route.Access.PUBLIC, call -> telling(call, this::begin)),
        Route.get(CALLBACK, Route.Access.PUBLIC, call -> telling(call, this::end)),
        Route.get(OUT, Route.Access.PUBLIC, call -> telling(call, this::out)));
  }

  private HttpAnswer telling(HttpCall call, Route.Handler handler) {
    try {
      return handler.handle(call);
    } catch (WritException e) {
      if (e.code() instanceof OidcError && isToTell(call.receivedAt().getEpochSecond())) {
        refusals.accept(e);
      }
      throw e;
    }
  }

  private synchronized boolean isToTell(long now) {
    told = now == second ? told + 1 : 1;
    second = now;
    return told <= TOLD_MAX;
  }

  /** A browser is shown the page, which says what the code means. */
  @Override
  public Optional<HttpAnswer> refusal(int status, WritException refused) {
    boolean page =
        refused.code() instanceof OidcError
            || List.of(GatewayError.SERVER_BUSY, GatewayError.SESSIONS_MANY)
                .contains(refused.code());
    return page ? Optional.of(to("/?refused=" + refused.code().code())) : Optional.empty();
  }

  private static void requireOwnSite(HttpCall call) {
    if (call.headers().one("sec-fetch-site").filter(s -> !OWN_SITE.contains(s)).isPresent()) {
      throw new WritException(GatewayError.CROSS_SITE, "");
    }
  }

  /** Where the person signs out at the provider, too; the session here has ended by then. */
  private HttpAnswer out(HttpCall call) {
    requireOwnSite(call);
    return to(provider().out().orElse("/"));
  }

  private HttpAnswer begin(HttpCall call) {
    requireOwnSite(call);
    Provider by = provider();
    String target = parameter(call, "to").filter(to -> to.matches(TARGET)).orElse("");
    String redirect = redirect(by, call);
    Attempts.Attempt attempt = attempts.begin(about(by, redirect), target, call.receivedAt());
    return to(by.address(attempt, redirect)).with("Set-Cookie", attempts.set(attempt));
  }

  private HttpAnswer end(HttpCall call) {
    Provider by = provider();
    String redirect = redirect(by, call);
    Attempts.Attempt attempt =
        attempts.end(
            about(by, redirect),
            call.headers(),
            parameter(call, "state").orElse(""),
            call.remote(),
            call.receivedAt());
    by.requireIssuer(parameter(call, "iss"));
    Optional<String> error = parameter(call, "error");
    if (error.isPresent()) {
      throw new WritException(
          OidcError.REFUSED,
          "it says no" + error.filter(OidcSurface::isWord).map(word -> ", " + word).orElse(""));
    }
    String code =
        parameter(call, "code")
            .filter(text -> text.matches("[ -~]{1,2000}"))
            .orElseThrow(() -> new WritException(OidcError.REFUSED, "it gives no code"));
    Caller caller = by.redeem(attempt, code, redirect, call.remote(), call.receivedAt());
    return to("/" + attempt.target())
        .with("Set-Cookie", sessions.open(caller, call.receivedAt()))
        .with("Set-Cookie", attempts.forgotten());
  }

  static boolean isWord(String text) {
    return text.matches("[A-Za-z0-9_.-]{1,64}");
  }

  /** The provider in force, with what is known of it. */
  private synchronized Provider provider() {
    OidcProvider now =
        sessions.provider().orElseThrow(() -> new WritException(GatewayError.NO_ROUTE, ""));
    if (provider == null || !provider.configured().equals(now)) {
      if (provider != null) {
        provider.close();
      }
      provider = new Provider(now, clock);
    }
    return provider;
  }

  /** Where the browser comes back to: by the configured address, or the name of this machine. */
  private static String redirect(Provider by, HttpCall call) {
    Optional<String> configured = by.settings().address();
    if (configured.isPresent()) {
      return configured.get() + CALLBACK;
    }
    String host = call.headers().one("host").filter(Hosts::isLoopback).orElse("");
    if (host.isEmpty()) {
      throw new WritException(GatewayError.HOST, "without an address it is this machine alone");
    }
    return "http://" + host + CALLBACK;
  }

  private static String about(Provider by, String redirect) {
    return by.settings().identity().hex() + " " + redirect;
  }

  private static Optional<String> parameter(HttpCall call, String name) {
    List<String> values = call.query().getOrDefault(name, List.of());
    if (values.size() > 1) {
      throw new WritException(GatewayError.PARAMETER, name + " stands several times");
    }
    return values.stream().findFirst();
  }

  private static HttpAnswer to(String address) {
    return new HttpAnswer(303, List.of(), new HttpAnswer.Body.Bytes(new byte[0]))
        .with("Location", address)
        .with("Cache-Control", "no-store")
        .with("Referrer-Policy", "no-referrer");
  }

  @Override
  public synchronized void close() {
    if (provider != null) {
      provider.close();
    }
  }
}

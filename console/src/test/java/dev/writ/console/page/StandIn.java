package dev.writ.console.page;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.http.HttpAnswer;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import java.util.List;
import java.util.TreeMap;

/** Serves the pages to a browser that brings a token in each of its calls. */
final class StandIn implements Surface {
  static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:;"
          + " connect-src 'self'; font-src 'none'; base-uri 'none'; form-action 'none';"
          + " frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

  private final TreeMap<String, String> files = PageFiles.all();

  @Override
  public String name() {
    return "console";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/", Route.Access.PUBLIC, _ -> file("index.html")),
        Route.get("/console/session", Route.Access.CALLER, StandIn::session),
        Route.get("/console/{+file}", Route.Access.PUBLIC, call -> file(call.value("file"))));
  }

  private HttpAnswer file(String name) {
    String text = files.get(name);
    if (text == null) {
      return HttpAnswer.text(404, name);
    }
    String type =
        switch (name.substring(name.lastIndexOf('.') + 1)) {
          case "html" -> "text/html";
          case "css" -> "text/css";
          case "json" -> "application/json";
          case "svg" -> "image/svg+xml";
          default -> "text/javascript";
        };
    return HttpAnswer.of(200, type + "; charset=utf-8", text.getBytes(UTF_8))
        .with("Content-Security-Policy", POLICY);
  }

  private static HttpAnswer session(HttpCall call) {
    return HttpAnswer.json(
        200,
        JsonValue.object()
            .put("tenant", TestKeys.TENANT)
            .put("subject", call.caller().subject())
            .putList("people_roles", List.of("auditor"), JsonValue::of)
            .putList("approver_roles", List.of("reviewer"), JsonValue::of)
            .put("csrf", "none")
            .put("expires_at", TestHome.START.plusSeconds(3600))
            .put("log_origin", TestHome.ORIGIN)
            .build());
  }
}

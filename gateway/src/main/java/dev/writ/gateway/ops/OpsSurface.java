package dev.writ.gateway.ops;

import static dev.writ.gateway.http.Route.Access.CALLER;
import static dev.writ.gateway.http.Route.Access.PUBLIC;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.message.HttpAnswer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;

/** Routes for health, readiness and metrics. */
public final class OpsSurface implements Surface {
  private final Supplier<List<Readiness.Check>> readiness;
  private final Supplier<String> metrics;
  private final boolean publicMetrics;

  /**
   * @param readiness the conditions of readiness, now
   * @param publicMetrics whether anybody who reaches the server may read metrics
   */
  public OpsSurface(
      Supplier<List<Readiness.Check>> readiness, Metrics metrics, boolean publicMetrics) {
    this(readiness, metrics::text, publicMetrics);
  }

  /**
   * The same with metrics from several places.
   *
   * @param metrics the text of a scrape
   */
  public OpsSurface(
      Supplier<List<Readiness.Check>> readiness, Supplier<String> metrics, boolean publicMetrics) {
    this.readiness = readiness;
    this.metrics = metrics;
    this.publicMetrics = publicMetrics;
  }

  @Override
  public String name() {
    return "ops";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/health", PUBLIC, _ -> health()),
        Route.get("/ready", PUBLIC, _ -> ready()),
        Route.get("/metrics", publicMetrics ? PUBLIC : CALLER, _ -> metrics()));
  }

  private static HttpAnswer health() {
    return HttpAnswer.json(200, JsonValue.object().put("status", "healthy").build());
  }

  private HttpAnswer ready() {
    List<Readiness.Check> checks = readiness.get();
    boolean ready = checks.stream().allMatch(Readiness.Check::ok);
    HttpAnswer answer =
        HttpAnswer.json(
            ready ? 200 : 503,
            JsonValue.object()
                .put("ready", ready)
                .putList(
                    "checks",
                    checks,
                    c ->
                        JsonValue.object()
                            .put("name", c.name())
                            .put("ok", c.ok())
                            .putIfPresent("why", c.why(), JsonValue::of)
                            .build())
                .build());
    return ready ? answer : answer.with("Retry-After", "1");
  }

  private HttpAnswer metrics() {
    return HttpAnswer.of(
        200,
        "text/plain; version=0.0.4; charset=utf-8",
        metrics.get().getBytes(StandardCharsets.UTF_8));
  }
}

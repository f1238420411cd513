package dev.writ.cli.home;

import static dev.writ.gateway.http.Route.Access.CALLER;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.Kernel;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.guardian.PolicyExplain;
import dev.writ.ledger.Ledger;
import java.util.List;
import java.util.function.Function;

/**
 * What the commands of a home have its server do that nobody signs: to collect uploads, to apply
 * the rules of retention, to archive runs, to explain a request, to measure a workspace. Only who
 * knows the token of {@code serving.json} may, which is whoever may read the home; none of it
 * depends on the subject that the token names.
 */
public final class HomeSurface implements Surface {
  public static final String COLLECT = "/home/collect";
  public static final String RETAIN = "/home/retain";
  public static final String ARCHIVE = "/home/archive";
  public static final String EXPLAIN = "/home/explain";
  public static final String WORKSPACE = "/home/workspace";
  private static final int REQUEST_BYTES_MAX = 16 << 20;

  private final OpenHome home;
  private final Kernel kernel;
  private final RunWorkspaces workspaces;
  private final Tokens.Entry token;

  /**
   * @param token of {@code serving.json}
   */
  public HomeSurface(OpenHome home, Tokens.Entry token) {
    this.home = home;
    this.kernel = home.kernel();
    this.workspaces = home.workspaces();
    this.token = token;
  }

  @Override
  public String name() {
    return "home";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        post(COLLECT, 1, _ -> collect()),
        post(RETAIN, 1, _ -> retain()),
        post(
            ARCHIVE, REQUEST_BYTES_MAX, call -> ArchiveOrder.read(call.body()).work(home).toJson()),
        post(EXPLAIN, REQUEST_BYTES_MAX, call -> explain(call.body())),
        Route.get(WORKSPACE, CALLER, call -> answer(call, this::workspace)));
  }

  private Route post(String path, int bytesMax, Function<HttpCall, JsonValue.Obj> work) {
    return Route.post(path, CALLER, bytesMax, call -> answer(call, work));
  }

  private HttpAnswer answer(HttpCall call, Function<HttpCall, JsonValue.Obj> work) {
    boolean isOfTheHome =
        call.caller().method().equals(Tokens.METHOD)
            && call.caller().fingerprint().equals(token.digest().hex());
    if (!isOfTheHome) {
      throw new WritException(GatewayError.NOT_GRANTED, "only commands of the home may");
    }
    return HttpAnswer.json(200, work.apply(call)).with("Cache-Control", "no-store");
  }

  private JsonValue.Obj collect() {
    Ledger.Collected collected = kernel.contents().collect(kernel.look());
    return JsonValue.object()
        .put("uploads", collected.claims())
        .put("blobs", collected.blobs())
        .put("bytes", collected.bytes())
        .put("bytes_max", kernel.system().policyInForce().storage().bytesMax())
        .putList(
            "tenants",
            List.copyOf(kernel.contents().storageUse().entrySet()),
            use ->
                JsonValue.object()
                    .put("tenant", use.getKey())
                    .put("uploads", use.getValue().blobs())
                    .put("bytes", use.getValue().bytes())
                    .build())
        .build();
  }

  private JsonValue.Obj retain() {
    ContentRetention.Deleted deleted = kernel.contents().retain(kernel.now()).deleted();
    return JsonValue.object()
        .put("contents", deleted.contents())
        .put("bytes", deleted.bytes())
        .put("statements", deleted.statements())
        .build();
  }

  private JsonValue.Obj explain(byte[] request) {
    PolicyExplain explained = kernel.explanations().explain(request);
    return JsonValue.object()
        .put("explained", explained.toJson())
        .put("text", explained.render())
        .build();
  }

  private JsonValue.Obj workspace(HttpCall call) {
    return JsonValue.object()
        .put("digest", workspaces.treeDigest(parameter(call, "tenant"), parameter(call, "run")))
        .build();
  }

  private static String parameter(HttpCall call, String name) {
    List<String> values = call.query().getOrDefault(name, List.of());
    if (values.size() != 1) {
      throw new WritException(GatewayError.PARAMETER, name + " is needed, once");
    }
    return values.getFirst();
  }
}

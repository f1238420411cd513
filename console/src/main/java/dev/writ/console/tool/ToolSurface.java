package dev.writ.console.tool;

import static dev.writ.gateway.http.Route.Access.CALLER;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.executor.SystemState;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.v1.Reader;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.PolicyPerson;
import dev.writ.tools.review.PackageDifference;
import dev.writ.tools.review.ReviewedPackage;
import dev.writ.verify.bundle.BundleExport;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;

/** Versions of tools over HTTP, for people (spec/tool-desk.md). */
public final class ToolSurface implements Surface {
  private static final String PATH = "/v1/tool-packages";
  private static final Set<PolicyPerson.Look> READERS =
      Set.of(PolicyPerson.Look.DEVELOPER, PolicyPerson.Look.OPERATOR, PolicyPerson.Look.AUDITOR);

  private final Pipeline pipeline;
  private final Reader reader;
  private final BundleExport.Packages packages;
  private final KnownTools tools;

  public ToolSurface(Pipeline pipeline, BundleExport.Packages packages) {
    this.pipeline = pipeline;
    this.reader = new Reader(pipeline.kernel());
    this.packages = packages;
    this.tools = new KnownTools(new ToolHistory(pipeline.ledger()));
  }

  @Override
  public String name() {
    return "tool-desk";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get(PATH, CALLER, this::list),
        Route.get(PATH + "/{name}/{version}", CALLER, this::one),
        Route.get(PATH + "/{name}/{version}/changes", CALLER, this::changes));
  }

  /** The state at one moment, for somebody who may see tools. */
  private SystemState state(Caller caller) {
    SystemState system = pipeline.kernel().system();
    if (caller.looksAs(system.policyInForce()).stream().noneMatch(READERS::contains)) {
      throw new WritException(ToolDeskError.NOT_SHOWN, caller.subject());
    }
    return system;
  }

  private HttpAnswer list(HttpCall call) {
    SystemState system = state(call.caller());
    String tenant = call.caller().tenant();
    return fresh(
        JsonValue.object()
            .putList("versions", tools.all(system), tool -> tool.summary(system, packages, tenant))
            .build());
  }

  private KnownTool tool(SystemState system, String name, String version) {
    return tools
        .version(system, name, version)
        .orElseThrow(() -> Reader.unknown(name + " " + version));
  }

  private HttpAnswer one(HttpCall call) {
    Caller caller = call.caller();
    SystemState system = state(caller);
    KnownTool tool = tool(system, call.value("name"), call.value("version"));
    Optional<ToolManifest> manifest = tool.manifest(packages);
    Optional<ReviewedPackage> reviewed = manifest.flatMap(this::read);
    ObjectBuilder json =
        tool.summary(system.policyInForce(), manifest, caller.tenant())
            .putIfPresent("manifest", manifest, ToolManifest::toJson)
            .putIfPresent("requests", reviewed, r -> texts(r.requests()))
            .putIfPresent("descriptions", reviewed, r -> texts(r.descriptions()))
            .putIfPresent("validation", tool.validation(), v -> v.toJson())
            .put("words", words(tool))
            .putList("history", tool.steps(), ToolStep::toJson)
            .putList("versions", versions(system, tool.name()), JsonValue::of)
            .putIfPresent(
                "callers",
                manifest,
                m -> ToolCallers.of(system.policyInForce(), caller.tenant(), m, tool.approved()));
    counted(caller, tool.name()).ifPresent(counts -> json.put("statistics", counts));
    return fresh(json.build());
  }

  private static JsonValue words(KnownTool tool) {
    return JsonValue.of(
        tool.submitted().stream()
            .flatMap(s -> s.words().entrySet().stream())
            .map(entry ->
                JsonValue.object()
                    .put("approver", entry.getKey())
                    .put("role", entry.getValue().role())
                    .put("verdict", entry.getValue().verdict().name().toLowerCase(Locale.ROOT))
                    .put("at", entry.getValue().at())
                    .build())
            .toList());
  }

  private List<String> versions(SystemState system, String name) {
    return tools.all(system).stream()
        .filter(tool -> tool.name().equals(name))
        .map(KnownTool::version)
        .toList();
  }

  /** Of the caller's tenant, for those who see all that happens in it. */
  private Optional<JsonValue.Obj> counted(Caller caller, String name) {
    return reader.seesAllRows(caller)
        ? Optional.of(pipeline.statistics().ofTool(caller.tenant(), name))
        : Optional.empty();
  }

  /** Absent where its files are damaged. */
  private Optional<ReviewedPackage> read(ToolManifest manifest) {
    try {
      return Optional.of(ReviewedPackage.of(manifest, packages.files(manifest)));
    } catch (WritException broken) {
      return Optional.empty();
    }
  }

  private static JsonValue texts(SortedMap<String, String> texts) {
    ObjectBuilder json = JsonValue.object();
    texts.forEach(json::put);
    return json.build();
  }

  private HttpAnswer changes(HttpCall call) {
    Caller caller = call.caller();
    SystemState system = state(caller);
    List<String> from = call.query().getOrDefault("from", List.of());
    if (from.size() != 1) {
      throw new WritException(GatewayError.PARAMETER, "from names one version");
    }
    String name = call.value("name");
    KnownTool before = tool(system, name, from.getFirst());
    KnownTool after = tool(system, name, call.value("version"));
    ObjectBuilder json =
        JsonValue.object()
            .put("from", before.summary(system, packages, caller.tenant()))
            .put("to", after.summary(system, packages, caller.tenant()))
            .putList(
                "differences",
                PackageDifference.between(reviewed(before), reviewed(after)),
                PackageDifference::toJson);
    counted(caller, name).ifPresent(counts -> json.put("statistics", counts));
    if (reader.seesAllContents(caller)) {
      json.put(
          "same_calls",
          new SameCalls(pipeline.ledger())
              .between(
                  name,
                  before.version(),
                  after.version(),
                  reader.sight(caller),
                  scopes -> reader.records().parameters(caller, scopes)));
    }
    return fresh(json.build());
  }

  private ReviewedPackage reviewed(KnownTool tool) {
    return tool.manifest(packages)
        .flatMap(this::read)
        .orElseThrow(
            () -> new WritException(ToolDeskError.NO_PACKAGE, tool.name() + " " + tool.version()));
  }

  private static HttpAnswer fresh(JsonValue.Obj answer) {
    return HttpAnswer.json(200, answer).with("Cache-Control", "no-store");
  }
}

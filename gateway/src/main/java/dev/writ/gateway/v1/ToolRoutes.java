package dev.writ.gateway.v1;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Kernel;
import dev.writ.executor.SystemState;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.ToolPackages;
import dev.writ.gateway.pipeline.ToolUse;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.verify.bundle.BundleExport;
import java.util.List;

/** The registry for callers, with the same tools that MCP lists and the engine runs. */
final class ToolRoutes {
  private final Kernel kernel;
  private final BundleExport.Packages packages;

  ToolRoutes(Kernel kernel, BundleExport.Packages packages) {
    this.kernel = kernel;
    this.packages = packages;
  }

  List<Route> routes() {
    return List.of(Route.get("/v1/tools", Route.Access.CALLER, this::tools));
  }

  /** The tools with an operation that one of the caller's roles may use, by name and version. */
  private HttpAnswer tools(HttpCall call) {
    SystemState system = kernel.system();
    String run = Bodies.parameter(call, "run").orElse("");
    Policy policy = system.policyInForce();
    CanaryDraw draw = kernel.access().draw(call.caller().who(policy), run);
    List<JsonValue> tools =
        policy.tools().stream()
            .filter(tool -> !system.isProhibited(tool.ref().name(), tool.ref().version()))
            .filter(tool -> policy.mayRun(tool, draw))
            .flatMap(tool ->
                packages.manifest(tool.ref()).stream()
                    .flatMap(
                        manifest -> tool(call.caller(), policy, draw, tool, manifest).stream()))
            .toList();
    return HttpAnswer.json(200, JsonValue.object().put("tools", JsonValue.of(tools)).build());
  }

  private static List<JsonValue> tool(
      Caller caller, Policy policy, CanaryDraw draw, ApprovedTool approved, ToolManifest manifest) {
    List<JsonValue> operations =
        manifest.operations().stream()
            .flatMap(operation ->
                ToolUse.of(policy, caller, manifest, operation.name()).stream()
                    .map(use -> operation(operation, use)))
            .toList();
    if (operations.isEmpty()) {
      return List.of();
    }
    boolean isDefault =
        policy
            .defaultVersion(manifest.name(), draw)
            .filter(tool -> tool.ref().equals(approved.ref()))
            .isPresent();
    var tool =
        JsonValue.object()
            .put("toolId", manifest.name())
            .put("toolVersion", manifest.version())
            .put("packageDigest", manifest.packageDigest())
            .put("stage", approved.stage())
            .put("default", isDefault)
            .put("driver", manifest.driver())
            .put("operations", JsonValue.of(operations))
            .put("resources", manifest.resourcesMax().toJson());
    if (ToolPackages.isPackage(manifest)) {
      tool.put("language", manifest.driver())
          .put("resourceClass", ToolPackages.ownClass(manifest).text());
    }
    return List.of(tool.build());
  }

  /** With the sandbox and the most resources that this caller's roles allow. */
  private static JsonValue operation(ToolManifest.Operation operation, ToolUse use) {
    return JsonValue.object()
        .put("name", operation.name())
        .put("input", operation.input())
        .putIfPresent("output", operation.output(), schema -> schema)
        .put("mediaType", operation.mediaType())
        .put("sandbox", use.sandbox())
        .put("resources", use.most().toJson())
        .build();
  }
}

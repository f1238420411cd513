package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.tools.mcp.ListedTool;
import dev.writ.tools.mcp.LocalSpec;
import dev.writ.tools.mcp.PinnedTools;
import dev.writ.tools.mcp.ToolChange;
import dev.writ.tools.mcp.UpstreamPackage;
import java.nio.file.Path;
import java.util.List;

/** Reports a server that was registered, what it listed, and what is to be looked at. */
record RegisteredServer(
    UpstreamPackage upstream, List<String> warnings, Path policy, boolean allowed)
    implements Report {
  @Override
  public JsonValue toJson() {
    return JsonValue.object()
        .put("tool", upstream.manifest().ref().toJson())
        .putList("operations", operations(upstream), JsonValue::of)
        .putList("warnings", warnings, JsonValue::of)
        .put("allowed", allowed)
        .build();
  }

  void print(Terminal terminal) {
    terminal
        .out()
        .println(
            upstream.manifest().name()
                + " "
                + upstream.manifest().version()
                + " "
                + upstream.manifest().packageDigest());
    upstream
        .spec()
        .local()
        .flatMap(LocalSpec::npm)
        .ifPresent(npm ->
            terminal
                .out()
                .println(
                    "from npm: "
                        + npm.name()
                        + " "
                        + npm.version()
                        + " with "
                        + (npm.packages().size() - 1)
                        + " other packages, "
                        + npm.integrity()));
    print(terminal, upstream.tools());
    warnings.forEach(
        warning -> terminal.out().println(terminal.paint(Style.WARN, "warning") + "  " + warning));
    if (keepsNothing()) {
      terminal
          .out()
          .println(
              "it can write to /tmp and /workspace alone, which end with it; --state or"
                  + " --write FOLDER gives it a place to keep files");
    }
    if (allowed) {
      terminal.out().println(policy + " lets agents call it, once it is in force:");
      terminal.out().println("  " + Homes.activation(terminal, policy));
    }
  }

  private boolean keepsNothing() {
    return upstream
        .spec()
        .local()
        .map(LocalSpec::kept)
        .filter(kept -> kept.writes().isEmpty() && kept.stateBytes().isEmpty())
        .isPresent();
  }

  private static void print(Terminal terminal, PinnedTools tools) {
    Table table =
        new Table()
            .column("tool", Table.Fit.KEEP)
            .column("the server says", Table.Fit.KEEP)
            .column("description", Table.Fit.CUT);
    for (ListedTool tool : tools.byName().values()) {
      table.row(
          Table.cell(tool.name()),
          Table.cell(hints(tool), Style.DIM),
          Table.cell(ToolChange.visible(tool.description().orElse("").replace('\n', ' '))));
    }
    terminal.print(table);
  }

  /** The names of its tools, in their order. */
  static List<String> operations(UpstreamPackage upstream) {
    return List.copyOf(upstream.tools().byName().keySet());
  }

  /** The server's hints, which nobody has checked. */
  private static String hints(ListedTool tool) {
    return tool.annotations()
        .map(hints ->
            JsonValue.TRUE.equals(hints.get("readOnlyHint"))
                ? "reads only"
                : JsonValue.TRUE.equals(hints.get("destructiveHint")) ? "may destroy" : "")
        .orElse("");
  }
}

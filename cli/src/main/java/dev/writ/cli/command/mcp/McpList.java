package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.tools.mcp.ToolChange;
import dev.writ.tools.mcp.UpstreamPackage;
import dev.writ.tools.registry.BrokenPackage;
import java.util.List;

/** {@code writ mcp list}: the MCP servers of others that are behind Writ. */
final class McpList implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of("list", "List the MCP servers behind Writ.").list();
  }

  private record Entry(UpstreamPackage upstream, boolean listed) {}

  private record Broken(BrokenPackage is, boolean listed) {}

  private record Servers(List<Entry> entries, List<Broken> broken) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .putList(
              "servers",
              entries,
              e ->
                  JsonValue.object()
                      .put("tool", e.upstream().manifest().ref().toJson())
                      .put("server", e.upstream().spec().toJson())
                      .putList(
                          "operations", RegisteredServer.operations(e.upstream()), JsonValue::of)
                      .put("listed", e.listed())
                      .build())
          .putList(
              "broken",
              broken,
              b ->
                  JsonValue.object()
                      .put("name", b.is().name())
                      .put("version", b.is().version())
                      .put("code", b.is().why().code().code())
                      .put("detail", b.is().why().found())
                      .put("listed", b.listed())
                      .build())
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Upstreams upstreams = new Upstreams(session);
    Upstreams.Packages packages = upstreams.packages();
    session.show(
        new Servers(
            packages.readable().stream()
                .map(p -> new Entry(p, upstreams.isListed(p.manifest())))
                .toList(),
            packages.broken().stream().map(b -> new Broken(b, upstreams.isListed(b))).toList()),
        McpList::print);
    return ExitCode.OK;
  }

  private static void print(Servers servers, Terminal terminal) {
    Table table =
        new Table()
            .column("name", Table.Fit.KEEP)
            .column("version", Table.Fit.KEEP)
            .numbers("tools")
            .column("policy.yaml", Table.Fit.KEEP)
            .column("server", Table.Fit.CUT);
    for (Entry entry : servers.entries()) {
      table.row(
          Table.cell(entry.upstream().manifest().name()),
          Table.cell(entry.upstream().manifest().version()),
          Table.cell(entry.upstream().tools().byName().size() + ""),
          listed(entry.listed()),
          Table.cell(entry.upstream().spec().line()));
    }
    for (Broken broken : servers.broken()) {
      table.row(
          Table.cell(broken.is().name()),
          Table.cell(broken.is().version()),
          Table.cell(""),
          listed(broken.listed()),
          Table.cell(
              broken.is().why().code().code() + " " + ToolChange.visible(broken.is().why().found()),
              Style.BAD));
    }
    terminal.print(table);
  }

  private static Table.Cell listed(boolean listed) {
    return Table.cell(listed ? "listed" : "not listed", listed ? Style.GOOD : Style.DIM);
  }
}

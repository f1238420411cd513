package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import dev.writ.tools.mcp.ListedTool;
import dev.writ.tools.mcp.ServerState;
import dev.writ.tools.mcp.ToolChange;
import dev.writ.tools.mcp.UpstreamPackage;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** {@code writ mcp show}: what is pinned of an MCP server. */
final class McpShow implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "show",
            "Show what is pinned of a server: how it is started, and its tools in its own words,"
                + " with characters that nobody can see made visible.")
        .argument("NAME", "Its name.");
  }

  /**
   * What is pinned.
   *
   * @param state where its state is, if there is one
   */
  private record Shown(UpstreamPackage upstream, Optional<Path> state) implements Report {
    @Override
    public JsonValue toJson() {
      var dropped = JsonValue.object();
      again()
          .dropped()
          .forEach((tool, places) ->
              dropped.put(tool, JsonValue.of(places.stream().map(JsonValue::of).toList())));
      return JsonValue.object()
          .put("tool", upstream.manifest().ref().toJson())
          .put("server", upstream.spec().toJson())
          .putList("tools", List.copyOf(upstream.tools().byName().values()), ListedTool::toJson)
          .put("offers", upstream.tools().offers().toJson())
          .put("unchecked", dropped.build())
          .putIfPresent("state", state.map(Path::toString), JsonValue::of)
          .build();
    }

    /** With what the derived schemas leave out, which the package's files do not say. */
    private UpstreamPackage again() {
      return UpstreamPackage.of(
          upstream.manifest().name(),
          upstream.manifest().version(),
          upstream.spec(),
          upstream.tools(),
          upstream.own());
    }

    static void print(Shown shown, Terminal terminal) {
      UpstreamPackage upstream = shown.upstream();
      terminal.out().println(upstream.manifest().packageDigest());
      terminal.out().println("server  " + upstream.spec().line());
      upstream
          .spec()
          .local()
          .ifPresent(local -> {
            local.reads().forEach(path -> terminal.out().println("reads   " + path));
            local.kept().writes().forEach(path -> terminal.out().println("writes  " + path));
            local
                .kept()
                .stateBytes()
                .ifPresent(bytes ->
                    terminal
                        .out()
                        .println(
                            "state   "
                                + ServerState.PLACE
                                + ", "
                                + (bytes >> 20)
                                + " MiB at most"
                                + shown.state().map(path -> ", is " + path).orElse("")));
          });
      for (ListedTool tool : upstream.tools().byName().values()) {
        new ToolChange(tool.name(), Optional.empty(), Optional.of(tool))
            .lines()
            .forEach(line -> terminal.out().println(tool.name() + "  " + line.substring(2)));
      }
      if (!upstream.spec().passes().names().isEmpty()) {
        terminal.out().println("passes  " + String.join(", ", upstream.spec().passes().names()));
      }
      upstream
          .tools()
          .offers()
          .shown()
          .forEach(offer ->
              offer
                  .lines()
                  .forEach(line ->
                      terminal
                          .out()
                          .println(ToolChange.visible(offer.name()) + "  " + line.substring(2))));
      shown
          .again()
          .dropped()
          .forEach((tool, places) ->
              terminal
                  .out()
                  .println(tool + "  only the server checks: " + String.join(", ", places)));
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Upstreams upstreams = new Upstreams(session);
    UpstreamPackage upstream = upstreams.one(arguments.argument("NAME"));
    session.show(new Shown(upstream, upstreams.stateOf(upstream.manifest().name())), Shown::print);
    return ExitCode.OK;
  }
}

package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Report;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.tools.mcp.PinnedCode;
import dev.writ.tools.mcp.ServerSpec;
import dev.writ.tools.mcp.ToolChange;
import dev.writ.tools.mcp.UpstreamPackage;
import dev.writ.tools.mcp.UpstreamProbe;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Compares what a server lists, and the code it would be started with, to what is pinned.
 *
 * @param now how it would be started, with the code that npm has
 * @param code which packages of npm differ
 */
record ServerComparison(
    UpstreamPackage upstream,
    ServerCode.Prepared now,
    List<String> code,
    UpstreamProbe.Seen seen,
    List<ToolChange> changes)
    implements Report {
  /** Starts it as it is pinned. */
  static ServerComparison of(Upstreams upstreams, UpstreamPackage pinned) {
    return of(
        pinned, new ServerCode.Prepared(pinned.spec(), pinned.own()), upstreams.lookPinned(pinned));
  }

  /** What is started now, of which it is known what it agreed on. */
  ServerSpec known() {
    return now.spec().started(local -> local.speaking(Optional.of(seen.protocol())));
  }

  static ServerComparison of(Upstreams upstreams, UpstreamPackage pinned, ServerCode.Prepared now) {
    return of(pinned, now, upstreams.look(now.spec(), now.own()));
  }

  private static ServerComparison of(
      UpstreamPackage pinned, ServerCode.Prepared now, UpstreamProbe.Seen seen) {
    List<String> code = new ArrayList<>(ServerCode.differences(pinned.spec(), now.spec()));
    boolean same = Arrays.equals(pinned.own().get(PinnedCode.FILE), now.own().get(PinnedCode.FILE));
    if (code.isEmpty() && !same) {
      code.add("the same versions with other files");
    }
    return new ServerComparison(pinned, now, code, seen, pinned.tools().changes(seen.tools()));
  }

  boolean same() {
    return changes.isEmpty() && code.isEmpty();
  }

  @Override
  public JsonValue toJson() {
    return JsonValue.object()
        .put("tool", upstream.manifest().ref().toJson())
        .put("protocol", seen.protocol())
        .put("server", seen.server())
        .putList("code", code, JsonValue::of)
        .putList(
            "changes",
            changes,
            change ->
                JsonValue.object()
                    .put("name", change.name())
                    .put("kind", change.kind())
                    .putList("lines", change.lines(), JsonValue::of)
                    .build())
        .build();
  }

  void print(Terminal terminal) {
    terminal
        .out()
        .println(
            upstream.manifest().name()
                + " speaks "
                + seen.protocol()
                + " and lists "
                + seen.tools().byName().size()
                + " tools");
    if (!code.isEmpty()) {
      terminal.out().println(terminal.paint(Style.WARN, "other code"));
      print(terminal, code);
    }
    for (ToolChange change : changes) {
      terminal.out().println(terminal.paint(Style.WARN, change.kind()) + "  " + change.name());
      print(terminal, change.lines());
    }
    if (same()) {
      terminal.out().println("as approved: " + upstream.manifest().packageDigest());
    }
  }

  private static void print(Terminal terminal, List<String> lines) {
    for (String line : lines) {
      Style style = line.startsWith("-") ? Style.BAD : Style.GOOD;
      terminal.out().println("  " + terminal.paint(style, ToolChange.visible(line)));
    }
  }
}

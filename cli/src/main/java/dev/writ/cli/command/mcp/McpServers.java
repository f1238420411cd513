package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.ListedTool;
import dev.writ.tools.mcp.LocalSpec;
import dev.writ.tools.mcp.Passes;
import dev.writ.tools.mcp.PinnedCode;
import dev.writ.tools.mcp.PinnedTools;
import dev.writ.tools.mcp.ServerSpec;
import dev.writ.tools.mcp.ServerState;
import dev.writ.tools.mcp.ToolChange;
import dev.writ.tools.mcp.UpstreamPackage;
import dev.writ.tools.mcp.UpstreamProbe;
import dev.writ.tools.mcp.oauth.OauthSpec;
import dev.writ.tools.mcp.remote.HeaderValue;
import dev.writ.tools.mcp.remote.RemoteSpec;
import dev.writ.tools.registry.BrokenPackage;
import dev.writ.tools.registry.PackageDirectory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/** {@code writ mcp add} and the like: MCP servers of others, behind Writ (spec/tool-mcp.md). */
final class McpServers {
  private McpServers() {}

  static List<CliCommand> commands() {
    return List.of(
        new Add(),
        new Lists(),
        new Show(),
        new Test(),
        new Refresh(),
        new McpLogin(),
        new Remove(),
        new ImportServers());
  }

  /** What was registered, and what its server said. */
  private record Added(
      UpstreamPackage upstream, List<String> warnings, Path policy, boolean allowed)
      implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("tool", upstream.manifest().ref().toJson())
          .putList("operations", names(upstream), JsonValue::of)
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
      warnings.forEach(warning ->
          terminal.out().println(terminal.paint(Style.WARN, "warning") + "  " + warning));
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
  }

  private static List<String> names(UpstreamPackage upstream) {
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

  /** {@code writ mcp add}. */
  static final class Add implements CliCommand {
    @Override
    public CommandUsage usage() {
      return McpLogin.options(
          CommandUsage.of(
                  "add",
                  "Put an MCP server behind Writ: start it once, pin what it lists, and let policy"
                      + " judge each call.",
                  "A program runs in the sandbox, with a workspace of its own that ends with it,"
                      + " and without a network but for --host. Options stand before `--`. A server"
                      + " elsewhere is named by its address instead, https://host/path (Streamable"
                      + " HTTP).",
                  "Of `npx -y PACKAGE`, npm installs the package once, here, without running its"
                      + " scripts; what is started is what was approved then, until `writ mcp"
                      + " refresh`.")
              .argument("NAME", "The tool's name: a-z, 0-9 and hyphen.")
              .moreArguments(
                  "COMMAND",
                  "After `--`: the program that is the server, and its arguments. Or the address of"
                      + " a server elsewhere.")
              .options("--env", "NAME=VALUE", "A variable that it gets.")
              .options(
                  "--env-secret", "NAME=SECRET", "A variable that holds a secret of `writ secret`.")
              .options("--host", "HOST:PORT", "A place that it may connect to.")
              .options(
                  "--read",
                  "PATH",
                  "A file or directory that it sees at the same place, read-only.")
              .options(
                  "--write",
                  "FOLDER",
                  "A folder that it sees at the same place and may change, and delete from.")
              .flag(
                  "--state",
                  "It has a folder of its own, /state, that it finds again at its next start.")
              .option("--state-mb", "N", "The same, of N MiB at most (default: 256; 1 to 65536).")
              .options("--file", "PATH", "A file that becomes part of the package, as /tool/NAME.")
              .options(
                  "--pass",
                  "WHAT",
                  "What else it may do: "
                      + String.join(", ", Passes.KNOWN)
                      + "; several with commas (default: nothing).")
              .option(
                  "--code",
                  "FOLDER",
                  "A folder with its code, which becomes part of the package: what the command"
                      + " names below it is started from there.")
              .options("--header", "NAME=VALUE", "A header that a server elsewhere is sent.")
              .options(
                  "--header-secret",
                  "NAME=[WORD ]SECRET",
                  "A header that holds a secret of `writ secret`, as in Authorization='Bearer"
                      + " crm-token'.")
              .option("--start-s", "N", "How long it may take to start (default: 60).")
              .options("--only", "TOOL,…", "The tools that may be called; others are denied.")
              .option(
                  "--role", "ROLE", "The role that may call it (default: the policy's only one).")
              .flag("--ask", "Each call of it waits for an approval.")
              .flag("--accept-hidden", "Accept descriptions with characters that nobody can see.")
              .flag("--no-login", "Do not log in where the server asks for it.")
              .flag("--no-policy", "Leave policy.yaml as it is."));
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Upstreams upstreams = new Upstreams(session);
      FreshTokens tokens = new FreshTokens(session, upstreams, arguments.argument("NAME"));
      try {
        return run(session, arguments, upstreams, tokens);
      } catch (WritException e) {
        tokens.forget();
        throw e;
      }
    }

    private static ExitCode run(
        Session session, Arguments arguments, Upstreams upstreams, FreshTokens tokens) {
      String name = arguments.argument("NAME");
      TreeMap<String, byte[]> own = own(session, arguments.options("--file"));
      ServerSpec spec =
          upstreams.keeping(spec(arguments), arguments.options("--write"), state(arguments));
      Optional<Path> before =
          spec.local()
              .flatMap(l ->
                  l.kept().stateBytes().isPresent() ? upstreams.stateOf(name) : Optional.empty());
      if (spec.remote().isPresent() && McpLogin.isAskedFor(arguments)) {
        spec = tokens.login(spec, arguments);
      }
      boolean allow = !arguments.has("--no-policy");
      NewServer added =
          new NewServer(
              name, spec, own, arguments.option("--code"), arguments.has("--accept-hidden"));
      UpstreamPackage made;
      try {
        made = added.add(session, upstreams);
      } catch (WritException e) {
        if (e.code() != ToolsError.UPSTREAM_UNAUTHORIZED
            || arguments.has("--no-login")
            || !added.mayLogIn()) {
          throw e;
        }
        made = added.with(tokens.login(spec, arguments)).add(session, upstreams);
      }
      List<String> only = new ArrayList<>();
      arguments.options("--only").forEach(names -> only.addAll(List.of(names.split(","))));
      if (!made.tools().byName().keySet().containsAll(only)) {
        throw new WritException(
            CliError.USAGE, "--only " + only + ": it lists " + made.tools().byName().keySet());
      }
      if (allow) {
        upstreams.allow(made.manifest(), arguments.option("--role"), only, arguments.has("--ask"));
      }
      List<String> warnings = Upstreams.warnings(made);
      before.ifPresent(
          path -> warnings.add("it goes on with the state of an earlier " + name + ", " + path));
      session.show(new Added(made, warnings, upstreams.policyFile(), allow), Added::print);
      return ExitCode.OK;
    }

    /** The files of {@code --file}, by the names that they get in the package. */
    private static TreeMap<String, byte[]> own(Session session, List<String> files) {
      TreeMap<String, byte[]> own = new TreeMap<>();
      for (String file : files) {
        byte[] bytes = session.read(file);
        String name = Path.of(file).getFileName().toString();
        try {
          PackageDirectory.requirePath(name);
        } catch (WritException e) {
          throw new WritException(
              e.code(), e.found() + " of --file: rename it to letters, digits and . _ - only", e);
        }
        own.put(name, bytes);
      }
      return own;
    }

    private static OptionalLong state(Arguments arguments) {
      return arguments
          .integer("--state-mb", 1, ServerState.BYTES_MAX >> 20)
          .map(mb -> OptionalLong.of(mb << 20))
          .orElseGet(() ->
              arguments.has("--state") ? OptionalLong.of(ServerState.BYTES) : OptionalLong.empty());
    }

    private static ServerSpec spec(Arguments arguments) {
      List<String> command = arguments.moreArguments("COMMAND");
      if (command.isEmpty()) {
        throw new WritException(CliError.USAGE, "name the server's program after --");
      }
      long startMs =
          arguments.integer("--start-s", 1, 600).map(s -> s * 1_000).orElse(ServerSpec.START_MS);
      Passes passes = Passes.of(arguments.options("--pass"));
      if (command.size() == 1 && command.getFirst().matches("(?i:https?)://.*")) {
        requireNone(arguments, "a program", List.of("--env", "--env-secret", "--host", "--read"));
        requireNone(arguments, "a program", List.of("--file", "--write"));
        if (state(arguments).isPresent()) {
          throw new WritException(CliError.USAGE, "--state is for a program");
        }
        return ServerSpec.elsewhere(
                new RemoteSpec(RemoteSpec.requireUrl(command.getFirst()), headers(arguments)),
                startMs)
            .passing(passes);
      }
      requireNone(arguments, "a server elsewhere", List.of("--header", "--header-secret"));
      if (McpLogin.isAskedFor(arguments)) {
        throw new WritException(CliError.USAGE, "a program here has no login");
      }
      return new ServerSpec(
              command,
              pairs("--env", arguments.options("--env")),
              pairs("--env-secret", arguments.options("--env-secret")),
              arguments.options("--host"),
              arguments.options("--read"),
              startMs)
          .passing(passes);
    }

    private static void requireNone(Arguments arguments, String what, List<String> options) {
      for (String option : options) {
        if (!arguments.options(option).isEmpty()) {
          throw new WritException(CliError.USAGE, option + " is for " + what);
        }
      }
    }

    private static TreeMap<String, HeaderValue> headers(Arguments arguments) {
      TreeMap<String, HeaderValue> headers = new TreeMap<>();
      pairs("--header", arguments.options("--header"))
          .forEach((name, value) -> put(headers, name, new HeaderValue(value, Optional.empty())));
      pairs("--header-secret", arguments.options("--header-secret"))
          .forEach((name, value) -> {
            int space = value.lastIndexOf(' ') + 1;
            put(
                headers,
                name,
                new HeaderValue(value.substring(0, space), Optional.of(value.substring(space))));
          });
      return headers;
    }

    private static void put(TreeMap<String, HeaderValue> headers, String name, HeaderValue value) {
      if (headers.put(HeaderValue.requireName(name), value) != null) {
        throw new WritException(CliError.USAGE, "the header " + name + " stands twice");
      }
    }

    private static TreeMap<String, String> pairs(String option, List<String> given) {
      TreeMap<String, String> pairs = new TreeMap<>();
      for (String pair : given) {
        int sign = pair.indexOf('=');
        if (sign < 1 || pairs.put(pair.substring(0, sign), pair.substring(sign + 1)) != null) {
          throw new WritException(CliError.USAGE, option + " takes NAME=…, each name once");
        }
      }
      return pairs;
    }
  }

  /** {@code writ mcp list}. */
  static final class Lists implements CliCommand {
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
                        .putList("operations", names(e.upstream()), JsonValue::of)
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
          Lists::print);
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
                broken.is().why().code().code()
                    + " "
                    + ToolChange.visible(broken.is().why().found()),
                Style.BAD));
      }
      terminal.print(table);
    }

    private static Table.Cell listed(boolean listed) {
      return Table.cell(listed ? "listed" : "not listed", listed ? Style.GOOD : Style.DIM);
    }
  }

  /** {@code writ mcp show}. */
  static final class Show implements CliCommand {
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
      session.show(
          new Shown(upstream, upstreams.stateOf(upstream.manifest().name())), Shown::print);
      return ExitCode.OK;
    }
  }

  /**
   * A server now, beside what is pinned.
   *
   * @param now how it would be started, with the code that npm has
   * @param code which packages of npm differ
   */
  private record Compared(
      UpstreamPackage upstream,
      ServerCode.Prepared now,
      List<String> code,
      UpstreamProbe.Seen seen,
      List<ToolChange> changes)
      implements Report {
    /** Starts it as it is pinned. */
    static Compared of(Upstreams upstreams, UpstreamPackage pinned) {
      return of(
          pinned,
          new ServerCode.Prepared(pinned.spec(), pinned.own()),
          upstreams.lookPinned(pinned));
    }

    /** What is started now, of which it is known what it agreed on. */
    ServerSpec known() {
      return now.spec().started(local -> local.speaking(Optional.of(seen.protocol())));
    }

    static Compared of(Upstreams upstreams, UpstreamPackage pinned, ServerCode.Prepared now) {
      return of(pinned, now, upstreams.look(now.spec(), now.own()));
    }

    private static Compared of(
        UpstreamPackage pinned, ServerCode.Prepared now, UpstreamProbe.Seen seen) {
      List<String> code = new ArrayList<>(ServerCode.differences(pinned.spec(), now.spec()));
      boolean same =
          Arrays.equals(pinned.own().get(PinnedCode.FILE), now.own().get(PinnedCode.FILE));
      if (code.isEmpty() && !same) {
        code.add("the same versions with other files");
      }
      return new Compared(pinned, now, code, seen, pinned.tools().changes(seen.tools()));
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

  /** {@code writ mcp test}. */
  static final class Test implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "test", "Start a server, and compare what it lists with what is pinned.")
          .argument("NAME", "Its name.");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Upstreams upstreams = new Upstreams(session);
      Compared compared = Compared.of(upstreams, upstreams.one(arguments.argument("NAME")));
      session.show(compared, Compared::print);
      return compared.same() ? ExitCode.OK : ExitCode.REFUSED;
    }
  }

  /** {@code writ mcp refresh}. */
  static final class Refresh implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "refresh",
              "Show what a server lists otherwise than was approved, and which packages npm has in"
                  + " other versions; with --approve pin it as a new version.",
              "Until the changed policy is activated, every call of the server is refused.")
          .argument("NAME", "Its name.")
          .option("--role", "ROLE", "The role that may call it (default: the policy's only one).")
          .flag("--approve", "Pin the new list, and have policy.yaml name it.")
          .flag("--accept-hidden", "Accept descriptions with characters that nobody can see.")
          .flag("--no-policy", "Leave policy.yaml as it is.");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Upstreams upstreams = new Upstreams(session);
      UpstreamPackage before = upstreams.one(arguments.argument("NAME"));
      Compared compared =
          Compared.of(
              upstreams,
              before,
              new ServerCode(session).again(before.spec(), before.own(), upstreams::host));
      if (compared.same() || !arguments.has("--approve")) {
        session.show(compared, Compared::print);
        return compared.same() ? ExitCode.OK : ExitCode.REFUSED;
      }
      if (!arguments.has("--accept-hidden")) {
        Upstreams.requireVisible(compared.seen().tools());
      }
      UpstreamPackage made =
          upstreams.register(
              before.manifest().name(),
              compared.known(),
              compared.seen().tools(),
              compared.now().own());
      boolean allow = !arguments.has("--no-policy");
      if (allow) {
        upstreams.allow(made.manifest(), arguments.option("--role"), false);
      }
      session.show(
          new Added(made, Upstreams.warnings(made), upstreams.policyFile(), allow),
          (added, terminal) -> {
            compared.print(terminal);
            added.print(terminal);
          });
      return ExitCode.OK;
    }
  }

  /** {@code writ mcp remove}. */
  static final class Remove implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "remove",
              "Take a server out of policy.yaml, and delete the tokens of its login; its packages"
                  + " stay, since receipts name them, and so does its state.")
          .argument("NAME", "Its name.")
          .flag("--delete-state", "Delete its state, too, also of one that was removed before.");
    }

    /**
     * What was removed.
     *
     * @param tokens the secret with tokens that was deleted, where there was one
     * @param state where its state is
     * @param deleted whether its state was deleted
     */
    private record Removed(
        String name, Optional<String> tokens, Optional<Path> state, boolean deleted, Path policy)
        implements Report {
      @Override
      public JsonValue toJson() {
        return JsonValue.object()
            .put("removed", name)
            .putIfPresent("tokens_deleted", tokens, JsonValue::of)
            .putIfPresent("state", state.map(Path::toString), JsonValue::of)
            .put("state_deleted", deleted)
            .build();
      }

      static void print(Removed removed, Terminal terminal) {
        terminal
            .out()
            .println(removed.policy() + " names " + removed.name() + " no more; in force once:");
        terminal.out().println("  " + Homes.activation(terminal, removed.policy()));
        removed
            .tokens()
            .ifPresent(secret ->
                terminal
                    .out()
                    .println(
                        secret
                            + " is deleted here; only whoever issued these tokens can revoke them"
                            + " before they expire"));
        removed
            .state()
            .ifPresent(path ->
                terminal
                    .out()
                    .println(
                        "its state stays in "
                            + path
                            + "; to delete it: "
                            + Homes.name(terminal)
                            + " mcp remove "
                            + removed.name()
                            + " --delete-state"));
        if (removed.deleted()) {
          terminal.out().println("its state is deleted");
        }
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Upstreams upstreams = new Upstreams(session);
      String name = arguments.argument("NAME");
      Optional<String> tokens = tokens(upstreams, name);
      upstreams.forbid(name);
      tokens.ifPresent(upstreams.secrets()::remove);
      boolean deleted = arguments.has("--delete-state") && upstreams.deleteState(name);
      session.show(
          new Removed(name, tokens, upstreams.stateOf(name), deleted, upstreams.policyFile()),
          Removed::print);
      return ExitCode.OK;
    }

    /** The secret with the tokens of its login; none of a package that cannot be read. */
    private static Optional<String> tokens(Upstreams upstreams, String name) {
      return upstreams.isBroken(name)
          ? Optional.of(McpLogin.tokens(name)).filter(upstreams.secrets().list()::contains)
          : upstreams
              .one(name)
              .spec()
              .remote()
              .flatMap(RemoteSpec::oauth)
              .map(OauthSpec::tokens)
              .filter(upstreams.secrets().list()::contains);
    }
  }
}

package dev.writ.cli.command.tool;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.StatedChange;
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.PrettyJson;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.StarterPolicy;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.tools.author.ToolArchive;
import dev.writ.tools.author.ToolSource;
import dev.writ.tools.registry.BuiltinTools;
import dev.writ.tools.registry.BuiltinWords;
import dev.writ.tools.registry.RegisteredTool;
import dev.writ.tools.registry.ToolRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code writ tool}: what an effect can call. */
public final class ToolCommand implements CommandGroup {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "tool", "Write, test, package, sign, submit, approve, stage and revoke tools.");
  }

  @Override
  public List<CliCommand> subcommands() {
    List<CliCommand> commands = new ArrayList<>(ToolAuthoring.commands());
    commands.addAll(List.of(new Register(), new Lists(), new Show()));
    commands.addAll(ToolGoverning.commands());
    commands.add(new Revoke());
    return List.copyOf(commands);
  }

  private static List<ToolManifest> manifests(ToolRegistry registry) {
    return registry.tools().stream().map(RegisteredTool::manifest).toList();
  }

  private static ToolRegistry registry(Home home) {
    return ToolRegistry.open(home.tools());
  }

  /** {@code writ tool list}. */
  static final class Lists implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of("list", "List the registered tools and whether policy approves them.")
          .list();
    }

    record Entry(ToolManifest manifest, String state) {}

    record Tools(List<Entry> entries) implements Report {
      @Override
      public JsonValue toJson() {
        return JsonValue.object()
            .putList(
                "tools",
                entries,
                e ->
                    JsonValue.object()
                        .put("tool", e.manifest().ref().toJson())
                        .put("driver", e.manifest().driver())
                        .put("determinism", e.manifest().determinism().text())
                        .put("state", e.state())
                        .putList("operations", e.manifest().operations(), o -> words(e, o))
                        .build())
            .build();
      }
    }

    private static JsonValue.Obj words(Entry entry, ToolManifest.Operation operation) {
      return JsonValue.object()
          .put("name", operation.name())
          .put("media_type", operation.mediaType())
          .putIfPresent(
              "description", BuiltinWords.description(entry.manifest(), operation), JsonValue::of)
          .build();
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Home home = Homes.home(session);
      SystemState system = Homes.inForce(session);
      List<Entry> entries = new ArrayList<>();
      for (ToolManifest manifest : manifests(registry(home))) {
        entries.add(new Entry(manifest, state(manifest, system)));
      }
      session.show(new Tools(entries), Lists::print);
      return ExitCode.OK;
    }

    private static String state(ToolManifest manifest, SystemState system) {
      if (system.isProhibited(manifest.name(), manifest.version())) {
        return "revoked";
      }
      Policy policy = system.policyInForce();
      return policy
          .tool(manifest.name(), manifest.version())
          .map(t -> t.ref().equals(manifest.ref()) ? t.stage() : "another package approved")
          .orElse("not approved");
    }

    private static void print(Tools tools, Terminal terminal) {
      Table table =
          new Table()
              .column("tool", Table.Fit.CUT)
              .column("version", Table.Fit.KEEP)
              .column("operations", Table.Fit.CUT)
              .column("driver", Table.Fit.OMIT)
              .column("determinism", Table.Fit.OMIT)
              .column("state", Table.Fit.KEEP)
              .column("package", Table.Fit.OMIT);
      for (Entry entry : tools.entries()) {
        ToolManifest m = entry.manifest();
        table.row(
            Table.cell(m.name()),
            Table.cell(m.version()),
            Table.cell(
                String.join(
                    ", ", m.operations().stream().map(ToolManifest.Operation::name).toList())),
            Table.cell(m.driver()),
            Table.cell(m.determinism().text()),
            Table.cell(entry.state(), entry.state().equals("active") ? Style.GOOD : Style.WARN),
            Table.id(m.packageDigest(), Style.DIM));
      }
      terminal.print(table);
    }
  }

  private record Manifest(ToolManifest manifest) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("package", manifest.packageDigest())
          .put("manifest", manifest.toJson())
          .build();
    }

    static void print(Manifest shown, Terminal terminal) {
      PrettyJson.lines(shown.toJson()).forEach(terminal.out()::println);
    }
  }

  /** {@code writ tool show}. */
  static final class Show implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of("show", "Show a tool's manifest: its operations and their schemas.")
          .argument("NAME", "The tool's name.");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      List<ToolManifest> found =
          manifests(registry(Homes.home(session))).stream()
              .filter(m -> m.name().equals(arguments.argument("NAME")))
              .toList();
      if (found.isEmpty()) {
        throw Homes.notFound("tool " + arguments.argument("NAME"));
      }
      found.forEach(m -> session.show(new Manifest(m), Manifest::print));
      return ExitCode.OK;
    }
  }

  /** {@code writ tool register}. */
  static final class Register implements CliCommand {
    /** What an author has at first is no package yet, and no file of it is wrong. */
    private static void requireNoProject(Path path) {
      if (Files.isRegularFile(path.resolve(ToolSource.FILE))
          && !Files.exists(path.resolve("manifest.json"))) {
        throw new WritException(
            CliError.USAGE,
            path
                + " is a project; make a package of it with writ tool package, have it signed with"
                + " writ tool sign, and register that file");
      }
    }

    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "register",
              "Check a package and copy it into the registry.",
              "It runs once policy approves its digest.")
          .argument(
              "PATH",
              "A package file that an enrolled publisher signed; or a folder with manifest.json and"
                  + " the files that it names.");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Path path = Path.of(arguments.argument("PATH"));
      Home home = Homes.home(session);
      requireNoProject(path);
      ToolRegistry registry = registry(home);
      ToolManifest manifest =
          Files.isDirectory(path) ? registry.register(path) : signed(session, registry, path);
      session.show(
          new Manifest(manifest),
          (m, terminal) -> {
            String name = manifest.name();
            terminal
                .out()
                .println(
                    "Registered. These places of " + home.policyFile() + " let agents use it.");
            terminal.out().println("Under `tools`:");
            terminal.out().println("  " + StarterPolicy.entry(manifest));
            terminal.out().println("In `tools` of a role: " + name);
            manifest
                .sandboxes()
                .forEach(profile -> terminal.out().println("In its `sandboxes`: " + profile));
            manifest
                .capabilities()
                .hosts()
                .forEach(host -> terminal.out().println("In its `network`: \"" + host + "\""));
            if (!manifest.capabilities().ownSecrets().isEmpty()) {
              terminal.out().println("Under `secrets`, for the tenant of those who call it:");
            }
            manifest
                .capabilities()
                .ownSecrets()
                .forEach(secret ->
                    terminal
                        .out()
                        .println(
                            "  - { name: "
                                + secret
                                + ", match: { tenant: …, tool: "
                                + name
                                + " } }"));
            terminal.out().println("Under `requirements`, with what must be shown for a call:");
            terminal
                .out()
                .println("  - { effect: { tool: " + name + " }, require: { cel: \"true\" } }");
            terminal.out().println("Then: " + Homes.activation(terminal, home.policyFile()));
          });
      return ExitCode.OK;
    }
  }

  /** A package file: its signature counts by the trust in force, and lint finds nothing. */
  private static ToolManifest signed(Session session, ToolRegistry registry, Path file) {
    ToolArchive archive = Workbench.archive(file);
    archive.verify(Homes.inForce(session).trust(), Homes.clock().instant());
    try (Workbench bench = new Workbench()) {
      bench.lint().require(archive.project());
    }
    return registry.register(
        archive.project().manifest(), archive.project().files(), archive.signature().orElseThrow());
  }

  /** {@code writ tool revoke}. */
  static final class Revoke implements CliCommand {
    @Override
    public CommandUsage usage() {
      return SystemWords.options(
          CommandUsage.of(
                  "revoke",
                  "Prohibit a version of a tool at once and for good, including intents that were"
                      + " issued.",
                  "There is no way back: another version takes its place. To stop a tool for a time"
                      + " take it out of the policy (writ policy activate).")
              .argument("NAME", "")
              .argument("VERSION", "")
              .option("--operator", "KEY", "The operator's key (default: operator)."));
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      String name = arguments.argument("NAME");
      String version = arguments.argument("VERSION");
      Optional<String> doubt = doubt(session, arguments, name, version);
      JsonValue.Obj detail = JsonValue.object().put("tool", name).put("version", version).build();
      Envelope change =
          SystemWords.change(Homes.home(session), arguments, EventKind.TOOL_REVOKED, detail);
      SystemWords.send(session, arguments, List.of(change));
      new StatedChange(
              EventKind.TOOL_REVOKED,
              detail,
              "revoked: " + name + " " + version,
              Optional.empty(),
              doubt.or(() -> withoutSuccessor(name, version)))
          .show(session);
      return ExitCode.OK;
    }

    /** Of a tool of the release nobody else can submit another version. */
    private static Optional<String> withoutSuccessor(String name, String version) {
      return BuiltinTools.all().stream()
          .filter(tool -> tool.name().equals(name) && tool.version().equals(version))
          .findFirst()
          .map(_ ->
              name
                  + " is built in: nobody can use it here until a release brings another version"
                  + " of it. The prohibition stands");
    }

    /** What is prohibited may come later; what runs under another name runs on. */
    private static Optional<String> doubt(
        Session session, Arguments arguments, String name, String version) {
      SystemState system = Homes.inForce(session);
      boolean isKnown =
          arguments.option("--server").isPresent()
              || system.governance().version(name, version).isPresent()
              || system.policy().flatMap(policy -> policy.tool(name, version)).isPresent()
              || manifests(registry(Homes.home(session))).stream()
                  .anyMatch(m -> m.name().equals(name) && m.version().equals(version));
      return isKnown
          ? Optional.empty()
          : Optional.of(
              "nobody submitted "
                  + name
                  + " "
                  + version
                  + ", policy does not list it, and it is not registered here; is the name right?"
                  + " The prohibition stands");
    }
  }
}

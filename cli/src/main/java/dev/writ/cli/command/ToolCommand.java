package dev.writ.cli.command;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.CliCommand;
import dev.writ.cli.ExitCode;
import dev.writ.cli.Homes;
import dev.writ.cli.Report;
import dev.writ.cli.Session;
import dev.writ.cli.home.Home;
import dev.writ.cli.term.PrettyJson;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.tools.registry.RegisteredTool;
import dev.writ.tools.registry.ToolRegistry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code writ tool}: what an effect can call. */
@Command(name = "tool", description = "List, show, register and revoke tools.")
public final class ToolCommand implements CliCommand {
  private final Session session;

  public ToolCommand(Session session) {
    this.session = session;
  }

  @Override
  public ExitCode run() {
    throw new IllegalStateException("a group of commands");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(new Lists(session), new Show(session), new Register(session), new Revoke(session));
  }

  private static List<ToolManifest> manifests(ToolRegistry registry) {
    return registry.tools().stream().map(RegisteredTool::manifest).toList();
  }

  private static ToolRegistry registry(Home home) {
    return ToolRegistry.open(home.tools());
  }

  /** {@code writ tool list}. */
  @Command(name = "list", description = "List the registered tools and whether policy approves them.")
  static final class Lists implements CliCommand {
    private final Session session;

    Lists(Session session) {
      this.session = session;
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
                        .build())
            .build();
      }
    }

    @Override
    public ExitCode run() {
      Home home = Homes.home(session);
      SystemState system = Homes.read(session, SystemState::read);
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
              .column("tool", Table.Fit.KEEP)
              .column("version", Table.Fit.KEEP)
              .column("operations", Table.Fit.CUT)
              .column("driver", Table.Fit.KEEP)
              .column("determinism", Table.Fit.CUT)
              .column("state", Table.Fit.CUT)
              .column("package", Table.Fit.KEEP);
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
            Table.cell(
                entry.state(), entry.state().equals("active") ? Style.GOOD : Style.WARN),
            Table.cell(Answers.shortId(m.packageDigest()), Style.DIM));
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
  @Command(name = "show", description = "Show a tool's manifest: its operations and their schemas.")
  static final class Show implements CliCommand {
    private final Session session;

    @Parameters(paramLabel = "NAME", description = "The tool's name.")
    private String name;

    Show(Session session) {
      this.session = session;
    }

    @Override
    public ExitCode run() {
      List<ToolManifest> found =
          manifests(registry(Homes.home(session))).stream()
              .filter(m -> m.name().equals(name))
              .toList();
      if (found.isEmpty()) {
        throw Homes.notFound("tool " + name);
      }
      found.forEach(m -> session.show(new Manifest(m), Manifest::print));
      return ExitCode.OK;
    }
  }

  /** {@code writ tool register}. */
  @Command(
      name = "register",
      description = {
        "Check a package (a folder with manifest.json and the files that it names) and copy it into",
        "the registry. It runs once policy approves its digest."
      })
  static final class Register implements CliCommand {
    private final Session session;

    @Parameters(paramLabel = "FOLDER")
    private Path folder;

    Register(Session session) {
      this.session = session;
    }

    @Override
    public ExitCode run() {
      ToolManifest manifest = registry(Homes.home(session)).register(folder);
      session.show(
          new Manifest(manifest),
          (m, terminal) -> {
            terminal.out().println("Registered. To approve it, add to `tools` of the policy:");
            terminal
                .out()
                .println(
                    "  - { name: "
                        + manifest.name()
                        + ", version: \""
                        + manifest.version()
                        + "\", package: \""
                        + manifest.packageDigest()
                        + "\", stage: active }");
          });
      return ExitCode.OK;
    }
  }

  /** {@code writ tool revoke}. */
  @Command(
      name = "revoke",
      description = "Prohibit a version of a tool at once, also for intents that were issued.")
  static final class Revoke implements CliCommand {
    private final Session session;

    @Parameters(index = "0", paramLabel = "NAME")
    private String name;

    @Parameters(index = "1", paramLabel = "VERSION")
    private String version;

    Revoke(Session session) {
      this.session = session;
    }

    @Override
    public ExitCode run() {
      Homes.work(
          session,
          home -> {
            SystemChange change =
                new SystemChange(
                    EventKind.TOOL_REVOKED,
                    JsonValue.object().put("tool", name).put("version", version).build(),
                    home.kernel().now());
            home.kernel()
                .change(
                    Envelope.sign(
                        SystemChange.TYPE, change.toJson(), home.home().key("operator")));
            return null;
          });
      session.terminal().err().println("revoked: " + name + " " + version);
      return ExitCode.OK;
    }
  }
}

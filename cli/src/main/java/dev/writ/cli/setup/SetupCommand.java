package dev.writ.cli.setup;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Text;
import dev.writ.embed.home.StarterPolicy;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.tools.registry.BuiltinTools;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** {@code writ setup}: a client's configuration, so that its agent asks Writ. */
public final class SetupCommand implements CliCommand {
  private static final String HOOK_TOOL = "agent-hook";

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "setup",
            "Write a client's configuration: Writ as its MCP server, and hooks where it has some.",
            "The rest of its files stays as it is, and a backup beside them. Hooks are written"
                + " where policy approves the tool agent-hook; what to add is printed otherwise.")
        .argument("CLIENT", "claude-code, claude-desktop, cursor, vscode or codex.")
        .flag("--dry-run", "Print what would change, and write nothing.")
        .flag("--undo", "Give back what was there before.")
        .flag("--no-hooks", "Leave hooks as they are.")
        .flag("--reports", "Have the agent report what it did, too.")
        .option("--command", "PATH", "Where writ is (default: as it was called).");
  }

  /** What happened to one file. */
  private record Done(String file, String what, List<String> lines) {}

  private record Result(List<Done> files, Optional<String> toAdd) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .putList(
              "files",
              files,
              f ->
                  JsonValue.object()
                      .put("file", f.file)
                      .put("what", f.what)
                      .putList("lines", f.lines, JsonValue::of)
                      .build())
          .putIfPresent("policy", toAdd, JsonValue::of)
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    SetupClient client = SetupClient.of(arguments.argument("CLIENT"));
    ClientPlaces places =
        new ClientPlaces(
            ClientPlaces.Platform.of(System.getProperty("os.name")), session.environment());
    Path home = session.home().toAbsolutePath().normalize();
    boolean undo = arguments.has("--undo");
    ClientEntries entries =
        new ClientEntries(
            places,
            undo ? "writ" : LauncherPath.of(session, arguments.option("--command")).toString(),
            home.toString());
    List<ClientFile> files = new ArrayList<>(List.of(entries.servers(client)));
    Optional<String> toAdd = Optional.empty();
    if (undo) {
      files.addAll(entries.hooks(client, true));
    } else {
      Policy policy = Homes.inForce(session).policyInForce();
      List<ClientFile> hooks =
          arguments.has("--no-hooks")
              ? List.of()
              : entries.hooks(client, arguments.has("--reports"));
      ToolManifest tool = hookTool();
      if (!hooks.isEmpty() && policy.tool(tool.name(), tool.version()).isEmpty()) {
        toAdd = Optional.of(StarterPolicy.entry(tool));
      } else {
        files.addAll(hooks);
      }
    }
    // All are read and changed in memory first, so that a refusal leaves no half of it.
    List<Planned> plans = files.stream().map(file -> plan(file, undo)).toList();
    List<Done> done = plans.stream().map(plan -> done(plan, arguments.has("--dry-run"))).toList();
    session.show(new Result(done, toAdd), (result, terminal) -> print(session, result));
    return ExitCode.OK;
  }

  private static ToolManifest hookTool() {
    return BuiltinTools.all().stream()
        .filter(tool -> tool.name().equals(HOOK_TOOL))
        .findFirst()
        .orElseThrow();
  }

  /** Requirements to begin with, as spec/hooks.md shows them. */
  private static String rules() {
    try (InputStream in = SetupCommand.class.getResourceAsStream("hook-rules.yaml")) {
      return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * @param now the file's text; empty where there is none
   * @param then what it is to be; empty for no file
   */
  private record Planned(
      SetupRecord file,
      Optional<String> now,
      Optional<String> before,
      Optional<String> then,
      boolean restores,
      boolean undo) {
    boolean changes() {
      return !now.equals(then);
    }
  }

  private static Planned plan(ClientFile file, boolean undo) {
    SetupRecord there = new SetupRecord(file.place());
    Optional<String> now = there.text();
    if (!undo) {
      Optional<String> before = now.map(file::removed);
      return new Planned(
          there, now, before, Optional.of(file.applied(now.orElse(""))), false, false);
    }
    if (now.isPresent() && there.isAsWritten()) {
      Optional<String> before = new SetupRecord(there.backup().toString()).text();
      return new Planned(there, now, before, before, true, true);
    }
    return new Planned(there, now, now, now.map(file::removed), false, true);
  }

  private static Done done(Planned plan, boolean dry) {
    String name = plan.file.file().toString();
    if (!plan.changes()) {
      return new Done(name, plan.undo ? "nothing to undo" : "as it should be", List.of());
    }
    List<String> lines = LineChanges.of(plan.now.orElse(""), plan.then.orElse(""));
    if (dry) {
      return new Done(name, "would be changed", lines);
    }
    if (plan.restores) {
      plan.file.restore();
      return new Done(name, "as it was before", lines);
    }
    if (plan.undo) {
      plan.file.write(plan.then.orElseThrow());
      return new Done(name, "without Writ; it was changed since, so the backup stays", lines);
    }
    plan.file.write(plan.before, plan.then.orElseThrow());
    return new Done(
        name,
        plan.now.isPresent() ? "changed; the backup is " + plan.file.backup() : "written",
        lines);
  }

  private static void print(Session session, Result result) {
    var out = session.terminal().out();
    for (Done file : result.files) {
      out.println(Text.printable(file.file + ": " + file.what));
      file.lines.forEach(line -> out.println(Text.printable("  " + line)));
    }
    result.toAdd.ifPresent(entry -> {
      out.println();
      out.println("No hooks: policy does not approve " + HOOK_TOOL + ". Add it in three places:");
      out.println("Under `tools`:");
      out.println("  " + entry);
      out.println("In `tools` of the agent's role: " + HOOK_TOOL);
      out.println("Under `requirements`, for example:");
      rules().lines().forEach(line -> out.println("  " + line));
      out.println("Then this, and this command again:");
      out.println("  " + Homes.activation(session.terminal(), Homes.place(session).policyFile()));
    });
  }
}

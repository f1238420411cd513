package dev.writ.cli.command.tool;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.StatedChange;
import dev.writ.cli.command.SystemWords;
import dev.writ.executor.journal.EventKind;
import dev.writ.sandbox.host.ShellScript;
import dev.writ.tools.author.Language;
import java.util.List;
import java.util.Optional;

/** {@code writ runtime}: which language runtimes tools may run on, where policy asks for that. */
public final class RuntimeCommand implements CommandGroup {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of("runtime", "Approve and withdraw language runtimes.");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(
        new Change(
            "approve",
            "Approve a language runtime: tools may run on exactly this version.",
            EventKind.RUNTIME_APPROVED),
        new Change(
            "withdraw",
            "Take an approval back; from then on no tool runs on that runtime.",
            EventKind.RUNTIME_WITHDRAWN));
  }

  private record Change(String name, String what, String kind) implements CliCommand {
    @Override
    public CommandUsage usage() {
      return SystemWords.options(
          CommandUsage.of(
                  name, what, "It has an effect if the policy's governance says runtimes: true.")
              .argument("LANGUAGE", "As in tool.manifest.")
              .argument("VERSION", "The runtime's own full version, such as 3.13.5.")
              .option("--operator", "KEY", "The operator's key (default: operator)."));
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      String language = arguments.argument("LANGUAGE");
      String version = arguments.argument("VERSION");
      JsonValue.Obj detail =
          JsonValue.object().put("language", language).put("version", version).build();
      SystemWords.send(
          session,
          arguments,
          List.of(SystemWords.change(Homes.home(session), arguments, kind, detail)));
      boolean isApproval = kind.equals(EventKind.RUNTIME_APPROVED);
      new StatedChange(
              kind,
              detail,
              (isApproval ? "approved: " : "withdrawn: ") + language + " " + version,
              Optional.of(Homes.name(session.terminal()) + " tool status shows all of them"),
              Optional.of(language)
                  .filter(name -> isApproval && Language.named(name).isEmpty())
                  .map(name ->
                      "no tool can be of the language "
                          + name
                          + "; is the name right? If not: "
                          + Homes.name(session.terminal())
                          + " runtime withdraw "
                          + ShellScript.quoted(language)
                          + " "
                          + ShellScript.quoted(version)))
          .show(session);
      return ExitCode.OK;
    }
  }
}

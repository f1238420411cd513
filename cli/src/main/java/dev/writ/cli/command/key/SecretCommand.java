package dev.writ.cli.command.key;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.tools.process.SecretDirectory;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * {@code writ secret}: secrets that policy may grant to tools. A value is never an argument or
 * output.
 */
public final class SecretCommand implements CommandGroup {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "secret", "Store, list and remove the secrets that policy grants to tools.");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(new Put(), new Lists(), new Remove());
  }

  private static SecretDirectory secrets(Session session) {
    return Homes.home(session).secrets();
  }

  /** What was done with a name. */
  private record Done(String name, String what) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().put("name", name).put("secret", what).build();
    }

    static void print(Done done, Terminal terminal) {
      terminal.out().println("secret " + done.name() + " " + done.what());
    }
  }

  /** {@code writ secret put}. */
  static final class Put implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "put",
              "Store a secret; it replaces an earlier one of that name.",
              "The value is read from standard input or a file, without its final line end;"
                  + " 8 bytes to 64 KiB.")
          .argument("NAME", "Letters, digits, dot, underscore, hyphen.")
          .option("--file", "FILE", "Read the value from this file (default: standard input).");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      SecretDirectory secrets = secrets(session);
      byte[] value = withoutLineEnd(session.read(arguments.option("--file").orElse("-")));
      secrets.put(arguments.argument("NAME"), value);
      session.show(new Done(arguments.argument("NAME"), "kept"), Done::print);
      return ExitCode.OK;
    }

    private static byte[] withoutLineEnd(byte[] value) {
      int length = value.length;
      if (length > 0 && value[length - 1] == '\n') {
        length--;
      }
      if (length > 0 && value[length - 1] == '\r') {
        length--;
      }
      return Arrays.copyOf(value, length);
    }
  }

  /** {@code writ secret list}. */
  static final class Lists implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "list", "List the names of the secrets that are kept or granted; never a value.")
          .list();
    }

    /**
     * @param granted whether the policy in force grants it to any tool
     * @param refused why no call would get the one that is kept
     */
    private record Entry(
        String name, boolean kept, boolean granted, Optional<WritException> refused) {
      boolean isUsable() {
        return kept && refused.isEmpty();
      }

      String value() {
        return refused
            .map(why -> why.code().code() + ": " + why.found())
            .orElse(kept ? "kept" : "missing");
      }
    }

    private record Names(List<Entry> entries) implements Report {
      @Override
      public JsonValue toJson() {
        return JsonValue.object()
            .putList(
                "secrets",
                entries,
                e ->
                    JsonValue.object()
                        .put("name", e.name())
                        .put("kept", e.kept())
                        .putIfPresent("refused", e.refused(), why -> JsonValue.of(why.getMessage()))
                        .put("granted", e.granted())
                        .build())
            .build();
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      SecretDirectory secrets = secrets(session);
      List<String> kept = secrets.list();
      List<String> granted = Homes.inForce(session).policyInForce().secretNames();
      List<Entry> entries =
          Stream.concat(kept.stream(), granted.stream())
              .distinct()
              .sorted()
              .map(name ->
                  new Entry(
                      name,
                      kept.contains(name),
                      granted.contains(name),
                      Optional.of(name).filter(kept::contains).flatMap(secrets::fault)))
              .toList();
      session.show(new Names(entries), Lists::print);
      return ExitCode.OK;
    }

    private static void print(Names names, Terminal terminal) {
      Table table =
          new Table()
              .column("secret", Table.Fit.KEEP)
              .column("value", Table.Fit.WRAP)
              .column("policy", Table.Fit.KEEP);
      for (Entry entry : names.entries()) {
        table.row(
            Table.cell(entry.name()),
            Table.cell(entry.value(), entry.isUsable() ? Style.GOOD : Style.BAD),
            Table.cell(entry.granted() ? "granted" : "not granted"));
      }
      terminal.print(table);
    }
  }

  /** {@code writ secret remove}. */
  static final class Remove implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of("remove", "Remove a secret; running calls keep it.")
          .argument("NAME", "Its name.");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      secrets(session).remove(arguments.argument("NAME"));
      session.show(new Done(arguments.argument("NAME"), "removed"), Done::print);
      return ExitCode.OK;
    }
  }
}

package dev.writ.cli.command.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.OutputFile;
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.command.key.KeyCommand;
import dev.writ.cli.error.CliError;
import dev.writ.embed.home.ApartHomes;
import dev.writ.embed.home.ExecutorCard;
import dev.writ.embed.home.GuardianCard;
import dev.writ.executor.journal.EventKind;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Optional;

/** {@code writ executor enrol}: a guardian's home gives its tools to an executor. */
final class ExecutorEnrol implements CliCommand {
  @Override
  public CommandUsage usage() {
    return SystemWords.signer(
        CommandUsage.of(
                "enrol",
                "Have this data directory believe an executor elsewhere, and forget the key of its"
                    + " own. From then on it runs no tool; stop its server first.",
                "Runs that have receipts already go on nowhere: open others. The key of the"
                    + " executor before is still believed, until `writ key revoke`.")
            .argument("CARD", "The executor's `executor.json`.")
            .option("--secret", "FILE", "The executor's `executor.secret`, or a copy; required.")
            .option("-o", "FILE", "Where what the executor joins with is written; required.")
            .example(
                "executor enrol executor/executor.json --secret executor/executor.secret -o"
                    + " guardian.apart"));
  }

  record Enrolled(String kid, String operator, Path file) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("executor", kid)
          .put("file", file.toString())
          .put("operator", operator)
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    ExecutorCard card = ExecutorCard.read(Path.of(arguments.argument("CARD")));
    Path secret = Path.of(required(arguments, "--secret"));
    Path file = Path.of(required(arguments, "-o"));
    Enrolled enrolled =
        Homes.work(
            session,
            open -> {
              Instant now = open.kernel().now();
              TrustedKey key =
                  new TrustedKey(
                      card.executor(),
                      KeyRole.EXECUTOR,
                      Optional.empty(),
                      "executor",
                      now,
                      Optional.empty(),
                      Optional.empty());
              KeyCommand.change(
                  open,
                  KeyCommand.signed(
                      SystemWords.operator(open.home(), arguments),
                      EventKind.KEY_ENROLLED,
                      key.toJson(),
                      now));
              GuardianCard guardian =
                  ApartHomes.split(
                      open.home(),
                      open.kernel().ledger(),
                      card,
                      secret,
                      Optional.ofNullable(Homes.passphrase(session)),
                      new SecureRandom());
              OutputFile.write(file, out -> out.write(guardian.toBytes()));
              return new Enrolled(card.executor().kid(), founder(guardian), file);
            });
    session.show(
        enrolled,
        (e, terminal) -> {
          terminal.out().println("executor  " + e.kid());
          terminal.out().println("operator  " + e.operator());
          terminal
              .out()
              .println(
                  "On the executor: "
                      + Homes.name()
                      + " executor join "
                      + e.file()
                      + " --operator "
                      + e.operator());
        });
    return ExitCode.OK;
  }

  /** The id of the key on which all others rest: that of the first operator. */
  static String founder(GuardianCard guardian) {
    return guardian.system().documents().getFirst().signatures().getFirst().kid();
  }

  static String required(Arguments arguments, String option) {
    return arguments
        .option(option)
        .orElseThrow(() -> new WritException(CliError.USAGE, option + " is missing"));
  }
}

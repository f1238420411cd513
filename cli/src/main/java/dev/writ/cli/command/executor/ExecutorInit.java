package dev.writ.cli.command.executor;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.embed.home.ApartHomes;
import dev.writ.embed.home.ExecutorCard;
import dev.writ.embed.home.Home;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Optional;

/** {@code writ executor init}: makes the home of an executor. */
final class ExecutorInit implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "init",
            "Make the data directory of an executor: its keys, its card, which a guardian is given,"
                + " and the secret that the two share.",
            "It serves nobody before a guardian has enrolled it and it has joined that guardian.")
        .example("--home executor-home executor init");
  }

  record Made(ExecutorCard executor, Path card, Path secret) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("card", card.toString())
          .put("executor", executor.toJson())
          .put("secret", secret.toString())
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Home home = Homes.place(session);
    ExecutorCard card =
        ApartHomes.init(home, Optional.ofNullable(Homes.passphrase(session)), new SecureRandom());
    session.show(
        new Made(card, ExecutorCard.of(home), ApartHomes.secret(home)),
        (made, terminal) -> {
          terminal.out().println("executor  " + made.executor().executor().kid());
          terminal.out().println("log       " + made.executor().log());
          terminal.out().println("card      " + made.card());
          terminal.out().println("secret    " + made.secret());
          terminal
              .out()
              .println(
                  "On the guardian: "
                      + Homes.name()
                      + " executor enrol "
                      + made.card()
                      + " --secret "
                      + made.secret()
                      + " -o guardian.apart");
        });
    return ExitCode.OK;
  }
}

package dev.writ.cli.command.run;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.Ids;
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.error.CliError;
import dev.writ.embed.home.Home;
import dev.writ.executor.document.Resolution;
import dev.writ.guardian.document.Receipt;
import dev.writ.ledger.LedgerView;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;

/** {@code writ resolve}: an operator's signed statement on what a crash left in doubt. */
public final class ResolveCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return SystemWords.signer(
        CommandUsage.of(
                "resolve",
                "State the outcome of an effect whose receipt says IN_DOUBT, after you have"
                    + " found it out.",
                "Nothing is run: to do it again, submit a new request.")
            .argument("RECEIPT", "Its id, or its beginning.")
            .argument("FOUND", "happened, did-not-happen or cannot-be-known.")
            .option("--note", "NOTE", "How you found it out, in one line."));
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    String found = arguments.argument("FOUND");
    Resolution.Found statement =
        Arrays.stream(Resolution.Found.values())
            .filter(f -> f.text().equals(found))
            .findFirst()
            .orElseThrow(() ->
                new WritException(
                    CliError.USAGE,
                    found + " is none of happened, did-not-happen, cannot-be-known"));
    Homes.write(
        session,
        open -> {
          open.kernel()
              .resolve(
                  signed(
                      open.home(),
                      open.kernel().ledger(),
                      arguments,
                      statement,
                      open.kernel().now()));
          return null;
        },
        server ->
            Homes.read(
                session,
                ledger ->
                    server.post(
                        "/v1/resolutions",
                        signed(
                            server.home(),
                            ledger,
                            arguments,
                            statement,
                            Homes.clock().instant()))));
    session.terminal().err().println("resolved: " + found);
    return ExitCode.OK;
  }

  private static Envelope signed(
      Home home, LedgerView ledger, Arguments arguments, Resolution.Found found, Instant at) {
    String receipt = arguments.argument("RECEIPT");
    Envelope envelope = Ids.document(ledger, receipt);
    if (!envelope.payloadType().equals(Receipt.TYPE)) {
      throw Homes.notFound(receipt + " is no receipt");
    }
    Resolution resolution =
        new Resolution(
            Receipt.read(envelope.document()).scope().tenant(),
            envelope.id(),
            found,
            arguments.option("--note").orElse(""),
            List.of(),
            at);
    return Envelope.sign(
        Resolution.TYPE, resolution.toJson(), SystemWords.operator(home, arguments));
  }
}

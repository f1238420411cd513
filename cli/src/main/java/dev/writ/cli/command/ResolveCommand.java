package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.cli.CliCommand;
import dev.writ.cli.CliError;
import dev.writ.cli.ExitCode;
import dev.writ.cli.Homes;
import dev.writ.cli.Session;
import dev.writ.executor.document.Receipt;
import dev.writ.executor.document.Resolution;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code writ resolve}: an operator's signed statement on what a crash left in doubt. */
@Command(
    name = "resolve",
    description = {
      "State what became of an effect whose receipt says IN_DOUBT, after looking at the world.",
      "Nothing is run: to do it again, submit a new request."
    })
public final class ResolveCommand implements CliCommand {
  private final Session session;

  @Parameters(index = "0", paramLabel = "RECEIPT", description = "Its id, or its beginning.")
  private String receipt;

  @Parameters(
      index = "1",
      paramLabel = "FOUND",
      description = "happened, did-not-happen or cannot-be-known.")
  private String found;

  @Option(names = "--note", defaultValue = "", description = "What was looked at.")
  private String note;

  public ResolveCommand(Session session) {
    this.session = session;
  }

  @Override
  public ExitCode run() {
    Resolution.Found statement =
        Arrays.stream(Resolution.Found.values())
            .filter(f -> f.text().equals(found))
            .findFirst()
            .orElseThrow(
                () ->
                    new WritException(
                        CliError.USAGE,
                        found + " is none of happened, did-not-happen, cannot-be-known"));
    Homes.work(
        session,
        home -> {
          Envelope envelope = Ids.document(home.kernel().ledger(), receipt);
          if (!envelope.payloadType().equals(Receipt.TYPE)) {
            throw Homes.notFound(receipt + " is no receipt");
          }
          Resolution resolution =
              new Resolution(
                  Receipt.read(envelope.document()).scope().tenant(),
                  envelope.id(),
                  statement,
                  note,
                  List.of(),
                  home.kernel().now());
          home.kernel()
              .resolve(
                  Envelope.sign(
                      Resolution.TYPE, resolution.toJson(), home.home().key("operator")));
          return null;
        });
    session.terminal().err().println("resolved: " + found);
    return ExitCode.OK;
  }
}

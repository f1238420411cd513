package dev.writ.cli.command;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.WritException;
import dev.writ.cli.CliCommand;
import dev.writ.cli.CliError;
import dev.writ.cli.ExitCode;
import dev.writ.cli.Homes;
import dev.writ.cli.Session;
import dev.writ.executor.document.Content;
import dev.writ.executor.document.Receipt;
import dev.writ.ledger.LedgerView;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code writ output}: the bytes that a receipt names, hashed again on the way. */
@Command(
    name = "output",
    description = "Write the output that a receipt names to stdout; it is hashed again on the way.")
public final class OutputCommand implements CliCommand {
  private final Session session;

  @Parameters(paramLabel = "RECEIPT", description = "Its id, or its beginning.")
  private String receipt;

  @Option(names = "--raw", description = "What the tool gave, where it did not succeed.")
  private boolean raw;

  @Option(names = "--observations", description = "What the driver saw: metrics and the like.")
  private boolean observations;

  public OutputCommand(Session session) {
    this.session = session;
  }

  @Override
  public ExitCode run() {
    Homes.read(
        session,
        ledger -> {
          copy(ledger);
          return null;
        });
    return ExitCode.OK;
  }

  private void copy(LedgerView ledger) {
    Envelope envelope = Ids.document(ledger, receipt);
    if (!envelope.payloadType().equals(Receipt.TYPE)) {
      throw Homes.notFound(receipt + " is no receipt");
    }
    Receipt read = Receipt.read(envelope.document());
    var digest =
        observations
            ? read.observations()
            : (raw ? read.rawOutput() : read.output()).map(Content::digest);
    Optional<InputStream> content = digest.filter(ledger::hasBlob).map(ledger::openBlob);
    try (InputStream in =
        content.orElseThrow(() -> Homes.notFound("content of that kind for " + receipt))) {
      in.transferTo(session.terminal().out());
    } catch (IOException e) {
      throw new WritException(CliError.OUTPUT_CLOSED, String.valueOf(e.getMessage()), e);
    }
  }
}

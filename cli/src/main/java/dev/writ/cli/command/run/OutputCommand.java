package dev.writ.cli.command.run;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.Ids;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.PrettyJson;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.HomeArchive;
import dev.writ.executor.retention.ArchivedContents;
import dev.writ.executor.retention.Deletions;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.ledger.LedgerView;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/** {@code writ output}: the bytes that a receipt names, hashed again on the way. */
public final class OutputCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "output",
            "Write the output that a receipt names to stdout; its digest is verified again.")
        .argument("RECEIPT", "Its id, or its beginning.")
        .flag("--raw", "The tool's output, if it did not succeed.")
        .flag("--observations", "The driver's observations: metrics and the like.")
        .option("--artifact", "NAME", "An artifact of the tool, by its name.");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Homes.readOne(
        session,
        (home, ledger) -> {
          copy(session, arguments, home, ledger);
          return true;
        });
    return ExitCode.OK;
  }

  private static void copy(Session session, Arguments arguments, Home home, LedgerView ledger) {
    String receipt = arguments.argument("RECEIPT");
    Envelope envelope = Ids.document(ledger, receipt);
    if (!envelope.payloadType().equals(Receipt.TYPE)) {
      throw Homes.notFound(receipt + " is no receipt");
    }
    Receipt read = Receipt.read(envelope.document());
    Optional<Digest> digest = digest(arguments, read);
    Optional<InputStream> content =
        digest.flatMap(one ->
            ledger.hasBlob(one)
                ? Optional.of(ledger.openBlob(one))
                : archived(home, ledger, one, read.scope().tenant()));
    try (InputStream in =
        content.orElseThrow(
            () -> Homes.notFound("the receipt " + receipt + " has no content of that kind"))) {
      if (arguments.has("--observations") && session.terminal().outIsTerminal()) {
        PrettyJson.lines(Jcs.parse(in.readAllBytes())).forEach(session.terminal().out()::println);
        return;
      }
      in.transferTo(session.terminal().out());
      if (session.terminal().outIsTerminal()) {
        session.terminal().out().println();
      }
    } catch (IOException e) {
      throw new WritException(CliError.OUTPUT_CLOSED, String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * A content that is not in the ledger any more, out of the archive.
   *
   * @throws WritException {@code EXE-960} where it was deleted, {@code EXE-944} where no archive is
   *     known, and as {@link ArchivedContents#find}
   */
  private static Optional<InputStream> archived(
      Home home, LedgerView ledger, Digest content, String tenant) {
    return new HomeArchive(home)
        .contents()
        .find(ledger, content, tenant)
        .map(ArchivedContents.Found::content)
        .or(() -> {
          Deletions.of(ledger, content, tenant)
              .map(stated -> stated.gone(content))
              .ifPresent(gone -> {
                throw gone;
              });
          return Optional.empty();
        });
  }

  private static Optional<Digest> digest(Arguments arguments, Receipt receipt) {
    Optional<String> artifact = arguments.option("--artifact");
    if (artifact.isPresent()) {
      return receipt.artifacts().stream()
          .filter(a -> a.name().equals(artifact.get()))
          .map(a -> a.content().digest())
          .findFirst();
    }
    return arguments.has("--observations")
        ? receipt.observations()
        : (arguments.has("--raw") ? receipt.rawOutput() : receipt.output()).map(Content::digest);
  }
}

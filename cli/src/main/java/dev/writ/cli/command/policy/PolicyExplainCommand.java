package dev.writ.cli.command.policy;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.Ids;
import dev.writ.cli.command.SignedRequestFile;
import dev.writ.cli.home.HomeSurface;
import dev.writ.cli.term.Text;
import dev.writ.guardian.PolicyExplain;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.LedgerView;
import java.nio.file.Files;
import java.nio.file.Path;

/** {@code writ policy explain}. */
final class PolicyExplainCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "explain",
            "Show why a request was judged as it was: the four checks, and the requirement's"
                + " tree with the findings of each node.",
            "A request that was not submitted is judged as if it were; nothing is reserved"
                + " or written.")
        .argument("FILE|ID", "A signed request, or the id of one.");
  }

  /**
   * @param text the same for people
   */
  record Explained(JsonValue.Obj explain, String text) implements Report {
    @Override
    public JsonValue toJson() {
      return explain;
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    String request = arguments.argument("FILE|ID");
    Explained explained =
        Homes.write(
            session,
            home -> {
              PolicyExplain found =
                  home.kernel()
                      .explanations()
                      .explain(bytes(session, request, home.kernel().ledger()));
              return new Explained(found.toJson(), found.render());
            },
            server -> {
              byte[] bytes = Homes.read(session, ledger -> bytes(session, request, ledger));
              Fields answer = Fields.of("answer", server.order(HomeSurface.EXPLAIN, bytes));
              return new Explained(answer.obj("explained"), answer.string("text"));
            });
    session.show(
        explained,
        (e, terminal) ->
            e.text().lines().forEach(line -> terminal.out().println(Text.printable(line))));
    return ExitCode.OK;
  }

  private static byte[] bytes(Session session, String request, LedgerView ledger) {
    if (!Files.exists(Path.of(request))) {
      Envelope found = Ids.document(ledger, request);
      if (!found.payloadType().equals(Request.TYPE)) {
        throw Ids.noRequest(request);
      }
      return found.toBytes();
    }
    return SignedRequestFile.read(session, request);
  }
}

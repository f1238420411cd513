package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.home.Serving;
import dev.writ.embed.home.ApproverRole;
import dev.writ.embed.home.Asking;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.error.LedgerError;
import java.net.URI;
import java.security.SecureRandom;
import java.util.Optional;

/** {@code writ approve}: an approver's signed verdict on a request that waits. */
public final class ApproveCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "approve",
            "Approve or reject a request that was escalated; the approval names this exact request,"
                + " effect and policy.",
            "Then `writ submit ID` executes it; a request that a server vouched for is"
                + " executed by repeating the same call. If a server has the data directory open,"
                + " the approval is sent to it.")
        .argument("REQUEST", "The request's id, or its beginning.")
        .flag("--reject", "Reject it: a final denial.")
        .option("--as", "KEY", "The approver's key (default: the home's).")
        .option(
            "--role",
            "ROLE",
            "The approver role (default: the only one that policy gives the approver).");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    ExitCode end;
    try {
      AnswerReport answers = Homes.work(session, home -> approve(home, arguments));
      session.show(answers, (a, terminal) -> a.print(terminal));
      end = answers.exitCode();
    } catch (WritException e) {
      Home home = Homes.home(session);
      Optional<URI> server =
          e.code() == LedgerError.LOCKED ? Serving.of(home).map(Serving.At::url) : Optional.empty();
      if (server.isEmpty()) {
        throw e;
      }
      end = atServer(session, arguments, home, server.get());
    }
    return arguments.has("--reject") ? ExitCode.OK : end;
  }

  private static ExitCode atServer(Session session, Arguments arguments, Home home, URI server) {
    SigningKey key = home.key(arguments.option("--as").orElseGet(home::approver));
    ServedHome.Approved approved =
        Homes.read(
            session,
            view ->
                new ServedHome(home, server)
                    .approve(
                        view,
                        request(view, arguments),
                        key,
                        arguments.option("--role"),
                        verdict(arguments)));
    session.show(approved, (a, terminal) -> a.print(terminal));
    return approved.exitCode();
  }

  private static Envelope request(LedgerView ledger, Arguments arguments) {
    String request = arguments.argument("REQUEST");
    Envelope found = Ids.document(ledger, request);
    if (!found.payloadType().equals(Request.TYPE)) {
      throw Homes.notFound(request + " is no request");
    }
    return found;
  }

  private static Approval.Verdict verdict(Arguments arguments) {
    return arguments.has("--reject") ? Approval.Verdict.REJECT : Approval.Verdict.APPROVE;
  }

  private static AnswerReport approve(OpenHome home, Arguments arguments) {
    Envelope found = request(home.kernel().ledger(), arguments);
    SigningKey key = home.home().key(arguments.option("--as").orElseGet(home.home()::approver));
    Envelope approval =
        new Asking(home.kernel(), new SecureRandom())
            .approval(
                key,
                arguments.option("--role").orElseGet(() -> ApproverRole.of(home.kernel(), key)),
                found.id(),
                Request.read(found.document()).effect().digest(),
                verdict(arguments));
    return AnswerReport.of(home.kernel(), home.kernel().approve(approval));
  }
}

package dev.writ.cli.command;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.cli.Arguments;
import dev.writ.cli.CliCommand;
import dev.writ.cli.ExitCode;
import dev.writ.cli.Homes;
import dev.writ.cli.Session;
import dev.writ.cli.Usage;
import dev.writ.cli.home.Asking;
import dev.writ.cli.home.OpenHome;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Request;
import java.security.SecureRandom;

/** {@code writ approve}: an approver's signed word on a request that waits. */
public final class ApproveCommand implements CliCommand {
  @Override
  public Usage usage() {
    return Usage.of(
            "approve",
            "Approve or reject a request that was escalated; the approval names this exact request,"
                + " effect and policy.",
            "`writ submit ID` executes it then.")
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
    Answers answers = Homes.work(session, home -> approve(home, arguments));
    session.show(answers, (a, terminal) -> a.print(terminal));
    return arguments.has("--reject") ? ExitCode.OK : answers.exitCode();
  }

  private static Answers approve(OpenHome home, Arguments arguments) {
    String request = arguments.argument("REQUEST");
    Envelope found = Ids.document(home.kernel().ledger(), request);
    if (!found.payloadType().equals(Request.TYPE)) {
      throw Homes.notFound(request + " is no request");
    }
    SigningKey key = home.home().key(arguments.option("--as").orElseGet(home.home()::approver));
    Envelope approval =
        new Asking(home.kernel(), new SecureRandom())
            .approval(
                key,
                arguments.option("--role").orElseGet(() -> Roles.approver(home.kernel(), key)),
                found.id(),
                Request.read(found.document()).effect().digest(),
                arguments.has("--reject") ? Approval.Verdict.REJECT : Approval.Verdict.APPROVE);
    return new Answers(home.kernel().approve(approval));
  }
}

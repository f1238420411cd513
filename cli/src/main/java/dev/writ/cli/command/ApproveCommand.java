package dev.writ.cli.command;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.cli.CliCommand;
import dev.writ.cli.ExitCode;
import dev.writ.cli.Homes;
import dev.writ.cli.Session;
import dev.writ.cli.home.Asking;
import dev.writ.cli.home.OpenHome;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Request;
import java.security.SecureRandom;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code writ approve}: an approver's signed word on a request that waits. */
@Command(
    name = "approve",
    description = {
      "Approve or reject a request that was escalated; the approval names this exact request,",
      "effect and policy. `writ submit ID` executes it then."
    })
public final class ApproveCommand implements CliCommand {
  private final Session session;

  @Parameters(paramLabel = "REQUEST", description = "The request's id, or its beginning.")
  private String request;

  @Option(names = "--reject", description = "Reject it: a final denial.")
  private boolean reject;

  @Option(
      names = "--as",
      paramLabel = "KEY",
      description = "The approver's key (default: the home's).")
  private String as;

  @Option(
      names = "--role",
      paramLabel = "ROLE",
      description = "The approver role (default: the only one that policy gives the approver).")
  private String role;

  public ApproveCommand(Session session) {
    this.session = session;
  }

  @Override
  public ExitCode run() {
    Answers answers = Homes.work(session, this::approve);
    session.show(answers, (a, terminal) -> a.print(terminal));
    return reject ? ExitCode.OK : answers.exitCode();
  }

  private Answers approve(OpenHome home) {
    Envelope found = Ids.document(home.kernel().ledger(), request);
    if (!found.payloadType().equals(Request.TYPE)) {
      throw Homes.notFound(request + " is no request");
    }
    SigningKey key = home.home().key(as == null ? home.home().approver() : as);
    Envelope approval =
        new Asking(home.kernel(), new SecureRandom())
            .approval(
                key,
                role == null ? Roles.approver(home.kernel(), key) : role,
                found.id(),
                Request.read(found.document()).effect().digest(),
                reject ? Approval.Verdict.REJECT : Approval.Verdict.APPROVE);
    return new Answers(home.kernel().approve(approval));
  }
}

package dev.writ.cli.command.run;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.cli.home.HomeServer;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.YesOrNo;
import dev.writ.embed.home.Home;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import java.io.IOException;

/** {@code writ approve}: an approver's signed verdict on a request that waits. */
public final class ApproveCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "approve",
            "Approve or reject a request that was escalated; the approval names this exact request,"
                + " effect and policy.",
            "Shows exactly what would be done, and asks. Then `writ submit ID` executes it; a"
                + " request that a server vouched for is executed by repeating the same call. If a"
                + " server has the data directory open, the approval is sent to it.")
        .argument("REQUEST", "The request's id, or its beginning.")
        .flag("--reject", "Reject it: a final denial.")
        .option("--reason", "TEXT", "One line for whoever reads the approval; it is signed, too.")
        .flag("--yes", "Sign without asking: for scripts.")
        .option("--as", "KEY", "The approver's key (default: the home's).")
        .option(
            "--role",
            "ROLE",
            "The approver role (default: the only one that policy gives the approver).")
        .example("approve 4f0c2d6a81b3")
        .example("approve 4f0c2d6a81b3 --reject --reason \"the sum is not what was ordered\"");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) throws IOException {
    Home home = Homes.home(session);
    ShownApproval.Word word =
        new ShownApproval.Word(
            home.key(arguments.option("--as").orElseGet(home::approver)),
            arguments.option("--role"),
            arguments.has("--reject") ? Approval.Verdict.REJECT : Approval.Verdict.APPROVE,
            arguments.option("--reason"));
    ShownApproval question =
        Homes.read(
            session,
            ledger -> ShownApproval.read(home, ledger, arguments.argument("REQUEST"), word));
    if (!confirmed(session, question, arguments.has("--yes"))) {
      session.terminal().err().println("Nothing was signed.");
      return ExitCode.REFUSED;
    }
    ExitCode end = give(session, question);
    return word.verdict() == Approval.Verdict.REJECT ? ExitCode.OK : end;
  }

  /** Shows what is signed, and asks; a script says yes before. */
  private static boolean confirmed(Session session, ShownApproval question, boolean yes)
      throws IOException {
    Terminal terminal = session.terminal();
    if (!yes && !terminal.canAsk()) {
      throw new WritException(
          CliError.USAGE, "there is no terminal to ask at; --yes signs without asking");
    }
    if (!yes || !session.json()) {
      question.print(terminal, Homes.clock().instant());
    }
    return yes || YesOrNo.ask(terminal, question.text());
  }

  private static ExitCode give(Session session, ShownApproval question) {
    return Homes.write(
        session,
        open -> {
          AnswerReport answers =
              AnswerReport.of(
                  open.kernel(), open.kernel().approve(question.sign(open.kernel().now())));
          session.show(answers, (a, terminal) -> a.printApproved(terminal));
          return answers.exitCode();
        },
        server -> {
          Approved approved =
              new Approved(server.post("/v1/approvals", question.sign(Homes.clock().instant())));
          session.show(approved, (a, terminal) -> a.print(terminal, why(session, approved)));
          return approved.exitCode();
        });
  }

  /** Why it was denied, as the ledger has it: a server's answer has the verdict alone. */
  private static String why(Session session, Approved approved) {
    Digest decision = Digest.parse(HomeServer.text(approved.answer(), "decision_id"));
    return Homes.read(
        session,
        ledger ->
            ledger
                .document(decision)
                .map(found -> AnswerReport.because(Decision.read(found.document())))
                .orElse(""));
  }

  /** The server's answer to an approval. */
  record Approved(JsonValue.Obj answer) implements Report {
    @Override
    public JsonValue toJson() {
      return answer;
    }

    ExitCode exitCode() {
      return switch (HomeServer.text(answer, "verdict")) {
        case "ALLOW" -> ExitCode.OK;
        case "ESCALATE" -> ExitCode.PENDING;
        default -> ExitCode.REFUSED;
      };
    }

    void print(Terminal terminal, String why) {
      AnswerReport.printApproved(
          terminal,
          HomeServer.text(answer, "verdict"),
          HomeServer.text(answer, "request_id"),
          HomeServer.text(answer, "decision_id"),
          why);
    }
  }
}

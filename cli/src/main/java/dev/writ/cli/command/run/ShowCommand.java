package dev.writ.cli.command.run;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.Ids;
import dev.writ.cli.term.PrettyJson;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.executor.SystemState;
import dev.writ.executor.retention.ArchivedRuns;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import java.util.Optional;

/** {@code writ show}: one document, whole, and who signed it. */
public final class ShowCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "show", "Show a document: request, decision, intent, receipt, approval, policy, …")
        .argument("ID", "Its id, or six digits of its beginning or more.");
  }

  /**
   * @param bundle in the archive that has the contents of the document's run, if it is archived
   */
  record Shown(Envelope envelope, Trust trust, Optional<Digest> bundle) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("id", envelope.id())
          .put("type", envelope.payloadType())
          .put("document", envelope.document())
          .put("envelope", envelope.toJson())
          .putIfPresent("archived", bundle, digest -> JsonValue.of(digest.toString()))
          .build();
    }
  }

  @Override
  public boolean endsAtOnce() {
    return true;
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    session.show(
        Homes.readOne(session, (_, ledger) -> find(ledger, arguments.argument("ID"))),
        ShowCommand::print);
    return ExitCode.OK;
  }

  private static Shown find(LedgerView ledger, String id) {
    Envelope envelope = Ids.document(ledger, id);
    return new Shown(
        envelope,
        SystemState.read(ledger).trust(),
        run(envelope.document()).flatMap(run -> ArchivedRuns.bundle(ledger, run)));
  }

  private static Optional<RunId> run(JsonValue document) {
    return document instanceof JsonValue.Obj members
            && members.get("tenant") instanceof JsonValue.Str tenant
            && members.get("run") instanceof JsonValue.Str run
        ? Optional.of(new RunId(tenant.value(), run.value()))
        : Optional.empty();
  }

  private static void print(Shown shown, Terminal terminal) {
    terminal
        .err()
        .println(
            terminal.paintErr(Style.NAME, shown.envelope().id().toString())
                + "  "
                + shown.envelope().payloadType());
    for (Envelope.Signature signature : shown.envelope().signatures()) {
      String who =
          shown
              .trust()
              .key(signature.kid())
              .map(k -> k.role().text() + " " + k.subject())
              .orElse("a key that is not enrolled");
      terminal.err().println("signed by " + who + ", key " + signature.kid());
    }
    shown
        .bundle()
        .ifPresent(
            bundle -> terminal.err().println("contents of its run are archived: bundle " + bundle));
    PrettyJson.lines(shown.envelope().document()).forEach(terminal.out()::println);
  }
}

package dev.writ.cli.command.run;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.embed.home.Home;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.NoteKey;

/** {@code writ checkpoint}: signs a checkpoint over the whole log. */
public final class CheckpointCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "checkpoint",
            "Sign a checkpoint of the whole log and print it (C2SP tlog-checkpoint).",
            "A kept checkpoint shows later whether anything before it was changed.")
        .flag("--vkey", "Print the log's key instead: what a witness wants to know of the log.");
  }

  /** The log's key by its name, as C2SP writes it. */
  record LogKey(NoteKey key) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().put("key", key.toString()).build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    if (arguments.has("--vkey")) {
      Home home = Homes.home(session);
      session.show(
          new LogKey(new NoteKey(home.origin(), home.key(KeyRole.LOG.text()).verifyingKey())),
          (k, terminal) -> terminal.out().println(k.key()));
      return ExitCode.OK;
    }
    CloseCommand.Signed signed = new CloseCommand.Signed(fresh(session));
    session.show(signed, (s, terminal) -> terminal.out().print(s.text()));
    return ExitCode.OK;
  }

  /** Signs a checkpoint over the whole log, or has the running server sign it. */
  public static Checkpoint fresh(Session session) {
    return Homes.write(
        session,
        home -> home.kernel().checkpoint(),
        server -> Checkpoint.parse(server.getBytes("/v1/checkpoints/latest", server.token())));
  }
}

package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;

/** {@code writ canon}: the canonical form of a JSON text, or its digest. */
public final class CanonCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "canon",
            "Print the canonical form of a JSON text (RFC 8785), or its digest.",
            "It is printed without a line end, except on a terminal.")
        .argument("FILE", "A JSON text; - is standard input.")
        .flag("--digest", "Print the digest of the form instead.")
        .flag("--check", "Refuse a text that is not in this form already.");
  }

  record Canon(JsonValue value, byte[] form, Digest digest) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("bytes", form.length)
          .put("canonical", value)
          .put("digest", digest)
          .build();
    }
  }

  @Override
  public boolean endsAtOnce() {
    return true;
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    byte[] text = session.read(arguments.argument("FILE"));
    JsonValue value =
        arguments.has("--check") ? Jcs.parseCanonical(text, Limits.DEFAULT) : Jcs.parse(text);
    byte[] form = Jcs.write(value);
    Canon canon = new Canon(value, form, Digest.sha256(form));
    session.show(canon, arguments.has("--digest") ? CanonCommand::digest : CanonCommand::form);
    return ExitCode.OK;
  }

  private static void digest(Canon canon, Terminal terminal) {
    terminal.out().println(canon.digest());
  }

  private static void form(Canon canon, Terminal terminal) {
    terminal.out().writeBytes(canon.form());
    if (terminal.outIsTerminal()) {
      terminal.out().println();
    }
  }
}

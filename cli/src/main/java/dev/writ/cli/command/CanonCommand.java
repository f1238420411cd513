package dev.writ.cli.command;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.cli.CliCommand;
import dev.writ.cli.ExitCode;
import dev.writ.cli.Report;
import dev.writ.cli.Session;
import dev.writ.cli.term.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code writ canon}: the canonical form of a JSON text, or its digest. */
@Command(
    name = "canon",
    description = {
      "Print the canonical form of a JSON text (RFC 8785), or its digest.",
      "The form is printed as it is, without a line end unless on a terminal."
    })
public final class CanonCommand implements CliCommand {
  private final Session session;

  @Parameters(paramLabel = "FILE", description = "A JSON text; - is standard input.")
  private String file;

  @Option(names = "--digest", description = "Print the digest of the form instead.")
  private boolean digest;

  @Option(names = "--check", description = "Refuse a text that is not in this form already.")
  private boolean check;

  public CanonCommand(Session session) {
    this.session = session;
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
  public ExitCode run() {
    byte[] text = session.read(file);
    JsonValue value = check ? Jcs.parseCanonical(text, Limits.DEFAULT) : Jcs.parse(text);
    byte[] form = Jcs.write(value);
    session.show(new Canon(value, form, Digest.sha256(form)), this::print);
    return ExitCode.OK;
  }

  private void print(Canon canon, Terminal terminal) {
    if (digest) {
      terminal.out().println(canon.digest());
      return;
    }
    terminal.out().writeBytes(canon.form());
    if (terminal.outIsTerminal()) {
      terminal.out().println();
    }
  }
}

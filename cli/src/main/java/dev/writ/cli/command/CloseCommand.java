package dev.writ.cli.command;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.CliCommand;
import dev.writ.cli.ExitCode;
import dev.writ.cli.Homes;
import dev.writ.cli.Report;
import dev.writ.cli.Session;
import dev.writ.executor.document.RunClose;
import dev.writ.ledger.Checkpoint;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code writ close} and {@code writ checkpoint}: both end in a signed checkpoint. */
@Command(
    name = "close",
    description = {
      "Close a run for good: nothing can follow in it, and cutting off its end is seen.",
      "Prints the checkpoint that covers it."
    })
public final class CloseCommand implements CliCommand {
  private final Session session;

  @Parameters(paramLabel = "RUN")
  private String run;

  @Option(names = "--as", paramLabel = "KEY", description = "The opener's key (default: the home's).")
  private String as;

  public CloseCommand(Session session) {
    this.session = session;
  }

  record Signed(Checkpoint checkpoint) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("size", checkpoint.size())
          .put("root", checkpoint.root())
          .put("note", text())
          .build();
    }

    String text() {
      return new String(checkpoint.toBytes(), StandardCharsets.UTF_8);
    }
  }

  @Override
  public ExitCode run() {
    Signed signed =
        Homes.work(
            session,
            home -> {
              SigningKey key = home.home().key(as == null ? home.home().agent() : as);
              RunClose close =
                  new RunClose(home.home().tenant(), run, home.kernel().now());
              return new Signed(
                  home.kernel().closeRun(Envelope.sign(RunClose.TYPE, close.toJson(), key)));
            });
    session.show(signed, (s, terminal) -> terminal.out().print(s.text()));
    return ExitCode.OK;
  }
}

package dev.writ.cli.command;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.executor.document.RunClose;
import dev.writ.ledger.Checkpoint;
import java.nio.charset.StandardCharsets;

/** {@code writ close}: closes a run with a signed checkpoint. */
public final class CloseCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "close",
            "Close a run for good: nothing can follow in it, and a missing end would be detected.",
            "Prints the checkpoint that covers it.")
        .argument("RUN", "")
        .option("--as", "KEY", "The opener's key (default: the home's).");
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
  public ExitCode run(Session session, Arguments arguments) {
    Signed signed =
        Homes.work(
            session,
            home -> {
              SigningKey key =
                  home.home().key(arguments.option("--as").orElseGet(home.home()::agent));
              RunClose close =
                  new RunClose(
                      home.home().tenant(), arguments.argument("RUN"), home.kernel().now());
              return new Signed(
                  home.kernel().closeRun(Envelope.sign(RunClose.TYPE, close.toJson(), key)));
            });
    session.show(
        signed,
        (s, terminal) -> {
          terminal.out().print(s.text());
          terminal
              .err()
              .println(
                  "closed: run "
                      + arguments.argument("RUN")
                      + " takes no more requests. The checkpoint above covers it to its end: keep"
                      + " it, or give it to whoever verifies.");
        });
    return ExitCode.OK;
  }
}

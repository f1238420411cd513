package dev.writ.cli.command.run;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.embed.home.Home;
import dev.writ.executor.document.RunClose;
import dev.writ.ledger.note.Checkpoint;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** {@code writ close}: closes a run with a signed checkpoint. */
public final class CloseCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "close",
            "Close a run for good: nothing can follow in it, and a missing end would be detected.",
            "Prints the checkpoint that covers it.")
        .argument("RUN", "")
        .option("--as", "KEY", "The opener's key (default: the home's).")
        .example("close main");
  }

  /** The checkpoint that covers all of a closed run. */
  public record Signed(Checkpoint checkpoint) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("size", checkpoint.size())
          .put("root", checkpoint.root())
          .put("note", text())
          .build();
    }

    /** The signed note. */
    public String text() {
      return new String(checkpoint.toBytes(), StandardCharsets.UTF_8);
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    String run = arguments.argument("RUN");
    Signed signed =
        Homes.write(
            session,
            open ->
                new Signed(
                    open.kernel()
                        .closeRun(signed(open.home(), arguments, run, open.kernel().now()))),
            server ->
                new Signed(
                    Checkpoint.parse(
                        server.postForBytes(
                            "/v1/runs/" + inPath(run) + "/close",
                            signed(server.home(), arguments, run, Homes.clock().instant())))));
    session.show(
        signed,
        (s, terminal) -> {
          terminal.out().print(s.text());
          terminal
              .err()
              .println(
                  "closed: run "
                      + run
                      + " takes no more requests. The checkpoint above covers it to its end: keep"
                      + " it, or give it to whoever verifies.");
        });
    return ExitCode.OK;
  }

  private static Envelope signed(Home home, Arguments arguments, String run, Instant at) {
    SigningKey key = home.key(arguments.option("--as").orElseGet(home::agent));
    RunClose close = new RunClose(home.tenant(), run, Timestamps.truncate(at));
    return Envelope.sign(RunClose.TYPE, close.toJson(), key);
  }

  /** A run's name as a segment of an address. */
  private static String inPath(String run) {
    return URLEncoder.encode(run, StandardCharsets.UTF_8).replace("+", "%20");
  }
}

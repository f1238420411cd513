package dev.writ.cli.command.run;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.Ids;
import dev.writ.cli.command.SignedRequestFile;
import dev.writ.guardian.document.Request;
import java.nio.file.Files;
import java.nio.file.Path;

/** {@code writ submit}: submits a signed request unchanged, for the first time or again. */
public final class SubmitCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "submit",
            "Submit a signed request: a file, or the id of one that was submitted before.",
            "A request that was served gets its stored receipt; an approved one is executed now.")
        .argument("FILE|ID", "")
        .example("submit 4f0c2d6a81b3");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    String request = arguments.argument("FILE|ID");
    AnswerReport answers =
        EffectPlace.work(session, place -> place.submit(bytes(session, request, place)));
    session.show(answers, (a, terminal) -> a.print(terminal));
    return answers.exitCode();
  }

  private static byte[] bytes(Session session, String request, EffectPlace place) {
    if (request.equals("-") || Files.exists(Path.of(request))) {
      return SignedRequestFile.read(session, request);
    }
    Envelope stored = place.document(request);
    if (!stored.payloadType().equals(Request.TYPE)) {
      throw Ids.noRequest(request);
    }
    return stored.toBytes();
  }
}

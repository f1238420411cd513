package dev.writ.cli.command.witness;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.OutputFile;
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.error.CliError;
import dev.writ.cli.publish.StampCaller;
import dev.writ.cli.publish.StampCaller.Stamped;
import dev.writ.cli.term.Text;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.stamp.StampAuthorities;
import dev.writ.verify.stamp.StampRequest;
import dev.writ.verify.stamp.TimeStamp;
import java.net.URI;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Optional;

/** {@code writ stamp ask}: has a checkpoint stamped, and keeps the reply beside it. */
final class StampAsk implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "ask",
            "Have the file of a checkpoint stamped by a time stamp authority, and keep its reply"
                + " beside it as NOTE.tsr: proof that the log had this size and root by then.",
            "If the authority cannot be reached from here, --request writes the request to a file,"
                + " and a second call with --response takes its answer.")
        .argument("NOTE", "The checkpoint, as `checkpoint` or `witness ask` printed it.")
        .optionalArgument("URL", "The address of the authority.")
        .option("--tsa-ca", "FILE", "The authorities that certify those who stamp, in PEM.")
        .option("--ca", "FILE", "The authority that issued the certificate of its server.")
        .option(
            "--request", "FILE", "Write the request to this file; with --response: what was asked.")
        .option("--response", "FILE", "The authority's reply, which was obtained by other means.")
        .option("-o", "FILE", "Keep the reply in this file (default: NOTE.tsr).")
        .example("stamp ask cosigned.txt https://tsa.example/tsr --tsa-ca tsa-ca.pem")
        .example("stamp ask cosigned.txt --request cosigned.tsq");
  }

  /** A request that waits for a reply. */
  record Asked(String file) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().put("request", file).build();
    }
  }

  /** A stamp that was kept. */
  record Kept(String file, TimeStamp stamp, Checkpoint checkpoint) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("file", file)
          .put("size", checkpoint.size())
          .put("stamp", stamp.toJson())
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    String name = arguments.argument("NOTE");
    Checkpoint checkpoint = Checkpoint.parse(session.read(name));
    Digest stamped = Digest.sha256(checkpoint.toBytes());
    Optional<URI> url = arguments.optionalArgument("URL").map(StampAsk::uri);
    Optional<String> request = arguments.option("--request");
    Optional<String> response = arguments.option("--response");
    if (url.isPresent() == request.or(() -> response).isPresent()) {
      throw new WritException(
          CliError.USAGE, "name the URL of an authority, or else --request or --response");
    }
    if (url.isEmpty() && response.isEmpty()) {
      StampRequest asked = StampCaller.request(stamped, new SecureRandom());
      OutputFile.write(Path.of(request.orElseThrow()), out -> out.write(asked.toBytes()));
      session.show(
          new Asked(request.orElseThrow()),
          (made, terminal) ->
              terminal.out().println("ask the authority: " + Text.printable(made.file())));
      return ExitCode.OK;
    }
    StampAuthorities believed =
        StampAuthorities.parse(
            session.read(
                arguments
                    .option("--tsa-ca")
                    .orElseThrow(() -> new WritException(CliError.USAGE, "--tsa-ca is missing"))));
    Stamped taken =
        url.isPresent()
            ? asked(url.get(), stamped, believed, arguments.option("--ca").map(Path::of))
            : taken(
                session.read(response.orElseThrow()),
                stamped,
                request.map(session::read),
                believed);
    String file = arguments.option("-o").orElse(name + ".tsr");
    OutputFile.write(Path.of(file), out -> out.write(taken.reply()));
    session.show(
        new Kept(file, taken.stamp(), checkpoint),
        (kept, terminal) ->
            terminal
                .out()
                .println(
                    Text.printable(kept.stamp().says(kept.checkpoint()) + ": " + kept.file())));
    return ExitCode.OK;
  }

  /** With a path, and without what may be secret: it stands in messages. */
  private static URI uri(String url) {
    return Optional.of(url)
        .filter(text -> text.matches("https?://[A-Za-z0-9.:\\[\\]-]+(/[A-Za-z0-9._~/-]*)?"))
        .flatMap(SystemWords::withHost)
        .orElseThrow(() ->
            new WritException(CliError.USAGE, "the URL is no http address without user and query"));
  }

  private static Stamped asked(
      URI url, Digest stamped, StampAuthorities believed, Optional<Path> authority) {
    try (StampCaller caller = new StampCaller(authority)) {
      return caller.ask(url, stamped, believed);
    }
  }

  private static Stamped taken(
      byte[] reply, Digest stamped, Optional<byte[]> request, StampAuthorities believed) {
    return new Stamped(
        reply, TimeStamp.verify(reply, stamped, request.map(StampRequest::parse), believed));
  }
}

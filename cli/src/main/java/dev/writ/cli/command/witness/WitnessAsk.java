package dev.writ.cli.command.witness;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.OutputFile;
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.command.run.CheckpointCommand;
import dev.writ.cli.error.CliError;
import dev.writ.cli.publish.Cosigning;
import dev.writ.cli.publish.WitnessCaller;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.WitnessKey;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** {@code writ witness ask}: has a fresh checkpoint of the log cosigned. */
final class WitnessAsk implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "ask",
            "Ask witnesses to cosign a fresh checkpoint of the log, and print it with their"
                + " cosignatures.",
            "`export --checkpoint` adds the proof to a bundle that leads to this checkpoint, and"
                + " `verify --witness` shows who saw it.")
        .moreArguments("URL", "The addresses of the witnesses.")
        .options("--key", "VKEY", "The key of a witness; others' cosignatures are ignored.")
        .option(
            "--quorum", "N", "So many of the witnesses are enough (default: each that has a key).")
        .option("-o", "FILE", "Write the checkpoint to this file.")
        .option("--ca", "FILE", "The authority that issued the certificates of the witnesses.")
        .example("witness ask https://witness.example --key VKEY -o cosigned.txt");
  }

  /** A checkpoint, and what the witnesses said of it. */
  record Cosigned(Checkpoint checkpoint, List<Cosignature> by) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("checkpoint", text())
          .put("size", checkpoint.size())
          .putList(
              "witnesses",
              by,
              c ->
                  JsonValue.object()
                      .put("key", c.by().toString())
                      .put("time", c.at().toString())
                      .build())
          .build();
    }

    String text() {
      return new String(checkpoint.toBytes(), StandardCharsets.UTF_8);
    }

    List<String> lines() {
      return by.stream()
          .map(c -> c.by().name() + " saw the log of size " + checkpoint.size() + " at " + c.at())
          .toList();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    List<WitnessKey> keys =
        arguments.options("--key").stream().map(WitnessKey::parse).distinct().toList();
    List<URI> urls = arguments.moreArguments("URL").stream().map(WitnessAsk::uri).toList();
    if (urls.isEmpty() || keys.isEmpty()) {
      throw new WritException(CliError.USAGE, "name the URL of a witness, and its --key");
    }
    long quorum =
        arguments.integer("--quorum", 1, keys.size()).orElse((long) distinct(keys).size());
    Cosigned cosigned;
    try (WitnessCaller caller =
        new WitnessCaller(
            arguments.option("--ca").map(Path::of),
            (from, to) -> Homes.read(session, ledger -> ledger.consistencyProof(from, to)))) {
      cosigned =
          asked(session.terminal(), caller, urls, CheckpointCommand.fresh(session), keys, quorum);
    }
    Optional<String> file = arguments.option("-o");
    file.ifPresent(
        f -> OutputFile.write(Path.of(f), out -> out.write(cosigned.checkpoint().toBytes())));
    session.show(
        cosigned,
        (c, terminal) -> {
          if (file.isEmpty()) {
            terminal.out().print(c.text());
          }
          var lines = file.isEmpty() ? terminal.err() : terminal.out();
          c.lines().forEach(line -> lines.println(Text.printable(line)));
        });
    return ExitCode.OK;
  }

  private static Cosigned asked(
      Terminal terminal,
      WitnessCaller caller,
      List<URI> urls,
      Checkpoint checkpoint,
      List<WitnessKey> keys,
      long quorum) {
    Cosigning cosigning = new Cosigning(checkpoint);
    cosigning.ask(urls.stream().map(url -> new Cosigning.Asked(caller, url, keys)).toList());
    cosigning.require(quorum);
    cosigning.refusals().forEach(e -> terminal.err().println(Text.printable(e.getMessage())));
    return new Cosigned(cosigning.checkpoint(), cosigning.by());
  }

  /** Witnesses of others are reached below a path, which tlog-witness calls their prefix. */
  private static URI uri(String url) {
    return Optional.of(url)
        .filter(text -> text.matches("https?://[A-Za-z0-9.:\\[\\]-]+(/[A-Za-z0-9._~/%-]*)?"))
        .flatMap(SystemWords::withHost)
        .orElseThrow(() ->
            new WritException(CliError.USAGE, "\"" + url + "\" is no http address of a witness"));
  }

  /** One key under two names is one witness. */
  private static List<VerifyingKey> distinct(List<WitnessKey> keys) {
    return keys.stream().map(WitnessKey::key).distinct().toList();
  }
}

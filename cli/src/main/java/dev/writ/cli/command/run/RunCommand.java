package dev.writ.cli.command.run;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Asking;
import dev.writ.embed.home.EffectResolver;
import dev.writ.embed.home.Home;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.EffectDraft;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.tools.process.MediaTypes;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** {@code writ run}: an agent's request on one's own input. */
public final class RunCommand implements CliCommand {
  /** In valid JSON: each text whole, so that no number is found in one. */
  private static final Pattern TEXTS_AND_NUMBERS =
      Pattern.compile("\"(?:[^\"\\\\]++|\\\\.)*+\"|-?[0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?");

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "run",
            "Sign a request for one effect of a tool, have it judged and, if allowed, executed.",
            "The output goes to stdout, everything else to stderr.")
        .argument("TOOL", "NAME, NAME@VERSION or NAME/OPERATION.")
        .options("--param", "KEY=VALUE", "A parameter as text; KEY=@FILE reads it from a file.")
        .options("--param-json", "KEY=JSON", "A parameter as a JSON value.")
        .options(
            "--input", "[NAME=]FILE", "A file for the tool to read, under its own name or NAME.")
        .option("--run", "RUN", "The run it belongs to (default: main).")
        .option("--as", "KEY", "The agent's key (default: the home's).")
        .option("--key", "TEXT", "Idempotency key: the same key and effect run once.")
        .options("--consume", "RECEIPT", "A receipt that this effect builds on.")
        .option("--sandbox", "PROFILE", "The sandbox profile (default: the tool's usual one).")
        .flag(
            "--pin-workspace",
            "Pin the run's workspace as it is now, which approvals of effects in a workspace"
                + " need.")
        .flag("--drop-output", "Keep only the digest of the output.")
        .option("--cpu-ms", "N", "Processor time to declare (default: 2000; a process 10000).")
        .option("--wall-ms", "N", "Elapsed time to declare (default: 5000; a process 20000).")
        .option(
            "--memory-mb", "N", "Memory to declare (default: 64; a process 256, a browser 1024).")
        .option("--output-kb", "N", "Output size to declare (default: 1024).")
        .option(
            "--save-request",
            "FILE",
            "Write the signed request to a new file as well, for `writ submit`.")
        .example("run js --param source='6*7'")
        .example("run sql --param sql='select count(*) from orders' --input orders.csv")
        .example("run everything/get-sum --param-json a=2 --param-json b=3");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    AnswerReport answers =
        EffectPlace.work(session, place -> new Task(session, arguments, place).ask());
    session.show(answers, (a, terminal) -> a.print(terminal));
    return answers.exitCode();
  }

  /** One call of the command. */
  private record Task(Session session, Arguments arguments, EffectPlace place) {

    private AnswerReport ask() {
      Home home = place.home();
      SigningKey key = home.key(arguments.option("--as").orElseGet(home::agent));
      SystemState system = place.system();
      EffectPlace.Holder holder =
          EffectPlace.Holder.of(system.trust(), key, home.tenant(), Tables.EVERYBODY);
      Effect effect = effect(system, key, holder);
      List<Digest> consumed =
          arguments.options("--consume").stream().map(id -> place.document(id).id()).toList();
      Envelope request =
          new Asking(() -> system, place::now, new SecureRandom())
              .request(
                  key,
                  arguments.option("--run").orElse("main"),
                  effect,
                  arguments.option("--key"),
                  consumed,
                  !arguments.has("--drop-output"));
      arguments.option("--save-request").ifPresent(file -> save(Path.of(file), request));
      return place.submit(request.toBytes());
    }

    private static void save(Path saveRequest, Envelope request) {
      try {
        Files.write(saveRequest, request.toBytes(), StandardOpenOption.CREATE_NEW);
      } catch (FileAlreadyExistsException e) {
        throw new WritException(EmbedError.FILE_EXISTS, saveRequest.toString(), e);
      } catch (IOException e) {
        throw new WritException(EmbedError.FILE_UNWRITABLE, saveRequest.toString(), e);
      }
    }

    private Effect effect(SystemState system, SigningKey key, EffectPlace.Holder holder) {
      String run = arguments.option("--run").orElse("main");
      String[] operationParts = arguments.argument("TOOL").split("/", 2);
      String[] versionParts = operationParts[0].split("@", 2);
      EffectDraft draft =
          Effect.of(versionParts[0])
              .params(params())
              .resources(
                  new EffectDraft.Declared(
                      declared("--cpu-ms", 1),
                      declared("--memory-mb", 1 << 20),
                      declared("--output-kb", 1 << 10),
                      declared("--wall-ms", 1)));
      if (versionParts.length == 2) {
        draft = draft.version(versionParts[1]);
      }
      if (operationParts.length == 2) {
        draft = draft.operation(operationParts[1]);
      }
      if (arguments.option("--sandbox").isPresent()) {
        draft = draft.sandbox(arguments.option("--sandbox").get());
      }
      for (String input : arguments.options("--input")) {
        draft = draft.input(put(key, holder, input));
      }
      if (arguments.has("--pin-workspace")) {
        draft = draft.workspaceBefore(place.workspace(holder.tenant(), run));
      }
      return new EffectResolver(system, place.tools())
          .resolve(draft, new CanaryDraw(holder.tenant(), run, holder.subject()));
    }

    private Optional<Long> declared(String option, long unit) {
      return arguments.integer(option, 0, Integer.MAX_VALUE).map(n -> n * unit);
    }

    private JsonValue.Obj params() {
      ObjectBuilder object = JsonValue.object();
      TreeSet<String> given = new TreeSet<>();
      for (String param : arguments.options("--param")) {
        String value = value(param);
        object.put(
            once(param, given),
            value.startsWith("@")
                ? new String(session.read(value.substring(1)), StandardCharsets.UTF_8)
                : value);
      }
      for (String param : arguments.options("--param-json")) {
        String key = once(param, given);
        String json = value(param);
        object.put(key, parsed(key, json));
        requireExact(key, json);
      }
      return object.build();
    }

    private static JsonValue parsed(String key, String json) {
      try {
        return Jcs.parse(json.getBytes(StandardCharsets.UTF_8));
      } catch (WritException e) {
        throw new WritException(e.code(), "--param-json " + key + ": " + e.found(), e);
      }
    }

    /** Refuses an integer that no double holds: another one would be sent. */
    private static void requireExact(String key, String json) {
      TEXTS_AND_NUMBERS
          .matcher(json)
          .results()
          .map(MatchResult::group)
          .filter(token -> token.matches("-?[0-9]+"))
          .filter(token ->
              new BigDecimal(token).compareTo(new BigDecimal(Double.parseDouble(token))) != 0)
          .findFirst()
          .ifPresent(token -> {
            throw new WritException(
                CliError.PARAMETER,
                key + ": no double holds " + shown(token) + "; send it as a string");
          });
    }

    private static String shown(String token) {
      return token.length() > 40 ? token.substring(0, 40) + "…" : token;
    }

    private static String value(String param) {
      return param.substring(param.indexOf('=') + 1);
    }

    /** The key of KEY=VALUE; refuses a key that was given before. */
    private static String once(String param, TreeSet<String> given) {
      int sign = param.indexOf('=');
      if (sign < 1) {
        throw new WritException(CliError.PARAMETER, "\"" + param + "\" is not KEY=VALUE");
      }
      String key = param.substring(0, sign);
      if (!given.add(key)) {
        throw new WritException(CliError.PARAMETER, key + " is given twice");
      }
      return key;
    }

    private Input put(SigningKey key, EffectPlace.Holder holder, String argument) {
      int sign = argument.indexOf('=');
      Path file = Path.of(argument.substring(sign + 1));
      if (Files.isDirectory(file)) {
        throw new WritException(EmbedError.FILE_UNREADABLE, file + " is a folder");
      }
      String name = sign > 0 ? argument.substring(0, sign) : file.getFileName().toString();
      Content content = place.put(key, holder, file, MediaTypes.of(name));
      return new Input(name, content.digest(), content.size(), content.mediaType());
    }
  }
}

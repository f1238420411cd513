package dev.writ.cli.command;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Asking;
import dev.writ.embed.home.EffectResolver;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.EffectDraft;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.policy.CanaryDraw;
import dev.writ.tools.process.MediaTypes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** {@code writ run}: an agent's request on one's own input. */
public final class RunCommand implements CliCommand {
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
            "Write the signed request to a new file as well, for `writ submit`.");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    AnswerReport answers = Homes.work(session, home -> new Task(session, arguments).ask(home));
    session.show(answers, (a, terminal) -> a.print(terminal));
    return answers.exitCode();
  }

  /** One call of the command. */
  private record Task(Session session, Arguments arguments) {

    private AnswerReport ask(OpenHome home) {
      SigningKey key = home.home().key(arguments.option("--as").orElseGet(home.home()::agent));
      Optional<TrustedKey> enrolled = home.kernel().system().trust().key(key.kid());
      String tenant = enrolled.flatMap(TrustedKey::tenant).orElse(home.home().tenant());
      String subject = enrolled.map(TrustedKey::subject).orElse(Tables.EVERYBODY);
      Effect effect = effect(home, tenant, subject);
      List<Digest> consumed =
          arguments.options("--consume").stream()
              .map(id -> Ids.document(home.kernel().ledger(), id).id())
              .toList();
      Envelope request =
          new Asking(home.kernel(), new SecureRandom())
              .request(
                  key,
                  arguments.option("--run").orElse("main"),
                  effect,
                  arguments.option("--key"),
                  consumed,
                  !arguments.has("--drop-output"));
      arguments.option("--save-request").ifPresent(file -> save(Path.of(file), request));
      return AnswerReport.of(home.kernel(), home.kernel().submit(request, List.of()));
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

    private Effect effect(OpenHome home, String tenant, String subject) {
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
        draft = draft.input(put(home, tenant, subject, input));
      }
      if (arguments.has("--pin-workspace")) {
        draft = draft.workspaceBefore(home.workspaces().treeDigest(tenant, run));
      }
      return new EffectResolver(home.kernel().system(), home.manifests())
          .resolve(draft, new CanaryDraw(tenant, run, subject));
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
        object.put(once(param, given), Jcs.parse(value(param).getBytes(StandardCharsets.UTF_8)));
      }
      return object.build();
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

    private static Input put(OpenHome home, String tenant, String subject, String argument) {
      int sign = argument.indexOf('=');
      Path file = Path.of(argument.substring(sign + 1));
      String name = sign > 0 ? argument.substring(0, sign) : file.getFileName().toString();
      try (InputStream in = Files.newInputStream(file)) {
        Content content = home.kernel().put(tenant, subject, in, MediaTypes.of(name));
        return new Input(name, content.digest(), content.size(), content.mediaType());
      } catch (IOException e) {
        throw new WritException(EmbedError.FILE_UNREADABLE, file.toString(), e);
      }
    }
  }
}

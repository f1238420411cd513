package dev.writ.cli.command;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.cli.CliCommand;
import dev.writ.cli.CliError;
import dev.writ.cli.ExitCode;
import dev.writ.cli.Homes;
import dev.writ.cli.Session;
import dev.writ.cli.home.Asking;
import dev.writ.cli.home.OpenHome;
import dev.writ.executor.document.Content;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.registry.RegisteredTool;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code writ run}: an agent's request on one's own input. */
@Command(
    name = "run",
    description = {
      "Sign a request for one effect of a tool, have it judged and, if allowed, executed.",
      "The output goes to stdout, what happened to stderr."
    })
public final class RunCommand implements CliCommand {
  private final Session session;

  @Parameters(paramLabel = "TOOL", description = "NAME, NAME@VERSION or NAME/OPERATION.")
  private String tool;

  @Option(
      names = {"-p", "--param"},
      paramLabel = "KEY=VALUE",
      description = "A parameter as text; KEY=@FILE reads it from a file.")
  private Map<String, String> params = new TreeMap<>();

  @Option(
      names = "--param-json",
      paramLabel = "KEY=JSON",
      description = "A parameter as a JSON value.")
  private Map<String, String> jsonParams = new TreeMap<>();

  @Option(
      names = {"-i", "--input"},
      paramLabel = "[NAME=]FILE",
      description = "A file for the tool to read, under its own name or NAME.")
  private List<String> inputs = new ArrayList<>();

  @Option(
      names = "--run",
      paramLabel = "RUN",
      defaultValue = "main",
      description = "The run it belongs to (default: main).")
  private String run;

  @Option(names = "--as", paramLabel = "KEY", description = "The agent's key (default: the home's).")
  private String as;

  @Option(
      names = "--key",
      paramLabel = "TEXT",
      description = "Idempotency key: the same key and effect run once.")
  private String idempotencyKey;

  @Option(
      names = "--consume",
      paramLabel = "RECEIPT",
      description = "A receipt that this effect builds on.")
  private List<String> consumes = new ArrayList<>();

  @Option(names = "--drop-output", description = "Keep only the digest of the output.")
  private boolean dropOutput;

  @Option(names = "--cpu-ms", paramLabel = "N", description = "Processor time to declare (default: 2000).")
  private Long cpuMs;

  @Option(names = "--wall-ms", paramLabel = "N", description = "Elapsed time to declare (default: 5000).")
  private Long wallMs;

  @Option(names = "--memory-mb", paramLabel = "N", description = "Memory to declare (default: 64).")
  private Long memoryMb;

  @Option(names = "--output-kb", paramLabel = "N", description = "Output size to declare (default: 1024).")
  private Long outputKb;

  @Option(
      names = "--save-request",
      paramLabel = "FILE",
      description = "Write the signed request to a new file as well, for `writ submit`.")
  private Path saveRequest;

  public RunCommand(Session session) {
    this.session = session;
  }

  @Override
  public ExitCode run() {
    Answers answers = Homes.work(session, this::ask);
    session.show(answers, (a, terminal) -> a.print(terminal));
    return answers.exitCode();
  }

  private Answers ask(OpenHome home) {
    SigningKey key = home.home().key(as == null ? home.home().agent() : as);
    String tenant =
        home.kernel()
            .system()
            .trust()
            .key(key.kid())
            .flatMap(k -> k.tenant())
            .orElse(home.home().tenant());
    Effect effect = effect(home, tenant);
    List<Digest> consumed =
        consumes.stream().map(id -> Ids.document(home.kernel().ledger(), id).id()).toList();
    Envelope request =
        new Asking(home.kernel(), new SecureRandom())
            .request(key, run, effect, Optional.ofNullable(idempotencyKey), consumed, !dropOutput);
    if (saveRequest != null) {
      save(request);
    }
    return new Answers(home.kernel().submit(request.toBytes(), List.of()));
  }

  private void save(Envelope request) {
    try {
      Files.write(saveRequest, request.toBytes(), StandardOpenOption.CREATE_NEW);
    } catch (IOException e) {
      throw new WritException(CliError.FILE_UNWRITABLE, saveRequest.toString(), e);
    }
  }

  private Effect effect(OpenHome home, String tenant) {
    String[] operationParts = tool.split("/", 2);
    String[] versionParts = operationParts[0].split("@", 2);
    ToolManifest manifest =
        versionParts.length == 2
            ? home.registry().resolve(versionParts[0], versionParts[1]).manifest()
            : only(versionParts[0], home.registry().tools().stream().map(RegisteredTool::manifest).toList());
    String operation =
        operationParts.length == 2 ? operationParts[1] : onlyOperation(manifest);
    List<Input> files =
        inputs.stream()
            .map(input -> put(home, tenant, input))
            .sorted(Comparator.comparing(Input::name))
            .toList();
    return new Effect(
        manifest.name(),
        manifest.version(),
        operation,
        params(),
        files,
        resources(manifest.resourcesMax()),
        manifest.sandboxes().getFirst(),
        Optional.empty());
  }

  /** What is not declared by hand is a modest amount, within what the tool may use at all. */
  private Resources resources(Resources most) {
    return new Resources(
        cpuMs != null ? cpuMs : Math.min(2000, most.cpuMs()),
        memoryMb != null ? Math.multiplyExact(memoryMb, 1L << 20) : Math.min(64L << 20, most.memoryBytes()),
        outputKb != null ? Math.multiplyExact(outputKb, 1L << 10) : Math.min(1L << 20, most.outputBytes()),
        wallMs != null ? wallMs : Math.min(5000, most.wallMs()));
  }

  private static ToolManifest only(String name, List<ToolManifest> all) {
    List<ToolManifest> named = all.stream().filter(m -> m.name().equals(name)).toList();
    if (named.isEmpty()) {
      throw Homes.notFound(
          "tool " + name + "; there are " + all.stream().map(ToolManifest::name).distinct().toList());
    }
    if (named.size() > 1) {
      throw new WritException(
          CliError.TOOL_AMBIGUOUS,
          name + " has versions " + named.stream().map(ToolManifest::version).toList());
    }
    return named.getFirst();
  }

  private static String onlyOperation(ToolManifest manifest) {
    if (manifest.operations().size() != 1) {
      throw new WritException(
          CliError.TOOL_AMBIGUOUS,
          manifest.name()
              + " has operations "
              + manifest.operations().stream().map(ToolManifest.Operation::name).toList());
    }
    return manifest.operations().getFirst().name();
  }

  private JsonValue.Obj params() {
    ObjectBuilder object = JsonValue.object();
    params.forEach(
        (key, value) ->
            object.put(
                key,
                value.startsWith("@")
                    ? new String(session.read(value.substring(1)), StandardCharsets.UTF_8)
                    : value));
    jsonParams.forEach(
        (key, value) -> {
          if (params.containsKey(key)) {
            throw new WritException(CliError.PARAMETER, key + " is given twice");
          }
          object.put(key, Jcs.parse(value.getBytes(StandardCharsets.UTF_8)));
        });
    return object.build();
  }

  private Input put(OpenHome home, String tenant, String argument) {
    int sign = argument.indexOf('=');
    Path file = Path.of(argument.substring(sign + 1));
    String name = sign > 0 ? argument.substring(0, sign) : file.getFileName().toString();
    try (InputStream in = Files.newInputStream(file)) {
      Content content = home.kernel().put(tenant, in, MediaTypes.of(name));
      return new Input(name, content.digest(), content.size(), content.mediaType());
    } catch (IOException e) {
      throw new WritException(CliError.FILE_UNREADABLE, file.toString(), e);
    }
  }
}

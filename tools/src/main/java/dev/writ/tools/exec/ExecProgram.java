package dev.writ.tools.exec;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.policy.seed.CommandRole;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.tools.process.Artifacts;
import dev.writ.tools.process.Mount;
import dev.writ.tools.process.ProcessCall;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.StandardOutput;
import dev.writ.tools.process.TestReports;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** One command: its words, the programs that exist for it, and its result. */
final class ExecProgram {
  private static final String ROOT = "/workspace";

  /** What a shell answers for a program that it does not find. */
  private static final int NOT_FOUND = 127;

  private final ProcessCall call;
  private final ProcessHost host;
  private final JsonValue.Obj params;
  private final List<String> path;

  /**
   * @param profilesPath whether programs are those on the PATH of the sandbox profile
   */
  ExecProgram(ProcessCall call, ProcessHost host, boolean profilesPath) {
    this.call = call;
    this.host = host;
    this.params = call.params();
    this.path = profilesPath ? call.path() : Toolbox.PLACES;
  }

  DriverOutcome run() {
    try {
      Artifacts.requirePatterns(call);
      return run(image());
    } catch (WritException e) {
      if (e.code() == SandboxError.IMAGE || e.code() == SandboxError.IMAGE_REFERENCE) {
        return notRun("refused", e.getMessage());
      }
      throw e;
    }
  }

  private DriverOutcome run(Optional<ImageReference> image) {
    Toolbox box = image.isPresent() ? Toolbox.NONE : Toolbox.of(texts("commands"), path);
    observe(box, image);
    Optional<List<String>> argv = argv(image.isPresent() ? texts("commands") : box.names());
    if (argv.isEmpty()) {
      return call.failed(
          "no-shell", "a line needs sh or bash among the commands", Optional.empty());
    }
    if (params.get("mount") instanceof JsonValue.Str directory) {
      try (Mount mount = Mount.of(call, host, directory.value())) {
        return run(argv.get(), box, image, mount::takeBack);
      }
    }
    call.copyInputs("in");
    return run(argv.get(), box, image, () -> {});
  }

  /**
   * @param after what is done with the workspace after the command, whatever its end
   */
  private DriverOutcome run(
      List<String> argv, Toolbox box, Optional<ImageReference> image, Runnable after) {
    Ended ended;
    try {
      makeDirectory();
      ended = call.exec(image.isPresent() ? inImage(argv) : onHost(argv, box));
    } catch (WritException e) {
      if (e.code() == SandboxError.EXECUTABLE_MISSING) {
        return notThere(argv.getFirst(), box, image);
      }
      throw e;
    }
    Artifacts artifacts = Artifacts.collect(call, cwd());
    try {
      after.run();
    } catch (WritException e) {
      return call.failed("mount", e.getMessage(), Optional.of(output(ended, artifacts, image)));
    }
    return artifacts.end(call, ended, () -> output(ended, artifacts, image));
  }

  /**
   * The image in which policy lets the program run, for a program that the effect names, since the
   * Guardian judged these. The host's program never runs in its place.
   *
   * @throws WritException {@code SBX-034} where policy does not name it by digest: a tag can be
   *     moved
   */
  private Optional<ImageReference> image() {
    List<String> commands = texts("commands");
    SortedMap<String, String> images = call.invocation().host().images();
    Optional<ImageReference> image =
        argv(commands).stream()
            .flatMap(ExecProgram::programs)
            .filter(commands::contains)
            .flatMap(program -> Optional.ofNullable(images.get(program)).stream())
            .findFirst()
            .map(ExecProgram::pinned);
    image.ifPresent(call::runIn);
    return image;
  }

  private static ImageReference pinned(String image) {
    if (!image.contains("@")) {
      throw new WritException(
          SandboxError.IMAGE_REFERENCE,
          "policy names " + cut(image) + "; `writ image pin` writes its digest");
    }
    return ImageReference.parse(image);
  }

  /**
   * The programs whose image counts: for a line that a shell runs its first word, then the shell.
   */
  private static Stream<String> programs(List<String> argv) {
    boolean line =
        argv.size() == 3 && CommandRole.SHELLS.contains(argv.get(0)) && argv.get(1).equals("-c");
    Stream<String> word = line ? Stream.of(argv.get(2).strip().split("\\s", 2)[0]) : Stream.empty();
    return Stream.concat(word, Stream.of(argv.getFirst()));
  }

  /**
   * The words to run: the given ones, or the line with the simplest shell that exists.
   *
   * @param there names of programs that exist
   */
  private Optional<List<String>> argv(Collection<String> there) {
    if (!(params.get("shell") instanceof JsonValue.Str line)) {
      return Optional.of(texts("argv"));
    }
    return CommandRole.SHELLS.stream()
        .filter(there::contains)
        .findFirst()
        .map(shell -> List.of(shell, "-c", line.value()));
  }

  private DriverOutcome notThere(String program, Toolbox box, Optional<ImageReference> image) {
    String why =
        image
            .map(i -> "not in the image " + i)
            .orElseGet(() ->
                box.missing()
                    .getOrDefault(
                        program, "not among the commands that the call names in its commands"));
    return notRun("command-not-found", cut(program) + ": " + why);
  }

  private static String cut(String name) {
    return name.length() > 80 ? "a name of " + name.length() + " characters" : name;
  }

  /** The outcome of a command that did not start, with the exit code that a shell would give. */
  private DriverOutcome notRun(String reason, String message) {
    JsonValue.Obj output =
        JsonValue.object()
            .put("stdout", "")
            .put("stdout_truncated", false)
            .put("stderr", message + "\n")
            .put("stderr_truncated", false)
            .put("exit_code", NOT_FOUND)
            .put("duration_ms", 0)
            .put("artifacts", JsonValue.of(List.of()))
            .build();
    return call.failed(
        reason,
        message,
        Optional.of(new DriverOutcome.Output(Jcs.write(output), StandardOutput.MEDIA_TYPE)));
  }

  /** A command on the host's programs, of which only the named ones exist. */
  private Command onHost(List<String> argv, Toolbox box) {
    return command(
        call.command(argv)
            .withExecutables(box.executables())
            .withBinds(box.binds())
            .withEnvironment("PATH", String.join(":", path)));
  }

  /** A command in an image, on the image's own PATH. */
  private Command inImage(List<String> argv) {
    return command(call.command(argv));
  }

  private Command command(Command where) {
    Command command =
        where
            .withEgress(call.egress())
            .withLimits(limits())
            .withStdin(text("stdin").getBytes(StandardCharsets.UTF_8))
            .withDirectory(cwd().equals(".") ? ROOT : ROOT + "/" + cwd());
    if (params.get("env") instanceof JsonValue.Obj env) {
      for (var variable : env.members().entrySet()) {
        command =
            command.withEnvironment(
                variable.getKey(), ((JsonValue.Str) variable.getValue()).value());
      }
    }
    return command;
  }

  private CgroupLimits limits() {
    CgroupLimits limits =
        call.invocation()
            .host()
            .commands()
            .map(terms -> call.limits().withPids(terms.pids()).withTmpBytes(terms.tmpMb() << 20))
            .orElseGet(call::limits);
    return params.get("cpu_milli") instanceof JsonValue.Num milli
        ? limits.withCpuMilli((long) milli.value())
        : limits;
  }

  /** Relative to the workspace; the Guardian has allowed it. */
  private String cwd() {
    return params.get("cwd") instanceof JsonValue.Str path ? path.value() : ".";
  }

  /** Creates the working directory, since the workspace of a new run is empty. */
  private void makeDirectory() {
    if (!cwd().equals(".")) {
      call.sandbox().workspace().makeDirectory(cwd());
    }
  }

  private DriverOutcome.Output output(
      Ended ended, Artifacts artifacts, Optional<ImageReference> image) {
    TreeMap<String, JsonValue> more = new TreeMap<>();
    image.ifPresent(i -> more.put("image", JsonValue.of(i.toString())));
    more.put("duration_ms", JsonValue.of(ended.usage().wallMs()));
    more.put("artifacts", artifacts.toJson());
    more.putAll(TestReports.summary(artifacts.files()).members());
    return StandardOutput.of(call, ended, more);
  }

  private void observe(Toolbox box, Optional<ImageReference> image) {
    image.ifPresent(i -> call.observe("image", JsonValue.of(i.toString())));
    var missing = JsonValue.object();
    box.missing().forEach(missing::put);
    call.observe("missing", missing.build());
    box.found().values().forEach(path -> call.observeProgram(path.getFileName().toString()));
  }

  private String text(String name) {
    return params.get(name) instanceof JsonValue.Str text ? text.value() : "";
  }

  /** A list of texts, as the schema guarantees. */
  private List<String> texts(String name) {
    return params.get(name) instanceof JsonValue.Arr list
        ? list.items().stream().map(item -> ((JsonValue.Str) item).value()).toList()
        : List.of();
  }
}

package dev.writ.tools.exec;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Outcome;
import dev.writ.guardian.policy.CommandRole;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Limits;
import dev.writ.sandbox.SandboxError;
import dev.writ.tools.process.Artifacts;
import dev.writ.tools.process.ProcessCall;
import dev.writ.tools.process.StandardOutput;
import dev.writ.tools.process.TestReports;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** One command: what is asked for, what exists for it, and what it left. */
final class ExecProgram {
  private static final String ROOT = "/workspace";

  private final ProcessCall call;
  private final JsonValue.Obj params;

  ExecProgram(ProcessCall call) {
    this.call = call;
    this.params = call.params();
  }

  Outcome run() {
    Artifacts.requirePatterns(call);
    Toolbox box = Toolbox.of(texts("commands"));
    observe(box);
    Optional<List<String>> argv = argv(box);
    if (argv.isEmpty()) {
      return call.failed(
          "no-shell", "a line needs sh or bash among the commands", Optional.empty());
    }
    call.copyInputs("in");
    Ended ended;
    try {
      makeDirectory();
      ended = call.exec(command(argv.get(), box));
    } catch (WritException e) {
      if (e.code() == SandboxError.EXECUTABLE_MISSING) {
        return notThere(argv.get().getFirst(), box);
      }
      throw e;
    }
    Artifacts artifacts = Artifacts.collect(call, cwd());
    return artifacts.end(call, ended, () -> output(ended, artifacts));
  }

  /** The words to run: those that are given, or the simplest shell that exists with the line. */
  private Optional<List<String>> argv(Toolbox box) {
    if (!(params.get("shell") instanceof JsonValue.Str line)) {
      return Optional.of(texts("argv"));
    }
    return CommandRole.SHELLS.stream()
        .filter(box.found()::containsKey)
        .findFirst()
        .map(shell -> List.of(shell, "-c", line.value()));
  }

  private Outcome notThere(String program, Toolbox box) {
    String why = box.missing().getOrDefault(program, "not among the commands");
    return call.failed(
        "command-not-found",
        (program.length() > 80 ? "a name of " + program.length() + " characters" : program)
            + ": "
            + why,
        Optional.empty());
  }

  private Command command(List<String> argv, Toolbox box) {
    Command command =
        call.command(argv)
            .withExecutables(box.executables())
            .withBinds(box.binds())
            .withEgress(call.egress())
            .withLimits(limits())
            .withStdin(text("stdin").getBytes(StandardCharsets.UTF_8))
            .withEnvironment("PATH", String.join(":", Toolbox.PLACES))
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

  private Limits limits() {
    Limits limits = call.limits();
    return params.get("cpu_milli") instanceof JsonValue.Num milli
        ? limits.withCpuMilli((long) milli.value())
        : limits;
  }

  /** Relative to the workspace; the guardian let it through. */
  private String cwd() {
    return params.get("cwd") instanceof JsonValue.Str path ? path.value() : ".";
  }

  /** A run begins in an empty workspace, so that the directory it asks for is made. */
  private void makeDirectory() {
    if (!cwd().equals(".")) {
      call.sandbox().workspace().makeDirectory(cwd());
    }
  }

  private Outcome.Output output(Ended ended, Artifacts artifacts) {
    TreeMap<String, JsonValue> more = new TreeMap<>();
    more.put("duration_ms", JsonValue.of(ended.usage().wallMs()));
    more.put("artifacts", artifacts.toJson());
    more.putAll(TestReports.summary(artifacts.files()).members());
    return StandardOutput.of(call, ended, more);
  }

  private void observe(Toolbox box) {
    var missing = JsonValue.object();
    box.missing().forEach(missing::put);
    call.observe("missing", missing.build());
    box.found().values().forEach(path -> call.observeProgram(path.getFileName().toString()));
  }

  private String text(String name) {
    return params.get(name) instanceof JsonValue.Str text ? text.value() : "";
  }

  /** A list of texts, as the schema has it. */
  private List<String> texts(String name) {
    return params.get(name) instanceof JsonValue.Arr list
        ? list.items().stream().map(item -> ((JsonValue.Str) item).value()).toList()
        : List.of();
  }
}

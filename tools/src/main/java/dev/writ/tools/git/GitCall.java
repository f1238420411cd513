package dev.writ.tools.git;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.sandbox.Captured;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.egress.EgressEvent;
import dev.writ.sandbox.workspace.Workspace;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.Masking;
import dev.writ.tools.process.ProcessCall;
import dev.writ.tools.process.StandardOutput;
import dev.writ.tools.wasm.Texts;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** One call of the tool: its params, and git in its sandbox. */
final class GitCall {
  private static final long FILE_BYTES = 1L << 30;
  private static final SortedMap<String, JsonValue> NOTHING = new TreeMap<>();

  private final ProcessCall call;
  private final Path git;
  private final Fields params;
  private Optional<Masking> masking = Optional.empty();

  GitCall(ProcessCall call, Path git) {
    this.call = call;
    this.git = git;
    this.params = Fields.of("params", call.params());
  }

  Fields params() {
    return params;
  }

  Optional<String> text(String name) {
    return params.optional(name, params::string);
  }

  Place place() {
    return Place.of(params.string("path"));
  }

  Workspace workspace() {
    return call.sandbox().workspace();
  }

  /** The place of the call, which must hold a repository that git can safely open. */
  Place repository() {
    Place place = place();
    Repository.require(workspace(), place);
    return place;
  }

  /**
   * The remote repository that this call names.
   *
   * @throws WritException {@code TOL-070}, {@code TOL-076}, {@code SBX-030}
   */
  Remote remote(boolean writing) {
    RemoteUrl url = RemoteUrl.parse(params.string("url"));
    Optional<GitCredential> credential =
        text("credential").map(name -> GitCredential.read(secret(name)));
    masking = credential.map(GitCredential::masking);
    return new Remote(url, credential.map(c -> c.at(url)), writing);
  }

  /** A secret's bytes; they are never written to a file in the sandbox. */
  private byte[] secret(String name) {
    return call.secrets().stream()
        .filter(file -> file.name().equals(name))
        .map(SecretFile::bytes)
        .findFirst()
        .orElseThrow(() ->
            new WritException(
                ToolsError.GIT_CREDENTIAL, "this call was granted none of that name"));
  }

  /** Runs git in a repository whose path is given, so that git does not search for one. */
  Ended in(Place place, List<String> arguments) {
    return run(Optional.of(place), arguments, new byte[0], Optional.empty());
  }

  Ended in(Place place, List<String> arguments, byte[] stdin) {
    return run(Optional.of(place), arguments, stdin, Optional.empty());
  }

  Ended in(Place place, List<String> arguments, Remote remote) {
    return run(Optional.of(place), arguments, new byte[0], Optional.of(remote));
  }

  /** Runs git where there is no repository yet. */
  Ended outside(List<String> arguments, Optional<Remote> remote) {
    return run(Optional.empty(), arguments, new byte[0], remote);
  }

  private Ended run(
      Optional<Place> place, List<String> arguments, byte[] stdin, Optional<Remote> remote) {
    List<String> argv = new ArrayList<>();
    argv.add(git.toString());
    argv.addAll(arguments);
    // Not call.command(argv), which would pass the secrets as files.
    Command command =
        Command.of(argv)
            .withLimits(call.limits().withFileBytes(FILE_BYTES))
            .withStdin(stdin)
            .withExecutables(List.of(git.toString()));
    TreeMap<String, String> environment =
        new TreeMap<>(GitSettings.environment(remote.map(Remote::config).orElse(new TreeMap<>())));
    environment.putAll(people());
    if (place.isPresent()) {
      environment.put("GIT_DIR", place.get().inside() + "/.git");
      environment.put("GIT_WORK_TREE", place.get().inside());
      command = command.withDirectory(place.get().inside());
    }
    for (var variable : environment.entrySet()) {
      command = command.withEnvironment(variable.getKey(), variable.getValue());
    }
    if (remote.isPresent()) {
      command = command.withEgress(remote.get().egress());
    }
    Ended ended = call.exec(command);
    return masking.map(m -> m.apply(ended)).orElse(ended);
  }

  /**
   * Author and committer, both with the time of the call, so that equal calls make equal commits.
   */
  private SortedMap<String, String> people() {
    Person person =
        params
            .optional("author", params::fields)
            .map(f -> new Person(f.string("name"), f.string("email")))
            .orElseGet(() -> new Person(call.invocation().scope().subject(), "agent@writ.invalid"));
    String date = "@" + call.invocation().time().getEpochSecond() + " +0000";
    TreeMap<String, String> all = new TreeMap<>();
    for (String who : List.of("AUTHOR", "COMMITTER")) {
      all.put("GIT_" + who + "_NAME", person.name());
      all.put("GIT_" + who + "_EMAIL", person.email());
      all.put("GIT_" + who + "_DATE", date);
    }
    return all;
  }

  /** The commit that is checked out; null in a repository that has none. */
  JsonValue head(Place place) {
    Ended ended = in(place, List.of("rev-parse", "--verify", "--quiet", "HEAD^{commit}"));
    return ended.succeeded() ? JsonValue.of(out(ended).strip()) : JsonValue.NULL;
  }

  /** The commit and branch that are checked out. */
  TreeMap<String, JsonValue> state(Place place) {
    TreeMap<String, JsonValue> members = new TreeMap<>();
    members.put("commit", head(place));
    members.put("branch", Repository.branch(workspace(), place));
    return members;
  }

  static String out(Ended ended) {
    return Texts.text(ended.stdout().bytes());
  }

  /** Ends the call, with further members in its output. */
  DriverOutcome done(Ended ended, SortedMap<String, JsonValue> members) {
    return end(ended, () -> StandardOutput.of(call, ended, members));
  }

  /**
   * The same for git's output as parsed members, of which there may be more than fit.
   *
   * @param size the number of items that can be left out
   * @param members makes the members with at most so many items
   */
  DriverOutcome parsed(Ended ended, int size, IntFunction<SortedMap<String, JsonValue>> members) {
    Ended shown = withoutStdout(ended);
    return end(
        ended,
        () -> {
          long most = call.invocation().resources().outputBytes();
          for (int n = size; ; n /= 2) {
            DriverOutcome.Output output = StandardOutput.of(call, shown, members.apply(n));
            if (n == 0 || output.bytes().length <= most) {
              return output;
            }
          }
        });
  }

  /** Ends a call before it has done its work. */
  DriverOutcome failed(Ended ended) {
    return done(ended, NOTHING);
  }

  /** Ends a call in which git did what it was told, and which goes no further. */
  DriverOutcome failed(
      Ended ended, String reason, String message, SortedMap<String, JsonValue> members) {
    return call.failed(reason, message, Optional.of(StandardOutput.of(call, ended, members)));
  }

  private DriverOutcome end(Ended ended, Supplier<DriverOutcome.Output> output) {
    DriverOutcome outcome = call.end(ended, output);
    boolean gitFailed = outcome.end() == DriverOutcome.End.SUCCEEDED && !ended.succeeded();
    if (!gitFailed) {
      return outcome;
    }
    return call.failed(reason(ended), words(ended), outcome.output());
  }

  private static String reason(Ended ended) {
    if (ended.egress().stream().anyMatch(GitCall::isUnauthorized)) {
      return "authentication-failed";
    }
    String out = out(ended);
    if (out.contains("nothing to commit") || out.contains("nothing added to commit")) {
      return "nothing-to-commit";
    }
    return out.startsWith("To ") && out.contains("\n!\t") ? "push-rejected" : "git-failed";
  }

  private static boolean isUnauthorized(EgressEvent event) {
    return event instanceof EgressEvent.Connection c
        && c.http().filter(h -> h.status() == 401 || h.status() == 403).isPresent();
  }

  /** The line in which git states the reason. */
  private String words(Ended ended) {
    String said = Texts.text(ended.stderr().bytes());
    String line =
        said.lines()
            .filter(l -> l.startsWith("fatal: ") || l.startsWith("error: "))
            .findFirst()
            .orElse("it does not say why");
    return "git ended with " + ended.exitCode().orElse(-1) + ": " + line;
  }

  private static Ended withoutStdout(Ended ended) {
    return new Ended(
        ended.reason(),
        ended.reached(),
        ended.exitCode(),
        ended.signal(),
        new Captured(new byte[0], 0),
        ended.stderr(),
        ended.usage(),
        ended.egress(),
        ended.engine());
  }

  /** Text as a program reads it from its standard input. */
  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}

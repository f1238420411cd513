package dev.writ.tools.code;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Reproducible;
import dev.writ.sandbox.workspace.Workspace;
import dev.writ.tools.process.Artifacts;
import dev.writ.tools.process.HostPrograms;
import dev.writ.tools.process.ProcessCall;
import dev.writ.tools.process.StandardOutput;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;

/** One call: the code, its standard input, and its result. */
final class CodeRun {
  /** The file in which the runner writes the value; removed before the workspace is examined. */
  private static final String VALUE = ".writ-value";

  private static final String SESSION = ".writ-session-";
  private static final long VALUE_BYTES_MAX = 1 << 20;

  private static final long ABOUT_BYTES_MAX = 1 << 20;

  private final ProcessCall call;
  private final boolean reproducible;
  private final CodeLanguage language;

  CodeRun(ProcessCall call, boolean reproducible) {
    this.call = call;
    this.reproducible = reproducible;
    this.language =
        List.of(CodeLanguage.values()).stream()
            .filter(l -> l.text().equals(text("language")))
            .findFirst()
            .orElseThrow(); // the schema names them
  }

  DriverOutcome run() {
    Artifacts.requirePatterns(call);
    Workspace workspace = call.sandbox().workspace();
    call.copyInputs("in");
    forget(workspace, VALUE);
    forget(workspace, VALUE + ".new");
    call.observeProgram(language.program());
    Ended ended = call.exec(command());
    Found found = found(workspace);
    forget(workspace, VALUE);
    forget(workspace, VALUE + ".new");
    if (found.about.get("version") instanceof JsonValue.Str version) {
      call.observe("language", described(version));
    }
    Artifacts artifacts = Artifacts.collect(call, ".");
    return artifacts.end(
        call, ended, () -> StandardOutput.of(call, ended, members(ended, found, artifacts)));
  }

  private JsonValue described(JsonValue version) {
    return JsonValue.object().put("name", language.text()).put("version", version).build();
  }

  private Command command() {
    long limit = Math.min(VALUE_BYTES_MAX, call.invocation().resources().outputBytes() / 2);
    String session = text("session");
    List<String> arguments =
        List.of(
            "/workspace/" + VALUE,
            Long.toString(limit),
            session.isEmpty() ? "" : "/workspace/" + SESSION + language.text() + "-" + session);
    Command command = call.command(language.argv(options(), arguments));
    command = command.withStdin(stdin()).withEgress(call.egress());
    if (call.sandbox().profile().executablesListed()) {
      command =
          command.withExecutables(
              HostPrograms.find(language.program()).map(Object::toString).stream().toList());
    }
    if (language == CodeLanguage.NODE && !call.egress().isEmpty()) {
      command = command.withEnvironment("NODE_USE_ENV_PROXY", "1");
    }
    return reproducible
        ? command.reproducibly(new Reproducible(call.invocation().time(), seed()))
        : command;
  }

  /** V8's random numbers are its own, and take no more than 31 bits. */
  private List<String> options() {
    return reproducible && language == CodeLanguage.NODE
        ? List.of("--random-seed=" + (seed() & 0x7fff_ffffL))
        : List.of();
  }

  private long seed() {
    return ByteBuffer.wrap(call.invocation().seed()).getLong();
  }

  /** The standard input: the code's length, the code, and then the input for the code. */
  private byte[] stdin() {
    byte[] code = text("code").getBytes(StandardCharsets.UTF_8);
    byte[] rest = text("stdin").getBytes(StandardCharsets.UTF_8);
    byte[] length =
        String.format(Locale.ROOT, "%08x", code.length).getBytes(StandardCharsets.US_ASCII);
    return ByteBuffer.allocate(length.length + code.length + rest.length)
        .put(length)
        .put(code)
        .put(rest)
        .array();
  }

  private String text(String param) {
    return call.params().get(param) instanceof JsonValue.Str text ? text.value() : "";
  }

  /** Removes the value; the code may have put anything in its place. */
  private static void forget(Workspace workspace, String name) {
    try {
      workspace.remove(name);
    } catch (WritException e) {
      return; // a directory made by the code: no value, and it stays
    }
  }

  /**
   * The runner's output.
   *
   * @param about the value's state, the language's version, the names of a session
   * @param value its JSON; empty if it is not strict JSON
   */
  private record Found(JsonValue.Obj about, Optional<JsonValue> value) {
    static final Found NOTHING = new Found(JsonValue.object().build(), Optional.empty());

    /** Why there is no value; {@code ok} if there is one. */
    String state() {
      String said = about.get("state") instanceof JsonValue.Str text ? text.value() : "";
      return switch (said) {
        case "json" -> value.isPresent() ? "json" : "not-json";
        case "not-json", "too-large" -> said;
        default -> "absent";
      };
    }
  }

  /** Empty if the runner did not write it, or the code replaced it. */
  private static Found found(Workspace workspace) {
    byte[] bytes;
    try {
      bytes = workspace.read(VALUE, VALUE_BYTES_MAX + ABOUT_BYTES_MAX);
    } catch (WritException e) {
      return Found.NOTHING;
    }
    int end = 0;
    while (end < bytes.length && bytes[end] != '\n') {
      end++;
    }
    Optional<JsonValue> about = parse(Arrays.copyOf(bytes, end));
    return about.isPresent() && about.get() instanceof JsonValue.Obj object
        ? new Found(
            object, parse(Arrays.copyOfRange(bytes, Math.min(end + 1, bytes.length), bytes.length)))
        : Found.NOTHING;
  }

  private static Optional<JsonValue> parse(byte[] json) {
    try {
      return Optional.of(Jcs.parse(json));
    } catch (WritException e) {
      return Optional.empty();
    }
  }

  private TreeMap<String, JsonValue> members(Ended ended, Found found, Artifacts artifacts) {
    TreeMap<String, JsonValue> members = new TreeMap<>();
    String state = found.state();
    members.put(
        "return_value",
        state.equals("json") ? call.masking().apply(found.value.orElseThrow()) : JsonValue.NULL);
    members.put("artifacts", artifacts.toJson());
    members.put("return_value_state", JsonValue.of(state));
    if (!reproducible) {
      members.put("duration_ms", JsonValue.of(ended.usage().wallMs()));
    }
    if (!text("session").isEmpty()) {
      members.put("session_kept", names(found.about.get("kept")));
      members.put("session_lost", names(found.about.get("lost")));
    }
    return members;
  }

  private static JsonValue names(JsonValue value) {
    return value instanceof JsonValue.Arr list
            && list.items().stream().allMatch(JsonValue.Str.class::isInstance)
        ? list
        : JsonValue.of(List.of());
  }
}

package dev.writ.tools.js;

import com.dylibso.chicory.runtime.WasmRuntimeException;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.Input;
import dev.writ.tools.wasm.Drbg;
import dev.writ.tools.wasm.FileTree;
import dev.writ.tools.wasm.Guest;
import dev.writ.tools.wasm.GuestClock;
import dev.writ.tools.wasm.GuestEnd;
import dev.writ.tools.wasm.Reason;
import dev.writ.tools.wasm.Sink;
import dev.writ.tools.wasm.Texts;
import dev.writ.tools.wasm.Wasi;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;

/** One run of one script. */
final class JsProgram {
  static final String MEDIA_TYPE = "application/json";

  private static final long ERROR_BYTES_MAX = 64 << 10;
  private static final String OUT_OF_BOUNDS = "out of bounds memory access";
  private static final Pattern PRELUDE_FRAME =
      Pattern.compile("\\s*at ((eval|apply) \\(native\\)|.* \\(function\\.mjs:.*\\))");
  private static final String INPUT_PREFIX = "input:";

  private final Guest guest;
  private final byte[] source;
  private final JsonValue input;
  private Wasi wasi;

  private JsProgram(Guest guest, byte[] source, JsonValue input) {
    this.guest = guest;
    this.source = source;
    this.input = input;
  }

  /** Runs with params {@code source} and {@code input} (null if missing). */
  static DriverOutcome.Output run(Guest guest) {
    JsonValue.Obj params = guest.invocation().params();
    if (!(params.get("source") instanceof JsonValue.Str source)) {
      throw GuestEnd.failed(Reason.BAD_PARAMS, "params/source must be a string");
    }
    JsonValue input = params.get("input") == null ? JsonValue.NULL : params.get("input");
    byte[] text = source.value().getBytes(StandardCharsets.UTF_8);
    return new JsProgram(guest, text, input).run();
  }

  private DriverOutcome.Output run() {
    Invocation invocation = guest.invocation();
    // One letter more than the result; and an exception's message needs room even if the limit for
    // the result is small.
    Sink written = Sink.fatal(Math.max(outputBytesMax(), ERROR_BYTES_MAX) + 1);
    wasi =
        new Wasi(
            List.of("js"),
            Collections.emptySortedMap(),
            new byte[0],
            new FileTree(),
            new GuestClock(invocation.time(), 0),
            new Drbg(invocation.seed()),
            written,
            guest.stderr());
    guest.untilExit(this::evaluate);
    return result(written.toByteArray());
  }

  /**
   * QuickJS does not check its stack in WebAssembly. The stack lies at the beginning of memory, so
   * a stack overflow always reaches below address zero, at the same depth on every machine.
   */
  private void evaluate() {
    try {
      QuickJs.run(Prelude.snapshot(), guest, wasi, this::offer);
    } catch (WasmRuntimeException e) {
      if (guest.memoryRefused() || !String.valueOf(e.getMessage()).startsWith(OUT_OF_BOUNDS)) {
        throw e;
      }
      throw GuestEnd.failed(Reason.STACK_OVERFLOW, "the script's calls are nested too deeply");
    }
  }

  private long outputBytesMax() {
    return guest.invocation().resources().outputBytes();
  }

  /** Puts the content that the prelude requests on standard input; returns its size. */
  private String offer(String name) {
    byte[] bytes = content(name);
    wasi.setStdin(bytes);
    return Integer.toString(bytes.length);
  }

  private byte[] content(String name) {
    if (name.equals("setup")) {
      return Jcs.write(setup());
    }
    if (name.equals("source")) {
      return source;
    }
    return guest.inputs().get(Integer.parseInt(name.substring(INPUT_PREFIX.length())));
  }

  private JsonValue setup() {
    ByteBuffer random = ByteBuffer.wrap(new Drbg(guest.invocation().seed()).next(16));
    List<JsonValue> seed = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      seed.add(JsonValue.of(random.getInt()));
    }
    return JsonValue.object()
        .put("input", input)
        .putList("inputs", guest.invocation().inputs(), JsProgram::described)
        .put("seed", JsonValue.of(seed))
        .build();
  }

  private static JsonValue described(Input input) {
    return JsonValue.object()
        .put("name", input.name())
        .put("size", input.size())
        .put("mediaType", input.mediaType())
        .build();
  }

  /** Parses the prelude's output: one letter for how it ended, and a text. */
  private DriverOutcome.Output result(byte[] written) {
    byte[] text = written.length == 0 ? written : Arrays.copyOfRange(written, 1, written.length);
    switch (written.length == 0 ? 0 : written[0]) {
      case 'V' -> {
        return value(text);
      }
      case 'R' -> throw GuestEnd.failed(Reason.BAD_RESULT, Texts.text(text));
      case 'E' -> throw exception(parse(text));
      default -> {
        if (guest.memoryRefused()) {
          throw GuestEnd.killed(Reason.OUT_OF_MEMORY, "the script ran out of memory");
        }
        throw GuestEnd.failed(Reason.BAD_RESULT, "the script waits for what never comes");
      }
    }
  }

  private DriverOutcome.Output value(byte[] json) {
    if (json.length > outputBytesMax()) {
      throw GuestEnd.outputLimit(outputBytesMax());
    }
    parse(json);
    return new DriverOutcome.Output(json, MEDIA_TYPE);
  }

  /**
   * A script can tamper with the writing of its own result; anything that is not JSON is no result.
   */
  private static JsonValue parse(byte[] json) {
    try {
      return Jcs.parse(json);
    } catch (WritException e) {
      throw GuestEnd.failed(Reason.BAD_RESULT, e.getMessage());
    }
  }

  private GuestEnd exception(JsonValue thrown) {
    String name = string(thrown, "name");
    String message = string(thrown, "message");
    if (name.equals("InternalError") && guest.memoryRefused()) {
      return GuestEnd.killed(Reason.OUT_OF_MEMORY, message);
    }
    if (name.equals("InternalError") && message.equals("stack overflow")) {
      return GuestEnd.failed(Reason.STACK_OVERFLOW, message);
    }
    String head = name.isEmpty() ? message : name + ": " + message;
    String stack = ownFrames(string(thrown, "stack"));
    return GuestEnd.failed(Reason.SCRIPT_ERROR, stack.isEmpty() ? head : head + "\n" + stack);
  }

  /** A stack trace without the prelude's frames at its end. */
  private static String ownFrames(String stack) {
    List<String> lines = new ArrayList<>(stack.lines().toList());
    while (!lines.isEmpty() && PRELUDE_FRAME.matcher(lines.getLast()).matches()) {
      lines.removeLast();
    }
    return String.join("\n", lines);
  }

  private static String string(JsonValue object, String key) {
    return object instanceof JsonValue.Obj o && o.get(key) instanceof JsonValue.Str s
        ? s.value()
        : "";
  }
}

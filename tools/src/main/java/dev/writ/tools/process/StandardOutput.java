package dev.writ.tools.process;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.sandbox.Ended;
import dev.writ.tools.wasm.Texts;
import java.util.SortedMap;

/**
 * The output of a process as JSON: {@code stdout}, {@code stderr} as text, whether either was cut,
 * {@code exit_code}, and members of the tool's own. Terminal escapes and other control characters
 * are data, escaped as JSON escapes them.
 */
public final class StandardOutput {
  public static final String MEDIA_TYPE = "application/json";

  private StandardOutput() {}

  /**
   * The output, within the call's limit of output bytes: if escaping exceeds it, the longer stream
   * is cut further, and marked.
   *
   * @param more members beside the standard ones
   */
  public static DriverOutcome.Output of(
      ProcessCall call, Ended ended, SortedMap<String, JsonValue> more) {
    String out = Texts.text(call.mask(ended.stdout().bytes()));
    String err = Texts.text(call.mask(ended.stderr().bytes()));
    boolean outCut = ended.stdout().truncated();
    boolean errCut = ended.stderr().truncated();
    long most = call.invocation().resources().outputBytes();
    byte[] bytes = write(ended, out, outCut, err, errCut, more);
    while (bytes.length > most && !(out.isEmpty() && err.isEmpty())) {
      if (out.length() >= err.length()) {
        out = half(out);
        outCut = true;
      } else {
        err = half(err);
        errCut = true;
      }
      bytes = write(ended, out, outCut, err, errCut, more);
    }
    return new DriverOutcome.Output(bytes, MEDIA_TYPE);
  }

  /** Cuts text, never within a character. */
  private static String half(String text) {
    int length = text.length() / 2;
    return text.substring(
        0, length > 0 && Character.isHighSurrogate(text.charAt(length - 1)) ? length - 1 : length);
  }

  private static byte[] write(
      Ended ended,
      String out,
      boolean outCut,
      String err,
      boolean errCut,
      SortedMap<String, JsonValue> more) {
    var json =
        JsonValue.object()
            .put("stdout", out)
            .put("stdout_truncated", outCut)
            .put("stderr", err)
            .put("stderr_truncated", errCut)
            .put("exit_code", exitCode(ended));
    more.forEach(json::put);
    return Jcs.write(json.build());
  }

  /** The exit code as shells report it: 128 plus the signal; null if a limit ended it. */
  static JsonValue exitCode(Ended ended) {
    if (ended.exitCode().isPresent()) {
      return JsonValue.of((long) ended.exitCode().getAsInt());
    }
    return ended.signal().isPresent()
        ? JsonValue.of(128L + ended.signal().getAsInt())
        : JsonValue.NULL;
  }
}

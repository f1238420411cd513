package dev.writ.embed;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A tool written in Java, which runs in this process: trusted code of the embedding program,
 * without a sandbox. Policy approves it by the digest of its manifest, like any other; the digest
 * covers its schemas and not its code, so give it another version whenever the code changes its
 * behaviour. A replay takes its recorded outcomes.
 *
 * @param manifest with the driver {@code java} and the sandbox profile {@code host}
 * @param handler does it
 */
public record JavaTool(ToolManifest manifest, Handler handler) {
  /** The only operation of such a tool. */
  public static final String OPERATION = "call";

  private static final Resources MOST = new Resources(600_000, 1L << 30, 8L << 20, 600_000);

  /** What the tool does. */
  @FunctionalInterface
  public interface Handler {
    /**
     * Executes one call. An exception is a failure of the tool, and the receipt states its message.
     * A handler that takes longer than the declared {@code wall_ms} is interrupted.
     */
    JsonValue call(Call call) throws Exception;
  }

  /**
   * One call.
   *
   * @param scope tenant, run and subject of the request
   * @param params valid by the tool's schema
   * @param inputs files by digest
   * @param content opens an input; its bytes are verified against its digest while they are read
   * @param time of the dispatch: the same in a replay
   * @param seed 32 bytes for random numbers: the same in a replay
   */
  public record Call(
      Scope scope,
      JsonValue.Obj params,
      List<Input> inputs,
      Content content,
      Instant time,
      byte[] seed) {

    /**
     * A parameter that is text.
     *
     * @throws IllegalArgumentException where it is absent or something else
     */
    public String text(String param) {
      if (params.get(param) instanceof JsonValue.Str text) {
        return text.value();
      }
      throw new IllegalArgumentException("the parameter " + param + " is not text");
    }
  }

  /** Opens inputs. */
  @FunctionalInterface
  public interface Content {
    InputStream open(Input input);
  }

  /**
   * A tool whose parameters and result are described by these schemas.
   *
   * @param name {@code [a-z0-9][a-z0-9._-]*}, at most 64 characters
   * @param version to be changed with the tool's behaviour
   * @param input JSON Schema (2020-12) of the parameters
   * @param output JSON Schema of the result
   * @throws WritException {@code CAN-0xx} where a schema is no JSON, {@code TOL-028} where it is no
   *     object
   */
  public static JavaTool of(
      String name, String version, String input, String output, Handler handler) {
    Objects.requireNonNull(handler, "handler");
    ToolManifest manifest =
        new ToolManifest(
            name,
            version,
            JavaDriver.NAME,
            Determinism.RECORDED,
            List.of(
                new ToolManifest.Operation(
                    OPERATION, schema(input), Optional.of(schema(output)), "application/json")),
            ToolManifest.Capabilities.none(),
            MOST,
            List.of(JavaDriver.PROFILE),
            List.of());
    return new JavaTool(manifest, handler);
  }

  private static JsonValue.Obj schema(String json) {
    if (Jcs.parse(json.getBytes(StandardCharsets.UTF_8)) instanceof JsonValue.Obj schema) {
      return schema;
    }
    throw new WritException(ToolsError.MANIFEST_INVALID, "a schema is no JSON object");
  }
}

package dev.writ.executor.stage;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.stage.Prepare.Ready;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.document.ToolManifest;

/** Stage 5: checks the output against the tool's pinned manifest. */
public class Drift {
  static final String JSON = "application/json";

  public Result check(Ready ready, Result result) {
    if (!result.succeeded()) {
      return result;
    }
    ToolManifest.Operation operation =
        ready.manifest().operation(ready.order().request().effect().operation()).orElseThrow();
    if (result.output().isEmpty()) {
      return result.refuse(ExecutorError.CONTRACT_DRIFT, "no output");
    }
    String mediaType = result.output().get().mediaType();
    if (!mediaType.equals(operation.mediaType())) {
      return result.refuse(
          ExecutorError.CONTRACT_DRIFT, mediaType + " instead of " + operation.mediaType());
    }
    long size = result.output().get().bytes().length;
    long sizeMax = ready.order().request().effect().resources().outputBytes();
    if (size > sizeMax) {
      return result.refuse(ExecutorError.CONTRACT_DRIFT, size + " bytes, at most " + sizeMax);
    }
    return mediaType.equals(JSON) ? checkJson(ready.manifest(), operation, result) : result;
  }

  private Result checkJson(ToolManifest manifest, ToolManifest.Operation operation, Result result) {
    JsonValue value;
    try {
      value = Jcs.parse(result.output().get().bytes());
    } catch (WritException e) {
      return result; // stage 6 refuses it and gives the reason
    }
    try {
      ToolSchemas.of(manifest).requireOutput(operation.name(), value);
      return result.withParsed(value);
    } catch (WritException e) {
      return result.refuse(ExecutorError.CONTRACT_DRIFT, e.found());
    } catch (RuntimeException | StackOverflowError e) { // thrown by the schema engine
      return result.refuse(ExecutorError.CONTRACT_DRIFT, e.getClass().getSimpleName());
    }
  }
}

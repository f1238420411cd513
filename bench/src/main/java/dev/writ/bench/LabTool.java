package dev.writ.bench;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.js.JsDriver;
import dev.writ.tools.registry.BuiltinTools;
import dev.writ.tools.wasm.GuestPool;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;

/**
 * The only tool of a {@link Lab}: what its effects do.
 *
 * @param operation of the manifest
 * @param params of the effect with a number, different for each
 * @param ceiling what each effect declares
 */
record LabTool(
    ToolManifest manifest,
    Driver driver,
    String operation,
    LongFunction<JsonValue.Obj> params,
    Resources ceiling) {
  private static final Resources NOOP_CEILING = new Resources(100, 1 << 20, 1 << 16, 100);
  private static final Resources SCRIPT_CEILING = new Resources(5_000, 32 << 20, 1 << 16, 60_000);

  /** Pure, and does nothing. */
  static LabTool noop() {
    return noop(new NoopDriver());
  }

  /** The same with an output of so many bytes, different for each effect. */
  static LabTool letters(int bytes) {
    return noop(new LettersDriver(bytes));
  }

  private static LabTool noop(Driver driver) {
    ToolManifest manifest =
        new ToolManifest(
            "noop",
            "1",
            NoopDriver.NAME,
            Determinism.PURE,
            List.of(
                new ToolManifest.Operation(
                    "run",
                    schema("{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}"),
                    Optional.of(schema("{\"type\":\"object\",\"required\":[\"ok\"]}")),
                    "application/json")),
            ToolManifest.Capabilities.none(),
            NOOP_CEILING,
            List.of("none"),
            List.of());
    return new LabTool(
        manifest,
        driver,
        "run",
        number -> JsonValue.object().put("n", number).build(),
        NOOP_CEILING);
  }

  /** Runs a script of one line, as many at once as a server does. */
  static LabTool script(GuestPool guests) {
    return new LabTool(
        BuiltinTools.manifest("js", "1.0.0").orElseThrow(),
        new JsDriver(guests),
        "eval",
        number -> JsonValue.object().put("source", "6*7+" + number).build(),
        SCRIPT_CEILING);
  }

  String sandbox() {
    return manifest.sandboxes().getFirst();
  }

  private static JsonValue.Obj schema(String json) {
    return (JsonValue.Obj) Jcs.parse(json.getBytes(StandardCharsets.UTF_8));
  }
}

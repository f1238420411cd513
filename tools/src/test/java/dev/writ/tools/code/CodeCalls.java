package dev.writ.tools.code;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.Call;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.registry.BuiltinTools;
import java.util.List;
import java.util.TreeMap;

/** Calls of the tools that run code, as the kernel would make them. */
final class CodeCalls {
  private final ProcessHost host;

  CodeCalls(ProcessHost host) {
    this.host = host;
  }

  /** A call whose params fit the tool's schema. */
  Call call(String tool, String language, String code, String... more) {
    TreeMap<String, JsonValue> params = new TreeMap<>();
    for (int i = 0; i < more.length; i += 2) {
      params.put(more[i], JsonValue.of(more[i + 1]));
    }
    return call(tool, language, code, params);
  }

  /** A call with a list of one text. */
  Call with(String tool, String param, String item, String language, String code) {
    TreeMap<String, JsonValue> params = new TreeMap<>();
    params.put(param, JsonValue.of(List.of(JsonValue.of(item))));
    return call(tool, language, code, params);
  }

  private Call call(String tool, String language, String code, TreeMap<String, JsonValue> params) {
    ToolManifest manifest = BuiltinTools.manifest(tool, "1.0.0").orElseThrow();
    params.put("language", JsonValue.of(language));
    params.put("code", JsonValue.of(code));
    JsonValue.Obj object = new JsonValue.Obj(params);
    ToolSchemas.of(manifest).requireInput("run", object);
    return new Call(
            CodeDriver.both(host).stream()
                .filter(d -> d.name().equals(manifest.driver()))
                .findFirst()
                .orElseThrow()
                .prepare(manifest, "run", BuiltinTools.content(manifest)))
        .sandbox("default")
        .cpuMs(20_000)
        .wallMs(30_000)
        .params(object);
  }

  Call interpreter(String language, String code, String... more) {
    return call("code_interpreter", language, code, more);
  }

  /** The output of a run that succeeded, which fits the tool's schema. */
  static JsonValue.Obj output(DriverOutcome outcome) {
    if (outcome.end() != DriverOutcome.End.SUCCEEDED) {
      throw new AssertionError(Call.show(outcome));
    }
    return parsed(outcome);
  }

  /** Also of one that failed. */
  static JsonValue.Obj parsed(DriverOutcome outcome) {
    JsonValue.Obj object = (JsonValue.Obj) Jcs.parse(outcome.output().orElseThrow().bytes());
    String tool = object.get("duration_ms") == null ? "code_reproducible" : "code_interpreter";
    ToolSchemas.of(BuiltinTools.manifest(tool, "1.0.0").orElseThrow()).requireOutput("run", object);
    return object;
  }
}

package dev.writ.guardian.document;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;

/**
 * The ceiling that an effect declares; the budget reserves it and the sandbox enforces it. All four
 * are always given: there is no way to write "unlimited" (protocol rule 7).
 *
 * @param cpuMs processor time in milliseconds
 * @param memoryBytes memory in bytes
 * @param outputBytes size of the output in bytes
 * @param wallMs elapsed time in milliseconds
 */
public record Resources(long cpuMs, long memoryBytes, long outputBytes, long wallMs) {

  public static Resources read(Fields fields) {
    Resources resources =
        new Resources(
            fields.count("cpu_ms"),
            fields.count("memory_bytes"),
            fields.count("output_bytes"),
            fields.count("wall_ms"));
    fields.end();
    return resources;
  }

  /** Whether none of the four is more than that of a ceiling. */
  public boolean isWithin(Resources ceiling) {
    return cpuMs <= ceiling.cpuMs
        && memoryBytes <= ceiling.memoryBytes
        && outputBytes <= ceiling.outputBytes
        && wallMs <= ceiling.wallMs;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("cpu_ms", cpuMs)
        .put("memory_bytes", memoryBytes)
        .put("output_bytes", outputBytes)
        .put("wall_ms", wallMs)
        .build();
  }
}

package dev.writ.sandbox;

import dev.writ.canonicalize.json.JsonValue;

/**
 * The resources that a whole process tree used, as the kernel measured them; 0 if the host cannot
 * measure one.
 *
 * @param cpuMs processor time in milliseconds, user and system
 * @param memoryPeakBytes the most memory at once, with tmpfs pages and page cache
 * @param wallMs elapsed time in milliseconds, from the start of the engine to its end
 * @param pidsPeak the most processes and threads at once
 */
public record Usage(long cpuMs, long memoryPeakBytes, long wallMs, long pidsPeak) {

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("cpu_ms", cpuMs)
        .put("memory_peak_bytes", memoryPeakBytes)
        .put("pids_peak", pidsPeak)
        .put("wall_ms", wallMs)
        .build();
  }
}

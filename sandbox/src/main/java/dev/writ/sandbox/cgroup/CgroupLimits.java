package dev.writ.sandbox.cgroup;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.error.SandboxError;

/**
 * Limits of a whole process tree. Every limit is given; there is no "unlimited".
 *
 * @param wallMs elapsed time until it gets TERM
 * @param graceMs time between TERM and KILL
 * @param cpuMs processor time, user and system
 * @param cpuMilli share of processors: 1000 is one whole processor
 * @param memoryBytes memory with swap, page cache and tmpfs
 * @param pids processes and threads at once
 * @param openFiles for each process
 * @param fileBytes of one file
 * @param tmpBytes of /tmp, for this command alone
 * @param outputBytes of stdout and stderr together
 */
public record CgroupLimits(
    long wallMs,
    long graceMs,
    long cpuMs,
    long cpuMilli,
    long memoryBytes,
    long pids,
    long openFiles,
    long fileBytes,
    long tmpBytes,
    long outputBytes) {
  private static final long DAY_MS = 86_400_000;
  private static final long TIB = 1L << 40;

  public CgroupLimits {
    require("wall_ms", wallMs, 1, DAY_MS);
    require("grace_ms", graceMs, 0, 60_000);
    require("cpu_ms", cpuMs, 1, 64 * DAY_MS);
    require("cpu_milli", cpuMilli, 10, 1_000_000);
    require("memory_bytes", memoryBytes, 8 << 20, TIB);
    require("pids", pids, 4, 100_000);
    require("open_files", openFiles, 16, 1 << 20);
    require("file_bytes", fileBytes, 512, TIB);
    require("tmp_bytes", tmpBytes, 4096, TIB);
    require("output_bytes", outputBytes, 0, 1L << 30);
  }

  /** One processor for 30 seconds, 256 MiB of memory, 64 processes. */
  public static final CgroupLimits STANDARD =
      new CgroupLimits(
          30_000, 1_000, 30_000, 1_000, 256 << 20, 64, 1_024, 64 << 20, 64 << 20, 8 << 20);

  private static void require(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new WritException(
          SandboxError.LIMIT, name + " is " + value + ", not within " + least + " and " + most);
    }
  }

  public CgroupLimits withWallMs(long ms) {
    return new CgroupLimits(
        ms,
        graceMs,
        cpuMs,
        cpuMilli,
        memoryBytes,
        pids,
        openFiles,
        fileBytes,
        tmpBytes,
        outputBytes);
  }

  public CgroupLimits withGraceMs(long ms) {
    return new CgroupLimits(
        wallMs,
        ms,
        cpuMs,
        cpuMilli,
        memoryBytes,
        pids,
        openFiles,
        fileBytes,
        tmpBytes,
        outputBytes);
  }

  public CgroupLimits withCpuMs(long ms) {
    return new CgroupLimits(
        wallMs,
        graceMs,
        ms,
        cpuMilli,
        memoryBytes,
        pids,
        openFiles,
        fileBytes,
        tmpBytes,
        outputBytes);
  }

  public CgroupLimits withCpuMilli(long milli) {
    return new CgroupLimits(
        wallMs,
        graceMs,
        cpuMs,
        milli,
        memoryBytes,
        pids,
        openFiles,
        fileBytes,
        tmpBytes,
        outputBytes);
  }

  public CgroupLimits withMemoryBytes(long bytes) {
    return new CgroupLimits(
        wallMs, graceMs, cpuMs, cpuMilli, bytes, pids, openFiles, fileBytes, tmpBytes, outputBytes);
  }

  public CgroupLimits withPids(long count) {
    return new CgroupLimits(
        wallMs,
        graceMs,
        cpuMs,
        cpuMilli,
        memoryBytes,
        count,
        openFiles,
        fileBytes,
        tmpBytes,
        outputBytes);
  }

  public CgroupLimits withFileBytes(long bytes) {
    return new CgroupLimits(
        wallMs,
        graceMs,
        cpuMs,
        cpuMilli,
        memoryBytes,
        pids,
        openFiles,
        bytes,
        tmpBytes,
        outputBytes);
  }

  public CgroupLimits withTmpBytes(long bytes) {
    return new CgroupLimits(
        wallMs,
        graceMs,
        cpuMs,
        cpuMilli,
        memoryBytes,
        pids,
        openFiles,
        fileBytes,
        bytes,
        outputBytes);
  }

  public CgroupLimits withOutputBytes(long bytes) {
    return new CgroupLimits(
        wallMs, graceMs, cpuMs, cpuMilli, memoryBytes, pids, openFiles, fileBytes, tmpBytes, bytes);
  }

  /**
   * @throws WritException {@code SBX-026} or {@code CAN-02x}
   */
  public static CgroupLimits read(Fields fields) {
    CgroupLimits limits =
        new CgroupLimits(
            fields.count("wall_ms"),
            fields.count("grace_ms"),
            fields.count("cpu_ms"),
            fields.count("cpu_milli"),
            fields.count("memory_bytes"),
            fields.count("pids"),
            fields.count("open_files"),
            fields.count("file_bytes"),
            fields.count("tmp_bytes"),
            fields.count("output_bytes"));
    fields.end();
    return limits;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("wall_ms", wallMs)
        .put("grace_ms", graceMs)
        .put("cpu_ms", cpuMs)
        .put("cpu_milli", cpuMilli)
        .put("memory_bytes", memoryBytes)
        .put("pids", pids)
        .put("open_files", openFiles)
        .put("file_bytes", fileBytes)
        .put("tmp_bytes", tmpBytes)
        .put("output_bytes", outputBytes)
        .build();
  }
}

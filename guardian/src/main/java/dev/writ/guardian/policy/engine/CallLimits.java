package dev.writ.guardian.policy.engine;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.yaml.Section;
import java.util.Optional;

/**
 * Limits of a call that policy sets by its resource class, beside the {@link Resources} that an
 * effect declares. For what is left out the driver's own default counts.
 *
 * @param artifacts how many a call may leave
 * @param artifactBytes size of one
 * @param artifactsBytes size of all together
 * @param tmpBytes size of /tmp
 * @param fileBytes size of one file that it writes
 * @param workspaceBytes size of a workspace that is made for the call or, by its first call, for
 *     the run
 * @param pids how many processes and threads it has at once
 * @param graceMs time between TERM and KILL
 */
public record CallLimits(
    Optional<Long> artifacts,
    Optional<Long> artifactBytes,
    Optional<Long> artifactsBytes,
    Optional<Long> tmpBytes,
    Optional<Long> fileBytes,
    Optional<Long> workspaceBytes,
    Optional<Long> pids,
    Optional<Long> graceMs) {
  private static final long COUNT_MAX = 10_000;
  private static final long HELD_MAX = 1L << 30; // artifacts are held in memory
  private static final long DISK_MIN = 1 << 20;
  private static final long DISK_MAX = 1L << 40;
  private static final long TMP_MIN = 4_096;
  private static final long PIDS_MIN = 4; // the shell that starts it, and what it starts
  private static final long PIDS_MAX = 100_000;
  private static final long GRACE_MAX_MS = 60_000;

  /** Nothing set. */
  public static final CallLimits DEFAULT =
      new CallLimits(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());

  /** The members that are there; the caller ends the section. */
  static CallLimits read(Section section) {
    return new CallLimits(
        number(section, "artifacts", 0, COUNT_MAX),
        number(section, "artifact_bytes", 0, HELD_MAX),
        number(section, "artifacts_bytes", 0, HELD_MAX),
        number(section, "tmp_bytes", TMP_MIN, DISK_MAX),
        number(section, "file_bytes", DISK_MIN, DISK_MAX),
        number(section, "workspace_bytes", DISK_MIN, DISK_MAX),
        number(section, "pids", PIDS_MIN, PIDS_MAX),
        number(section, "grace_ms", 0, GRACE_MAX_MS));
  }

  private static Optional<Long> number(Section section, String name, long least, long most) {
    return section.optional(name, key -> section.between(key, least, most));
  }

  /** A class's resources with these limits. */
  JsonValue.Obj toJson(Resources resources) {
    var json = JsonValue.object();
    resources.toJson().members().forEach(json::put);
    return json.putIfPresent("artifacts", artifacts, JsonValue::of)
        .putIfPresent("artifact_bytes", artifactBytes, JsonValue::of)
        .putIfPresent("artifacts_bytes", artifactsBytes, JsonValue::of)
        .putIfPresent("tmp_bytes", tmpBytes, JsonValue::of)
        .putIfPresent("file_bytes", fileBytes, JsonValue::of)
        .putIfPresent("workspace_bytes", workspaceBytes, JsonValue::of)
        .putIfPresent("pids", pids, JsonValue::of)
        .putIfPresent("grace_ms", graceMs, JsonValue::of)
        .build();
  }
}

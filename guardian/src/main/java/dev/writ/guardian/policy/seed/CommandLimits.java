package dev.writ.guardian.policy.seed;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;

/**
 * Limits of each command that no request states, under a policy that has a section {@code
 * commands}.
 *
 * @param pids processes and threads at once
 * @param tmpMb size of /tmp, in MiB; what lies in it also counts as memory of the command
 */
public record CommandLimits(long pids, long tmpMb) {
  /** Where the section has no {@code limits}: those of seed 002. */
  public static final CommandLimits DEFAULT = new CommandLimits(256, 256);

  private static final long PIDS_MIN = 4;
  private static final long PIDS_MAX = 100_000;
  private static final long MB_MAX = 1L << 20;

  static CommandLimits read(Section section) {
    CommandLimits limits =
        new CommandLimits(
            section
                .optional("pids", key -> section.between(key, PIDS_MIN, PIDS_MAX))
                .orElse(DEFAULT.pids),
            section
                .optional("tmp_mb", key -> section.between(key, 1, MB_MAX))
                .orElse(DEFAULT.tmpMb));
    section.end();
    return limits;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object().put("pids", pids).put("tmp_mb", tmpMb).build();
  }
}

package dev.writ.guardian.policy.limit;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Optional;

/**
 * How much tenants may store, and how long an upload stays if no document names it.
 *
 * @param bytesMax of all uploads of one tenant together
 * @param unnamedS how long an upload stays that no document names, in seconds
 * @param putBy roles whose subjects may put, sorted; absent: every role that has a tool
 */
public record StorageLimits(long bytesMax, long unnamedS, Optional<List<String>> putBy) {
  /** Where policy has no section {@code storage}: 4 GiB, a day. */
  public static final StorageLimits DEFAULT = new StorageLimits(4L << 30, 86_400, Optional.empty());

  /**
   * The shortest lifetime, in seconds: an upload precedes its request, which may take so long until
   * it is judged.
   */
  private static final long SHORTEST_S = 60;

  public static StorageLimits read(Section section) {
    StorageLimits limits =
        new StorageLimits(
            section.between("bytes_max", 0, 1L << 50),
            section.between("unnamed_s", SHORTEST_S, 366L * 86_400),
            section.optional("put_by", section::names));
    section.end();
    return limits;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("bytes_max", bytesMax)
        .put("unnamed_s", unnamedS)
        .putIfPresent(
            "put_by", putBy, roles -> JsonValue.of(roles.stream().map(JsonValue::of).toList()))
        .build();
  }
}

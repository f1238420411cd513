package dev.writ.guardian.policy.engine;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Optional;

/**
 * Settings of the tool engine (seed 004): how many effects run at once, the quotas of tenants, and
 * feature flags.
 *
 * @param slots how many effects may run at once, in all
 * @param flags the first that matches decides
 */
public record EngineSettings(
    ResourceClasses classes, Queue queue, int slots, Quotas quotas, List<FeatureFlag> flags) {
  private static final long SLOTS_MAX = 4_096;
  private static final int SLOTS = 8;

  /** The defaults for a policy without this section. */
  public static final EngineSettings DEFAULT =
      new EngineSettings(
          ResourceClasses.DEFAULT, Queue.DEFAULT, SLOTS, Quotas.of(SLOTS), List.of());

  public EngineSettings {
    flags = List.copyOf(flags);
  }

  /**
   * The queue for slots.
   *
   * @param length how many may wait, in all
   * @param ttlMs how long each may wait, in milliseconds
   * @param perTenant how many of one tenant may wait
   */
  public record Queue(int length, long ttlMs, int perTenant) {
    private static final long LENGTH_MAX = 100_000;
    private static final long TTL_MAX_MS = 3_600_000;
    private static final int PER_TENANT = 64;
    static final Queue DEFAULT = new Queue(256, 30_000, PER_TENANT);

    public static Queue read(Section section) {
      int length =
          section
              .optional("length", k -> (int) section.between(k, 0, LENGTH_MAX))
              .orElse(DEFAULT.length);
      Queue queue =
          new Queue(
              length,
              section
                  .optional("ttl_ms", k -> section.between(k, 1, TTL_MAX_MS))
                  .orElse(DEFAULT.ttlMs),
              section
                  .optional("per_tenant", k -> (int) section.between(k, 0, length))
                  .orElse(Math.min(PER_TENANT, length)));
      section.end();
      return queue;
    }

    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("length", length)
          .put("ttl_ms", ttlMs)
          .put("per_tenant", perTenant)
          .build();
    }
  }

  public static EngineSettings read(Section section) {
    int slots =
        section.optional("slots", k -> (int) section.between(k, 1, SLOTS_MAX)).orElse(SLOTS);
    EngineSettings settings =
        new EngineSettings(
            section
                .optional("classes", k -> ResourceClasses.read(section.section(k)))
                .orElse(ResourceClasses.DEFAULT),
            section.optional("queue", k -> Queue.read(section.section(k))).orElse(Queue.DEFAULT),
            slots,
            section
                .optional("quotas", k -> Quotas.read(section.section(k), slots))
                .orElseGet(() -> Quotas.of(slots)),
            section.listOrNone("flags", item -> FeatureFlag.read(item.itemSection())));
    section.end();
    return settings;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("classes", classes.toJson())
        .put("queue", queue.toJson())
        .put("slots", slots)
        .put("quotas", quotas.toJson())
        .putList("flags", flags, FeatureFlag::toJson)
        .build();
  }

  /** The flag that switches an effect off; empty if it is on. */
  public Optional<FeatureFlag> offBy(String tenant, String tool, Optional<String> category) {
    return flags.stream()
        .filter(flag -> flag.applies(tenant, tool, category))
        .findFirst()
        .filter(flag -> !flag.enabled());
  }
}

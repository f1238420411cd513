package dev.writ.guardian.policy.engine;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.yaml.Section;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Each tenant's part of the engine.
 *
 * @param otherwise for tenants that are not named
 * @param tenants by name
 */
public record Quotas(Quota otherwise, SortedMap<String, Quota> tenants) {
  public Quotas {
    tenants = Collections.unmodifiableSortedMap(new TreeMap<>(tenants));
  }

  /**
   * One tenant's quota.
   *
   * @param running how many of its effects may run at once; 0 is none
   * @param weight its share relative to others while there is not enough for all
   */
  public record Quota(int running, int weight) {
    private static final long RUNNING_MAX = 4_096;
    private static final long WEIGHT_MAX = 1_000;

    /** Three quarters of the slots, so that one tenant alone leaves room for the next. */
    static Quota of(int slots) {
      return new Quota(slots - slots / 4, 1);
    }

    private static Quota read(Section section, Quota otherwise) {
      return new Quota(
          section
              .optional("running", k -> (int) section.between(k, 0, RUNNING_MAX))
              .orElse(otherwise.running),
          section
              .optional("weight", k -> (int) section.between(k, 1, WEIGHT_MAX))
              .orElse(otherwise.weight));
    }
  }

  static Quotas of(int slots) {
    return new Quotas(Quota.of(slots), new TreeMap<>());
  }

  static Quotas read(Section section, int slots) {
    Quota otherwise =
        section
            .optional(
                "default",
                key -> {
                  Section one = section.section(key);
                  Quota quota = Quota.read(one, Quota.of(slots));
                  one.end();
                  return quota;
                })
            .orElse(Quota.of(slots));
    TreeMap<String, Quota> tenants = new TreeMap<>();
    section.listOrNone(
        "tenants",
        item -> {
          Section one = item.itemSection();
          String tenant = one.name("tenant");
          if (tenants.put(tenant, Quota.read(one, otherwise)) != null) {
            throw item.refuse(GuardianError.POLICY_DUPLICATE, "\"" + tenant + "\"");
          }
          one.end();
          return tenant;
        });
    section.end();
    return new Quotas(otherwise, tenants);
  }

  JsonValue.Obj toJson() {
    List<JsonValue> exceptions =
        tenants.entrySet().stream()
            .<JsonValue>map(e ->
                JsonValue.object()
                    .put("tenant", e.getKey())
                    .put("running", e.getValue().running())
                    .put("weight", e.getValue().weight())
                    .build())
            .toList();
    return JsonValue.object()
        .put(
            "default",
            JsonValue.object()
                .put("running", otherwise.running())
                .put("weight", otherwise.weight())
                .build())
        .put("tenants", JsonValue.of(exceptions))
        .build();
  }

  /** A tenant's own, or the default. */
  public Quota of(String tenant) {
    return tenants.getOrDefault(tenant, otherwise);
  }
}

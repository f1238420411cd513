package dev.writ.guardian.policy.seed;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * An intent of seed 000, with the executions that it allows. (Not an {@code Intent} of ours.)
 *
 * @param id its {@code intent_id}
 * @param version its {@code intent_version}
 * @param network values of {@code sandbox.network} that it allows beside {@code disabled}, sorted
 * @param ceiling the least restricted profile
 * @param outputBytes the most output of an execution, in bytes; the seed's requests do not state it
 * @param effect the template of the effect that executes it
 */
public record ExecuteIntent(
    String id,
    String version,
    boolean open,
    String tenant,
    List<ExecuteTarget> targets,
    List<String> network,
    SeedProfile ceiling,
    Ceiling resources,
    long outputBytes,
    EffectTemplate effect) {

  /** The variables that {@code params} of the effect may take from a request. */
  public static final List<String> VARIABLES =
      List.of(
          "$target",
          "$argv",
          "$parameters",
          "$output_files",
          "$network",
          "$workspace_id",
          "$cpu_milli");

  /** The most resources that a request may declare, in the seed's notation. */
  public record Ceiling(String cpu, String memory, long timeoutMs) {
    static Ceiling read(Section section) {
      Ceiling ceiling =
          new Ceiling(
              section.name("cpu"),
              section.name("memory"),
              section.between("timeout_ms", 1, JsonValue.Num.MAX_INTEGER));
      quantity(section, "cpu", ceiling.cpu, Quantity::milli);
      quantity(section, "memory", ceiling.memory, Quantity::units);
      section.end();
      return ceiling;
    }

    private static void quantity(
        Section section, String key, String text, Function<String, Optional<Long>> parser) {
      section.require(
          key, parser.apply(text).isPresent(), "\"" + text + "\" is no amount like 500m or 128Mi");
    }

    public long cpuMilli() {
      return Quantity.milli(cpu).orElseThrow();
    }

    public long memoryBytes() {
      return Quantity.units(memory).orElseThrow();
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("cpu", cpu)
          .put("memory", memory)
          .put("timeout_ms", timeoutMs)
          .build();
    }
  }

  static ExecuteIntent read(Section section) {
    ExecuteIntent intent =
        new ExecuteIntent(
            ExecuteTenant.uuid(section, "id"),
            section.name("version"),
            section.oneOf("state", List.of("open", "closed"), s -> s).equals("open"),
            section.name("tenant"),
            section.list("targets", item -> ExecuteTarget.read(item.itemSection())),
            section.names("network", List.of()),
            SeedProfile.read(section, "ceiling"),
            Ceiling.read(section.section("resources")),
            section.between("output_bytes", 1, JsonValue.Num.MAX_INTEGER),
            EffectTemplate.read(section.section("effect"), VARIABLES));
    section.end();
    return intent;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("id", id)
        .put("version", version)
        .put("state", open ? "open" : "closed")
        .put("tenant", tenant)
        .putList("targets", targets, ExecuteTarget::toJson)
        .putList("network", network, JsonValue::of)
        .put("ceiling", ceiling.text())
        .put("resources", resources.toJson())
        .put("output_bytes", outputBytes)
        .put("effect", effect.toJson())
        .build();
  }

  /** The intent of one tenant; another tenant's intent with the same id is a different one. */
  String key() {
    return tenant + "\u0000" + id;
  }
}

package dev.writ.guardian.policy.engine;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Optional;

/**
 * Seed 004's resource classes. A class does not widen the limits of the tool's manifest or of a
 * role: those are checked whatever the class.
 */
public record ResourceClasses(ResourceLimits small, ResourceLimits medium, ResourceLimits large) {
  /** The names, from the least to the most. */
  public static final List<String> NAMES = List.of("small", "medium", "large");

  /** The defaults, which are also the classes that packages are built with. */
  public static final ResourceClasses DEFAULT =
      of(
          new Resources(10_000, 256L << 20, 1L << 20, 15_000),
          new Resources(60_000, 1L << 30, 8L << 20, 90_000),
          new Resources(600_000, 4L << 30, 32L << 20, 900_000));

  private static final long DAY_MS = 86_400_000;

  /**
   * One class.
   *
   * @param limits what it sets beside them
   */
  public record ResourceLimits(Resources resources, CallLimits limits) {
    static ResourceLimits read(Section section) {
      ResourceLimits read =
          new ResourceLimits(
              new Resources(
                  section.between("cpu_ms", 1, JsonValue.Num.MAX_INTEGER),
                  section.between("memory_bytes", 1, JsonValue.Num.MAX_INTEGER),
                  section.count("output_bytes"),
                  section.between("wall_ms", 1, DAY_MS)),
              CallLimits.read(section));
      section.end();
      return read;
    }

    private boolean covers(Resources less) {
      return less.isWithin(resources);
    }

    JsonValue.Obj toJson() {
      return limits.toJson(resources);
    }
  }

  /** Classes that set nothing beside resources. */
  public static ResourceClasses of(Resources small, Resources medium, Resources large) {
    return new ResourceClasses(
        new ResourceLimits(small, CallLimits.DEFAULT),
        new ResourceLimits(medium, CallLimits.DEFAULT),
        new ResourceLimits(large, CallLimits.DEFAULT));
  }

  static ResourceClasses read(Section section) {
    ResourceClasses classes =
        new ResourceClasses(
            one(section, "small", DEFAULT.small),
            one(section, "medium", DEFAULT.medium),
            one(section, "large", DEFAULT.large));
    section.require(
        "medium", classes.medium.covers(classes.small.resources), "less than the class small");
    section.require(
        "large", classes.large.covers(classes.medium.resources), "less than the class medium");
    section.end();
    return classes;
  }

  private static ResourceLimits one(Section classes, String name, ResourceLimits otherwise) {
    return classes
        .optional(name, key -> ResourceLimits.read(classes.section(key)))
        .orElse(otherwise);
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("small", small.toJson())
        .put("medium", medium.toJson())
        .put("large", large.toJson())
        .build();
  }

  /** The smallest class that covers these resources; the largest if none does. */
  public String leastFor(Resources declared) {
    return small.covers(declared) ? "small" : medium.covers(declared) ? "medium" : "large";
  }

  /** The limits of a call that declares these resources: those of {@link #leastFor}. */
  public CallLimits limitsFor(Resources declared) {
    return named(leastFor(declared)).orElseThrow().limits;
  }

  /** The most resources of a class; empty for an unknown class. */
  public Optional<Resources> of(String name) {
    return named(name).map(ResourceLimits::resources);
  }

  private Optional<ResourceLimits> named(String name) {
    return switch (name) {
      case "small" -> Optional.of(small);
      case "medium" -> Optional.of(medium);
      case "large" -> Optional.of(large);
      default -> Optional.empty();
    };
  }
}

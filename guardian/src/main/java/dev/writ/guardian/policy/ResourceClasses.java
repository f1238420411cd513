package dev.writ.guardian.policy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Optional;

/**
 * The resources of seed 004's resource classes. A class does not widen the limits of the tool's
 * manifest or of a role: those are checked whatever the class.
 */
public record ResourceClasses(Resources small, Resources medium, Resources large) {
  /** The names, from the least to the most. */
  public static final List<String> NAMES = List.of("small", "medium", "large");

  /** The defaults, which are also the classes that packages are built with. */
  public static final ResourceClasses DEFAULT =
      new ResourceClasses(
          new Resources(10_000, 256L << 20, 1L << 20, 15_000),
          new Resources(60_000, 1L << 30, 8L << 20, 90_000),
          new Resources(600_000, 4L << 30, 32L << 20, 900_000));

  private static final long DAY_MS = 86_400_000;

  static ResourceClasses read(Section section) {
    ResourceClasses classes =
        new ResourceClasses(
            one(section, "small", DEFAULT.small),
            one(section, "medium", DEFAULT.medium),
            one(section, "large", DEFAULT.large));
    section.require("medium", isWithin(classes.small, classes.medium), "less than the class small");
    section.require("large", isWithin(classes.medium, classes.large), "less than the class medium");
    section.end();
    return classes;
  }

  private static Resources one(Section classes, String name, Resources otherwise) {
    return classes
        .optional(
            name,
            key -> {
              Section numbers = classes.section(key);
              Resources resources =
                  new Resources(
                      numbers.between("cpu_ms", 1, JsonValue.Num.MAX_INTEGER),
                      numbers.between("memory_bytes", 1, JsonValue.Num.MAX_INTEGER),
                      numbers.count("output_bytes"),
                      numbers.between("wall_ms", 1, DAY_MS));
              numbers.end();
              return resources;
            })
        .orElse(otherwise);
  }

  private static boolean isWithin(Resources less, Resources more) {
    return less.cpuMs() <= more.cpuMs()
        && less.memoryBytes() <= more.memoryBytes()
        && less.outputBytes() <= more.outputBytes()
        && less.wallMs() <= more.wallMs();
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
    return isWithin(declared, small) ? "small" : isWithin(declared, medium) ? "medium" : "large";
  }

  /** The most resources of a class; empty for an unknown class. */
  public Optional<Resources> of(String name) {
    return switch (name) {
      case "small" -> Optional.of(small);
      case "medium" -> Optional.of(medium);
      case "large" -> Optional.of(large);
      default -> Optional.empty();
    };
  }
}

package dev.writ.tools.author;

import dev.writ.guardian.document.Resources;
import java.util.List;
import java.util.Locale;

/**
 * How much a tool may take at most: the classes of seed 004. A role's ceiling can be lower, never
 * higher.
 */
public enum ResourceClass {
  SMALL(new Resources(10_000, 256L << 20, 1L << 20, 15_000)),
  MEDIUM(new Resources(60_000, 1L << 30, 8L << 20, 90_000)),
  LARGE(new Resources(600_000, 4L << 30, 32L << 20, 900_000));

  /** All of them, in the order of their declaration. */
  public static final List<ResourceClass> ALL = List.of(values());

  private final Resources ceiling;

  ResourceClass(Resources ceiling) {
    this.ceiling = ceiling;
  }

  /** The word in {@code tool.manifest}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The most that an effect of such a tool may declare. */
  public Resources ceiling() {
    return ceiling;
  }
}

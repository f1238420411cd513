package dev.writ.tools.author;

import dev.writ.guardian.document.Resources;
import dev.writ.guardian.policy.engine.ResourceClasses;
import java.util.List;
import java.util.Locale;

/**
 * The most resources that a tool may use: the classes of seed 004. A role's ceiling can be lower,
 * never higher.
 */
public enum ResourceClass {
  SMALL,
  MEDIUM,
  LARGE;

  /** All of them, in the order of their declaration. */
  public static final List<ResourceClass> ALL = List.of(values());

  /** The word in {@code tool.manifest}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The most that an effect of such a tool may declare. Packages are built with it, so it is the
   * release's value and not that of a policy.
   */
  public Resources ceiling() {
    return ResourceClasses.DEFAULT.of(text()).orElseThrow();
  }
}

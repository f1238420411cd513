package dev.writ.guardian.policy.retention;

import java.util.List;
import java.util.Locale;

/** What a content is to an effect; retention goes by it (spec/retention.md). */
public enum ContentClass {
  /** The output, and the raw output of an effect that did not succeed. */
  OUTPUTS,
  /** Files that the tool handed out beside its output. */
  ARTIFACTS,
  /** What the driver observed: the body of {@code effect.finished}. */
  OBSERVATIONS,
  /** Files that a request names, parameters that travel as content among them. */
  INPUTS;

  /** All of them, in the order of their declaration. */
  public static final List<ContentClass> ALL = List.of(values());

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}

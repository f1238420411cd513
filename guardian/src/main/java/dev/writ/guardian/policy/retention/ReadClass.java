package dev.writ.guardian.policy.retention;

import java.util.List;
import java.util.Locale;

/** What a person can read that is not its own; policy names what is recorded of it. */
public enum ReadClass {
  /** The bundle of a run. */
  BUNDLES,
  /** What the driver observed. */
  OBSERVATIONS,
  /** What an effect gave: output, raw output, artifacts. */
  OUTPUTS,
  /** What an effect was given, and the signed documents about it. */
  PARAMETERS,
  /** The policy of the installation: its text, and what is worked out from that. */
  POLICY,
  /** What a server found out about a run from its bundle: its page, a replay, a comparison. */
  REPORTS;

  /** All of them, in the order of their words. */
  public static final List<ReadClass> ALL = List.of(values());

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}

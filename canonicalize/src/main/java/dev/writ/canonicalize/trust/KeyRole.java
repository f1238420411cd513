package dev.writ.canonicalize.trust;

import java.util.List;
import java.util.Locale;

/** What a key is for. A key has one role, and a role signs one set of kinds (PROTOCOL 25). */
public enum KeyRole {
  AGENT("request", "execution", "run-close"),
  SURFACE("request", "execution", "run-close"),
  PRINCIPAL("delegation"),
  APPROVER("approval"),
  GUARDIAN("decision", "intent"),
  EXECUTOR("receipt", "refusal"),
  OPERATOR("resolution", "trust-change"),
  POLICY_OWNER("policy"),
  PUBLISHER("tool-package"),
  /** Signs what is brought as evidence: any payload type outside {@code application/vnd.writ.}. */
  ATTESTOR(),
  /** Signs checkpoints, which are signed notes and no envelopes. */
  LOG();

  private final List<String> kinds;

  KeyRole(String... kinds) {
    this.kinds = List.of(kinds);
  }

  public String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Whether a key of this role may sign an envelope of that payload type. */
  public boolean maySign(String payloadType) {
    if (this == ATTESTOR) {
      return !payloadType.startsWith(PayloadTypes.PREFIX);
    }
    return kinds.stream().map(PayloadTypes::of).anyMatch(payloadType::equals);
  }
}

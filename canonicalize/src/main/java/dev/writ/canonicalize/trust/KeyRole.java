package dev.writ.canonicalize.trust;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** What a key is for. A key has one role, and a role signs one set of kinds (protocol rule 25). */
public enum KeyRole {
  AGENT("request", "execution", "run-close", "access", "mandate"),
  SURFACE("request", "execution", "run-close", "mandate"),
  PRINCIPAL("delegation"),
  APPROVER("approval", "access", "tool-approval"),
  GUARDIAN("decision", "intent", "cell-checkpoints", "tenant-departed"),
  EXECUTOR("receipt", "refusal", "run-closing", "deletion", "read-event"),
  OPERATOR("resolution", "system-change"),
  POLICY_OWNER("policy"),
  PUBLISHER("tool-package", "tool-submission"),
  /** Signs what is brought as evidence: any payload type outside {@code application/vnd.writ.}. */
  ATTESTOR(),
  /** Signs checkpoints, which are signed notes and no envelopes. */
  LOG();

  /** All of them, in the order of their declaration. */
  public static final List<KeyRole> ALL = List.of(values());

  private final String text;
  private final List<String> payloadTypes;

  KeyRole(String... kinds) {
    this.text = name().toLowerCase(Locale.ROOT).replace('_', '-');
    this.payloadTypes = Arrays.stream(kinds).map(PayloadTypes::of).toList();
  }

  public String text() {
    return text;
  }

  /** Whether people sign in this role, so that their passkeys may be enrolled for it. */
  public boolean isOfPeople() {
    return this == APPROVER || this == OPERATOR || this == POLICY_OWNER;
  }

  /** The payload types of ours that a key of this role may sign. */
  public List<String> payloadTypes() {
    return payloadTypes;
  }

  /** Whether a key of this role may sign an envelope of that payload type. */
  public boolean maySign(String payloadType) {
    // Media types compare without case (RFC 6838, 4.2); ours must not be imitated in capitals.
    return this == ATTESTOR
        ? !payloadType.toLowerCase(Locale.ROOT).startsWith(PayloadTypes.PREFIX)
        : payloadTypes.contains(payloadType);
  }
}

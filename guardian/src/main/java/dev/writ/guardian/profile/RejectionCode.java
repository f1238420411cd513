package dev.writ.guardian.profile;

import java.util.Optional;

/** The 24 codes of seed 000 (its DENIAL_MATRIX), in the order of its seven stages. */
public enum RejectionCode {
  INVALID_JSON("R-SCHEMA-001", "invalid JSON"),
  UNKNOWN_FIELDS("R-SCHEMA-002", "unknown fields"),
  MANDATORY_FIELDS("R-SCHEMA-003", "missing mandatory fields"),
  TENANT_MISSING("R-CTX-001", "missing tenant_id"),
  SUBJECT_MISSING("R-CTX-002", "missing subject_id"),
  TRACE_MISSING("R-CTX-003", "missing trace_id"),
  WORKSPACE_MISMATCH("R-CTX-004", "workspace mismatch"),
  INTENT_MISSING("R-INTENT-001", "missing intent_id"),
  INTENT_UNKNOWN("R-INTENT-002", "unknown intent_id"),
  INTENT_VERSION("R-INTENT-003", "version mismatch"),
  INTENT_CLOSED("R-INTENT-004", "intent closed"),
  NETWORK_FORBIDDEN("R-SEC-001", "network forbidden"),
  PRIVILEGED("R-SEC-002", "privileged without approval"),
  SECRETS("R-SEC-003", "secrets access"),
  PROFILE_INVALID("R-SBX-001", "invalid profile"),
  PROFILE_ESCALATION("R-SBX-002", "profile escalation"),
  CPU_MISSING("R-RES-001", "cpu missing"),
  MEMORY_MISSING("R-RES-002", "memory missing"),
  TIMEOUT_MISSING("R-RES-003", "timeout missing"),
  EXCEEDS_POLICY("R-RES-004", "exceeds policy"),
  ALREADY_CONSUMED("R-STATE-001", "already consumed"),
  REPLAY("R-STATE-002", "replay detected"),
  MUTATION("R-STATE-003", "mutation detected"),
  CHAINED("R-STATE-004", "chained execution");

  private final String code;
  private final String meaning;

  RejectionCode(String code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  public String code() {
    return code;
  }

  /** The seed's own words. */
  public String meaning() {
    return meaning;
  }

  public static Optional<RejectionCode> of(String code) {
    for (RejectionCode value : values()) {
      if (value.code.equals(code)) {
        return Optional.of(value);
      }
    }
    return Optional.empty();
  }

  /**
   * The code by which seed 000's clients get a later refusal by the Guardian or the executor
   * (protocol rule 34).
   *
   * @param code a code of ours, or one of the seed's, which is returned unchanged
   * @return empty if the fault is not the request's: no sandbox, no driver, no ledger
   */
  public static Optional<RejectionCode> ofRefusal(String code) {
    if (of(code).isPresent()) {
      return of(code);
    }
    return switch (code) {
      case "GRD-104" -> Optional.of(PRIVILEGED);
      case "GRD-201", "GRD-202", "GRD-203", "GRD-204" -> Optional.of(EXCEEDS_POLICY);
      case "GRD-302", "GRD-303", "GRD-304", "GRD-404", "GRD-406" -> Optional.of(EXCEEDS_POLICY);
      case "GRD-003", "GRD-006", "GRD-008", "GRD-721", "EXE-902" -> Optional.of(WORKSPACE_MISMATCH);
      case "GRD-004", "GRD-005", "GRD-012", "GRD-301", "GRD-308", "EXE-109" -> Optional.of(REPLAY);
      case "GRD-007", "GRD-307", "GRD-702", "EXE-110" -> Optional.of(MUTATION);
      case "GRD-011", "EXE-901" -> Optional.of(ALREADY_CONSUMED);
      case "GRD-013" -> Optional.empty();
      case "GRD-407" -> Optional.of(PROFILE_INVALID);
      case "EXE-301", "EXE-302", "EXE-303" -> Optional.of(INTENT_UNKNOWN);
      default -> code.startsWith("GRD-") ? Optional.of(INTENT_UNKNOWN) : Optional.empty();
    };
  }
}

package dev.writ.guardian.policy.governance;

import java.util.List;
import java.util.Locale;

/** The stage of a governed version of a tool: spec/tool-governance.md. */
public enum RolloutStage {
  /** Submitted; it does not run. */
  DRAFT,
  /** Runs for some tenants, and for a share of the subjects of the others. */
  CANARY,
  /** Runs for all, and the greatest of them is the default. */
  ACTIVE,
  /** Runs only for calls that name this exact version. */
  DEPRECATED,
  /** Never runs again. */
  RETIRED;

  public static final List<RolloutStage> ALL = List.of(values());

  /** The word in documents. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether a version of this stage runs for anybody. */
  public boolean runs() {
    return this == CANARY || this == ACTIVE || this == DEPRECATED;
  }

  /** Whether an operator may put a version of this stage into the next. */
  public boolean leadsTo(RolloutStage next) {
    return switch (this) {
      case DRAFT -> next == CANARY || next == ACTIVE || next == RETIRED;
      case CANARY -> next == DRAFT || next == CANARY || next == ACTIVE || next == RETIRED;
      case ACTIVE -> next == DEPRECATED || next == RETIRED;
      case DEPRECATED -> next == ACTIVE || next == RETIRED;
      case RETIRED -> false;
    };
  }
}

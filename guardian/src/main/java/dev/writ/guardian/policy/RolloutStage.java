package dev.writ.guardian.policy;

import java.util.List;
import java.util.Locale;

/** How far a governed version of a tool has come: spec/tool-governance.md. */
public enum RolloutStage {
  /** Submitted; it does not run. */
  DRAFT,
  /** Runs for some tenants and a share of the runs. */
  CANARY,
  /** Runs for all, and the greatest of them is the default. */
  ACTIVE,
  /** Runs where its exact version is named. */
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

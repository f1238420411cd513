package dev.writ.guardian.document;

/** What a decision says. */
public enum Verdict {
  ALLOW,
  DENY,
  ESCALATE
}

package dev.writ.cli.campaign;

/** What clients do to a server while a fault strikes. */
enum Work {
  /** Small effects in the process. */
  SMALL,
  /** Effects whose output is large enough for a file of its own. */
  LARGE_OUTPUT,
  /** An uploaded file as an input. */
  INPUT,
  /** One request sent by several callers at once, while its input arrives. */
  RACE,
  /** Something outside, that must not happen twice. */
  OUTSIDE,
  /** A request that waits, its approval, and the request again. */
  APPROVAL,
  /** The end of a run. */
  CLOSE,
  /** A run's bundle over HTTP. */
  EXPORT,
  /** A key enrolled and revoked. */
  ENROLMENT,
  /** Another policy put in force. */
  ACTIVATION,
  /** A tool submitted, approved, staged and revoked. */
  GOVERNANCE
}

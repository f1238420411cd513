package dev.writ.sinks.error;

import dev.writ.canonicalize.ErrorCode;

/** Why a sink does not take records, or an order to a sink is refused. */
public enum SinkError implements ErrorCode {
  UNREACHABLE(
      "SNK-001",
      "the sink's target does not answer",
      "Start it, or mend the way to it; delivery goes on by itself from where it stopped."),
  REFUSED(
      "SNK-002",
      "the sink's target refuses records",
      "Look up the target's own word for it: no memory, no credentials, read-only, another type."),
  OTHER_LOG(
      "SNK-003",
      "the sink's target has the records of another log",
      "Name another stream or file; records of two logs in one would hide each other."),
  UNFORESEEN(
      "SNK-004",
      "a record could not be read or delivered for a reason that Writ does not know",
      "Look for the type of the exception in the server's log, and report it."),
  UNKNOWN(
      "SNK-005", "there is no sink of that name", "Take one of those that `writ sink list` shows."),
  ORDER(
      "SNK-006",
      "an order to a sink is not valid",
      "Give pause, resume, or replay from a position that the log has."),
  NOT_TAKEN(
      "SNK-007",
      "the server has not taken the order yet",
      "It lies in the folder `sinks` of the data directory, and is taken when the server runs."),
  AHEAD(
      "SNK-008",
      "the sink's target has records that the log does not have",
      "The ledger and its anchor were both set back: compare them with the target; then bring the"
          + " ledger into service as a new incarnation, by `writ fsck --restored`."),
  REJECTED(
      "SNK-009",
      "the receiver rejects this incident or notice",
      "Look up in the receiver's log why; an incident is sent again by `writ incident resend`."),
  NO_INCIDENT(
      "SNK-010", "there is no such incident", "Take an id that `writ incident list` shows."),
  GONE(
      "SNK-011",
      "the receiver wants no more messages (410)",
      "Ask its operator. `writ sink resume` goes on with the message at which it stopped; else"
          + " remove the sink from the configuration."),
  CERTIFICATE(
      "SNK-012",
      "the certificate of the receiver is not accepted",
      "See the message: name its authority by `ca`, or have the receiver present a certificate for"
          + " its name that has not expired.");

  private final Entry entry;

  SinkError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}

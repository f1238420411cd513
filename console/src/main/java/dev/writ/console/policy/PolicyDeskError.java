package dev.writ.console.policy;

import dev.writ.gateway.http.HttpErrorCode;

/** Why the policy is not shown, or a text is not tried. */
public enum PolicyDeskError implements HttpErrorCode {
  NOT_FOR_CALLER(
      "GWY-115",
      403,
      "the policy is shown to its auditors, operators and developers",
      "Have policy name the subject in people, with one of these roles."),
  BUSY(
      "GWY-116",
      429,
      "another text is tried against the record at the moment",
      "Ask again in a moment."),
  TOO_MUCH(
      "GWY-117",
      400,
      "the runs of what is asked for have too many events to read at once",
      "Ask for fewer decisions, or name fewer runs."),
  NOTHING_SEEN(
      "GWY-118",
      409,
      "no call that the caller may see was allowed yet",
      "Propose a policy once there are calls to make it from."),
  TRIED_TEXT(
      "GWY-119",
      400,
      "the text to be tried is no policy",
      "Have it checked, and correct what is found.");

  private final Entry entry;
  private final int status;

  PolicyDeskError(String code, int status, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
    this.status = status;
  }

  @Override
  public Entry entry() {
    return entry;
  }

  @Override
  public int httpStatus() {
    return status;
  }
}

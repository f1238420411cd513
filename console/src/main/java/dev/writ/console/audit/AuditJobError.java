package dev.writ.console.audit;

import dev.writ.gateway.http.HttpErrorCode;

/** Why an audit job is not taken, or has nothing to hand out. */
public enum AuditJobError implements HttpErrorCode {
  BUSY(
      "GWY-125",
      429,
      "as many audit jobs as the tenant may have wait or are at work",
      "Wait until one has ended, or delete one."),
  RUNS(
      "GWY-126",
      400,
      "the runs of an audit job are none, too many, one of them twice, or not as its kind needs"
          + " them",
      "Name 1 to 1000 runs, each once, or a period that has so many; to compare, name two."),
  NOT_ENDED(
      "GWY-127",
      409,
      "the audit job has not ended yet, or has no such result",
      "Look at its state; results are there once it is `done`."),
  CANCELLED(
      "GWY-128", 409, "the audit job was cancelled", "Ask for it again if it is still wanted.");

  private final Entry entry;
  private final int status;

  AuditJobError(String code, int status, String meaning, String remedy) {
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

package dev.writ.console.operation;

import dev.writ.gateway.http.HttpErrorCode;

/** What a server does for its operators, and auditors, alone. */
public enum OperationError implements HttpErrorCode {
  NOT_OPERATOR(
      "GWY-120",
      403,
      "how a server is, is for its operators and auditors",
      "Have policy give the subject the role operator or auditor in `people`."),
  STARTING("GWY-121", 503, "the server has only begun to start", "Ask again in a moment."),
  OTHERS_SESSIONS(
      "GWY-180",
      403,
      "the sessions of somebody else are ended by operators of the tenant",
      "Have policy give the subject the role operator in `people`.");

  private final Entry entry;
  private final int status;

  OperationError(String code, int status, String meaning, String remedy) {
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

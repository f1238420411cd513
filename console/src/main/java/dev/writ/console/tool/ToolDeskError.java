package dev.writ.console.tool;

import dev.writ.gateway.http.HttpErrorCode;

/** Why a person is not shown something of a tool. */
public enum ToolDeskError implements HttpErrorCode {
  NOT_SHOWN(
      "GWY-129",
      403,
      "packages of tools are shown to developers, operators and auditors",
      "Have policy give the subject one of these roles in its section people."),
  NO_PACKAGE(
      "GWY-130",
      409,
      "the package of that version cannot be read, so there is nothing to compare",
      "Compare with a version whose package is registered.");

  private final Entry entry;
  private final int status;

  ToolDeskError(String code, int status, String meaning, String remedy) {
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

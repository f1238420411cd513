package dev.writ.surfaces.engine;

import dev.writ.gateway.http.HttpErrorCode;

/** Refusals of the universal contract's surface itself; refusals by policy are the Guardian's. */
public enum EngineError implements HttpErrorCode {
  NOT_OFFERED(
      404,
      "GWY-201",
      "no such tool is offered here",
      "Name a tool package of GET /v1/tools; a tool that takes source code is none."),
  LANGUAGE(422, "GWY-202", "the tool is written in another language", "Name its own, or none."),
  POLICY(409, "GWY-203", "another policy is in force", "Name the one in force, or none."),
  RESOURCE_CLASS(
      422,
      "GWY-204",
      "the resource class is above the tool's own",
      "Request its own, or a smaller one."),
  REQUEST_REUSED(
      409,
      "GWY-205",
      "the requestId was used for another body",
      "Send the same bytes again, or another requestId."),
  NOT_DISPATCHED(
      409,
      "GWY-206",
      "the execution was ended before it was dispatched",
      "Nothing ran: send the same request again if it is still wanted."),
  IN_THE_QUEUE(
      504,
      "GWY-207",
      "the execution's time budget was over before its turn came",
      "Nothing ran: send it again, with more time.");

  private final int httpStatus;
  private final Entry entry;

  EngineError(int httpStatus, String code, String meaning, String remedy) {
    this.httpStatus = httpStatus;
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public int httpStatus() {
    return httpStatus;
  }

  @Override
  public Entry entry() {
    return entry;
  }
}

package dev.writ.gateway.engine;

import dev.writ.canonicalize.ErrorCode;

/** What the universal contract's surface refuses by itself; policy's word is the Guardian's. */
public enum EngineError implements ErrorCode {
  NOT_OFFERED(
      "GWY-201",
      "no such tool is offered here",
      "Name a tool package of GET /v1/tools; a tool that takes source code is none."),
  LANGUAGE("GWY-202", "the tool is written in another language", "Name its own, or none."),
  POLICY("GWY-203", "another policy is in force", "Name the one in force, or none."),
  RESOURCE_CLASS(
      "GWY-204",
      "the resource class is above the tool's own",
      "Ask for its own, or a smaller one."),
  REQUEST_REUSED(
      "GWY-205",
      "the requestId was used for another body",
      "Send the same bytes again, or another requestId."),
  NOT_DISPATCHED(
      "GWY-206",
      "the execution was ended before it was dispatched",
      "Nothing ran: send the same request again where it is still wanted."),
  IN_THE_QUEUE(
      "GWY-207",
      "the time that the execution may take was over before its turn came",
      "Nothing ran: send it again, with more time.");

  private final String code;
  private final String meaning;
  private final String remedy;

  EngineError(String code, String meaning, String remedy) {
    this.code = code;
    this.meaning = meaning;
    this.remedy = remedy;
  }

  @Override
  public String code() {
    return code;
  }

  @Override
  public String meaning() {
    return meaning;
  }

  @Override
  public String remedy() {
    return remedy;
  }
}

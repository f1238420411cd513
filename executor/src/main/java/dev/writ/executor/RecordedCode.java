package dev.writ.executor;

import dev.writ.canonicalize.ErrorCode;

/** A code as a document has it; whose it is need not be known here. */
public record RecordedCode(String code) implements ErrorCode {
  @Override
  public String meaning() {
    return "as recorded";
  }

  @Override
  public String remedy() {
    return "See spec/errors.md.";
  }
}

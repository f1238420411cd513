package dev.writ.guardian;

import dev.writ.canonicalize.ErrorCode;

/** The refusals of this module. Codes of the four checks: 1xx PRG, 2xx budget, 3xx temporal, 4xx envelope. */
public enum GuardianError implements ErrorCode {
  LIST_ORDER("GRD-001", "a list is not sorted or names something twice", "Sort it; name each once.");

  private final String code;
  private final String meaning;
  private final String remedy;

  GuardianError(String code, String meaning, String remedy) {
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

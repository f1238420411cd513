package dev.writ.cli;

import dev.writ.canonicalize.ErrorCode;

/** The refusals of the command line itself. */
public enum CliError implements ErrorCode {
  USAGE("CLI-001", "the command line is not understood", "See writ --help."),
  FILE_UNREADABLE(
      "CLI-002", "a file cannot be read", "Name a file that exists and that you may read."),
  FILE_UNWRITABLE(
      "CLI-003",
      "a file cannot be written",
      "Name a folder that exists, has room, and that you may write to."),
  OUTPUT_CLOSED("CLI-004", "the output cannot be written", "Check where the output goes."),
  INTERNAL(
      "CLI-070", "Writ failed in a way it did not foresee", "Please report this with the log.");

  private final String code;
  private final String meaning;
  private final String remedy;

  CliError(String code, String meaning, String remedy) {
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

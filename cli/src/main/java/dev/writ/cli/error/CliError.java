package dev.writ.cli.error;

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
  NO_HOME(
      "CLI-010",
      "there is no data directory",
      "Make one with `writ init` or `writ demo`, or name it with --home."),
  HOME_EXISTS(
      "CLI-011",
      "something is in the way of a new data directory",
      "Name another with --home, or remove it and its .anchor yourself."),
  HOME_FORMAT(
      "CLI-012", "the data directory is of another format", "Use the release that wrote it."),
  KEY_NAME("CLI-013", "that is no name of a key", "See `writ key list`."),
  PARAMETER("CLI-014", "a parameter of the tool is not understood", "See `writ tool show NAME`."),
  NOT_FOUND("CLI-015", "nothing of that name or id is here", "See `writ receipts` or `writ runs`."),
  TOOL_AMBIGUOUS(
      "CLI-016", "which version or operation of the tool is meant is not clear", "Name it."),
  SANDBOX_PLACE(
      "CLI-017",
      "the directory for sandboxes is not ours alone",
      "Remove what is in its place, or name another by WRIT_SANDBOX_DIR."),
  FEW_DESCRIPTORS(
      "CLI-018",
      "the process may open too few files to serve",
      "Raise the limit of open files to 512 or more: ulimit -n, or LimitNOFILE in the unit."),
  INTERNAL(
      "CLI-070", "Writ failed in a way it did not foresee", "Please report this with the log.");

  private final Entry entry;

  CliError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}

package dev.writ.cli.error;

import dev.writ.canonicalize.ErrorCode;

/** The refusals of the command line itself. */
public enum CliError implements ErrorCode {
  USAGE("CLI-001", "the command line is not understood", "See writ --help."),
  OUTPUT_CLOSED("CLI-004", "the output cannot be written", "Check where the output goes."),
  PARAMETER("CLI-014", "a parameter of the tool is not understood", "See `writ tool show NAME`."),
  FEW_DESCRIPTORS(
      "CLI-018",
      "the process may open too few files to serve",
      "Raise the limit of open files to 512 or more: ulimit -n, or LimitNOFILE in the unit."),
  POLICY_TEXT(
      "CLI-021",
      "a policy's file is not in a form that can be changed",
      "Write its entries as the policy of `writ init` does (of commands/images as `program:"
          + " image`), or change it by hand."),
  POLICY_CHANGED(
      "CLI-022",
      "a policy's file was changed while it was worked on",
      "Nothing was written: run the command again."),
  INTERNAL("CLI-070", "an unexpected failure in Writ", "Please report this with the log.");

  private final Entry entry;

  CliError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}

package dev.writ.embed.error;

import dev.writ.canonicalize.ErrorCode;

/**
 * Refusals when a data directory is made, opened or used. Their codes begin with CLI because they
 * are older than this module.
 */
public enum EmbedError implements ErrorCode {
  FILE_UNREADABLE(
      "CLI-002", "a file cannot be read", "Name a file that exists and that you may read."),
  FILE_UNWRITABLE(
      "CLI-003",
      "a file cannot be written",
      "Name a folder that exists, has room, and that you may write to."),
  FILE_EXISTS(
      "CLI-023",
      "there is a file of that name already",
      "Name another file, or remove that one yourself: nothing is overwritten."),
  NO_HOME(
      "CLI-010",
      "there is no data directory",
      "Make one with `writ init` or `writ demo`, or name it with --home."),
  HOME_EXISTS(
      "CLI-011",
      "something exists where the data directory would be made",
      "Name another directory with --home, or remove it and its .anchor yourself."),
  HOME_FORMAT(
      "CLI-012", "the data directory is of another format", "Use the release that wrote it."),
  KEY_ELSEWHERE(
      "CLI-024",
      "a key is in none of the folders in which it is looked for",
      "Name its folder (export WRIT_KEYS=FOLDER), or its file in place of its name"
          + " (spec/keys.md)."),
  KEY_FOLDER(
      "CLI-025",
      "keys cannot be kept in this folder",
      "Name a folder that is not in the data directory, and that only you can write to."),
  KEY_STAYS(
      "CLI-026",
      "a key is not one that can leave the data directory",
      "Nothing was moved: name keys of people and agents (writ key list says the roles)."),
  CELLS_ADDRESS(
      "CLI-027",
      "an installation of several cells cannot be made there",
      "Give --database an address without cell, and --contents a store that all gateways share"
          + " (spec/cells.md)."),
  NO_CELL(
      "CLI-028",
      "the installation has no such cell",
      "Cells are numbered from 0; spec/cells.md says how many an installation has."),
  JOIN_FILE(
      "CLI-029",
      "this is no file by which a gateway joins an installation",
      "Write one with `writ cells invite FILE` in the home of another gateway."),
  NO_ARCHIVE(
      "CLI-112",
      "this data directory knows no archive of closed runs",
      "Begin one with `writ archive run --to FOLDER`, or put the file `archive.address` of the data"
          + " directory back."),
  OTHER_ARCHIVE(
      "CLI-113",
      "this data directory has another archive of closed runs",
      "Leave out --to. To move the archive copy its folder as a whole, then correct the file"
          + " `archive.address` in the data directory."),
  KEY_NAME(
      "CLI-013",
      "no key has such a name",
      "See `writ key list`. A name is of letters, digits, dots, underscores and hyphens, begins"
          + " with no dot, and does not end with .next."),
  NOT_FOUND(
      "CLI-015",
      "there is nothing of that name or id",
      "See `writ receipts`, `writ runs` or `writ log`, or `writ tool list` and `writ mcp list`."),
  TOOL_AMBIGUOUS(
      "CLI-016",
      "it is not clear which version or operation of the tool is meant",
      "Name it, as `NAME@VERSION` or `NAME/OPERATION`: `writ tool show NAME` has them. In Java, by"
          + " `version` or `operation` of the `Effect`."),
  SANDBOX_PLACE(
      "CLI-017",
      "there is no directory for sandboxes that is this user's alone",
      "Remove what is in its place, or name another with WRIT_SANDBOX_DIR."),
  NO_OUTPUT(
      "CLI-019",
      "there is no receipt, or no output",
      "Look at verdict(), status() and reason() first."),
  APPROVER_ROLE(
      "CLI-020",
      "the key's holder does not have exactly one approver role",
      "Name the role that is meant (--role), or give the approver one role in the policy.");

  private final Entry entry;

  EmbedError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}

package dev.writ.cli.error;

import dev.writ.canonicalize.ErrorCode;

/** The refusals of the command line itself. */
public enum CliError implements ErrorCode {
  USAGE(
      "CLI-001", "the command line is not understood", "See writ --help, or writ COMMAND --help."),
  OUTPUT_CLOSED("CLI-004", "the output cannot be written", "Check where the output goes."),
  PARAMETER("CLI-014", "a parameter of the tool is not understood", "See `writ tool show NAME`."),
  FEW_DESCRIPTORS(
      "CLI-018",
      "the process may open too few files",
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
  NO_SERVER(
      "CLI-030",
      "no server has the data directory open",
      "Start one with `writ serve`, or name another data directory with --home."),
  HOOK_INPUT(
      "CLI-033",
      "what the agent told its hook is not understood",
      "The call is denied. See spec/hooks.md for the agents and versions that are understood."),
  HOOK_EVENT(
      "CLI-034",
      "the agent asked its hook about an event that Writ does not answer",
      "Configure the hook for events before and after the use of a tool: writ setup."),
  SETUP_FILE(
      "CLI-035",
      "a client's configuration is not in a form that can be changed",
      "Nothing was written: mend the file, or add the entry by hand (spec/setup.md)."),
  SETUP_FOREIGN(
      "CLI-036",
      "a client's configuration has an entry named writ that setup did not write",
      "Nothing was written: remove or rename that entry."),
  SETUP_PLACE(
      "CLI-037",
      "where the client has its configuration cannot be told",
      "Set HOME (on Windows USERPROFILE and APPDATA), or add the entry by hand (spec/setup.md)."),
  NOTHING_SEEN(
      "CLI-038",
      "no call was allowed that a policy could be proposed from",
      "Let agents work for a while under a policy with mode: observe (writ policy observe)."),
  FEW_THREADS(
      "CLI-116",
      "the process may start no more threads",
      "Raise what limits them: ulimit -u, TasksMax of a unit, pids_limit of a container."),
  INTERNAL("CLI-070", "an unexpected failure in Writ", "Please report this with the log."),
  LOGIN_UNANSWERED(
      "CLI-071",
      "a login was begun, and nobody came back from the browser",
      "Log in again; where the browser is on another machine: --no-browser."),
  IMPORT_FILE(
      "CLI-076",
      "a file with MCP servers cannot be taken",
      "Nothing was changed: mend it, or add its servers one by one with writ mcp add"
          + " (spec/mcp-import.md)."),
  IMPORT_CHANGED(
      "CLI-077",
      "a client's file was changed after its servers were replaced in it",
      "Nothing was written: take what you want from the backup that the message names."),
  IMPORT_NONE(
      "CLI-078",
      "there is no server to import",
      "Name the file, or a server that it has; --dry-run lists them."),
  IMPORT_ENTRY(
      "CLI-079",
      "a server of a client cannot be taken as it stands there",
      "The message says what is in the way; the other servers were taken (spec/mcp-import.md)."),
  BROWSER_MISSING(
      "CLI-085",
      "there is no Chromium to print with",
      "Install one (apt-get install chromium), or name it: WRIT_CHROMIUM=/path/to/chromium. Or"
          + " write the page with -o PAGE and print it from any browser."),
  PRINTING_FAILED(
      "CLI-086",
      "Chromium did not print the page",
      "Try it by hand: writ report with -o PAGE, then open and print the page."),
  WITNESSES_FEW(
      "CLI-100",
      "fewer witnesses cosigned than were asked for",
      "Ask more of them, or again later; --quorum says how many are enough."),
  WITNESS_FORK(
      "CLI-101",
      "a witness has seen another history of the log",
      "Where the ledger was put back to an earlier state, restore the latest backup; otherwise"
          + " keep what the witness cosigned, with your own checkpoint: together they are the"
          + " proof of a fork."),
  WITNESS_REFUSED(
      "CLI-102",
      "a witness refused to cosign",
      "Ask its operator to add the log, with the key that `writ checkpoint --vkey` prints."),
  WITNESS_UNANSWERED(
      "CLI-103",
      "a witness gave no answer that is understood",
      "Check the address, and --ca; the witness may be away for a while."),
  PLACE_FORK(
      "CLI-104",
      "a checkpoint that was published is of another history of the log",
      "Where the ledger was put back to an earlier state, restore the latest backup; otherwise"
          + " keep that checkpoint, with one that `writ checkpoint` prints: together they are the"
          + " proof of a fork."),
  PLACE_UNUSABLE(
      "CLI-105",
      "checkpoints cannot be published at a place",
      "Let the server write there, and move away what it did not publish."),
  STAMP_UNANSWERED(
      "CLI-106",
      "a time stamp authority gave no answer that is understood",
      "Check the address, and --ca; the authority may be away for a while."),
  LOGS_DIFFER(
      "CLI-107",
      "a guardian's log and its executor's do not say the same",
      "Keep copies of both. The first difference is named: checkpoints of that time that others"
          + " hold show whose log was changed."),
  OTHER_LOG_KEY(
      "CLI-108",
      "the checkpoint of an export is not signed by the log key of this home",
      "Have that key sign one: `writ checkpoint`; then export with --latest."),
  NOTHING_BETWEEN(
      "CLI-111",
      "a kept checkpoint is not older than that of the export",
      "Name an older one that is not of size 0, or export with --latest after `writ checkpoint`."),
  NOT_STATED(
      "CLI-110",
      "the installation has stated nothing that covers this log",
      "With several cells ask again after twice `root_s` (spec/cells.md), while gateways own the"
          + " cell and the system cell; `cell-not-stated` in their logs says what is in the way."
          + " With one cell keep a checkpoint instead: `writ checkpoint`."),
  NOT_ARRIVED(
      "CLI-114",
      "the tenant has not arrived in the cell where it goes",
      "The move goes on by itself while gateways own its former cell and the new one; run the"
          + " command again to wait for it. `tenant-not-moved` in their logs says what it waits"
          + " for."),
  LAST_OPERATOR(
      "CLI-115",
      "no operator's key would be left, and nobody could enrol one",
      "Enrol another first: writ key new NAME --role operator. Where this one is stolen and there"
          + " is no other: writ key revoke NAME --last."),
  ARCHIVE_SECRET(
      "CLI-109",
      "a secret would have been in the diagnostic archive",
      "Nothing was written. Please report the name of the entry; leave out --log where it is"
          + " that.");

  private final Entry entry;

  CliError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}

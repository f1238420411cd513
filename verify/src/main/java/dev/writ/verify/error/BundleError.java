package dev.writ.verify.error;

import dev.writ.canonicalize.ErrorCode;

/** Refusals of bundles, in verification and export. */
public enum BundleError implements ErrorCode {
  ARCHIVE_FORM(
      "RPL-010",
      "the file is no bundle, or not in the one form that a bundle has",
      "Obtain the bundle again, unpacked and packed by nothing in between."),
  ARCHIVE_TRUNCATED("RPL-011", "the bundle is cut off", "Take it again, whole."),
  ARCHIVE_BOUNDS(
      "RPL-012",
      "the bundle is larger, or has more entries, than spec/bundle.md allows",
      "Split the work into smaller runs; a bundle has one."),
  ENTRY_NAME(
      "RPL-013",
      "an entry has a name that no bundle has",
      "Do not unpack it: a name can lead out of the folder. Ask whoever made it."),
  ENTRY_TWICE("RPL-014", "two entries have the same name", "Obtain the bundle again."),
  ENTRY_CHECKSUM("RPL-015", "an entry's checksum differs", "Obtain the bundle again."),
  STORAGE("RPL-016", "the bundle's file cannot be read or written", "Look at the disk."),

  FORMAT_UNKNOWN("RPL-020", "the bundle is of another format version", "Use a newer release."),
  ENTRY_DIGEST(
      "RPL-022", "an entry's content is not what its name or manifest says", "Take it again."),
  ENTRY_MISSING(
      "RPL-023", "something that the run refers to is not in the bundle", "Take it again, whole."),
  ENTRY_UNUSED("RPL-024", "an entry is nothing that the run refers to", "Ask whoever added it."),
  STATED(
      "RPL-025",
      "bundle.json states something else than the evidence shows",
      "Do not rely on what it states; take the bundle from the ledger again."),

  RUN_EMPTY("RPL-030", "the run has no events", "Obtain the bundle again; an empty run is no run."),
  EVENT_FORM("RPL-031", "a line of a journal is no event", "Obtain the bundle again."),
  EVENT_CHAIN(
      "RPL-032",
      "an event does not continue its run",
      "Events were dropped, doubled, swapped or brought in from elsewhere; take the bundle again."),
  EVENT_PROOF(
      "RPL-033",
      "an event is not proven to be in the log",
      "The event was changed, or is of another log; take the bundle again."),
  RUN_CUT(
      "RPL-034",
      "the run is said to be closed and its closing is not here, or the other way round",
      "Its tail was cut off or added; take the bundle again."),
  RUN_OPEN("RPL-035", "the run is open", "Close it and take its bundle, or leave out --closed."),

  CHECKPOINT_KEY(
      "RPL-040",
      "the checkpoint is not signed by a log key that the system run enrols",
      "Ask the operator which key signs the log."),
  NOT_PINNED(
      "RPL-041",
      "the bundle rests on a key that is not pinned",
      "It is of another installation, or forged; compare the key with its operator by other"
          + " means."),
  FORK(
      "RPL-042",
      "two checkpoints are not of one history of the log",
      "Keep both: together they prove that the log's history was forked."),

  RUN_UNKNOWN("RPL-050", "there is no such run to export", "See `writ runs`."),
  NOT_COVERED(
      "RPL-051",
      "no stored checkpoint covers the run's last event",
      "Run `writ checkpoint`, then export again."),
  TOOL_MISSING(
      "RPL-052",
      "a tool's package is not there as the run used it",
      "Register that package again, or export with --without-tools."),
  CONTENT_MISSING(
      "RPL-053",
      "the ledger lacks content that the run refers to",
      "Run `writ fsck`; restore it, or export with --without-blobs."),
  CHECKPOINT_AHEAD(
      "RPL-054",
      "the kept checkpoint is of a larger log than the ledger's",
      "The ledger was put back to an earlier state, or is another copy; take the current one."),

  PIN_HOLDER(
      "RPL-080",
      "a key that signed here is another holder's in the pins than in the log",
      "Ask the operator by other means whose key it is; one of the two is wrong."),
  PIN_REVOKED(
      "RPL-081",
      "the pins say that a key which signed here is revoked, and the log does not show it",
      "Obtain the bundle again with `writ export --latest`, which shows the revocation; a document"
          + " that comes after it does not count."),
  PIN_WINDOW(
      "RPL-082",
      "a key signed here outside of the window that the pins give it",
      "Ask the operator by other means from when to when the key was in use; what it signed"
          + " outside of that does not count."),
  PIN_ALGORITHMS(
      "RPL-083",
      "a document here lacks a signature that the pins require of its role",
      "The installation signs with fewer algorithms than you ask for; take that up with its"
          + " operator."),
  CONSISTENCY_FORM(
      "RPL-084",
      "log/consistency.json is no proof between the bundle's checkpoint and another one",
      "Obtain the bundle again, exported with the checkpoint that you kept, or without one.");

  private final Entry entry;

  BundleError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}

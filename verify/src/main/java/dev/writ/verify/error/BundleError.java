package dev.writ.verify.error;

import dev.writ.canonicalize.ErrorCode;

/** Refusals of bundles, in verification and export. */
public enum BundleError implements ErrorCode {
  ARCHIVE_FORM(
      "RPL-010",
      "the file is no bundle, or not in the canonical form of bundles",
      "Name a file that writ export wrote; if it is one, obtain it again, without unpacking and"
          + " packing it on the way."),
  ARCHIVE_TRUNCATED("RPL-011", "the bundle is truncated", "Obtain it again, complete."),
  ARCHIVE_BOUNDS(
      "RPL-012",
      "the bundle is larger, or has more or larger entries, than spec/bundle.md allows",
      "Split the work into smaller runs; a bundle contains one run."),
  ENTRY_NAME(
      "RPL-013",
      "an entry has a name that no bundle has",
      "Do not unpack it: a name can lead out of the folder. Ask its sender."),
  ENTRY_TWICE("RPL-014", "two entries have the same name", "Obtain the bundle again."),
  ENTRY_CHECKSUM("RPL-015", "an entry's checksum differs", "Obtain the bundle again."),
  STORAGE("RPL-016", "the bundle's file cannot be read or written", "Look at the disk."),

  FORMAT_UNKNOWN("RPL-020", "the bundle is of another format version", "Use a newer release."),
  ENTRY_DIGEST(
      "RPL-022",
      "an entry's content does not match its name or manifest",
      "Obtain the bundle again."),
  ENTRY_MISSING(
      "RPL-023",
      "something that the run refers to is not in the bundle",
      "Obtain it again, complete."),
  ENTRY_UNUSED("RPL-024", "the run refers to no such entry", "Ask who added it."),
  STATED(
      "RPL-025",
      "bundle.json contradicts the evidence",
      "Do not rely on it; export the bundle from the ledger again."),

  INSTALLATION(
      "RPL-026",
      "the proof of an installation does not show that its root covers this log",
      "Have the operator make it for this bundle (`writ cells prove FILE -o PROOF`), after the"
          + " installation has stated that size."),
  INSTALLATION_FORK(
      "RPL-027",
      "the installation states another root for a log of this size",
      "Keep bundle and proof: together they prove that the log's history was forked."),

  RUN_EMPTY("RPL-030", "the run has no events", "Obtain the bundle again; an empty run is no run."),
  EVENT_FORM("RPL-031", "a line of a journal is no event", "Obtain the bundle again."),
  EVENT_CHAIN(
      "RPL-032",
      "an event does not continue its run",
      "Events were dropped, duplicated, reordered or inserted; obtain the bundle again."),
  EVENT_PROOF(
      "RPL-033",
      "an event is not proven to be in the log",
      "The event was changed, or belongs to another log; obtain the bundle again."),
  RUN_CUT(
      "RPL-034",
      "the stated state of the run does not fit its last event",
      "Its end was cut off or added; obtain the bundle again."),
  RUN_OPEN("RPL-035", "the run is open", "Close it and export it again, or leave out --closed."),

  CHECKPOINT_KEY(
      "RPL-040",
      "the checkpoint is not signed by a log key that the system run enrols",
      "Where the log's key was changed after the bundle was exported, export the run again;"
          + " otherwise ask the operator which key signs the log."),
  NOT_PINNED(
      "RPL-041",
      "the bundle depends on a key that is not pinned",
      "It is of another installation, or forged; compare the key with its operator by other"
          + " means."),
  FORK(
      "RPL-042",
      "two checkpoints are not consistent",
      "Keep both: together they prove that the log's history was forked."),

  RUN_UNKNOWN("RPL-050", "there is no such run to export", "See `writ runs`."),
  NOT_COVERED(
      "RPL-051",
      "no stored checkpoint covers the run's last event",
      "Run `writ checkpoint`, then export again."),
  TOOL_MISSING(
      "RPL-052",
      "the registered package of a tool is not the one that the run used",
      "Register that package again, or export with --without-tools."),
  CONTENT_MISSING(
      "RPL-053",
      "the ledger lacks content that the run refers to",
      "Run `writ fsck`; restore it, or export with --without-blobs."),
  CHECKPOINT_AHEAD(
      "RPL-054",
      "the kept checkpoint is of a larger log than the ledger's",
      "The ledger was restored to an earlier state, or is another copy; use the current one."),

  PIN_HOLDER(
      "RPL-080",
      "a signing key has another holder in the pins than in the log",
      "Ask the operator by other means whose key it is; one of the two is wrong."),
  PIN_REVOKED(
      "RPL-081",
      "the pins say that a signing key is revoked, and the log does not show it",
      "Obtain the bundle again with `writ export --latest`, which shows the revocation; a"
          + " document that comes after it does not count."),
  PIN_WINDOW(
      "RPL-082",
      "a key signed outside the validity window that the pins give it",
      "Ask the operator by other means from when to when the key was in use; what it signed"
          + " outside of that does not count."),
  PIN_ALGORITHMS(
      "RPL-083",
      "a document lacks a signature that the pins require for its role",
      "The installation signs with fewer algorithms than you ask for; take that up with its"
          + " operator."),
  CONSISTENCY_FORM(
      "RPL-084",
      "log/consistency.json is no proof between the bundle's checkpoint and another one",
      "Obtain the bundle again, exported with the checkpoint that you kept, or without one."),
  WITNESSES_FEW(
      "RPL-085",
      "fewer witnesses than asked for saw this history",
      "Have the operator ask them (`writ witness ask URL --key VKEY -o FILE`), export the run"
          + " again with `--checkpoint FILE`, and give both files to `writ verify`."),
  NO_PROOF_BETWEEN(
      "RPL-086",
      "two checkpoints are of different sizes, and no proof leads from one to the other",
      "Have the operator export a run with one of them (`writ export RUN --checkpoint FILE`) and"
          + " verify the bundle against it, or compare checkpoints of one size."),
  STAMP_FORM(
      "RPL-087",
      "there is no time stamp in a reply",
      "Ask the authority again (`writ stamp ask`); a reply is a TimeStampResp of RFC 3161 in DER."),
  STAMP_OTHER(
      "RPL-088",
      "a time stamp is of something else",
      "Give the checkpoint that was stamped by --checkpoint, byte for byte, and a bundle that was"
          + " exported with it."),
  STAMP_SIGNER(
      "RPL-089",
      "a time stamp is not signed by an authority that is believed",
      "Obtain the certificates of the authority from elsewhere, and name them by --tsa-ca.");

  private final Entry entry;

  BundleError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}

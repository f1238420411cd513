package dev.writ.ledger.error;

import dev.writ.canonicalize.ErrorCode;

/** The refusals of this module. */
public enum LedgerError implements ErrorCode {
  EXISTS(
      "LED-001",
      "something exists where the ledger would be made",
      "Choose another directory or cell, or open the existing ledger; to remove rows that an"
          + " earlier `writ migrate` left in a database, see spec/storage.md, *Moving*."),
  MISSING("LED-002", "there is no ledger", "Make one first, or name the right directory."),
  LOCKED(
      "LED-003",
      "the ledger is in use by another writer",
      "Stop the other one, or open this one for reading."),
  NO_PERMISSION(
      "LED-004",
      "the ledger's files may not be read or written",
      "Give this user the directory, or run as its owner. Of a file system that is mounted"
          + " read-only, mount it to be written, or copy the data directory with its anchor"
          + " elsewhere."),
  DISK_FULL("LED-005", "the disk is full", "Make room, then open the ledger again."),
  CORRUPT(
      "LED-006",
      "the ledger's stored data is damaged",
      "Stop writing, and put a backup back: `writ restore`."),
  FORMAT_FUTURE(
      "LED-007",
      "the ledger has a format that this version does not know",
      "Use a newer version of writ."),
  STORAGE("LED-008", "the storage refused an operation", "Look at the disk, then open it again."),
  ORIGIN("LED-009", "the ledger belongs to another log", "Name the origin that it was made with."),

  ANCHOR_MISSING(
      "LED-010",
      "the ledger has no anchor",
      "Name the right anchor; if it is lost, run `writ fsck --restored`."),
  ANCHOR_BEHIND(
      "LED-011",
      "the ledger does not continue its anchor: a backup was restored, or entries were lost",
      "Run `writ fsck --restored` to begin the next incarnation; earlier intents become void."),
  ANCHOR_MALFORMED(
      "LED-012",
      "the anchor cannot be read",
      "Restore the file; if it is lost, remove it and run `writ fsck --restored`."),
  ANCHOR_OTHER(
      "LED-013", "the anchor belongs to another ledger", "Name the anchor of this ledger."),
  ANCHOR_WRITE(
      "LED-014",
      "the anchor cannot be written, so a restored backup could not be detected",
      "Make room on its disk and let this user write to its directory, then open the ledger"
          + " again."),

  CHAIN(
      "LED-020",
      "an event does not continue its run",
      "This is a fault of the caller: append from the run's pending head, under the run's lock."),
  NAME(
      "LED-021",
      "a name is not allowed",
      "Use 1 to 256 characters, whole ones, none of them a control character."),
  FAILED(
      "LED-022",
      "the ledger stopped after a failed write",
      "Correct what the first failure names, then open the ledger again."),
  CLOSED("LED-023", "the ledger is closed", "Open it again."),
  OVERLOADED(
      "LED-024",
      "too many batches wait to be written",
      "Await earlier commits first; a server answers 503 with a Retry-After."),
  BATCH_USED("LED-025", "a batch was used twice", "Make a new batch for each commit."),
  EVENT_TIME("LED-026", "an event's time cannot be written", "Correct the clock."),

  BLOB_MISSING("LED-030", "there is no such blob", "Name a blob that a commit has stored."),
  BLOB_CORRUPT(
      "LED-031",
      "a blob's content does not have its digest",
      "Run `writ fsck` and restore the blob."),
  BLOB_TOO_LARGE(
      "LED-032", "a blob is larger than was asked for", "Stream it, or raise the limit."),

  INDEX_RANGE("LED-040", "the log has no such position or size", "Ask within the size of the log."),
  PROOF_LENGTH(
      "LED-041",
      "a Merkle proof has the wrong length",
      "Get the proof for exactly this position and size."),
  PROOF_ROOT(
      "LED-042",
      "a Merkle proof does not lead to the root",
      "Do not trust the entry or the log: it shows another history."),

  NOTE_MALFORMED(
      "LED-050",
      "a signed note is malformed",
      "Send the note unchanged, as C2SP signed-note says."),
  CHECKPOINT_MALFORMED(
      "LED-051", "a checkpoint is malformed", "Send it as C2SP tlog-checkpoint says."),
  NOTE_SIGNATURE(
      "LED-052", "a note's signature does not verify", "Do not trust the note: it was changed."),
  NOTE_UNSIGNED(
      "LED-053", "a note is not signed by the key that is trusted", "Check the log's key."),
  CHECKPOINT_ORIGIN("LED-054", "a checkpoint is of another log", "Use this log's checkpoint."),
  KEY_TEXT(
      "LED-055", "a note key is malformed", "Write name+hash+base64 as C2SP signed-note says."),
  COSIGNATURE_TIME(
      "LED-056",
      "a cosignature states no time that can be",
      "Ask the witness for another one, and its operator to look at the clock."),
  WITNESS_REQUEST(
      "LED-057", "a request to a witness is malformed", "Send it as C2SP tlog-witness says."),

  SYNC(
      "LED-070",
      "a sync failed, so what was written may not be on the disk; the ledger stopped",
      "Look at the disk and at the kernel's log, then open the ledger again and repeat the call."),
  LOCK_LOST(
      "LED-071",
      "the lock of the ledger's only writer was lost: the ledger stopped",
      "Find who removed, replaced or moved what is named, make sure that only one process"
          + " writes, and open the ledger again."),
  LOCK_UNAVAILABLE(
      "LED-072",
      "the ledger's directory cannot be locked",
      "Put the ledger on a local file system that has flock(2)."),
  DESCRIPTORS(
      "LED-073",
      "the process may not open more files",
      "Raise the limit of open files (ulimit -n); 512 is the least."),
  TAKEN_OVER(
      "LED-074",
      "another writer has taken the log over: this one stopped",
      "Let only one server write it; open the ledger again if that is this one."),
  DATABASE_UNKNOWN(
      "LED-075",
      "the ledger's database is of a kind that this program does not know",
      "Correct the address, or the file `database` in the ledger's directory that has it; or use a"
          + " writ that knows such a database."),
  LEASE_OVER(
      "LED-076",
      "this gateway's lease of the log is over: it dispatches nothing and gives the log up",
      "Send the request again, to any gateway; the next owner of the log takes it."),
  LEASE_HELD(
      "LED-077",
      "a gateway has a lease of the log",
      "Work through that gateway, or stop all gateways of the installation first."),
  LEASES_UNKNOWN(
      "LED-078",
      "the ledger's database knows no leases, so several gateways cannot share it",
      "Move the ledger to PostgreSQL with `writ migrate`, or take `cells` out of the"
          + " configuration."),

  ROWS_ELSEWHERE(
      "LED-079",
      "the ledger's rows are in a database that is backed up by its own means",
      "In PostgreSQL: pg_dump or a base backup with its write-ahead log, and a copy of the"
          + " installation's directory beside it (spec/backup.md)."),
  CONTENTS_UNKNOWN(
      "LED-081",
      "the ledger's large contents are in a store of a kind that this program does not know",
      "Name it as s3://BUCKET/PREFIX or file:///PATH. Where the file `contents` in the ledger's"
          + " directory names it, correct that, or use a writ that has such a store."),
  CONTENTS_NOT_SHARED(
      "LED-082",
      "large contents are in the home of one gateway, so several cannot share the ledger",
      "Stop all gateways and run `writ migrate --contents s3://BUCKET/PREFIX` in the home that has"
          + " them, then join the others again."),
  CONTENTS_OTHER(
      "LED-083",
      "this home and the log do not name the same place of large contents",
      "Correct the file `contents` in the ledger's directory, run an interrupted `writ migrate`"
          + " again, or join this gateway anew."),
  CONTENTS_NEED_EPOCHS(
      "LED-084",
      "large contents elsewhere need a database that counts its writers",
      "Keep the rows in PostgreSQL (`writ migrate postgresql://…`), or the contents in the home."),
  CONTENTS_FOLDER(
      "LED-085",
      "the shared folder of large contents cannot be used",
      "Mount the folder, give this user access to it, and name it as file:///PATH; one folder for"
          + " each installation."),
  ANCHOR_MOVED(
      "LED-086",
      "another writer has moved the shared anchor to where this log does not lead: this one"
          + " stopped",
      "Let only one installation use the store; if its database was restored, run"
          + " `writ fsck --restored`."),
  NO_WAY_BACK(
      "LED-087",
      "nothing is kept of the state before an upgrade",
      "There is no way back: go on with this release, or restore a backup with `writ restore`."),
  WRITTEN_SINCE(
      "LED-088",
      "something was written since the upgrade, and would be lost",
      "Go on with this release, and keep what is acknowledged; `writ upgrade confirm` frees the"
          + " space."),

  WITNESS_STATE(
      "LED-090",
      "what a witness keeps cannot be read, or is damaged",
      "Look at the file. If its content is lost begin with a new directory and a new key: this one"
          + " may have cosigned what it does not know any more."),
  WITNESS_BUSY(
      "LED-091",
      "another process has the witness's directory",
      "Stop the other one, or name another directory."),

  ARCHIVE_UNKNOWN(
      "LED-092",
      "the archive's address is of no kind that this program knows",
      "Name a folder, or a bucket as s3://BUCKET/PREFIX?region=REGION."),
  ARCHIVE_ABSENT(
      "LED-093",
      "there is no archive of closed runs at that place",
      "Mount its disk. To begin a new archive make the folder, and name it with `writ archive run"
          + " --to FOLDER`."),
  ARCHIVE_FAILED(
      "LED-094",
      "the archive of closed runs cannot be read or written",
      "Give this user access to it and room on its disk, then run the command again: nothing is"
          + " lost meanwhile."),

  KEY_MISSING(
      "LED-096",
      "the content is sealed, and its key is not here",
      "If its subject or run was erased after the backup that this ledger comes from, give the"
          + " order again with `writ erase`. Else put the folder `content-keys` of the"
          + " installation, or the keys of the latest backup, beside the ledger."),
  SEAL_WRONG(
      "LED-097",
      "a sealed content does not open under its key",
      "Its bytes, its row or its key were changed: restore a backup."),
  KEYS_UNUSABLE(
      "LED-098",
      "the folder of content keys cannot be used",
      "Give this user access to `content-keys` beside the ledger and room on its disk; restore the"
          + " file that is named from a backup if it is damaged."),

  INTERRUPTED(
      "LED-099",
      "the thread of a call was interrupted, so that the call was given up",
      "Nothing is wrong with the disk or the database: make the call again if it is still wanted."),

  QUOTA(
      "LED-080",
      "the tenant's uploads would be more than policy lets it store",
      "Wait until what no document names is collected, or have policy raise storage/bytes_max."),

  TIME_BACK(
      "LED-060",
      "an event's time is too far back for the log",
      "Try again; if the clock is wrong, set it, and see `writ clock status`.");

  private final Entry entry;

  LedgerError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}

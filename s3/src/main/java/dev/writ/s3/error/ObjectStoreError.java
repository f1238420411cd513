package dev.writ.s3.error;

import dev.writ.canonicalize.ErrorCode;

/** Why contents in an object store cannot be kept or read. */
public enum ObjectStoreError implements ErrorCode {
  ADDRESS(
      "OBJ-001",
      "the object store's address cannot be read",
      "Write s3://BUCKET/PREFIX with the settings of spec/storage-s3.md behind a question mark and"
          + " without a key."),
  UNREACHABLE(
      "OBJ-002",
      "the object store does not answer",
      "Check that it runs, that the way to it is open and `endpoint` is right, then try again."),
  CREDENTIALS(
      "OBJ-003",
      "the object store does not take the credentials, or there are none",
      "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or another source that"
          + " spec/storage-s3.md lists."),
  RIGHTS(
      "OBJ-004",
      "the credentials lack a right in the bucket",
      "Grant what spec/storage-s3.md lists under \"Rights\"."),
  BUCKET_MISSING(
      "OBJ-005", "there is no such bucket", "Make it, or correct its name in the address."),
  REGION(
      "OBJ-006",
      "the bucket is in another region",
      "Correct `region` in the address, and `endpoint` where it has a region in its name."),
  CLOCK(
      "OBJ-007",
      "this machine's clock and the object store's are too far apart",
      "Set the clock (NTP); at most five minutes are let pass."),
  CONDITIONS_IGNORED(
      "OBJ-008",
      "the object store does not keep the conditions of writes, so two writers could overwrite each"
          + " other",
      "Use a store that honours If-None-Match and If-Match of PutObject, as Amazon S3 does."),
  OTHER_INSTALLATION(
      "OBJ-009",
      "another installation has its contents there",
      "Give each installation a bucket or a prefix of its own."),
  MARKER_MISSING(
      "OBJ-010",
      "there are no contents of an installation",
      "Correct bucket and prefix; if the bucket was emptied, restore it from a backup."),
  DIFFERS(
      "OBJ-011",
      "an object does not have the bytes that were sent, or that its name says",
      "Try again; if it stays so, look for who changes objects on the way or in the store."),
  REFUSED(
      "OBJ-012",
      "the object store refuses a request",
      "Look up what it answered in its documentation."),
  LOCK_MISSING(
      "OBJ-013",
      "the bucket has no object lock, and the address of the archive asks for it",
      "Make a bucket with object lock, or take `lock` and `lock_days` out of the address."),
  LOCK_IGNORED(
      "OBJ-014",
      "the object store did not lock what it was asked to lock",
      "Nothing left the ledger. Use a store that keeps object lock, or take `lock` and `lock_days`"
          + " out of the address, and rely on no lock.");

  private final Entry entry;

  ObjectStoreError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}

package dev.writ.cli.error;

import dev.writ.canonicalize.ErrorCode;

/** The refusals of backups and restores (spec/backup.md). */
public enum BackupError implements ErrorCode {
  NONE(
      "BAK-001",
      "there is no such backup",
      "See `writ backup list FOLDER`; make one with `writ backup --to FOLDER`."),
  FOREIGN(
      "BAK-002",
      "the folder has the backups of another installation, or something else",
      "Name a folder of its own for each installation."),
  BEHIND(
      "BAK-003",
      "the folder has a backup that this installation does not continue",
      "If an older copy of the installation is at work, stop it; else name another folder."),
  IN_USE(
      "BAK-004",
      "another backup or restore is at work there",
      "Wait until it has ended, and give the command again."),
  SECRETS(
      "BAK-005",
      "the installation has secrets in plain files, and the backup would not be encrypted",
      "Encrypt it with --recipient age1… (`age-keygen` makes a key), or leave them out with"
          + " --without-secrets."),
  RECIPIENT(
      "BAK-006",
      "a recipient or an identity is not one of age's X25519 keys",
      "Name age1… as a recipient, and a file with AGE-SECRET-KEY-1… as the identity: `age-keygen -o"
          + " key.txt` makes both."),
  RECIPIENTS_CHANGED(
      "BAK-007",
      "the folder's backups are encrypted to other recipients, or to none",
      "Name the recipients that they are meant for with --recipient, or a new folder: those in"
          + " writ-backup.json may have been written there by somebody else."),
  DAMAGED(
      "BAK-010",
      "a file of the backup is not what the backup states",
      "Take another backup (`writ backup list FOLDER`), or a copy of the folder; the next `writ"
          + " backup` to a new folder is whole."),
  MISSING(
      "BAK-011",
      "a file of the backup is missing",
      "Take another backup (`writ backup list FOLDER`), or a copy of the folder."),
  SIGNATURE(
      "BAK-012",
      "the backup is not signed by the installation's log key",
      "Do not trust the backup; compare the key with the one that `writ backup` printed."),
  IDENTITY(
      "BAK-013",
      "the backup is encrypted, and the identity does not open it",
      "Name the file with the key of one of the folder's recipients: --identity FILE."),
  OTHER_LEDGER(
      "BAK-014",
      "the ledger in the backup is not sound, or not the one that the backup states",
      "Take an earlier backup with --at; `writ fsck` examines the installation itself."),
  LOSS(
      "BAK-015",
      "the anchor has seen more than the backup has: what was acknowledged since would be lost",
      "Take a later backup; if there is none, accept the loss with --accept-loss."),
  KEYS_ABSENT(
      "BAK-016",
      "a key that puts the restored installation into service is not in the backup",
      "Name the folder with the key files log.pem and operator.pem: --keys DIR."),
  FORMAT(
      "BAK-017",
      "the backup has a format that this version does not know",
      "Use the version of writ that made it, or a later one.");

  private final Entry entry;

  BackupError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}

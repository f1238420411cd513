package dev.writ.postgres.error;

import dev.writ.canonicalize.ErrorCode;

/** Why a ledger in PostgreSQL is not opened, or stops. */
public enum PostgresError implements ErrorCode {
  ADDRESS(
      "PGS-001",
      "the database's address cannot be read",
      "Write postgresql://USER@HOST:PORT/DATABASE, with the settings of spec/storage-postgres.md"
          + " behind a question mark and without a password."),
  UNREACHABLE(
      "PGS-002",
      "the database does not answer",
      "Check that the server runs and that the way to it is open. A server goes on by itself then;"
          + " give a command again."),
  CREDENTIALS(
      "PGS-003",
      "the database refuses the user or its password",
      "Check the user's name, the password's file and the server's pg_hba.conf."),
  PASSWORD_FILE(
      "PGS-004",
      "the password's file cannot be used",
      "Give its owner alone access (chmod 600), and write the password into it as its only line."),
  DATABASE_MISSING(
      "PGS-005",
      "the server has no such database",
      "Create it (createdb), or correct the name in the address."),
  RIGHTS(
      "PGS-006",
      "the database's user lacks a right",
      "Grant what spec/storage-postgres.md lists under \"Rights\"."),
  SERVER_VERSION(
      "PGS-007", "the server is older than PostgreSQL 14", "Use PostgreSQL 14 or newer."),
  UNSAFE_SETTING(
      "PGS-008",
      "a setting of the server could lose or change what it has acknowledged",
      "Set what the message names as it says, for the server, the database and the user."),
  SCHEMA_NEWER(
      "PGS-009",
      "the database's schema was made by a newer version of writ",
      "Use a version of writ at least as new."),
  SCHEMA_CHANGED(
      "PGS-010",
      "the database's schema is not what writ made",
      "Find who changed it and undo that, or name another schema in the address."),
  NO_ANSWER(
      "PGS-011",
      "the database did not answer in time: this writer stopped",
      "Restore the database, then open the ledger again; it shows whether the last write is in"
          + " it."),
  WRITES_LOST(
      "PGS-012",
      "the database has lost writes that it had acknowledged: this writer stopped",
      "Find the server that had them (a failover may have left it behind); if they are lost, run"
          + " `writ fsck --restored`."),
  KEY_TOO_LONG(
      "PGS-013",
      "a row's key is longer than PostgreSQL can index",
      "Use shorter names: a key has at most 2,600 bytes."),
  STILL_SEEN(
      "PGS-014",
      "another transaction may still see deleted contents, so they were not removed yet",
      "End the transactions or replication slots that the message names; the removal is tried"
          + " again."),
  CONNECTIONS(
      "PGS-015",
      "all connections for reading are in use",
      "Raise `connections` in the database's address."),
  CERTIFICATE(
      "PGS-016",
      "the encrypted connection to the database could not be set up",
      "Name the server's authority by `sslrootcert` and the server by the name in its"
          + " certificate."),
  SCHEMA_OLDER(
      "PGS-017",
      "the database's schema was made by an older version of writ",
      "Make a dump, then start `writ serve`: it brings the schema up to date. Where gateways of the"
          + " older version run, see spec/cells.md, *Upgrading*, first."),
  SCHEMA_IN_USE(
      "PGS-020",
      "others use tables that the upgrade of the database's schema changes: nothing was changed",
      "Let the sessions that the message names end, such as a dump, then start again.");

  private final Entry entry;

  PostgresError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}

package dev.writ.postgres;

import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.DatabaseProvider;
import java.net.URI;

/** Knows addresses such as {@code postgresql://writ@db.example/writ} (spec/storage-postgres.md). */
public final class PostgresProvider implements DatabaseProvider {
  @Override
  public String scheme() {
    return "postgresql";
  }

  @Override
  public Database at(URI address) {
    return new PostgresDatabase(PostgresSettings.parse(address.toString()), owner());
  }

  /** Of use to an operator who looks for the server that has a log open. */
  private static String owner() {
    String host = System.getenv("HOSTNAME");
    return (host == null ? "process " : host + ", process ") + ProcessHandle.current().pid();
  }
}

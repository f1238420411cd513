package dev.writ.postgres;

import java.time.Duration;
import org.flywaydb.core.Flyway;

/** Tables as an earlier release made them. */
final class EarlierSchema {
  private EarlierSchema() {}

  /** Makes the schema of that version, with the cell that the address names. */
  static void make(PostgresServer server, PostgresSettings settings, int version) {
    Flyway.configure()
        .dataSource(new PostgresConnections(settings).source(Duration.ZERO))
        .schemas(settings.schema())
        .table("schema_history")
        .resourceProvider(new SchemaScripts())
        .target(String.valueOf(version))
        .load()
        .migrate();
    server.execute(
        "writ",
        "INSERT INTO %s.cell VALUES (%d, 1, 1, 'a release before', 1, 0, 0)"
            .formatted(settings.schema(), settings.cell()));
  }
}

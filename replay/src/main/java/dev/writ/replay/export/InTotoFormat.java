package dev.writ.replay.export;

import dev.writ.canonicalize.crypto.SigningKey;
import java.nio.charset.StandardCharsets;

/** Statements of in-toto, which the exporter signs: its word that it verified the bundle. */
final class InTotoFormat implements LineFormat {
  private final InTotoStatements statements;
  private final SigningKey key;

  InTotoFormat(String origin, SigningKey key) {
    this.statements = new InTotoStatements(origin);
    this.key = key;
  }

  @Override
  public String line(ExportedOutcome outcome) {
    return new String(InTotoStatements.signed(statements.of(outcome), key), StandardCharsets.UTF_8);
  }
}

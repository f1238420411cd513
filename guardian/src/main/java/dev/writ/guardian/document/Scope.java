package dev.writ.guardian.document;

import dev.writ.canonicalize.json.Fields;

/**
 * Who acts and where: carried alike by request, decision, intent and receipt.
 *
 * @param tenant whose things are touched
 * @param run the run, unique within its tenant
 * @param subject the agent
 */
public record Scope(String tenant, String run, String subject) {
  public static Scope read(Fields fields) {
    return new Scope(fields.name("tenant"), fields.name("run"), fields.name("subject"));
  }
}

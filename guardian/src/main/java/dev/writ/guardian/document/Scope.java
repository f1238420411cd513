package dev.writ.guardian.document;

import dev.writ.canonicalize.json.Fields;

/**
 * The subject that acts, and the tenant and run in which it acts; a member of request, decision,
 * intent and receipt.
 *
 * @param tenant the tenant whose data is used
 * @param run the run, unique within its tenant
 * @param subject the agent
 */
public record Scope(String tenant, String run, String subject) {
  public static Scope read(Fields fields) {
    return new Scope(fields.name("tenant"), fields.name("run"), fields.name("subject"));
  }
}

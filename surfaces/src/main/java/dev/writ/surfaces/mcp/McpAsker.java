package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;

/** Submits the effects of a session: a surface vouches for them, or the agent's key signs. */
public interface McpAsker {

  /**
   * Has a new request judged and executed. It has no idempotency key: two equal calls are two
   * effects (protocol rule 33).
   *
   * @param raw digest of the message as received
   * @param context no decision uses it
   */
  Answer ask(McpSession session, Effect effect, Digest raw, JsonValue.Obj context);

  /** Submits an earlier request of the caller again, with the same bytes. */
  Answer again(McpSession session, Digest request);

  /** Whether a request was submitted through this, so that it can be submitted again. */
  boolean isOurs(Request request);
}

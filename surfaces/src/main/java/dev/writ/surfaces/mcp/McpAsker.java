package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;

/** How a session's effects are asked for: a surface vouches for them, or the agent's key signs. */
public interface McpAsker {

  /**
   * Has a new request judged and executed. It has no idempotency key: two equal calls are two
   * effects (protocol rule 33).
   *
   * @param raw digest of the message as it came
   * @param context read by nobody who decides
   */
  Answer ask(McpSession session, Effect effect, Digest raw, JsonValue.Obj context);

  /** Puts one of the caller's requests through again: the same bytes. */
  Answer again(McpSession session, Digest request);

  /** Whether a request of the caller's was asked for in this way, so that it can come again. */
  boolean isOurs(Request request);
}

package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import java.time.Duration;

/** Submits the effects of a session: a surface vouches for them, or the agent's key signs. */
public interface EffectSubmitter {

  /**
   * Has a new request judged and executed. It has no idempotency key: two equal calls are two
   * effects (protocol rule 33).
   *
   * @param raw digest of the message as received
   * @param context no decision uses it
   * @param work is told when the effect begins, so that it can be cancelled
   */
  Answer ask(
      McpSession session, Effect effect, Digest raw, JsonValue.Obj context, MessageInProgress work);

  /** Submits an earlier request of the caller again, with the same bytes. */
  Answer again(McpSession session, Digest request, MessageInProgress work);

  /**
   * Waits until a request no longer waits for an approver, or for so long, or until the call is
   * cancelled. One that cannot wait returns at once.
   */
  void awaitDecision(Digest request, MessageInProgress work, Duration atMost);

  /** Whether a request was submitted through this, so that it can be submitted again. */
  boolean isOurs(Request request);
}

package dev.writ.cli.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.home.Asking;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.executor.driver.CallPeer;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.pipeline.ToolObserver;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.surfaces.mcp.EffectSubmitter;
import dev.writ.surfaces.mcp.McpCallPeer;
import dev.writ.surfaces.mcp.McpSession;
import dev.writ.surfaces.mcp.MessageInProgress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Signs requests with the agent's own key, so no surface has to vouch for them. */
record SigningAsker(Kernel kernel, SigningKey key, SecureRandom random, Running running)
    implements EffectSubmitter {

  @Override
  public Answer ask(
      McpSession session,
      Effect effect,
      Digest raw,
      JsonValue.Obj context,
      MessageInProgress work) {
    Envelope request =
        new Asking(kernel, random)
            .request(key, session.run(), effect, Optional.empty(), List.of(), true, context);
    return submit(session, request, work);
  }

  @Override
  public Answer again(McpSession session, Digest request, MessageInProgress work) {
    return submit(session, kernel.ledger().document(request).orElseThrow(), work);
  }

  private Answer submit(McpSession session, Envelope request, MessageInProgress work) {
    String tenant = session.caller().tenant();
    String subject = session.caller().subject();
    return running.during(
        request.id(),
        tenant,
        subject,
        speaking(new McpCallPeer(session, work)),
        () -> {
          work.begins(request.id(), id -> running.cancel(id, tenant, subject));
          return kernel.submit(request, List.of());
        });
  }

  private static ToolObserver speaking(CallPeer peer) {
    return new ToolObserver() {
      @Override
      public CallPeer peer() {
        return peer;
      }
    };
  }

  /** Nobody could approve while this process has the home open. */
  @Override
  public void awaitDecision(Digest request, MessageInProgress work, Duration atMost) {}

  @Override
  public boolean isOurs(Request request) {
    return request.origin().isEmpty();
  }
}

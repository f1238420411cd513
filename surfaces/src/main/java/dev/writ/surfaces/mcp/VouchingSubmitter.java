package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.driver.CallPeer;
import dev.writ.executor.driver.SandboxObserver;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.pipeline.WaitingRequests;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Uses the gateway's surface key to vouch for a caller without a key (protocol rule 32). */
record VouchingSubmitter(Pipeline pipeline) implements EffectSubmitter {
  /** Cancellations and the end of the server are looked for this often. */
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

  @Override
  public Answer ask(
      McpSession session,
      Effect effect,
      Digest raw,
      JsonValue.Obj context,
      MessageInProgress work) {
    Caller caller = session.caller();
    return telling(session, work)
        .vouch(
            new Pipeline.Vouched(
                McpSurface.NAME,
                caller.method(),
                caller.principal(),
                raw,
                caller.tenant(),
                session.run(),
                caller.subject(),
                effect,
                List.of(),
                Optional.empty(),
                true,
                context));
  }

  @Override
  public Answer again(McpSession session, Digest request, MessageInProgress work) {
    return telling(session, work).again(session.caller(), request, Optional.empty());
  }

  private Pipeline telling(McpSession session, MessageInProgress work) {
    CallPeer peer = new McpCallPeer(session, work);
    return pipeline
        .telling(id -> work.begins(id, running -> pipeline.cancel(session.caller(), running)))
        .observedBy(
            new SandboxObserver() {
              @Override
              public CallPeer peer() {
                return peer;
              }
            });
  }

  @Override
  public void awaitDecision(Digest request, MessageInProgress work, Duration atMost) {
    WaitingRequests requests = new WaitingRequests(pipeline.ledger(), pipeline.kernel()::system);
    long end = System.nanoTime() + atMost.toNanos();
    while (true) {
      long seen = pipeline.changes().count();
      long left = end - System.nanoTime();
      if (!requests.waits(request) || work.isCancelled() || pipeline.isDraining() || left <= 0) {
        return;
      }
      try {
        pipeline.changes().await(seen, least(Duration.ofNanos(left), LOOK_EVERY));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private static Duration least(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }

  @Override
  public boolean isOurs(Request request) {
    return request.origin().filter(o -> o.surface().equals(McpSurface.NAME)).isPresent();
  }
}

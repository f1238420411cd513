package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.SystemState;
import dev.writ.gateway.http.auth.AccessAuthentication;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Pipeline;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * A stream that tells one client when the lists that it may see are others: of a session, or of
 * subscriptions/listen.
 */
final class ListChangeStream {
  /** How often the client's end and the server's are looked for, and a sign of life is sent. */
  private static final Duration LOOK_EVERY = Duration.ofSeconds(5);

  private final Pipeline pipeline;
  private final McpEndpoint endpoint;
  private final McpSession session;
  private final Optional<Subscription> subscription;
  private final Optional<JsonValue.Obj> acknowledged;
  private final Runnable look;
  private SystemState state;

  private ListChangeStream(
      Pipeline pipeline,
      McpEndpoint endpoint,
      McpSession session,
      Optional<Subscription> subscription,
      Runnable look) {
    this.pipeline = pipeline;
    this.state = pipeline.kernel().system();
    this.endpoint = endpoint;
    this.session = session;
    this.subscription = subscription;
    this.acknowledged = subscription.map(by -> endpoint.subscribe(session, by));
    this.look = look;
  }

  /**
   * That a request asked for, which ends it with its response.
   *
   * @throws WritException {@code GWY-208}
   */
  static ListChangeStream subscribed(
      Pipeline pipeline, McpEndpoint endpoint, McpSession session, McpMessage.Request request) {
    return new ListChangeStream(
        pipeline, endpoint, session, Optional.of(new Subscription(request)), () -> {});
  }

  /**
   * The one of a session. It ends with it, and when the session's client opens another.
   *
   * @param look has sessions end that are over
   */
  static ListChangeStream inSession(
      Pipeline pipeline, McpEndpoint endpoint, McpSession session, Runnable look) {
    return new ListChangeStream(pipeline, endpoint, session, Optional.empty(), look);
  }

  void run(HttpAnswer.Sink sink) throws IOException {
    McpEvents events = new McpEvents(sink);
    if (acknowledged.isPresent()) {
      events.send(acknowledged.get());
    } else {
      session.streams(this);
      pipeline.changes().happened(); // wakes the one before, which ends
      events.writeNothing();
      if (!tellChanges(events)) { // since the client listed, or another stream ended
        return;
      }
    }
    long told = System.nanoTime();
    long seen = pipeline.changes().count(); // before anything is looked at, so that none is missed
    while (!sink.isClosing() && isFor()) {
      SystemState now = pipeline.kernel().system();
      if (now != state || session.lists().isOutdated()) {
        state = now;
        if (!tellChanges(events)) {
          return;
        }
      }
      try {
        pipeline.changes().await(seen, LOOK_EVERY);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
      if (System.nanoTime() - told >= LOOK_EVERY.toNanos()) {
        events.writeNothing();
        told = System.nanoTime();
      }
      look.run();
      seen = pipeline.changes().count();
    }
    subscription.ifPresent(by -> events.send(by.end()));
  }

  /** False where the client is told nothing more, since its key was revoked. */
  private boolean tellChanges(McpEvents events) {
    Map<ListKind, Digest> shown = endpoint.shown(session);
    // Asked behind it, of a state that is not older than what would be told.
    if (!isLetIn(pipeline.kernel().system())) {
      return false;
    }
    for (ListKind kind : session.lists().changed(shown)) {
      if (isFor()) {
        events.send(subscription.map(by -> by.changed(kind)).orElseGet(kind::changed));
      }
    }
    return true;
  }

  private boolean isFor() {
    return subscription.isPresent() || session.isStreamedBy(this);
  }

  /** A key may be revoked while its stream is open. */
  private boolean isLetIn(SystemState now) {
    Caller caller = session.caller();
    return !caller.method().equals(AccessAuthentication.METHOD)
        || now.trust().key(caller.principal()).filter(key -> key.revokedAt().isEmpty()).isPresent();
  }
}

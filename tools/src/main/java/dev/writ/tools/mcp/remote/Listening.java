package dev.writ.tools.mcp.remote;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.egress.EgressAnswer;
import dev.writ.sandbox.egress.EgressClient.Field;
import dev.writ.sandbox.egress.EgressClient.NoAnswer;
import dev.writ.tools.mcp.protocol.PeerMessage;
import dev.writ.tools.mcp.protocol.PeerPairing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The stream over which a server says what belongs to no request: {@code GET} of a session, or
 * {@code subscriptions/listen}. It is opened again where it ends; a server that offers none is left
 * alone.
 */
final class Listening {
  private static final int PIECE = 1 << 14;
  private static final Duration LIFE = Duration.ofDays(1);
  private static final long PAUSE_MS = 1_000;
  private static final long PAUSE_MS_MAX = 60_000;

  /** How often a stream is opened again that had nothing. */
  private static final int SILENT_MAX = 5;

  /** Beyond all that requests count up to; the id comes back in its last answer alone. */
  private static final long ID = 9_007_199_254_740_991L;

  private final RemoteConnection server;
  private final Optional<JsonValue.Obj> params;
  private Optional<String> lastId = Optional.empty();
  private OptionalLong retryMs = OptionalLong.empty();
  private boolean heard;
  private boolean over;

  Listening(RemoteConnection server, Optional<JsonValue.Obj> params) {
    this.server = server;
    this.params = params;
  }

  void run() {
    int silent = 0;
    while (silent < SILENT_MAX && goesOn()) {
      heard = false;
      try (EgressAnswer reply = open()) {
        if (reply.status() != 200 || !PostedRequest.type(reply).equals("text/event-stream")) {
          return; // it offers none
        }
        pump(reply);
      } catch (NoAnswer e) {
        heard |= e.status() != 0;
      } catch (WritException e) {
        server.fail(e);
        return;
      }
      silent = heard ? 0 : silent + 1;
      pause();
    }
  }

  private boolean goesOn() {
    return !over && !server.isClosed() && server.failure().isEmpty();
  }

  private EgressAnswer open() throws NoAnswer {
    if (params.isPresent()) {
      return server.open(
          "POST",
          server.fields("subscriptions/listen", params.get()),
          Optional.of(PeerPairing.request(ID, "subscriptions/listen", params.get())),
          LIFE);
    }
    List<Field> fields = new ArrayList<>(server.sessionFields());
    fields.add(new Field("Accept", "text/event-stream"));
    lastId.ifPresent(id -> fields.add(new Field("Last-Event-ID", id)));
    return server.open("GET", fields, Optional.empty(), LIFE);
  }

  private void pump(EgressAnswer reply) throws NoAnswer {
    EventReader events = new EventReader(RemoteConnection.MESSAGE_BYTES_MAX, this::event);
    byte[] piece = new byte[PIECE];
    try {
      for (int n = reply.read(piece); n >= 0 && goesOn(); n = reply.read(piece)) {
        events.next(piece, n);
      }
    } finally {
      lastId = events.lastId().or(() -> lastId);
      retryMs = events.retryMs();
    }
  }

  private void pause() {
    long until = System.nanoTime() + Math.min(retryMs.orElse(PAUSE_MS), PAUSE_MS_MAX) * 1_000_000;
    while (System.nanoTime() < until && goesOn()) {
      LockSupport.parkNanos(Math.min(until - System.nanoTime(), 50_000_000));
    }
  }

  private void event(EventReader.Event event) {
    heard = true;
    server.unasked().count(event.data().length);
    if (!event.type().equals("message")) {
      return;
    }
    switch (PeerMessage.parse(event.data())) {
      case PeerMessage.Answer answer -> {
        if (params.isEmpty() || answer.id() != ID) {
          throw PeerMessage.refuse("an answer in a stream of no request");
        }
        over = true; // it ends the subscription
      }
      case PeerMessage.Asked asked -> {
        if (server.isStateless()) {
          throw PeerMessage.refuse("a request of the server, which this version does not have");
        }
        server.reply(asked);
      }
      case PeerMessage.Told told -> server.hooks().told(told.method(), told.params());
    }
  }
}

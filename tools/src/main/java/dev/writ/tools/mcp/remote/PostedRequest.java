package dev.writ.tools.mcp.remote;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.egress.EgressAnswer;
import dev.writ.sandbox.egress.EgressClient.Field;
import dev.writ.sandbox.egress.EgressClient.NoAnswer;
import dev.writ.sandbox.egress.EgressClient.Why;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.protocol.PeerMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/** One request to a server elsewhere, until its answer: a message, or a stream that has it. */
final class PostedRequest {
  private static final int PIECE = 1 << 14;
  private static final long RESUME_MS = 200;
  private static final long RESUME_MS_MAX = 60_000;

  /** How often a stream is resumed without anything coming. */
  private static final int RESUMED_MAX = 5;

  private static final int FAULT_BYTES_MAX = 1 << 20;

  private final RemoteConnection server;
  private final long id;
  private final String method;
  private final long wallMs;
  private final long end;
  private final CompletableFuture<PeerMessage.Answer> answer = new CompletableFuture<>();
  private volatile Optional<EgressAnswer> open = Optional.empty();
  private volatile Optional<String> session = Optional.empty();
  private volatile boolean abandoned;
  private Optional<PeerMessage.Answer> found = Optional.empty();
  private boolean heard;

  PostedRequest(RemoteConnection server, long id, String method, long wallMs) {
    this.server = server;
    this.id = id;
    this.method = method;
    this.wallMs = wallMs;
    this.end = System.nanoTime() + Math.min(wallMs, 86_400_000L) * 1_000_000;
  }

  CompletableFuture<PeerMessage.Answer> answer() {
    return answer;
  }

  /** The id of a session that the server began with its answer. */
  Optional<String> session() {
    return session;
  }

  /** Nobody waits any more. */
  void abandon() {
    abandoned = true;
    open.ifPresent(EgressAnswer::close);
  }

  private Duration left() {
    return Duration.ofNanos(Math.max(0, end - System.nanoTime()));
  }

  void run(List<Field> fields, byte[] message) {
    try {
      answer.complete(exchange(fields, message));
    } catch (WritException e) {
      answer.completeExceptionally(e);
    } catch (RuntimeException e) {
      answer.completeExceptionally(
          new WritException(ToolsError.UPSTREAM_ENDED, e.getClass().getSimpleName(), e));
    }
  }

  private PeerMessage.Answer exchange(List<Field> fields, byte[] message) {
    try (EgressAnswer reply = server.open("POST", fields, Optional.of(message), left())) {
      open = Optional.of(reply);
      if (abandoned) {
        throw new WritException(ToolsError.UPSTREAM_ENDED, "nobody waits for it");
      }
      return read(reply);
    } catch (NoAnswer e) {
      throw refused(e, e.sent());
    }
  }

  /**
   * What no answer means.
   *
   * @param sent whether the server may have seen the request
   */
  private WritException refused(NoAnswer e, boolean sent) {
    String found = server.url().unreached(e);
    if (!sent) {
      return new WritException(ToolsError.UPSTREAM_UNREACHED, found, e);
    }
    return switch (e.why()) {
      case TIMED_OUT -> late(e);
      case TOO_LARGE -> new WritException(ToolsError.UPSTREAM_FLOOD, found, e);
      default -> new WritException(ToolsError.UPSTREAM_ENDED, found, e);
    };
  }

  private WritException late(NoAnswer e) {
    return new WritException(ToolsError.UPSTREAM_TIMEOUT, method + ", " + wallMs + " ms", e);
  }

  private PeerMessage.Answer read(EgressAnswer reply) throws NoAnswer {
    int status = reply.status();
    if (status < 200 || status > 299) {
      return AnswerStatus.of(server, method, reply, fault(reply), id);
    }
    if (method.equals("initialize")) {
      session = sessionOf(reply);
    }
    String coding = reply.values("content-encoding").stream().findFirst().orElse("identity");
    if (!coding.equalsIgnoreCase("identity")) {
      throw PeerMessage.refuse("an answer that is encoded, which nobody asked for");
    }
    return switch (type(reply)) {
      case "application/json" -> only(reply.all(RemoteConnection.MESSAGE_BYTES_MAX));
      case "text/event-stream" -> stream(reply);
      default ->
          throw PeerMessage.refuse(
              "status " + status + " with content that is neither JSON nor a stream of events");
    };
  }

  static String type(EgressAnswer reply) {
    List<String> types = reply.values("content-type");
    return types.size() == 1
        ? types.getFirst().split(";", 2)[0].strip().toLowerCase(Locale.ROOT)
        : "";
  }

  private static Optional<String> sessionOf(EgressAnswer reply) {
    List<String> ids = reply.values("mcp-session-id");
    if (ids.isEmpty()) {
      return Optional.empty();
    }
    if (ids.size() > 1 || !ids.getFirst().matches("[!-~]{1,4000}")) {
      throw PeerMessage.refuse("an id of a session that cannot be one");
    }
    return Optional.of(ids.getFirst());
  }

  /** The error of JSON-RPC that an answer with another status may hold. */
  private Optional<PeerMessage.Fault> fault(EgressAnswer reply) throws NoAnswer {
    if (!type(reply).equals("application/json")) {
      return Optional.empty();
    }
    try {
      return PeerMessage.fault(reply.all(FAULT_BYTES_MAX));
    } catch (NoAnswer e) {
      if (e.why() == Why.TOO_LARGE) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private PeerMessage.Answer only(byte[] content) {
    if (PeerMessage.parse(content) instanceof PeerMessage.Answer one && one.id() == id) {
      return one;
    }
    throw PeerMessage.refuse("a message that is not the answer to its request");
  }

  private PeerMessage.Answer stream(EgressAnswer first) throws NoAnswer {
    EventReader events = new EventReader(RemoteConnection.MESSAGE_BYTES_MAX, this::event);
    EgressAnswer reply = first;
    int silent = 0;
    while (true) {
      heard = false;
      Optional<NoAnswer> cut = pump(reply, events);
      if (found.isPresent()) {
        return found.get();
      }
      silent = heard ? 0 : silent + 1;
      if (cut.filter(e -> e.why() == Why.TIMED_OUT).isPresent()) {
        throw late(cut.get());
      }
      boolean resumes =
          !server.isStateless()
              && !abandoned
              && events.lastId().isPresent()
              && silent < RESUMED_MAX;
      if (!resumes) {
        throw new WritException(
            ToolsError.UPSTREAM_ENDED, "its stream ended without an answer to " + method);
      }
      pause(events);
      reply = resume(events.lastId().get());
    }
  }

  /** Reads a stream until the answer, its end, or what cuts it. */
  private Optional<NoAnswer> pump(EgressAnswer reply, EventReader events) {
    byte[] piece = new byte[PIECE];
    try (reply) {
      while (found.isEmpty()) {
        int n = reply.read(piece);
        if (n < 0) {
          return Optional.empty();
        }
        events.next(piece, n);
      }
      return Optional.empty();
    } catch (NoAnswer e) {
      return Optional.of(e);
    }
  }

  private void pause(EventReader events) {
    long ms = Math.min(events.retryMs().orElse(RESUME_MS), RESUME_MS_MAX);
    long until = Math.min(end, System.nanoTime() + ms * 1_000_000);
    while (System.nanoTime() < until && !abandoned) {
      LockSupport.parkNanos(Math.min(until - System.nanoTime(), 50_000_000));
    }
  }

  private EgressAnswer resume(String lastId) {
    List<Field> fields = new ArrayList<>(server.sessionFields());
    fields.add(new Field("Accept", "text/event-stream"));
    fields.add(new Field("Last-Event-ID", lastId));
    try {
      EgressAnswer reply = server.open("GET", fields, Optional.empty(), left());
      open = Optional.of(reply);
      if (reply.status() != 200 || !type(reply).equals("text/event-stream")) {
        int status = reply.status();
        reply.close();
        throw new WritException(
            ToolsError.UPSTREAM_ENDED, "its stream cannot be resumed, status " + status);
      }
      return reply;
    } catch (NoAnswer e) {
      throw refused(e, true);
    }
  }

  private void event(EventReader.Event event) {
    heard = true;
    if (!event.type().equals("message")) {
      server.unasked().count(event.data().length);
      return;
    }
    switch (PeerMessage.parse(event.data())) {
      case PeerMessage.Answer one -> {
        if (one.id() != id) {
          throw PeerMessage.refuse("an answer to another request than that of its stream");
        }
        if (found.isPresent()) {
          throw PeerMessage.refuse("a second answer to one request");
        }
        found = Optional.of(one);
      }
      case PeerMessage.Asked asked -> {
        server.unasked().count(event.data().length);
        if (server.isStateless()) {
          throw PeerMessage.refuse("a request of the server, which this version does not have");
        }
        server.reply(asked);
      }
      case PeerMessage.Told told -> {
        server.unasked().count(event.data().length);
        server.hooks().told(told.method(), told.params());
      }
    }
  }
}

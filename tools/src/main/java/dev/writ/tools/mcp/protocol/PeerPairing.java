package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Pairs requests with answers on one stream of messages, and believes nothing else: an answer that
 * nobody asked for, a second one, or more messages than a call needs end the connection for good.
 */
public final class PeerPairing {
  /** Notifications and requests of the server from one request of ours to the next. */
  public static final int UNASKED_MAX = 10_000;

  /** Bytes of them. */
  public static final long UNASKED_BYTES_MAX = 16L << 20;

  private static final int GIVEN_UP_MAX = 1_000;
  private static final int METHOD_NOT_FOUND = -32601;

  private final Consumer<byte[]> out;
  private final PeerHooks hooks;
  private final TreeMap<Long, CompletableFuture<PeerMessage.Answer>> open = new TreeMap<>();
  private final TreeSet<Long> givenUp = new TreeSet<>();
  private Optional<WritException> failure = Optional.empty();
  private volatile boolean stateless;
  private long last;
  private int unasked;
  private long unaskedBytes;

  /**
   * @param out sends one whole message; it may not block
   */
  public PeerPairing(Consumer<byte[]> out, PeerHooks hooks) {
    this.out = out;
    this.hooks = hooks;
  }

  /** From now on a request of the server is a lie: the version has none. */
  public void stateless() {
    stateless = true;
  }

  /** A request that was sent. */
  public record Pending(long id, CompletableFuture<PeerMessage.Answer> answer) {}

  /**
   * Sends a request. Its answer fails with what the connection failed with.
   *
   * @throws WritException what the connection failed with before
   */
  public Pending send(String method, JsonValue.Obj params) {
    Pending pending;
    synchronized (this) {
      requireSound();
      pending = new Pending(++last, new CompletableFuture<>());
      open.put(pending.id(), pending.answer());
      unasked = 0;
      unaskedBytes = 0;
    }
    out.accept(request(pending.id(), method, params));
    return pending;
  }

  /** Sends a notification. */
  public void tell(String method, JsonValue.Obj params) {
    out.accept(notification(method, params));
  }

  /** A request as it is sent. */
  public static byte[] request(long id, String method, JsonValue.Obj params) {
    return Jcs.write(
        JsonValue.object()
            .put("jsonrpc", "2.0")
            .put("id", id)
            .put("method", method)
            .put("params", params)
            .build());
  }

  /** A notification as it is sent. */
  public static byte[] notification(String method, JsonValue.Obj params) {
    return Jcs.write(
        JsonValue.object()
            .put("jsonrpc", "2.0")
            .put("method", method)
            .put("params", params)
            .build());
  }

  /** Tells the server that nobody wants the answer, which may come all the same. */
  public void cancel(Pending pending, String why) {
    tell(
        "notifications/cancelled",
        JsonValue.object().put("requestId", pending.id()).put("reason", why).build());
  }

  /** Waits no longer for an answer: the server is told, and may answer all the same. */
  public void giveUp(Pending pending, String why) {
    if (forget(pending)) {
      cancel(pending, why);
    }
  }

  /** Waits no longer for an answer; false where it has come. */
  public boolean forget(Pending pending) {
    synchronized (this) {
      if (open.remove(pending.id()) == null) {
        return false;
      }
      givenUp.add(pending.id());
      if (givenUp.size() > GIVEN_UP_MAX) {
        givenUp.pollFirst();
      }
    }
    return true;
  }

  /**
   * The lie that is told most: a server greets, or logs, where only messages may be.
   *
   * @throws WritException {@code TOL-235}, without the text, which may have a secret
   */
  private static void requireNoLogLine(byte[] line) {
    if (line.length > 0 && "{[ \t\r".indexOf(line[0]) < 0) {
      throw PeerMessage.refuse(
          "a line of "
              + line.length
              + " bytes that is no message: what a server logs belongs on its standard error, and"
              + " not on its standard output");
    }
  }

  /** Takes one message of the server; a bad one ends the connection. */
  public void received(byte[] message) {
    try {
      requireNoLogLine(message);
      switch (PeerMessage.parse(message)) {
        case PeerMessage.Answer answer -> waiting(answer.id()).ifPresent(f -> f.complete(answer));
        case PeerMessage.Asked asked -> {
          count(message.length);
          if (stateless) {
            throw PeerMessage.refuse("a request of the server, which this version does not have");
          }
          reply(asked, hooks, out);
        }
        case PeerMessage.Told told -> {
          count(message.length);
          hooks.told(told.method(), told.params());
        }
      }
    } catch (WritException e) {
      fail(e);
    }
  }

  private synchronized Optional<CompletableFuture<PeerMessage.Answer>> waiting(long id) {
    CompletableFuture<PeerMessage.Answer> found = open.remove(id);
    if (found == null && !givenUp.remove(id)) {
      throw PeerMessage.refuse(
          id > 0 && id <= last ? "a second answer to one request" : "an answer to no request");
    }
    return Optional.ofNullable(found);
  }

  private synchronized void count(int bytes) {
    unasked++;
    unaskedBytes += bytes;
    if (unasked > UNASKED_MAX || unaskedBytes > UNASKED_BYTES_MAX) {
      throw new WritException(
          ToolsError.UPSTREAM_FLOOD,
          unasked + " messages that nobody asked for, " + unaskedBytes + " bytes");
    }
  }

  /**
   * Answers a request of the server, now or when the hooks have the answer.
   *
   * @param to sends the answer
   */
  public static void reply(PeerMessage.Asked asked, PeerHooks hooks, Consumer<byte[]> to) {
    if (asked.method().equals("ping")) {
      to.accept(PeerReply.result(JsonValue.object().build()).to(asked.id()));
    } else if (!hooks.takes(
        asked.method(), asked.params(), reply -> to.accept(reply.to(asked.id())))) {
      to.accept(
          PeerReply.error(METHOD_NOT_FOUND, "this client does not offer that method")
              .to(asked.id()));
    }
  }

  /** Ends the connection: every request, open and later, gets this. The first reason stays. */
  public void fail(WritException why) {
    TreeMap<Long, CompletableFuture<PeerMessage.Answer>> left;
    synchronized (this) {
      if (failure.isPresent()) {
        return;
      }
      failure = Optional.of(why);
      left = new TreeMap<>(open);
      open.clear();
    }
    left.values().forEach(f -> f.completeExceptionally(why));
  }

  /** What the connection failed with. */
  public synchronized Optional<WritException> failure() {
    return failure;
  }

  private void requireSound() {
    if (failure.isPresent()) {
      WritException why = failure.get();
      throw new WritException(why.code(), why.found(), why);
    }
  }
}

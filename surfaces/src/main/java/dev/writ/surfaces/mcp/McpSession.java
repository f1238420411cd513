package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.auth.Caller;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Who calls, and in which run: one client's connection from its initialize on, or one request that
 * stands for itself. Thread safe.
 */
public final class McpSession {
  private static final int PAST_MAX = 256;

  /** A message that is not at work: it was, or it was cancelled and has not come yet. */
  private enum Past {
    ENDED,
    CANCELLED
  }

  private final String id;
  private final Caller caller;
  private final String run;
  private final McpView view;
  private volatile McpPeer peer;
  private volatile String logLevel = "info";

  private final LastSeenLists lists = new LastSeenLists();

  /** The stream of its own messages that was opened last. */
  private Optional<Object> stream = Optional.empty();

  private boolean ended;

  /** Calls at work, by the ids of their messages. */
  private final Map<JsonValue, MessageInProgress> atWork = new ConcurrentHashMap<>();

  /** What is known of the last messages that are not at work; also the lock of both. */
  private final Map<JsonValue, Past> past =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<JsonValue, Past> eldest) {
          return size() > PAST_MAX;
        }
      };

  /** What was asked of the client and is not answered yet, by the ids of our messages. */
  private final Map<JsonValue, CompletableFuture<Optional<JsonValue>>> asked =
      new ConcurrentHashMap<>();

  /**
   * @param id random; it is no credential: only the same caller can use the session
   */
  public McpSession(String id, Caller caller, McpView view) {
    this(id, caller, "mcp-" + id, view, McpPeer.UNKNOWN);
  }

  private McpSession(String id, Caller caller, String run, McpView view, McpPeer peer) {
    this.id = id;
    this.caller = caller;
    this.run = run;
    this.view = view;
    this.peer = peer;
  }

  /** One request without a session. */
  static McpSession ofOneRequest(Caller caller, String run, McpView view, McpPeer peer) {
    return new McpSession("", caller, run, view, peer);
  }

  public String id() {
    return id;
  }

  public Caller caller() {
    return caller;
  }

  /** The run of its effects (protocol rule 33). */
  public String run() {
    return run;
  }

  /** What it was opened for. */
  public McpView view() {
    return view;
  }

  public McpPeer peer() {
    return peer;
  }

  /** The least level of messages of a server's log that the client wants. */
  public String logLevel() {
    return logLevel;
  }

  void logs(String from) {
    logLevel = from;
  }

  /** Initialize said who the client is. */
  void agreed(McpPeer with) {
    peer = with;
  }

  /**
   * Whether that caller opened it: the same credential, for the same tenant and subject and in the
   * same roles. All that is read in a session is judged by its caller, so nobody who may do less by
   * now can go on with it.
   */
  boolean isOf(Caller other) {
    return caller.equals(other);
  }

  /** The lists as its client saw them. */
  LastSeenLists lists() {
    return lists;
  }

  /** A stream of its own messages begins: the one before ends, so that none comes twice. */
  synchronized void streams(Object by) {
    stream = Optional.of(by);
  }

  /** Whether that stream is the one for its messages. */
  synchronized boolean isStreamedBy(Object by) {
    return !ended && stream.filter(by::equals).isPresent();
  }

  /** There is no such session any more. */
  synchronized void end() {
    ended = true;
  }

  /** A call begins; its id may be used again when it has ended. */
  void begins(JsonValue message, MessageInProgress work) {
    boolean isCancelled;
    synchronized (past) {
      atWork.put(message, work);
      isCancelled = past.remove(message) == Past.CANCELLED;
    }
    if (isCancelled) {
      work.cancel();
    }
  }

  void ends(JsonValue message, MessageInProgress work) {
    synchronized (past) {
      if (atWork.remove(message, work)) {
        past.put(message, Past.ENDED);
      }
    }
  }

  /**
   * The client wants no answer to that message any more. Messages are read one after the other and
   * answered beside each other, so that this may come before the call that it cancels. What can be
   * the id of none is not remembered: it may be as large as a message.
   */
  public void cancel(JsonValue message) {
    if (!McpMessage.isId(message)) {
      return;
    }
    MessageInProgress work;
    synchronized (past) {
      work = atWork.get(message);
      if (work == null) {
        past.putIfAbsent(message, Past.CANCELLED);
      }
    }
    if (work != null) {
      work.cancel();
    }
  }

  /** A request of ours is on its way; completed with its result, or empty for an error. */
  CompletableFuture<Optional<JsonValue>> asks(JsonValue message) {
    return asked.computeIfAbsent(message, _ -> new CompletableFuture<>());
  }

  void asksNoMore(JsonValue message) {
    asked.remove(message);
  }

  /** The client answered a request of ours. */
  public void answered(McpMessage.Response response) {
    response.id().map(asked::remove).ifPresent(future -> future.complete(response.result()));
  }
}

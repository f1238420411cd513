package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.CallPeer;
import dev.writ.tools.mcp.protocol.PeerReply;
import dev.writ.tools.process.Masking;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * One call at a server, and what the server may tell and ask the client of this call meanwhile:
 * bounded, with secrets masked, and nothing once the call is over.
 */
final class CallLine {
  /** How often a server may tell its progress in one call; and how often its log. */
  static final int TOLD_MAX = 1_000;

  /** How much one message of a log may hold. */
  static final int LOG_BYTES_MAX = 16 << 10;

  /** How often a server may ask in one call. */
  static final int QUESTIONS_MAX = 16;

  /** How long an answer may take. */
  static final long ANSWER_MS = 300_000;

  private static final int WORDS_MAX = 1_000;
  private static final int NOT_FOUND = -32601;
  private static final int INVALID = -32602;
  private static final int FAILED = -32603;
  private static final int REJECTED = -1;

  private static final List<String> LEVELS =
      List.of("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency");

  private final String server;
  private final CallPeer peer;
  private final Masking masking;
  private final List<JsonValue> questions = new ArrayList<>();
  private final TreeSet<String> links = new TreeSet<>();
  private boolean over;
  private int steps;
  private int logged;
  private int asked;
  private int waiting;
  private long waitingSince;
  private long waitedNs;
  private double last = Double.NEGATIVE_INFINITY;

  CallLine(String server, CallPeer peer, Masking masking) {
    this.server = server;
    this.peer = peer;
    this.masking = masking;
  }

  CallPeer peer() {
    return peer;
  }

  /** The server tells how far it is; what does not go on is left out. */
  synchronized void progress(JsonValue.Obj params) {
    if (over
        || !(params.get("progress") instanceof JsonValue.Num progress)
        || progress.value() <= last
        || ++steps > TOLD_MAX) {
      return;
    }
    last = progress.value();
    var told = JsonValue.object().put("progress", progress);
    if (params.get("total") instanceof JsonValue.Num total) {
      told.put("total", total);
    }
    if (params.get("message") instanceof JsonValue.Str words) {
      String text = masking.apply(words.value());
      told.put("message", text.substring(0, Math.min(WORDS_MAX, text.length())));
    }
    peer.tell("notifications/progress", told.build());
  }

  /** The server tells its log. */
  synchronized void log(JsonValue.Obj params) {
    Optional<String> least = peer.logLevel();
    if (over
        || least.isEmpty()
        || !(params.get("level") instanceof JsonValue.Str level)
        || LEVELS.indexOf(level.value()) < LEVELS.indexOf(least.get())
        || params.get("data") == null
        || ++logged > TOLD_MAX) {
      return;
    }
    JsonValue data = masking.apply(params.get("data"));
    int size = Jcs.write(data).length;
    String logger =
        params.get("logger") instanceof JsonValue.Str own ? "/" + masking.apply(own.value()) : "";
    peer.tell(
        "notifications/message",
        JsonValue.object()
            .put("level", level)
            .put("logger", server + logger.substring(0, Math.min(128, logger.length())))
            .put(
                "data",
                size > LOG_BYTES_MAX
                    ? JsonValue.of("[" + size + " bytes, more than " + LOG_BYTES_MAX + "]")
                    : data)
            .build());
  }

  /** What a person did on a page that this call had it open is over. */
  synchronized void completed(JsonValue.Obj params) {
    if (!over
        && params.get("elicitationId") instanceof JsonValue.Str id
        && links.remove(id.value())) {
      peer.tell(
          "notifications/elicitation/complete",
          JsonValue.object().put("elicitationId", id).build());
    }
  }

  /** Asks the client, and waits for its answer. */
  PeerReply ask(Question question, JsonValue.Obj params) {
    synchronized (this) {
      if (over || ++asked > QUESTIONS_MAX) {
        return PeerReply.error(REJECTED, "it asked more than " + QUESTIONS_MAX + " times");
      }
    }
    JsonValue.Obj shaped;
    try {
      shaped = question.shaped(server, (JsonValue.Obj) masking.apply((JsonValue) params));
    } catch (WritException e) {
      observe(question, params, "refused", JsonValue.of(e.found()));
      return PeerReply.error(INVALID, e.found());
    }
    if (!peer.answers(question.method(), shaped)) {
      observe(question, shaped, "refused", JsonValue.of("the client does not offer it"));
      return question == Question.ELICITATION
          ? PeerReply.result(JsonValue.object().put("action", "cancel").build())
          : PeerReply.error(NOT_FOUND, "this client does not offer that method");
    }
    synchronized (this) {
      if (shaped.get("elicitationId") instanceof JsonValue.Str id) {
        links.add(id.value());
      }
      waits(1);
    }
    Optional<JsonValue.Obj> answer;
    try {
      answer = peer.ask(question.method(), shaped, ANSWER_MS).map(Question::plain);
    } finally {
      synchronized (this) {
        waits(-1);
      }
    }
    if (answer.isEmpty()) {
      observe(question, shaped, "refused", JsonValue.of("no answer"));
      return question == Question.ELICITATION
          ? PeerReply.result(JsonValue.object().put("action", "cancel").build())
          : PeerReply.error(REJECTED, "the client gave no answer");
    }
    if (!question.isAnswer(shaped, answer.get())) {
      observe(
          question, shaped, "refused", JsonValue.of("an answer that the protocol does not have"));
      return PeerReply.error(FAILED, "the client's answer is none");
    }
    observe(question, shaped, "answer", JsonValue.of(Jcs.digest(answer.get()).toString()));
    return PeerReply.result(answer.get());
  }

  private void waits(int more) {
    long now = System.nanoTime();
    if (waiting > 0) {
      waitedNs += now - waitingSince;
    }
    waitingSince = now;
    waiting += more;
  }

  /** How long answers were waited for; the server cannot use that time. */
  synchronized long waitedMs() {
    waits(0);
    return waitedNs / 1_000_000;
  }

  private synchronized void observe(
      Question question, JsonValue.Obj asks, String how, JsonValue what) {
    questions.add(
        JsonValue.object()
            .put("method", question.method())
            .put("question", Jcs.digest(asks).toString())
            .put(how, what)
            .build());
  }

  /** What was asked, by digest, and what came of it. */
  synchronized Optional<JsonValue> questions() {
    return asked == 0
        ? Optional.empty()
        : Optional.of(
            JsonValue.object()
                .put("asked", (long) asked)
                .put("questions", JsonValue.of(List.copyOf(questions)))
                .build());
  }

  /** From now on nothing of the server is of this call. */
  synchronized void close() {
    over = true;
  }
}

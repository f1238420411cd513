package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import io.modelcontextprotocol.spec.McpSchema;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Calls of clients without sessions whose MCP server asked something. Each waits under a random
 * state until its client repeats the call with the answers. In memory, bounded in number; how long
 * one waits says the question. Thread safe.
 */
public final class PausedCalls implements AutoCloseable {
  /** Of one subject of one tenant. */
  static final int PER_SUBJECT_MAX = 16;

  /** Of all subjects. */
  static final int ALL_MAX = 256;

  private static final String PREFIX = "paused:";
  private static final String STATE = "requestState";
  private static final String ANSWERS = "inputResponses";
  private static final List<String> METHODS =
      List.of(
          McpSchema.METHOD_TOOLS_CALL,
          McpSchema.METHOD_PROMPT_GET,
          McpSchema.METHOD_RESOURCES_READ);

  private final SecureRandom random;
  private final BooleanSupplier isEnding;
  private final String version;
  private final UnaryOperator<Runnable> seen;
  private final Map<String, PausableCall> byState = new HashMap<>();
  private volatile boolean closed;

  /**
   * @param isEnding whether this program ends, so that no client can repeat its call
   * @param version this program's, for clients
   * @param seen makes of the work of another thread what is seen as that of the thread that asks
   */
  public PausedCalls(
      SecureRandom random, BooleanSupplier isEnding, String version, UnaryOperator<Runnable> seen) {
    this.random = random;
    this.isEnding = isEnding;
    this.version = version;
    this.seen = seen;
  }

  /**
   * What one request does for a call: begins it, or goes on with it.
   *
   * @param call empty where the request cannot be paused
   * @param answers that it brings; empty where it begins the call
   */
  private record Part(
      McpMessage.Request message,
      MessageInProgress work,
      Optional<PausableCall> call,
      Optional<Map<String, JsonValue.Obj>> answers) {}

  /** One request of a call. */
  public final class Turn {
    private final Part part;

    private Turn(Part part) {
      this.part = part;
    }

    /** The call's, which may have begun with an earlier request. */
    public MessageInProgress work() {
      return part.work();
    }

    /**
     * The call's reply, or what its server asks.
     *
     * @param once makes the call, where this request begins it
     */
    public McpEndpoint.Reply answer(Supplier<McpEndpoint.Reply> once) {
      if (part.call().isEmpty()) {
        return once.get();
      }
      PausableCall call = part.call().get();
      part.answers().ifPresentOrElse(call::answer, () -> call.begin(once, seen));
      while (true) {
        call.await();
        if (call.hasEnded()) {
          return part.answers().isPresent()
              ? under(part.message().id(), call.reply())
              : call.reply();
        }
        Map<String, PausableCall.Question> open = call.open();
        if (open.isEmpty()) {
          continue; // nobody waits for that answer any more
        }
        Optional<String> state = hold(call);
        if (state.isPresent()) {
          return asking(call, open, part.message().id(), state.get());
        }
        call.refuse();
      }
    }
  }

  /**
   * The part of this request.
   *
   * @throws WritException {@code GWY-160} for a state that is not of this caller and this call, or
   *     was used; {@code GWY-209}
   */
  public Turn turn(McpSession session, McpMessage.Request message) {
    if (!session.peer().version().isStateless() || !METHODS.contains(message.method())) {
      return new Turn(
          new Part(message, MessageInProgress.of(message), Optional.empty(), Optional.empty()));
    }
    if (message.param(STATE).orElse(JsonValue.NULL) instanceof JsonValue.Str state
        && state.value().startsWith(PREFIX)) {
      return repeated(session, message, state.value());
    }
    MessageInProgress work = MessageInProgress.of(message);
    PausableCall call =
        new PausableCall(session, work, binding(message), () -> closed || isEnding.getAsBoolean());
    return new Turn(new Part(message, work, Optional.of(call), Optional.empty()));
  }

  private Turn repeated(McpSession session, McpMessage.Request message, String state) {
    Digest saying = binding(message);
    PausableCall call;
    Map<String, JsonValue.Obj> answers;
    synchronized (byState) {
      dropOver();
      call = byState.get(state);
      if (call == null || !call.is(session, saying)) {
        throw new WritException(McpRefusal.STATE, "");
      }
      answers = answers(message);
      byState.remove(state); // once
    }
    call.work().goesOnWith(message);
    return new Turn(new Part(message, call.work(), Optional.of(call), Optional.of(answers)));
  }

  private static Map<String, JsonValue.Obj> answers(McpMessage.Request message) {
    Map<String, JsonValue.Obj> answers = new TreeMap<>();
    Optional<JsonValue> given = message.param(ANSWERS);
    if (given.isEmpty()) {
      return answers; // it is asked again
    }
    if (!(given.get() instanceof JsonValue.Obj all)) {
      throw new WritException(McpRefusal.ANSWERS, ANSWERS);
    }
    all.members()
        .forEach((key, value) -> {
          if (!(value instanceof JsonValue.Obj answer)) {
            throw new WritException(McpRefusal.ANSWERS, ANSWERS + "/" + key);
          }
          answers.put(key, answer);
        });
    return answers;
  }

  /** What must be the same in a repetition: the method, and what it was called with. */
  private static Digest binding(McpMessage.Request message) {
    ObjectBuilder said = JsonValue.object();
    if (message.params().orElse(JsonValue.NULL) instanceof JsonValue.Obj params) {
      params
          .members()
          .forEach((name, value) -> {
            if (!List.of(STATE, ANSWERS, "_meta").contains(name)) {
              said.put(name, value);
            }
          });
    }
    return Digest.sha256(
        Jcs.write(
            JsonValue.object()
                .put("method", message.method())
                .put("params", said.build())
                .build()));
  }

  private Optional<String> hold(PausableCall call) {
    byte[] bytes = new byte[16];
    random.nextBytes(bytes);
    String state = PREFIX + HexFormat.of().formatHex(bytes);
    synchronized (byState) {
      dropOver();
      long own =
          byState.values().stream().filter(other -> subject(other).equals(subject(call))).count();
      if (closed || own >= PER_SUBJECT_MAX || byState.size() >= ALL_MAX) {
        return Optional.empty();
      }
      byState.put(state, call);
    }
    return Optional.of(state);
  }

  private static List<String> subject(PausableCall call) {
    return List.of(call.session().caller().tenant(), call.session().caller().subject());
  }

  /** A question that nobody answered in its time was refused, and its call went on. */
  private void dropOver() {
    byState.values().removeIf(call -> !call.isAsking());
  }

  private McpEndpoint.Reply asking(
      PausableCall call, Map<String, PausableCall.Question> open, JsonValue id, String state) {
    ObjectBuilder requests = JsonValue.object();
    open.forEach((key, question) ->
        requests.put(
            key,
            JsonValue.object()
                .put("method", question.method())
                .put("params", question.params())
                .build()));
    JsonValue.Obj server =
        JsonValue.object()
            .put("name", call.session().view().name())
            .put("version", version)
            .build();
    JsonValue.Obj result =
        JsonValue.object()
            .put("_meta", JsonValue.object().put(StatelessProtocol.SERVER, server).build())
            .put("inputRequests", requests.build())
            .put(STATE, state)
            .put("resultType", "input_required")
            .build();
    return new McpEndpoint.Reply(
        Jcs.write(
            JsonValue.object().put("jsonrpc", "2.0").put("id", id).put("result", result).build()),
        false,
        false,
        call.work().request().map(Digest::toString),
        Optional.empty(),
        Optional.empty());
  }

  /** The reply to the first request, as the one to another of the same call. */
  private static McpEndpoint.Reply under(JsonValue id, McpEndpoint.Reply reply) {
    ObjectBuilder message = JsonValue.object().put("id", id);
    ((JsonValue.Obj) Jcs.parse(reply.json()))
        .members()
        .forEach((name, value) -> {
          if (!name.equals("id")) {
            message.put(name, value);
          }
        });
    return new McpEndpoint.Reply(
        Jcs.write(message.build()),
        reply.failed(),
        reply.isUnknown(),
        reply.request(),
        reply.receipt(),
        reply.question());
  }

  /** Ends the calls that wait, as if their questions were refused, and waits for their end. */
  @Override
  public void close() {
    List<PausableCall> waiting;
    synchronized (byState) {
      closed = true;
      waiting = List.copyOf(byState.values());
      byState.clear();
    }
    for (PausableCall call : waiting) {
      while (!call.hasEnded()) {
        call.refuse();
        call.await();
      }
    }
  }
}

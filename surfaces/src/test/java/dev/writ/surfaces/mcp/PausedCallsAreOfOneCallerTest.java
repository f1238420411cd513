package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.auth.Caller;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** spec/tool-mcp-passing.md, 22: a call that waits goes on with its own caller's repetition. */
class PausedCallsAreOfOneCallerTest {
  private static final Caller ADA = new Caller("bearer", "t", "f1", "acme", "ada", List.of());
  private static final String ANSWER =
      ",\"inputResponses\":{\"question-1\":{\"action\":\"accept\"}}";

  private final AtomicBoolean isEnding = new AtomicBoolean();
  private final AtomicInteger ended = new AtomicInteger();
  private final PausedCalls paused =
      new PausedCalls(new SecureRandom(), isEnding::get, "1", UnaryOperator.identity());

  private static McpSession session(Caller caller, McpView view, String run) {
    McpPeer peer =
        McpPeer.of(
            McpVersion.V2026_07_28,
            JsonValue.object().put("elicitation", JsonValue.object().build()).build());
    return McpSession.ofOneRequest(caller, run, view, peer);
  }

  private static McpMessage.Request request(int id, String more) {
    String json =
        "{\"jsonrpc\":\"2.0\",\"id\":"
            + id
            + ",\"method\":\"tools/call\",\"params\":{\"name\":\"asks\",\"arguments\":{}"
            + more
            + "}}";
    return (McpMessage.Request) McpMessage.parse(json.getBytes(StandardCharsets.UTF_8));
  }

  private static String state(String state) {
    return ",\"requestState\":\"" + state + "\"";
  }

  private String turn(McpSession session, McpMessage.Request message) {
    PausedCalls.Turn turn = paused.turn(session, message);
    return text(turn.answer(() -> called(turn.work())));
  }

  /** A tool that asks once and says what the answer was. */
  private McpEndpoint.Reply called(MessageInProgress work) {
    Optional<JsonValue.Obj> answer =
        work.ask("elicitation/create", JsonValue.object().put("message", "?").build(), 300_000);
    ended.incrementAndGet();
    String said =
        answer.map(a -> new String(Jcs.write(a), StandardCharsets.UTF_8)).orElse("\"none\"");
    return new McpEndpoint.Reply(
        ("{\"id\":1,\"jsonrpc\":\"2.0\",\"result\":" + said + "}").getBytes(StandardCharsets.UTF_8),
        false,
        false,
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  private static String text(McpEndpoint.Reply reply) {
    return new String(reply.json(), StandardCharsets.UTF_8);
  }

  private static String stateOf(String reply) {
    assertThat(reply).contains("input_required");
    return reply.replaceAll(".*\"requestState\":\"([^\"]*)\".*", "$1");
  }

  private void refuses(McpSession session, McpMessage.Request message) {
    assertThatThrownBy(() -> paused.turn(session, message))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(McpRefusal.STATE));
  }

  @Test
  void nobodyElseGoesOnWithItAndTheTriesDoNotEndIt() {
    McpView view = McpView.of("notes");
    McpSession own = session(ADA, view, "r");
    String state = stateOf(turn(own, request(1, "")));
    McpMessage.Request repeated = request(2, ANSWER + state(state));
    Caller bob = new Caller("bearer", "t", "f1", "acme", "bob", List.of());
    Caller elsewhere = new Caller("bearer", "t", "f1", "other", "ada", List.of());
    Caller renewed = new Caller("bearer", "t", "f2", "acme", "ada", List.of());
    Caller narrowed = new Caller("bearer", "t", "f1", "acme", "ada", List.of("clerk"));
    for (Caller other : List.of(bob, elsewhere, renewed, narrowed)) {
      refuses(session(other, view, "r"), repeated);
    }
    refuses(session(ADA, McpView.ALL, "r"), repeated);
    refuses(session(ADA, view, "another"), repeated);
    refuses(own, request(2, ANSWER + state("paused:" + "0".repeat(32))));
    refuses(own, request(2, ",\"more\":1" + ANSWER + state(state)));
    assertThat(ended.get()).isZero();
    assertThat(turn(own, repeated)).contains("\"id\":2", "accept");
    refuses(own, repeated);
    assertThat(ended.get()).isEqualTo(1);
  }

  @Test
  void oneSubjectsCallsAreBoundedAndAnothersAreNot() {
    McpSession own = session(ADA, McpView.ALL, "r");
    for (int i = 0; i < PausedCalls.PER_SUBJECT_MAX; i++) {
      stateOf(turn(own, request(1, "")));
    }
    assertThat(turn(own, request(1, ""))).as("like a refused question").contains("none");
    Caller bob = new Caller("bearer", "t", "f1", "acme", "bob", List.of());
    stateOf(turn(session(bob, McpView.ALL, "r"), request(1, "")));
    paused.close();
    assertThat(ended.get()).as("each ended").isEqualTo(PausedCalls.PER_SUBJECT_MAX + 2);
  }

  @Test
  void atTheEndNothingWaits() {
    McpSession own = session(ADA, McpView.ALL, "r");
    stateOf(turn(own, request(1, "")));
    isEnding.set(true);
    paused.close();
    assertThat(ended.get()).isEqualTo(1);
    assertThat(turn(own, request(2, ""))).contains("none");
  }
}

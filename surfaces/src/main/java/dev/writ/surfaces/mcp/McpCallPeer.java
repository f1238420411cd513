package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.CallPeer;
import java.util.List;
import java.util.Optional;

/**
 * The client of one message, for the tool that its call runs: it hears what it wants to hear, and
 * is asked what it said that it answers.
 */
public final class McpCallPeer implements CallPeer {
  /** Of messages of a log, from the least on. */
  static final List<String> LEVELS =
      List.of("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency");

  private final McpSession session;
  private final MessageInProgress work;

  public McpCallPeer(McpSession session, MessageInProgress work) {
    this.session = session;
    this.work = work;
  }

  @Override
  public boolean wantsProgress() {
    return work.progressToken().isPresent();
  }

  /** Without a session a message says it itself, or wants none. */
  @Override
  public Optional<String> logLevel() {
    return session.peer().version().isStateless()
        ? work.logLevel()
        : Optional.of(session.logLevel());
  }

  @Override
  public void tell(String method, JsonValue.Obj params) {
    work.tells(method, params);
  }

  @Override
  public boolean answers(String method, JsonValue.Obj params) {
    McpPeer peer = session.peer();
    return work.canAsk()
        && switch (method) {
          case "sampling/createMessage" -> peer.samples();
          case "roots/list" -> peer.tellsRoots();
          case "elicitation/create" ->
              JsonValue.of("url").equals(params.get("mode"))
                  ? peer.opensLinks()
                  : peer.showsForms();
          default -> false;
        };
  }

  @Override
  public Optional<JsonValue.Obj> ask(String method, JsonValue.Obj params, long atMostMs) {
    return work.ask(method, params, atMostMs);
  }
}

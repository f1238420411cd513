package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Answers one request of the protocol, on any transport. */
public final class McpEndpoint {
  private final McpDependencies parts;
  private final McpToolCalls calls;
  private final McpResources resources;
  private final Completions completions;

  public McpEndpoint(McpDependencies parts) {
    this.parts = parts;
    this.calls = new McpToolCalls(parts);
    this.resources = new McpResources(parts.kernel(), parts.bundles());
    this.completions = new Completions(resources);
  }

  /**
   * An answer.
   *
   * @param json one JSON-RPC response
   * @param failed whether it is an error of the protocol; a failed tool is not
   * @param isUnknown whether the method is not served
   * @param request the id of the request that a tool's call became, for the log
   * @param question what the client's person is to be asked before the same message is answered
   *     again; only in a session
   */
  public record Reply(
      byte[] json,
      boolean failed,
      boolean isUnknown,
      Optional<String> request,
      Optional<String> receipt,
      Optional<ApprovalQuestion> question) {}

  /**
   * @param raw digest of the message as received
   * @param context further data for the request that a call becomes; no decision uses it
   * @throws WritException {@code GWY-160}, {@code GWY-161}
   */
  public Reply answer(
      McpSession session,
      McpMessage.Request message,
      Digest raw,
      JsonValue.Obj context,
      MessageInProgress work) {
    return new McpExchange(this, session, message, new IncomingCall(raw, context, work)).answer();
  }

  /** The session of a request that stands for itself. */
  public McpSession sessionOf(Caller caller, McpView view, McpMessage.Request request) {
    McpPeer peer = StatelessProtocol.peer(request);
    return McpSession.ofOneRequest(
        caller, StatelessProtocol.run(parts.kernel().ledger(), caller, request), view, peer);
  }

  /** What the lists that a client can be told of show this caller, to be compared. */
  Map<ListKind, Digest> shown(McpSession session) {
    Catalogue catalogue = catalogue(session);
    EnumMap<ListKind, Digest> shown = new EnumMap<>(ListKind.class);
    shown.put(
        ListKind.TOOLS,
        digest(
            catalogue.usable(session.caller()).stream()
                .map(tool -> tool.entry().name() + " " + tool.entry().manifest().ref())
                .collect(Collectors.joining("\n"))));
    if (session.view().server().isPresent()) {
      new ServerMethods(catalogue, session.caller())
          .prompts()
          .ifPresent(prompts -> shown.put(ListKind.PROMPTS, Digest.sha256(Jcs.write(prompts))));
    }
    return shown;
  }

  private static Digest digest(String text) {
    return Digest.sha256(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Tells the client which lists became others since it saw them. */
  public void tellChanges(McpSession session, McpChannel to) {
    if (to.isOpen() && !session.lists().isEmpty()) {
      session.lists().changed(shown(session)).forEach(kind -> to.send(kind.changed()));
    }
  }

  /** The same for a subscription, of which each message says that it is about it. */
  public void tellChanges(McpSession session, Subscription subscription, McpChannel to) {
    session.lists().changed(shown(session)).forEach(kind -> to.send(subscription.changed(kind)));
  }

  /**
   * Begins a subscription.
   *
   * @param session of its own
   * @return the acknowledgment, which is sent first
   * @throws WritException {@code GWY-208}
   */
  public JsonValue.Obj subscribe(McpSession session, Subscription subscription) {
    requireSomething(session);
    Map<ListKind, Digest> shown = shown(session);
    shown.keySet().retainAll(subscription.wanted());
    session.lists().begin(shown);
    return subscription.acknowledged(shown.keySet());
  }

  /** A server that nobody knows, and one that is not for this caller, get the same answer. */
  void requireSomething(McpSession session) {
    if (session.view().server().isPresent() && catalogue(session).isEmpty(session.caller())) {
      throw new WritException(McpRefusal.SERVER_UNKNOWN, session.view().server().get());
    }
  }

  Catalogue catalogue(McpSession session) {
    Policy policy = parts.kernel().system().policyInForce();
    return new Catalogue(
        policy,
        parts.tools(),
        session.view(),
        parts.kernel().access().draw(session.caller().who(policy), session.run()));
  }

  /** Waits for an approver as long as settings say. */
  public void awaitDecision(ApprovalQuestion question, MessageInProgress work) {
    calls.awaitDecision(question.request(), work);
  }

  McpDependencies parts() {
    return parts;
  }

  McpToolCalls calls() {
    return calls;
  }

  McpResources resources() {
    return resources;
  }

  Completions completions() {
    return completions;
  }
}

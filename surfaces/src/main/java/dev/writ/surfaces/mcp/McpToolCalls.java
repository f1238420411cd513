package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.pipeline.ToolUse;
import dev.writ.gateway.pipeline.WaitingRequests;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.ledger.event.RunId;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * tools/call: every call ends in a signed decision, even one of an unknown tool or without
 * arguments.
 */
final class McpToolCalls {
  /** A version that no tool has, so that policy cannot approve it. */
  private static final String NO_VERSION = "not listed";

  private final McpDependencies parts;
  private final Results results;
  private final WaitingRequests requests;

  McpToolCalls(McpDependencies parts) {
    this.parts = parts;
    this.results = new Results(parts.kernel(), parts.tools());
    this.requests = new WaitingRequests(parts.kernel().ledger(), parts.kernel()::system);
  }

  /** A call of one of the tools that are listed for this caller. */
  CallToolResult listed(
      McpSession session, Catalogue.Usable tool, ToolCallParams call, IncomingCall said) {
    if (call.arguments().isEmpty()) {
      return malformed(session, tool.entry().manifest().name(), said);
    }
    Effect effect = effect(tool, call.arguments().get());
    return told(session, () -> asked(session, effect, said));
  }

  private Effect effect(Catalogue.Usable tool, JsonValue.Obj arguments) {
    Catalogue.Entry entry = tool.entry();
    return new Effect(
        entry.manifest().name(),
        entry.manifest().version(),
        entry.operation().name(),
        arguments,
        List.of(),
        parts
            .settings()
            .ceiling()
            .map(most -> ToolUse.least(most, tool.declared()))
            .orElse(tool.declared()),
        tool.sandbox(),
        Optional.empty());
  }

  /**
   * The retry of a call that waited for an approval and whose client was asked to say when to go
   * on.
   *
   * @param state what the client gave back of the first answer
   * @param goesOn false where the person declined
   * @throws WritException {@code GWY-160} where it belongs to another call
   */
  CallToolResult retried(
      McpSession session,
      Catalogue.Usable tool,
      ToolCallParams call,
      IncomingCall said,
      Digest state,
      boolean goesOn) {
    Effect effect = effect(tool, call.arguments().orElse(JsonValue.object().build()));
    boolean fits;
    try {
      fits = own(session, state).effect().digest().equals(effect.digest());
    } catch (WritException e) {
      fits = false;
    }
    if (!fits) {
      throw new WritException(McpRefusal.STATE, state.toString());
    }
    if (goesOn) {
      awaitDecision(state, said.work());
    }
    return told(session, () -> parts.asker().again(session, state, said.work()));
  }

  /** Waits for an approver as long as settings say. */
  void awaitDecision(Digest request, MessageInProgress work) {
    work.in(MessageInProgress.Phase.WAITS);
    parts.asker().awaitDecision(request, work, parts.settings().approvalWait());
  }

  /**
   * A call of a tool that is not listed: the Guardian refuses it under the name that was called.
   */
  CallToolResult unlisted(McpSession session, ToolCallParams call, IncomingCall said) {
    if (call.name().isEmpty() || call.arguments().isEmpty()) {
      return malformed(session, call.name().orElse("unnamed"), said);
    }
    Effect effect = noTool(session, call.name().get(), call.arguments().get());
    return results.notListed(
        told(
            session,
            () -> parts.asker().ask(session, effect, said.raw(), said.context(), said.work())));
  }

  /** Asks for nothing, under the name of the called tool, so that the Guardian signs a refusal. */
  private CallToolResult malformed(McpSession session, String name, IncomingCall said) {
    Effect effect = noTool(session, name, JsonValue.object().build());
    return results.malformed(
        told(
            session,
            () -> parts.asker().ask(session, effect, said.raw(), said.context(), said.work())));
  }

  /** In the view of one server it is an operation that this does not have. */
  private static Effect noTool(McpSession session, String name, JsonValue.Obj params) {
    Optional<String> server = session.view().server();
    return new Effect(
        server.orElse(name),
        NO_VERSION,
        server.isPresent() ? name : "call",
        params,
        List.of(),
        new Resources(0, 0, 0, 0),
        "none",
        Optional.empty());
  }

  /** The outcome of an earlier request; one that was approved meanwhile is executed. */
  CallToolResult outcome(McpSession session, ToolCallParams call, IncomingCall said) {
    return told(
        session,
        () -> {
          Digest id =
              call.request()
                  .orElseThrow(
                      () -> new WritException(McpRefusal.CALL, "request is no sha256:… id"));
          own(session, id);
          call.waitsFor()
              .ifPresent(atMost -> {
                said.work().in(MessageInProgress.Phase.WAITS);
                parts.asker().awaitDecision(id, said.work(), atMost);
              });
          return parts.asker().again(session, id, said.work());
        });
  }

  private Request own(McpSession session, Digest id) {
    return parts
        .kernel()
        .ledger()
        .document(id)
        .filter(envelope -> envelope.payloadType().equals(Request.TYPE))
        .map(Envelope::document)
        .map(Request::read)
        .filter(r -> r.scope().tenant().equals(session.caller().tenant()))
        .filter(r -> r.scope().subject().equals(session.caller().subject()))
        .filter(parts.asker()::isOurs)
        .orElseThrow(() -> new WritException(GatewayError.UNKNOWN_ID, id.toString()));
  }

  /**
   * The same call after an escalation continues the waiting request instead of making another one.
   */
  private Answer asked(McpSession session, Effect effect, IncomingCall said) {
    Optional<Digest> waiting =
        requests.find(
            new RunId(session.caller().tenant(), session.run()),
            request ->
                request.scope().subject().equals(session.caller().subject())
                    && request.effect().digest().equals(effect.digest()),
            parts.kernel().now());
    return waiting.isPresent()
        ? parts.asker().again(session, waiting.get(), said.work())
        : parts.asker().ask(session, effect, said.raw(), said.context(), said.work());
  }

  private CallToolResult told(McpSession session, Supplier<Answer> work) {
    try {
      return results.of(work.get(), session.view());
    } catch (WritException e) {
      if (e.code() == McpRefusal.CANCELLED) {
        throw e;
      }
      return results.refused(e);
    }
  }
}

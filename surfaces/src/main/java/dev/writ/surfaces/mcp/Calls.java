package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.pipeline.ToolUse;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Verdict;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * tools/call: every call ends in a signed decision, even one of an unknown tool or without
 * arguments.
 */
final class Calls {
  /** A version that no tool has, so that policy cannot approve it. */
  private static final String NO_VERSION = "not listed";

  private final McpParts parts;
  private final Results results;

  Calls(McpParts parts) {
    this.parts = parts;
    this.results = new Results(parts.kernel());
  }

  /** A call of one of the tools that are listed for this caller. */
  CallToolResult listed(McpSession session, Catalogue.Usable tool, Call call, IncomingCall said) {
    if (call.arguments().isEmpty()) {
      return malformed(session, tool.entry().manifest().name(), said);
    }
    Catalogue.Entry entry = tool.entry();
    Effect effect =
        new Effect(
            entry.manifest().name(),
            entry.manifest().version(),
            entry.operation().name(),
            call.arguments().get(),
            List.of(),
            ToolUse.least(parts.settings().ceiling(), tool.most()),
            tool.sandbox(),
            Optional.empty());
    return told(() -> asked(session, effect, said));
  }

  /**
   * A call of a tool that is not listed: the Guardian refuses it under the name that was called.
   */
  CallToolResult unlisted(McpSession session, Call call, IncomingCall said) {
    if (call.name().isEmpty() || call.arguments().isEmpty()) {
      return malformed(session, call.name().orElse("unnamed"), said);
    }
    Effect effect = noTool(call.name().get(), call.arguments().get());
    return told(() -> parts.asker().ask(session, effect, said.raw(), said.context()));
  }

  /** Asks for nothing, under the name of the called tool, so that the Guardian signs a refusal. */
  private CallToolResult malformed(McpSession session, String name, IncomingCall said) {
    Effect effect = noTool(name, JsonValue.object().build());
    return results.malformed(
        told(() -> parts.asker().ask(session, effect, said.raw(), said.context())));
  }

  private static Effect noTool(String name, JsonValue.Obj params) {
    return new Effect(
        name,
        NO_VERSION,
        "call",
        params,
        List.of(),
        new Resources(0, 0, 0, 0),
        "none",
        Optional.empty());
  }

  /** The outcome of an earlier request; one that was approved meanwhile is executed. */
  CallToolResult outcome(McpSession session, Call call) {
    return told(() -> {
      Digest id =
          call.request()
              .orElseThrow(() -> new WritException(McpRefusal.CALL, "request is no sha256:… id"));
      Request request = own(session, id);
      Answer answer = parts.asker().again(session, id);
      note(session, request.effect().digest(), answer);
      return answer;
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
    Digest digest = effect.digest();
    Optional<Digest> waiting = waiting(session, digest);
    try {
      Answer answer =
          waiting.isPresent()
              ? parts.asker().again(session, waiting.get())
              : parts.asker().ask(session, effect, said.raw(), said.context());
      note(session, digest, answer);
      return answer;
    } catch (WritException e) {
      waiting.ifPresent(request -> session.settled(digest, request));
      throw e;
    }
  }

  private static void note(McpSession session, Digest effect, Answer answer) {
    if (answer.served().isEmpty() && answer.decision().verdict() == Verdict.ESCALATE) {
      session.waits(effect, answer.request());
    } else {
      session.settled(effect, answer.request());
    }
  }

  /**
   * A waiting request for this effect; one that was decided meanwhile comes before one that still
   * waits.
   */
  private Optional<Digest> waiting(McpSession session, Digest effect) {
    List<Digest> all = session.waiting(effect);
    return all.stream()
        .filter(id -> row(id).filter(r -> r.state() != RequestRow.State.PENDING).isPresent())
        .findFirst()
        .or(() -> all.stream().findFirst());
  }

  private Optional<RequestRow> row(Digest request) {
    return parts.kernel().ledger().get(Tables.REQUEST, Tables.key(request)).map(RequestRow::parse);
  }

  private CallToolResult told(Supplier<Answer> work) {
    try {
      return results.of(work.get());
    } catch (WritException e) {
      return results.refused(e);
    }
  }
}

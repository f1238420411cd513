package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.gateway.http.Caller;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import java.util.List;
import java.util.Optional;

/** Uses the gateway's surface key to vouch for a caller without a key (protocol rule 32). */
record VouchingAsker(Pipeline pipeline) implements McpAsker {

  @Override
  public Answer ask(McpSession session, Effect effect, Digest raw, JsonValue.Obj context) {
    Caller caller = session.caller();
    return pipeline.vouch(
        new Pipeline.Vouched(
            McpSurface.NAME,
            caller.method(),
            caller.principal(),
            raw,
            caller.tenant(),
            session.run(),
            caller.subject(),
            effect,
            List.of(),
            Optional.empty(),
            true,
            context));
  }

  @Override
  public Answer again(McpSession session, Digest request) {
    return pipeline.again(session.caller(), request, Optional.empty());
  }

  @Override
  public boolean isOurs(Request request) {
    return request.origin().filter(o -> o.surface().equals(McpSurface.NAME)).isPresent();
  }
}

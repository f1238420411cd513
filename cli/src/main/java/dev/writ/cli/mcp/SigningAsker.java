package dev.writ.cli.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.home.Asking;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.surfaces.mcp.McpAsker;
import dev.writ.surfaces.mcp.McpSession;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;

/** Signs requests with the agent's own key, so no surface has to vouch for them. */
record SigningAsker(Kernel kernel, SigningKey key, SecureRandom random) implements McpAsker {

  @Override
  public Answer ask(McpSession session, Effect effect, Digest raw, JsonValue.Obj context) {
    Envelope request =
        new Asking(kernel, random)
            .request(key, session.run(), effect, Optional.empty(), List.of(), true, context);
    return kernel.submit(request, List.of());
  }

  @Override
  public Answer again(McpSession session, Digest request) {
    return kernel.submit(kernel.ledger().document(request).orElseThrow(), List.of());
  }

  @Override
  public boolean isOurs(Request request) {
    return request.origin().isEmpty();
  }
}

package dev.writ.cli.command.mcp;

import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.Session;
import dev.writ.tools.mcp.PinnedTools;
import dev.writ.tools.mcp.ServerSpec;
import java.util.List;

/** The tokens of a server that is being added: they stay where it becomes one. */
final class FreshTokens {
  private final Session session;
  private final Upstreams upstreams;
  private final String name;
  private boolean kept;

  FreshTokens(Session session, Upstreams upstreams, String name) {
    this.session = session;
    this.upstreams = upstreams;
    this.name = name;
  }

  /** Logs in, where the name is free. */
  ServerSpec login(ServerSpec spec, Arguments arguments) {
    upstreams.requireFree(name, PinnedTools.of(List.of()));
    ServerSpec with =
        spec.at(McpLogin.login(session, name, spec.remote().orElseThrow(), arguments));
    kept = true;
    return with;
  }

  /** It was not added: deletes what this login got. */
  void forget() {
    if (kept) {
      upstreams.secrets().remove(McpLogin.tokens(name));
    }
  }
}

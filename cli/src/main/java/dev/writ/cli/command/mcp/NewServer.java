package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Session;
import dev.writ.tools.mcp.PinnedTools;
import dev.writ.tools.mcp.ServerSpec;
import dev.writ.tools.mcp.UpstreamPackage;
import dev.writ.tools.mcp.UpstreamProbe;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * A server that is to be put behind Writ.
 *
 * @param typed how it is started, in its user's words
 * @param own files of its package
 * @param code a folder with its code
 * @param hidden whether descriptions may have characters that nobody can see
 */
record NewServer(
    String name,
    ServerSpec typed,
    SortedMap<String, byte[]> own,
    Optional<String> code,
    boolean hidden) {
  /** The same started or reached in another way. */
  NewServer with(ServerSpec other) {
    return new NewServer(name, other, own, code, hidden);
  }

  /** Whether a login could help: it is elsewhere, and nothing says yet who calls. */
  boolean mayLogIn() {
    return typed
        .remote()
        .filter(r -> r.oauth().isEmpty() && !r.headers().containsKey("authorization"))
        .isPresent();
  }

  /**
   * Starts it once and registers what it lists, with its code. Nothing is registered of one that is
   * refused.
   *
   * @throws WritException {@code TOL-230} to {@code TOL-239}, {@code TOL-270} to {@code TOL-299}
   */
  UpstreamPackage add(Session session, Upstreams upstreams) {
    upstreams.requireFree(name, PinnedTools.of(List.of()));
    ServerCode.Prepared prepared = new ServerCode(session).of(typed, own, code, upstreams::host);
    UpstreamProbe.Seen seen = upstreams.look(prepared.spec(), prepared.own());
    upstreams.requireFree(name, seen.tools());
    if (!hidden) {
      Upstreams.requireVisible(seen.tools());
    }
    ServerSpec known =
        prepared.spec().started(local -> local.speaking(Optional.of(seen.protocol())));
    return upstreams.register(name, known, seen.tools(), prepared.own());
  }
}

package dev.writ.tools.mcp.remote;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.egress.EgressAnswer;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.protocol.PeerMessage;
import dev.writ.tools.mcp.web.Challenge;
import dev.writ.tools.mcp.web.WebAddress;
import java.util.List;
import java.util.Optional;

/** What a status other than success means; of the server's texts nothing is told but scopes. */
final class AnswerStatus {
  private AnswerStatus() {}

  /**
   * The answer that it is, where the content has an error of JSON-RPC.
   *
   * @throws WritException {@code TOL-248}, {@code TOL-272} to {@code TOL-274}, {@code TOL-278},
   *     {@code TOL-279}
   */
  static PeerMessage.Answer of(
      RemoteConnection server,
      String method,
      EgressAnswer reply,
      Optional<PeerMessage.Fault> fault,
      long id) {
    int status = reply.status();
    String place = server.url().place();
    Optional<Challenge> challenge = Challenge.bearer(reply.values("www-authenticate"));
    if (status == 401) {
      throw new WritException(ToolsError.UPSTREAM_UNAUTHORIZED, place + " answers with 401");
    }
    if (status == 403 && challenge.filter(Challenge::isInsufficientScope).isPresent()) {
      List<String> scopes = challenge.get().scopes();
      throw new WritException(
          ToolsError.UPSTREAM_SCOPE,
          place + (scopes.isEmpty() ? " names none" : " asks for " + String.join(" ", scopes)));
    }
    if (status >= 300 && status <= 399) {
      String to =
          reply.values("location").stream()
              .findFirst()
              .flatMap(server.url()::resolve)
              .map(WebAddress::text)
              .orElse("a place that cannot be read");
      throw new WritException(
          ToolsError.UPSTREAM_REDIRECT, server.url().text() + " leads to " + to);
    }
    if (status == 404 && server.hasSession() && !method.equals("initialize")) {
      throw new WritException(ToolsError.UPSTREAM_SESSION, place + " has forgotten it");
    }
    if (fault.isPresent()) {
      return new PeerMessage.Answer(id, Optional.empty(), fault);
    }
    throw new WritException(
        status >= 500 ? ToolsError.UPSTREAM_BROKE : ToolsError.UPSTREAM_STATUS,
        method + " is answered with the status " + status);
  }
}

package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import dev.writ.tools.mcp.oauth.OauthSpec;
import dev.writ.tools.mcp.remote.RemoteSpec;
import java.nio.file.Path;
import java.util.Optional;

/** {@code writ mcp remove}: takes an MCP server out of the policy. */
final class McpRemove implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "remove",
            "Take a server out of policy.yaml, and delete the tokens of its login; its packages"
                + " stay, since receipts name them, and so does its state.")
        .argument("NAME", "Its name.")
        .flag("--delete-state", "Delete its state, too, also of one that was removed before.");
  }

  /**
   * What was removed.
   *
   * @param tokens the secret with tokens that was deleted, where there was one
   * @param state where its state is
   * @param deleted whether its state was deleted
   */
  private record Removed(
      String name, Optional<String> tokens, Optional<Path> state, boolean deleted, Path policy)
      implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("removed", name)
          .putIfPresent("tokens_deleted", tokens, JsonValue::of)
          .putIfPresent("state", state.map(Path::toString), JsonValue::of)
          .put("state_deleted", deleted)
          .build();
    }

    static void print(Removed removed, Terminal terminal) {
      terminal
          .out()
          .println(removed.policy() + " names " + removed.name() + " no more; in force once:");
      terminal.out().println("  " + Homes.activation(terminal, removed.policy()));
      removed
          .tokens()
          .ifPresent(secret ->
              terminal
                  .out()
                  .println(
                      secret
                          + " is deleted here; only whoever issued these tokens can revoke them"
                          + " before they expire"));
      removed
          .state()
          .ifPresent(path ->
              terminal
                  .out()
                  .println(
                      "its state stays in "
                          + path
                          + "; to delete it: "
                          + Homes.name(terminal)
                          + " mcp remove "
                          + removed.name()
                          + " --delete-state"));
      if (removed.deleted()) {
        terminal.out().println("its state is deleted");
      }
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Upstreams upstreams = new Upstreams(session);
    String name = arguments.argument("NAME");
    Optional<String> tokens = tokens(upstreams, name);
    upstreams.forbid(name);
    tokens.ifPresent(upstreams.secrets()::remove);
    boolean deleted = arguments.has("--delete-state") && upstreams.deleteState(name);
    session.show(
        new Removed(name, tokens, upstreams.stateOf(name), deleted, upstreams.policyFile()),
        Removed::print);
    return ExitCode.OK;
  }

  /** The secret with the tokens of its login; none of a package that cannot be read. */
  private static Optional<String> tokens(Upstreams upstreams, String name) {
    return upstreams.isBroken(name)
        ? Optional.of(McpLogin.tokens(name)).filter(upstreams.secrets().list()::contains)
        : upstreams
            .one(name)
            .spec()
            .remote()
            .flatMap(RemoteSpec::oauth)
            .map(OauthSpec::tokens)
            .filter(upstreams.secrets().list()::contains);
  }
}

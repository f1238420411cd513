package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.language.LanguageAdapter;
import dev.writ.tools.mcp.remote.RemoteSpec;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/**
 * How an MCP server is started, or where it is: the file {@code server.json}. It holds no secret,
 * only names of secrets.
 *
 * @param local how it is started; absent for a server elsewhere
 * @param remote where it is; absent for a local server
 * @param startMs how long it may take from its start to its list of tools
 * @param passes what it may do beside answering calls
 */
public record ServerSpec(
    Optional<LocalSpec> local, Optional<RemoteSpec> remote, long startMs, Passes passes) {
  public static final String FILE = "server.json";

  /** Where the server sees its own files. */
  public static final String PLACE = LanguageAdapter.PACKAGE;

  /** Where a package has files for the server itself, which sees them below {@code /tool}. */
  public static final String FILES = "files/";

  public static final long START_MS = 60_000;
  private static final long START_MS_MAX = 600_000;
  private static final int SECRETS_MAX = 16;

  /**
   * @throws WritException {@code TOL-238} for what cannot be started
   */
  public ServerSpec {
    require(local.isPresent() != remote.isPresent(), "it is either local or elsewhere");
    int secrets =
        local.map(l -> l.secrets().size()).orElse(0)
            + remote.map(r -> r.secretNames().size()).orElse(0);
    require(secrets <= SECRETS_MAX, "more than " + SECRETS_MAX + " secrets");
    require(startMs >= 1 && startMs <= START_MS_MAX, "it may start for " + startMs + " ms");
  }

  /** Of a local server that may answer calls, and nothing else. */
  public ServerSpec(
      List<String> command,
      SortedMap<String, String> environment,
      SortedMap<String, String> secrets,
      List<String> hosts,
      List<String> reads,
      long startMs) {
    this(
        Optional.of(
            new LocalSpec(
                command,
                environment,
                secrets,
                hosts,
                reads,
                Optional.empty(),
                Optional.empty(),
                KeptPlaces.NONE)),
        Optional.empty(),
        startMs,
        Passes.NONE);
  }

  /** A server elsewhere. */
  public static ServerSpec elsewhere(RemoteSpec remote, long startMs) {
    return new ServerSpec(Optional.empty(), Optional.of(remote), startMs, Passes.NONE);
  }

  /** The same server, which may do that beside answering calls. */
  public ServerSpec passing(Passes all) {
    return new ServerSpec(local, remote, startMs, all);
  }

  /** The same server elsewhere, with other headers or tokens. */
  public ServerSpec at(RemoteSpec other) {
    return new ServerSpec(local, Optional.of(other), startMs, passes);
  }

  /** The same server started in another way; as it is, where it is elsewhere. */
  public ServerSpec started(UnaryOperator<LocalSpec> otherwise) {
    return new ServerSpec(local.map(otherwise), remote, startMs, passes);
  }

  static void require(boolean holds, String found) {
    if (!holds) {
      throw new WritException(ToolsError.UPSTREAM_PACKAGE, FILE + ": " + found);
    }
  }

  /**
   * Reads {@code server.json}.
   *
   * @throws WritException {@code TOL-238}
   */
  static ServerSpec parse(byte[] bytes) {
    try {
      Fields fields = Fields.of("server", Jcs.parse(bytes));
      boolean elsewhere = fields.has("url");
      ServerSpec spec =
          new ServerSpec(
              elsewhere ? Optional.empty() : Optional.of(LocalSpec.read(fields)),
              elsewhere ? Optional.of(RemoteSpec.parse(fields)) : Optional.empty(),
              fields.count("start_ms"),
              fields
                  .optional("passes", name -> new Passes(fields.list(name, Fields::stringItem)))
                  .orElse(Passes.NONE));
      fields.end();
      return spec;
    } catch (WritException e) {
      if (e.code() instanceof ToolsError) {
        throw e;
      }
      throw new WritException(
          ToolsError.UPSTREAM_PACKAGE, FILE + ": " + e.code().code() + " " + e.found(), e);
    }
  }

  /** The places {@code host:port} that it connects to, sorted. */
  public List<String> hosts() {
    return local.map(LocalSpec::hosts).or(() -> remote.map(RemoteSpec::places)).orElseThrow();
  }

  /** The names of all secrets, sorted. */
  public List<String> secretNames() {
    TreeSet<String> names = new TreeSet<>();
    local.ifPresent(l -> names.addAll(l.secrets().values()));
    remote.ifPresent(r -> names.addAll(r.secretNames()));
    return List.copyOf(names);
  }

  /** The program and its arguments, or the address, for people. */
  public String line() {
    return local
        .map(l -> String.join(" ", l.command()))
        .or(() -> remote.map(r -> r.url().text()))
        .orElseThrow();
  }

  public JsonValue.Obj toJson() {
    ObjectBuilder json = JsonValue.object().put("start_ms", startMs);
    local.ifPresent(l -> l.write(json));
    remote.ifPresent(r -> r.write(json));
    if (!passes.names().isEmpty()) {
      json.putList("passes", passes.names(), JsonValue::of);
    }
    return json.build();
  }
}

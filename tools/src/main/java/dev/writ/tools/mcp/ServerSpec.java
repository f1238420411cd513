package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.guardian.policy.NetworkPlace;
import dev.writ.guardian.policy.SecretGrant;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.language.LanguageAdapter;
import dev.writ.tools.mcp.protocol.ProtocolVersion;
import dev.writ.tools.mcp.remote.RemoteSpec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * How an MCP server is started, or where it is: the file {@code server.json}. It holds no secret,
 * only names of secrets.
 *
 * @param command the program and its arguments; none for a server elsewhere
 * @param environment variables with plain values
 * @param secrets names of secrets by the variable that holds them
 * @param hosts destinations {@code host:port} that it may connect to, sorted
 * @param reads files and directories of the host that it sees at the same place, read-only, sorted
 * @param startMs how long it may take from its start to its list of tools
 * @param passes what it may do beside answering calls
 * @param npm where its code was taken from, for a server of npm
 * @param remote where it is, for a server elsewhere
 * @param protocol the version that a local server agreed on when it was added, where that begins
 *     with a handshake: then it is not asked for another
 * @param kept what of this machine it changes that outlasts it
 */
public record ServerSpec(
    List<String> command,
    SortedMap<String, String> environment,
    SortedMap<String, String> secrets,
    List<String> hosts,
    List<String> reads,
    long startMs,
    Passes passes,
    Optional<NpmOrigin> npm,
    Optional<RemoteSpec> remote,
    Optional<String> protocol,
    KeptPlaces kept) {
  public static final String FILE = "server.json";

  /** Where the server sees its own files. */
  public static final String PLACE = LanguageAdapter.PACKAGE;

  /** Where a package has files for the server itself, which sees them below {@code /tool}. */
  public static final String FILES = "files/";

  public static final long START_MS = 60_000;
  private static final long START_MS_MAX = 600_000;
  private static final int SECRETS_MAX = 16;

  /** The same server, which may do that beside answering calls. */
  public ServerSpec passing(Passes all) {
    return new ServerSpec(
        command, environment, secrets, hosts, reads, startMs, all, npm, remote, protocol, kept);
  }

  /** The same server elsewhere, with other headers or tokens. */
  public ServerSpec at(RemoteSpec other) {
    return new ServerSpec(
        command,
        environment,
        secrets,
        hosts,
        reads,
        startMs,
        passes,
        npm,
        Optional.of(other),
        protocol,
        kept);
  }

  /**
   * The same server, of which it is known what it agrees on; nothing is, where that is empty.
   *
   * @param version kept of a local server where it begins with a handshake
   */
  public ServerSpec speaking(Optional<String> version) {
    return new ServerSpec(
        command,
        environment,
        secrets,
        hosts,
        reads,
        startMs,
        passes,
        npm,
        remote,
        version.filter(v -> remote.isEmpty() && ProtocolVersion.ALL.contains(v)),
        kept);
  }

  /**
   * @throws WritException {@code TOL-238} for what cannot be started
   */
  public ServerSpec {
    command = List.copyOf(command);
    environment = Collections.unmodifiableSortedMap(new TreeMap<>(environment));
    secrets = Collections.unmodifiableSortedMap(new TreeMap<>(secrets));
    hosts = List.copyOf(new TreeSet<>(hosts));
    reads = List.copyOf(new TreeSet<>(reads));
    if (remote.isEmpty()) {
      require(!command.isEmpty() && !command.getFirst().isEmpty(), "it names no program");
    } else {
      hosts = remote.get().places();
      require(
          command.isEmpty() && environment.isEmpty() && secrets.isEmpty() && reads.isEmpty(),
          "it is elsewhere, and has a program");
      require(kept.equals(KeptPlaces.NONE), "it is elsewhere, and keeps something here");
    }
    for (String name : environment.keySet()) {
      requireVariable(name);
      require(!secrets.containsKey(name), "a variable has a value and a secret");
    }
    secrets.keySet().forEach(ServerSpec::requireVariable);
    int secretsAll = secrets.size() + remote.map(r -> r.secretNames().size()).orElse(0);
    require(secretsAll <= SECRETS_MAX, "more than " + SECRETS_MAX + " secrets");
    for (String secret : secrets.values()) {
      require(SecretGrant.isName(secret), "a secret's name is not plain");
    }
    for (String host : hosts) {
      require(
          !host.contains("://") && NetworkPlace.parse(host).isPresent(),
          "\"" + host + "\" is no host:port");
    }
    for (String path : reads) {
      require(path.startsWith("/"), "\"" + path + "\" is no absolute path");
      for (String folder : kept.writes()) {
        require(
            !KeptPlaces.overlap(path, folder),
            "what is at " + path + " is read-only, and at " + folder + " it is not");
      }
    }
    require(
        protocol.isEmpty() || remote.isEmpty() && ProtocolVersion.ALL.contains(protocol.get()),
        "its protocol is no version with a handshake");
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
        command,
        environment,
        secrets,
        hosts,
        reads,
        startMs,
        Passes.NONE,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        KeptPlaces.NONE);
  }

  /** A server elsewhere. */
  public static ServerSpec elsewhere(RemoteSpec remote, long startMs) {
    return new ServerSpec(
        List.of(),
        new TreeMap<>(),
        new TreeMap<>(),
        List.of(),
        List.of(),
        startMs,
        Passes.NONE,
        Optional.empty(),
        Optional.of(remote),
        Optional.empty(),
        KeptPlaces.NONE);
  }

  private static void requireVariable(String name) {
    require(name.matches("[A-Za-z_][A-Za-z0-9_]{0,127}"), "a variable's name is no identifier");
  }

  private static void require(boolean holds, String found) {
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
      if (Jcs.parse(bytes) instanceof JsonValue.Obj object && object.get("url") != null) {
        ServerSpec spec =
            elsewhere(RemoteSpec.parse(fields), fields.count("start_ms")).passing(passes(fields));
        fields.end();
        return spec;
      }
      ServerSpec spec =
          new ServerSpec(
              fields.list("command", Fields::stringItem),
              texts("environment", fields.obj("environment")),
              texts("secrets", fields.obj("secrets")),
              fields.list("hosts", Fields::stringItem),
              fields.list("reads", Fields::stringItem),
              fields.count("start_ms"),
              passes(fields),
              fields.has("npm")
                  ? Optional.of(NpmOrigin.read(fields.fields("npm")))
                  : Optional.empty(),
              Optional.empty(),
              fields.optional("protocol", fields::string),
              KeptPlaces.read(fields));
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

  private static Passes passes(Fields fields) {
    return fields
        .optional("passes", name -> new Passes(fields.list(name, Fields::stringItem)))
        .orElse(Passes.NONE);
  }

  private static SortedMap<String, String> texts(String at, JsonValue.Obj object) {
    TreeMap<String, String> texts = new TreeMap<>();
    object
        .members()
        .forEach((name, value) -> texts.put(name, Fields.stringItem(at + "/" + name, value)));
    return texts;
  }

  /** The names of all secrets, sorted. */
  public List<String> secretNames() {
    TreeSet<String> names = new TreeSet<>(secrets.values());
    remote.ifPresent(r -> names.addAll(r.secretNames()));
    return List.copyOf(names);
  }

  /** The program and its arguments, or the address, for people. */
  public String line() {
    return remote.map(r -> r.url().text()).orElseGet(() -> String.join(" ", command));
  }

  /** The same with another command, and with where its code came from. */
  public ServerSpec with(List<String> other, Optional<NpmOrigin> origin) {
    return new ServerSpec(
        other, environment, secrets, hosts, reads, startMs, passes, origin, remote, protocol, kept);
  }

  /** The same with more that it sees of this machine. */
  public ServerSpec reading(List<String> more) {
    List<String> all = new ArrayList<>(reads);
    all.addAll(more);
    return new ServerSpec(
        command, environment, secrets, hosts, all, startMs, passes, npm, remote, protocol, kept);
  }

  /** The same, which changes that of this machine. */
  public ServerSpec keeping(KeptPlaces places) {
    return new ServerSpec(
        command,
        environment,
        secrets,
        hosts,
        reads,
        startMs,
        passes,
        npm,
        remote,
        protocol,
        places);
  }

  public JsonValue.Obj toJson() {
    ObjectBuilder json;
    if (remote.isPresent()) {
      json = JsonValue.object().put("start_ms", startMs);
      remote.get().write(json);
    } else {
      json =
          JsonValue.object()
              .putList("command", command, JsonValue::of)
              .put("environment", object(environment))
              .put("secrets", object(secrets))
              .putList("hosts", hosts, JsonValue::of)
              .putList("reads", reads, JsonValue::of)
              .put("start_ms", startMs)
              .putIfPresent("npm", npm, NpmOrigin::toJson)
              .putIfPresent("protocol", protocol, JsonValue::of);
      kept.write(json);
    }
    if (!passes.names().isEmpty()) {
      json.putList("passes", passes.names(), JsonValue::of);
    }
    return json.build();
  }

  private static JsonValue.Obj object(SortedMap<String, String> texts) {
    var object = JsonValue.object();
    texts.forEach(object::put);
    return object.build();
  }
}

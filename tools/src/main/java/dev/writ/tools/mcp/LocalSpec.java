package dev.writ.tools.mcp;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.guardian.policy.rule.NetworkPlace;
import dev.writ.guardian.policy.rule.SecretGrant;
import dev.writ.tools.mcp.protocol.ProtocolVersion;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * How a local server is started: a part of {@code server.json}.
 *
 * @param command the program and its arguments
 * @param environment variables with plain values
 * @param secrets names of secrets by the variable that holds them
 * @param hosts destinations {@code host:port} that it may connect to, sorted
 * @param reads files and directories of the host that it sees at the same place, read-only, sorted
 * @param npm where its code was taken from, for a server of npm
 * @param protocol the version that it agreed on when it was added, where it begins with a
 *     handshake: then it is not asked for another
 * @param kept what of this machine it changes that outlasts it
 */
public record LocalSpec(
    List<String> command,
    SortedMap<String, String> environment,
    SortedMap<String, String> secrets,
    List<String> hosts,
    List<String> reads,
    Optional<NpmOrigin> npm,
    Optional<String> protocol,
    KeptPlaces kept) {
  /**
   * @throws dev.writ.canonicalize.WritException {@code TOL-238} for what cannot be started
   */
  public LocalSpec {
    command = List.copyOf(command);
    environment = Collections.unmodifiableSortedMap(new TreeMap<>(environment));
    secrets = Collections.unmodifiableSortedMap(new TreeMap<>(secrets));
    hosts = List.copyOf(new TreeSet<>(hosts));
    reads = List.copyOf(new TreeSet<>(reads));
    ServerSpec.require(!command.isEmpty() && !command.getFirst().isEmpty(), "it names no program");
    for (String name : environment.keySet()) {
      requireVariable(name);
      ServerSpec.require(!secrets.containsKey(name), "a variable has a value and a secret");
    }
    secrets.keySet().forEach(LocalSpec::requireVariable);
    for (String secret : secrets.values()) {
      ServerSpec.require(SecretGrant.isName(secret), "a secret's name is not plain");
    }
    for (String host : hosts) {
      ServerSpec.require(
          !host.contains("://") && NetworkPlace.parse(host).isPresent(),
          "\"" + host + "\" is no host:port");
    }
    for (String path : reads) {
      ServerSpec.require(path.startsWith("/"), "\"" + path + "\" is no absolute path");
      kept.requireNotHere(path);
    }
    ServerSpec.require(
        protocol.map(ProtocolVersion.ALL::contains).orElse(true),
        "its protocol is no version with a handshake");
  }

  private static void requireVariable(String name) {
    ServerSpec.require(
        name.matches("[A-Za-z_][A-Za-z0-9_]{0,127}"), "a variable's name is no identifier");
  }

  static LocalSpec read(Fields fields) {
    return new LocalSpec(
        fields.list("command", Fields::stringItem),
        texts("environment", fields.obj("environment")),
        texts("secrets", fields.obj("secrets")),
        fields.list("hosts", Fields::stringItem),
        fields.list("reads", Fields::stringItem),
        fields.optional("npm", name -> NpmOrigin.read(fields.fields(name))),
        fields.optional("protocol", fields::string),
        KeptPlaces.read(fields));
  }

  private static SortedMap<String, String> texts(String at, JsonValue.Obj object) {
    TreeMap<String, String> texts = new TreeMap<>();
    object
        .members()
        .forEach((name, value) -> texts.put(name, Fields.stringItem(at + "/" + name, value)));
    return texts;
  }

  void write(ObjectBuilder json) {
    json.putList("command", command, JsonValue::of)
        .put("environment", object(environment))
        .put("secrets", object(secrets))
        .putList("hosts", hosts, JsonValue::of)
        .putList("reads", reads, JsonValue::of)
        .putIfPresent("npm", npm, NpmOrigin::toJson)
        .putIfPresent("protocol", protocol, JsonValue::of);
    kept.write(json);
  }

  private static JsonValue.Obj object(SortedMap<String, String> texts) {
    var object = JsonValue.object();
    texts.forEach(object::put);
    return object.build();
  }

  /** The same with another command, and with where its code came from. */
  public LocalSpec with(List<String> other, Optional<NpmOrigin> origin) {
    return new LocalSpec(other, environment, secrets, hosts, reads, origin, protocol, kept);
  }

  /** The same with more that it sees of this machine. */
  public LocalSpec reading(List<String> more) {
    List<String> all = new ArrayList<>(reads);
    all.addAll(more);
    return new LocalSpec(command, environment, secrets, hosts, all, npm, protocol, kept);
  }

  /** The same, which changes that of this machine. */
  public LocalSpec keeping(KeptPlaces places) {
    return new LocalSpec(command, environment, secrets, hosts, reads, npm, protocol, places);
  }

  /**
   * The same, of which it is known what it agrees on; nothing is, where that is empty.
   *
   * @param version kept where it is one with a handshake
   */
  public LocalSpec speaking(Optional<String> version) {
    Optional<String> known = version.filter(ProtocolVersion.ALL::contains);
    return new LocalSpec(command, environment, secrets, hosts, reads, npm, known, kept);
  }
}

package dev.writ.tools.http;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.rule.SecretGrant;
import dev.writ.guardian.yaml.Section;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.http.HttpOperation.Body;
import dev.writ.tools.http.HttpOperation.In;
import dev.writ.tools.http.HttpOperation.Parameter;
import dev.writ.tools.http.HttpOperation.Redirects;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * What the {@code http} sections of a {@code tool.manifest} say (spec/tool-http.md).
 *
 * @param redirectServers places to which operations may be redirected, beside the server itself
 * @param credentials by the names of their secrets
 */
public record HttpApi(
    Server server,
    List<Server> redirectServers,
    SortedMap<String, Credential> credentials,
    SortedMap<String, HttpOperation> operations) {
  /** As many as a call may have. */
  private static final int CREDENTIALS_MAX = 16;

  private static final int PARAMETERS_MAX = 100;
  private static final int RETRIES_MAX = 5;
  private static final long BYTES_MAX = 64L << 20;
  private static final long BYTES = 1L << 20;
  private static final List<String> METHODS =
      List.of("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE");
  private static final List<String> WITH_CONTENT = List.of("POST", "PUT", "PATCH", "DELETE");

  /** Reads the section of the whole package; its operations follow. */
  public static HttpApi read(Section http) {
    String text = http.text("server");
    Server server =
        Server.parse(text)
            .orElseThrow(() ->
                new WritException(
                    ToolsError.HTTP_SERVER, "\"" + shown(text) + "\" is no http(s)://host/path"));
    List<Server> others = new ArrayList<>();
    for (String other : http.names("redirect_servers", List.of())) {
      Server parsed = Server.parse(other).filter(s -> s.base().isEmpty()).orElse(null);
      http.require(
          "redirect_servers",
          parsed != null && parsed.secure(),
          "\"" + shown(other) + "\" is no https://host[:port]");
      others.add(parsed);
    }
    TreeMap<String, Credential> credentials = new TreeMap<>();
    http.optional("credentials", http::section)
        .ifPresent(section -> {
          for (String secret : section.keys()) {
            section.require(
                secret, SecretGrant.isName(secret), "\"" + secret + "\" is no name of a secret");
            credentials.put(secret, Credential.read(secret, section.section(secret)));
          }
        });
    http.require(
        "credentials", credentials.size() <= CREDENTIALS_MAX, "more than " + CREDENTIALS_MAX);
    http.require(
        "server",
        credentials.isEmpty() || server.secure() || server.isLoopback(),
        "credentials are sent over https alone");
    http.end();
    return new HttpApi(server, others, credentials, new TreeMap<>());
  }

  /** Reads what an operation's section says of its request. */
  public HttpOperation operation(String name, Section http) {
    String method = http.oneOf("method", METHODS, word -> word);
    String template = http.text("path");
    PathTemplate path =
        PathTemplate.parse(template)
            .orElseThrow(() ->
                new WritException(
                    ToolsError.HTTP_DESCRIPTION,
                    name + ": \"" + shown(template) + "\" is no path that values cannot leave"));
    List<Parameter> parameters = new ArrayList<>();
    http.optional("parameters", http::section)
        .ifPresent(section -> {
          for (String property : section.keys()) {
            parameters.add(parameter(property, section, path));
          }
        });
    http.require("parameters", parameters.size() <= PARAMETERS_MAX, "more than " + PARAMETERS_MAX);
    Optional<Body> body = http.optional("body", http::section).map(HttpApi::body);
    http.require(
        "body", body.isEmpty() || WITH_CONTENT.contains(method), method + " has no content");
    List<String> sent = http.names("credentials", List.copyOf(credentials.keySet()));
    sent.forEach(secret ->
        http.require(
            "credentials", credentials.containsKey(secret), "\"" + secret + "\" is none above"));
    boolean idempotent = http.optional("idempotent", http::bool).orElse(false);
    long retries = http.optional("retries", key -> http.between(key, 0, RETRIES_MAX)).orElse(0L);
    http.require(
        "retries",
        retries == 0 || idempotent,
        "only what is declared `idempotent: true` is repeated");
    Optional<String> key = http.optional("idempotency_key", http::name);
    key.ifPresent(field ->
        http.require(
            "idempotency_key", ToolHeaders.maySend(field), "\"" + field + "\" is not for a tool"));
    Redirects redirects =
        http.optional("redirects", k -> http.oneOf(k, List.of(Redirects.values()), Redirects::text))
            .orElse(Redirects.SAME_HOST);
    List<Integer> success =
        http.optional("success", k -> http.list(k, item -> item.text())).orElse(List.of()).stream()
            .map(word -> status(http, word))
            .toList();
    boolean failures =
        http.optional(
                "other_statuses",
                k -> http.oneOf(k, List.of("fail", "output"), word -> word).equals("output"))
            .orElse(false);
    List<String> headers =
        http.names("headers", List.of()).stream().map(h -> h.toLowerCase(Locale.ROOT)).toList();
    headers.forEach(h ->
        http.require("headers", ToolHeaders.mayRecord(h), "\"" + h + "\" is not shown in outputs"));
    long bytes = http.optional("bytes_max", k -> http.between(k, 1, BYTES_MAX)).orElse(BYTES);
    http.end();
    HttpOperation read =
        new HttpOperation(
            name,
            method,
            path,
            parameters,
            body,
            sent,
            idempotent,
            (int) retries,
            key,
            redirects,
            success,
            failures,
            new TreeSet<>(headers).stream().toList(),
            bytes);
    requireWhole(read);
    return read;
  }

  private static int status(Section http, String word) {
    http.require("success", word.matches("[2-5][0-9][0-9]"), "\"" + word + "\" is no status");
    return Integer.parseInt(word);
  }

  private static Parameter parameter(String property, Section all, PathTemplate path) {
    Section one = all.section(property);
    In in = one.oneOf("in", List.of(In.values()), In::text);
    String name = one.optional("name", one::name).orElse(property);
    boolean explode = one.optional("explode", one::bool).orElse(in == In.QUERY);
    one.require("explode", !explode || in == In.QUERY, "only lists in a query are exploded");
    one.require(
        "name",
        in != In.PATH || path.names().contains(name),
        "\"" + name + "\" is not in the path " + path);
    one.require(
        "name", in != In.HEADER || ToolHeaders.maySend(name), "\"" + name + "\" is not for a tool");
    one.end();
    return new Parameter(property, in, name, explode);
  }

  private static Body body(Section section) {
    String property = section.name("from");
    String type = section.optional("media_type", section::text).orElse("application/json");
    section.require(
        "media_type",
        type.matches("[a-z0-9][a-z0-9.+-]{0,63}/[a-z0-9][a-z0-9.+-]{0,63}")
            && !type.startsWith("multipart/"),
        "\"" + shown(type) + "\" is no media type that is sent");
    section.end();
    return new Body(property, type);
  }

  /** Requires that each place has one parameter, and each name stands once. */
  private void requireWhole(HttpOperation operation) {
    TreeSet<String> left = new TreeSet<>(operation.path().names());
    TreeSet<String> seen = new TreeSet<>();
    operation
        .idempotencyKey()
        .ifPresent(field -> seen.add("header " + field.toLowerCase(Locale.ROOT)));
    for (String secret : operation.credentials()) {
      Credential credential = credentials.get(secret);
      String at =
          switch (credential.way()) {
            case BEARER, BASIC -> "header authorization";
            case HEADER -> "header " + credential.name();
            case QUERY -> "query " + credential.name();
          };
      requireOnce(operation, seen, at);
    }
    for (Parameter parameter : operation.parameters()) {
      String name =
          parameter.in() == In.HEADER
              ? parameter.name().toLowerCase(Locale.ROOT)
              : parameter.name();
      requireOnce(operation, seen, parameter.in().text() + " " + name);
      if (parameter.in() == In.PATH) {
        left.remove(name);
      }
    }
    if (!left.isEmpty()) {
      throw new WritException(
          ToolsError.HTTP_DESCRIPTION,
          operation.name() + ": nothing goes into {" + left.first() + "} of the path");
    }
  }

  private static void requireOnce(HttpOperation operation, TreeSet<String> seen, String at) {
    if (!seen.add(at)) {
      throw new WritException(
          ToolsError.HTTP_DESCRIPTION, operation.name() + ": two things go into " + at);
    }
  }

  /** The same with its operations. */
  public HttpApi with(SortedMap<String, HttpOperation> all) {
    return new HttpApi(server, redirectServers, credentials, all);
  }

  /** Each operation's request in a line, for those who approve the package. */
  public SortedMap<String, String> lines() {
    TreeMap<String, String> lines = new TreeMap<>();
    operations.forEach((name, operation) -> lines.put(name, operation.line(server)));
    return lines;
  }

  /** The places {@code host:port} that it connects to, sorted. */
  public List<String> places() {
    return Stream.concat(Stream.of(server), redirectServers.stream())
        .map(Server::place)
        .distinct()
        .sorted()
        .toList();
  }

  /**
   * Requires that the input schemas name what the requests are made of, and nothing else: a param
   * that is sent nowhere would be approved and ignored.
   *
   * @throws WritException {@code TOL-250}
   */
  public void requireInputs(List<ToolManifest.Operation> declared) {
    for (ToolManifest.Operation operation : declared) {
      HttpOperation http = operations.get(operation.name());
      TreeSet<String> used = new TreeSet<>();
      http.parameters().forEach(parameter -> used.add(parameter.property()));
      http.body().ifPresent(body -> used.add(body.property()));
      TreeSet<String> named = new TreeSet<>();
      if (operation.input().get("properties") instanceof JsonValue.Obj properties) {
        named.addAll(properties.members().keySet());
      }
      boolean closed = JsonValue.of(false).equals(operation.input().get("additionalProperties"));
      if (!closed || !named.equals(used)) {
        throw new WritException(
            ToolsError.HTTP_DESCRIPTION,
            operation.name()
                + ": the input has "
                + named
                + (closed ? "" : " and additional properties")
                + ", the request is made of "
                + used);
      }
      requireRequired(operation, http);
    }
  }

  private static void requireRequired(ToolManifest.Operation operation, HttpOperation http) {
    List<JsonValue> required =
        operation.input().get("required") instanceof JsonValue.Arr list ? list.items() : List.of();
    for (Parameter parameter : http.parameters()) {
      if (parameter.in() == In.PATH && !required.contains(JsonValue.of(parameter.property()))) {
        throw new WritException(
            ToolsError.HTTP_DESCRIPTION,
            operation.name() + ": " + parameter.property() + " goes into the path: require it");
      }
    }
  }

  private static String shown(String text) {
    return text.length() <= 80 ? text : text.substring(0, 80) + "…";
  }
}

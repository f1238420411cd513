package dev.writ.tools.http.openapi;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Located;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.http.Server;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Makes the {@code tool.manifest} of an HTTP tool from an OpenAPI document (spec/tool-http.md). */
public final class OpenApiImport {
  /** As many operations as one tool may have. */
  public static final int OPERATIONS_MAX = 300;

  private static final List<String> METHODS =
      List.of("get", "put", "post", "delete", "options", "head", "patch");
  private static final int PLACES_SHOWN = 5;
  private static final String NAME = "[A-Za-z][A-Za-z0-9_-]{0,63}";

  private final Document document;
  private final Wanted wanted;
  private final List<String> notes = new ArrayList<>();

  /** Names that stand for operationIds with other characters, with their places. */
  private final TreeMap<String, String> renamed = new TreeMap<>();

  /** What is not checked, with the places where it stands. */
  private final TreeMap<String, LinkedHashSet<String>> unchecked = new TreeMap<>();

  private OpenApiImport(Document document, Wanted wanted) {
    this.document = document;
    this.wanted = wanted;
  }

  /**
   * What is to be made.
   *
   * @param tool the package's name; made of the document's title where it is absent
   * @param only tags and operationIds; everything where it is empty
   * @param server the place that stands in for the document's
   */
  public record Wanted(Optional<String> tool, List<String> only, Optional<String> server) {
    public Wanted {
      only = List.copyOf(only);
    }
  }

  /**
   * A package's description.
   *
   * @param manifest the {@code tool.manifest}
   * @param operations their names, sorted
   * @param notes what was left out or renamed, each with its place
   */
  public record Imported(
      String tool, byte[] manifest, List<String> operations, List<String> notes) {
    public Imported {
      operations = List.copyOf(operations);
      notes = List.copyOf(notes);
    }
  }

  /** Whether bytes look like an OpenAPI document, of whatever version. */
  public static boolean isMeant(byte[] bytes) {
    int end = Math.min(bytes.length, 64 << 10);
    String start = new String(bytes, 0, end, StandardCharsets.UTF_8);
    return Pattern.compile("(?m)^\\s*\\{?\\s*[\"']?(openapi|swagger)[\"']?\\s*:")
        .matcher(start)
        .find();
  }

  /**
   * @param file the document's name, for messages
   * @throws WritException {@code TOL-251}, {@code TOL-254} to {@code TOL-262}, with line and
   *     pointer
   */
  public static Imported of(byte[] bytes, String file, Wanted wanted) {
    try {
      return new OpenApiImport(Document.read(bytes, file), wanted).make();
    } catch (WritException e) {
      boolean named = e.code() == ToolsError.OPENAPI_SYNTAX || e.found().startsWith(file);
      throw named ? e : new WritException(e.code(), file + " " + e.found(), e);
    }
  }

  /** An operation of the document. */
  private record Found(String name, String method, String path, Node item, Node operation) {}

  private Imported make() {
    Node root = document.root();
    String tool = wanted.tool().orElseGet(() -> toolName(root));
    Server server = server(root);
    List<Found> chosen = chosen(all(root));
    Security security = new Security(document, tool);
    TreeMap<String, JsonValue> operations = new TreeMap<>();
    for (Found found : chosen) {
      try {
        OperationDraft draft = new OperationDraft(document, security, this::note);
        operations.put(
            found.name(), draft.of(found.method(), found.path(), found.item(), found.operation()));
      } catch (WritException e) {
        boolean asked = wanted.only().contains(operationId(found));
        if (e.code() != ToolsError.OPENAPI_UNHELD || asked) {
          throw e;
        }
        notes.add(found.name() + " was left out: " + e.found());
      }
    }
    if (operations.isEmpty()) {
      throw root.refuse(
          ToolsError.OPENAPI_NOTHING,
          "no operation is left" + (notes.isEmpty() ? "" : "; " + notes.getLast()));
    }
    operations.keySet().stream()
        .filter(renamed::containsKey)
        .forEach(name ->
            notes.add(
                name + " stands for an operationId with other characters: " + renamed.get(name)));
    byte[] manifest = manifest(root, tool, server, security, operations);
    return new Imported(tool, manifest, List.copyOf(operations.keySet()), told());
  }

  private void note(Node at, String what) {
    unchecked.computeIfAbsent(what, _ -> new LinkedHashSet<>()).add(at.place());
  }

  /** Several operations use one schema, and each has its words: they are told once. */
  private List<String> told() {
    List<String> told = new ArrayList<>(notes);
    unchecked.forEach((what, places) -> {
      int more = places.size() - PLACES_SHOWN;
      told.add(
          what
              + " is not checked here: "
              + String.join("; ", places.stream().limit(PLACES_SHOWN).toList())
              + (more > 0 ? "; and " + more + " more places" : ""));
    });
    return told;
  }

  private static String operationId(Found found) {
    return found.operation().text("operationId").orElse("");
  }

  private static String toolName(Node root) {
    String title = root.get("info").flatMap(info -> info.text("title")).orElse("api");
    String name =
        title.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-+|-+$", "");
    return name.isEmpty() ? "api" : name.substring(0, Math.min(64, name.length()));
  }

  private Server server(Node root) {
    if (wanted.server().isPresent()) {
      return Server.parse(wanted.server().get())
          .orElseThrow(() ->
              new WritException(ToolsError.HTTP_SERVER, "--server is no http(s)://host/path"));
    }
    List<Node> servers = root.list("servers");
    if (servers.isEmpty()) {
      throw root.refuse(ToolsError.HTTP_SERVER, "it names none: add --server URL");
    }
    Node url =
        servers
            .getFirst()
            .get("url")
            .orElseThrow(() -> servers.getFirst().refuse(ToolsError.OPENAPI_FORM, "has no `url`"));
    String text = url.text();
    if (text.contains("{")) {
      throw url.refuse(ToolsError.HTTP_SERVER, "it has variables: add --server URL");
    }
    Server server =
        Server.parse(text)
            .orElseThrow(() ->
                url.refuse(
                    ToolsError.HTTP_SERVER, "it is no http(s)://host/path: add --server URL"));
    // The document was written elsewhere: its own machine is not this one.
    if (server.isLoopback() || server.isAddress()) {
      throw url.refuse(
          ToolsError.HTTP_SERVER,
          "it is an address, or the machine it is read on: add --server URL if that is meant");
    }
    return server;
  }

  /** All operations, each with a name of its own. */
  private List<Found> all(Node root) {
    Node paths =
        root.get("paths")
            .orElseThrow(() -> root.refuse(ToolsError.OPENAPI_NOTHING, "it has no `paths`"));
    List<Found> all = new ArrayList<>();
    TreeMap<String, Node> ids = new TreeMap<>();
    TreeSet<String> names = new TreeSet<>();
    for (Map.Entry<String, Node> path : paths.members().entrySet()) {
      Node item = document.resolved(path.getValue());
      for (String method : METHODS) {
        Optional<Node> operation = item.get(method);
        if (operation.isEmpty()) {
          continue;
        }
        Optional<Node> id = operation.get().get("operationId");
        if (id.isEmpty() && !isMeant(operation.get())) {
          continue;
        }
        if (id.isEmpty()) {
          notes.add(
              method.toUpperCase(Locale.ROOT)
                  + " "
                  + path.getKey()
                  + " was left out: it has no operationId ("
                  + operation.get().place()
                  + ")");
          continue;
        }
        Node before = ids.putIfAbsent(id.get().text(), id.get());
        if (before != null) {
          throw id.get()
              .refuse(
                  ToolsError.OPENAPI_NAME, "this operationId stands at " + before.place() + " too");
        }
        name(operation.get(), id.get(), names)
            .ifPresent(
                name -> all.add(new Found(name, method, path.getKey(), item, operation.get())));
      }
    }
    return all;
  }

  /** The operation's name; empty where none can be made of its operationId, and nobody asked. */
  private Optional<String> name(Node operation, Node id, TreeSet<String> names) {
    String text = id.text();
    String name = text.replaceAll("[^A-Za-z0-9_-]", "_");
    if (!name.matches(NAME)) {
      if (wanted.only().contains(text)) {
        throw id.refuse(ToolsError.OPENAPI_NAME, "no name of an operation can be made of it");
      }
      if (isMeant(operation)) {
        notes.add("left out, since no name can be made of the operationId: " + id.place());
      }
      return Optional.empty();
    }
    if (!names.add(name)) {
      throw id.refuse(ToolsError.OPENAPI_NAME, "another one becomes " + name + ", too");
    }
    if (!name.equals(text)) {
      renamed.put(name, id.place());
    }
    return Optional.of(name);
  }

  /** The words by which an operation can be chosen. */
  private static List<String> words(Node operation) {
    List<String> words = new ArrayList<>();
    operation.text("operationId").ifPresent(words::add);
    operation.list("tags").forEach(tag -> words.add(tag.text()));
    return words;
  }

  private boolean isMeant(Node operation) {
    return wanted.only().isEmpty() || words(operation).stream().anyMatch(wanted.only()::contains);
  }

  private List<Found> chosen(List<Found> all) {
    List<Found> chosen = all;
    if (!wanted.only().isEmpty()) {
      TreeSet<String> missing = new TreeSet<>(wanted.only());
      chosen = all.stream().filter(found -> isMeant(found.operation())).toList();
      chosen.forEach(found -> missing.removeAll(words(found.operation())));
      if (!missing.isEmpty()) {
        throw document
            .root()
            .refuse(
                ToolsError.OPENAPI_NOTHING, "no tag or operationId is called " + missing.first());
      }
    }
    if (chosen.size() > OPERATIONS_MAX) {
      throw document
          .root()
          .refuse(
              ToolsError.OPENAPI_TOO_LARGE,
              chosen.size() + " operations, at most " + OPERATIONS_MAX);
    }
    return chosen;
  }

  private static byte[] manifest(
      Node root,
      String tool,
      Server server,
      Security security,
      TreeMap<String, JsonValue> operations) {
    LinkedHashMap<String, JsonValue> http = new LinkedHashMap<>();
    http.put("server", JsonValue.of(server.text()));
    security.credentials().ifPresent(all -> http.put("credentials", all));
    YamlText yaml = new YamlText();
    yaml.comment(
        "Made by `writ tool import` from an OpenAPI document. Read it before you sign it:");
    yaml.comment("what each request is made of stands here, and nowhere else. spec/tool-http.md");
    yaml.member(0, "format", JsonValue.of(1));
    yaml.member(0, "tool", JsonValue.of(tool));
    yaml.member(0, "version", JsonValue.of(version(root)));
    yaml.member(0, "language", JsonValue.of("http"));
    yaml.member(0, "runtime", JsonValue.of("1"));
    yaml.section(0, "http");
    http.forEach((key, value) -> yaml.member(1, key, value));
    yaml.section(0, "operations");
    operations.forEach((name, value) -> yaml.member(1, name, value));
    yaml.member(0, "resource_class", JsonValue.of("small"));
    yaml.member(0, "category", JsonValue.of("web"));
    yaml.member(0, "workload", JsonValue.of("io"));
    return yaml.text().getBytes(StandardCharsets.UTF_8);
  }

  private static String version(Node root) {
    String version =
        root.get("info")
            .flatMap(info -> info.get("version"))
            .map(Node::value)
            .map(Located::plain)
            .map(plain -> plain instanceof JsonValue.Str text ? text.value() : "")
            .orElse("");
    String plain = version.toLowerCase(Locale.ROOT);
    return plain.matches("[a-z0-9][a-z0-9._-]{0,63}") ? plain : "1.0.0";
  }
}

package dev.writ.tools.http.openapi;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.ToolSchemas;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.http.PathTemplate;
import dev.writ.tools.http.ToolHeaders;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;

/** Makes one operation of a {@code tool.manifest} from one of the document. */
final class OperationDraft {
  private static final int DESCRIPTION_CHARS = 2_000;
  private static final String KEY_HEADER = "idempotency-key";

  /** Header parameters that OpenAPI itself ignores. */
  private static final List<String> IGNORED = List.of("accept", "content-type", "authorization");

  private final Document document;
  private final Security security;
  private final BiConsumer<Node, String> notes;
  private final TreeMap<String, JsonValue> properties = new TreeMap<>();
  private final TreeMap<String, JsonValue> parameters = new TreeMap<>();
  private final TreeSet<String> required = new TreeSet<>();
  private final HeldSchema input;
  private Optional<String> key = Optional.empty();

  OperationDraft(Document document, Security security, BiConsumer<Node, String> notes) {
    this.document = document;
    this.security = security;
    this.notes = notes;
    this.input = new HeldSchema(document, HeldSchema.Direction.REQUEST, notes);
  }

  /**
   * @param item the path's object, with parameters of all its operations
   * @throws dev.writ.canonicalize.WritException {@code TOL-262} for one that the driver cannot do,
   *     {@code TOL-256} to {@code TOL-259}
   */
  JsonValue of(String method, String path, Node item, Node operation) {
    for (Node place : List.of(item, operation)) {
      if (place.get("servers").isPresent()) {
        throw HeldSchema.unheld(place.get("servers").get(), "it has a server of its own");
      }
    }
    PathTemplate template =
        PathTemplate.parse(path)
            .orElseThrow(() -> item.refuse(ToolsError.OPENAPI_PATH, "this path"));
    parameters(item, operation, template);
    List<String> sent = security.of(operation);
    var http = JsonValue.object();
    http.put("method", method.toUpperCase(Locale.ROOT));
    http.put("path", path);
    if (!parameters.isEmpty()) {
      http.put("parameters", object(parameters));
    }
    body(method, operation).ifPresent(body -> http.put("body", body));
    http.put("credentials", JsonValue.of(sent.stream().map(JsonValue::of).toList()));
    if (List.of("put", "delete").contains(method) || key.isPresent()) {
      http.put("idempotent", true);
    }
    key.ifPresent(field -> http.put("idempotency_key", field));
    var drafted = JsonValue.object();
    description(operation).ifPresent(text -> drafted.put("description", text));
    drafted.put("http", http.build());
    drafted.put("output", output(operation));
    return drafted.put("input", input(operation)).build();
  }

  private static JsonValue object(Map<String, JsonValue> members) {
    var object = JsonValue.object();
    members.forEach(object::put);
    return object.build();
  }

  private static Optional<String> description(Node operation) {
    Optional<String> text = operation.text("summary").or(() -> operation.text("description"));
    return text.map(t -> t.strip().replaceAll("\\s+", " "))
        .filter(t -> !t.isEmpty())
        .map(t -> t.length() <= DESCRIPTION_CHARS ? t : t.substring(0, DESCRIPTION_CHARS) + "…");
  }

  private void parameters(Node item, Node operation, PathTemplate template) {
    LinkedHashMap<String, Node> all = new LinkedHashMap<>();
    for (Node place : List.of(item, operation)) {
      TreeSet<String> here = new TreeSet<>();
      for (Node one : place.list("parameters")) {
        Node parameter = document.resolved(one);
        String at = parameter.required("in") + " " + parameter.required("name");
        if (!here.add(at)) {
          throw one.refuse(ToolsError.OPENAPI_FORM, "the parameter " + at + " stands twice");
        }
        all.put(at, parameter);
      }
    }
    TreeSet<String> left = new TreeSet<>(template.names());
    for (Node parameter : all.values()) {
      String in = parameter.required("in");
      String name = parameter.required("name");
      if (in.equals("path") && !left.remove(name)) {
        throw parameter.refuse(ToolsError.OPENAPI_PATH, "the path has no {" + name + "}");
      }
      parameter(in, name, parameter);
    }
    if (!left.isEmpty()) {
      throw operation.refuse(
          ToolsError.OPENAPI_PATH, "no parameter goes into {" + left.first() + "} of its path");
    }
  }

  private void parameter(String in, String name, Node parameter) {
    boolean needed = in.equals("path") || parameter.is("required");
    if (in.equals("header") && IGNORED.contains(name.toLowerCase(Locale.ROOT))) {
      return;
    }
    if (in.equals("header") && name.equalsIgnoreCase(KEY_HEADER)) {
      key = Optional.of(name);
      return;
    }
    Optional<String> unheld = unheld(in, name, parameter);
    JsonValue schema =
        unheld.isPresent()
            ? JsonValue.object().build()
            : parameter.get("schema").map(input::convert).orElse(JsonValue.object().build());
    if (unheld.isEmpty() && !input.isPlain(schema)) {
      unheld = Optional.of("a parameter that is an object");
    }
    if (unheld.isPresent()) {
      if (needed) {
        throw HeldSchema.unheld(parameter, unheld.get());
      }
      notes.accept(parameter, unheld.get() + " is left out: it");
      return;
    }
    String property = properties.containsKey(name) ? in + "_" + name : name;
    if (properties.containsKey(property)) {
      throw parameter.refuse(ToolsError.OPENAPI_NAME, "two parameters become " + property);
    }
    properties.put(property, described(schema, parameter));
    if (needed) {
      required.add(property);
    }
    var where = JsonValue.object().put("in", in);
    if (!property.equals(name)) {
      where.put("name", name);
    }
    if (in.equals("query") && parameter.get("explode").isPresent() && !parameter.is("explode")) {
      where.put("explode", false);
    }
    parameters.put(property, where.build());
  }

  private static Optional<String> unheld(String in, String name, Node parameter) {
    String style = parameter.text("style").orElse(in.equals("query") ? "form" : "simple");
    if (!List.of("path", "query", "header").contains(in)) {
      return Optional.of("a parameter in " + (in.equals("cookie") ? "a cookie" : "another place"));
    }
    if (!style.equals(in.equals("query") ? "form" : "simple")) {
      return Optional.of("a parameter of the style " + style);
    }
    if (parameter.get("content").isPresent()) {
      return Optional.of("a parameter with a media type");
    }
    if (in.equals("header") && !ToolHeaders.maySend(name)) {
      return Optional.of("a header that is not for tools");
    }
    return parameter.get("allowReserved").isPresent() && parameter.is("allowReserved")
        ? Optional.of("a parameter with reserved characters")
        : Optional.empty();
  }

  private static JsonValue described(JsonValue schema, Node place) {
    Optional<String> text = description(place);
    if (text.isEmpty() || !(schema instanceof JsonValue.Obj object)) {
      return schema;
    }
    var described = JsonValue.object();
    object.members().forEach(described::put);
    return described.put("description", text.get()).build();
  }

  private Optional<JsonValue> body(String method, Node operation) {
    Optional<Node> found = operation.get("requestBody").map(document::resolved);
    if (found.isEmpty() || List.of("get", "head", "options").contains(method)) {
      return Optional.empty();
    }
    boolean needed = found.get().is("required");
    Optional<Map.Entry<String, Node>> content =
        found.get().get("content").map(Node::members).flatMap(OperationDraft::sendable);
    if (content.isEmpty()) {
      if (needed) {
        throw HeldSchema.unheld(
            found.get(), "content that is neither JSON nor a plain form nor text");
      }
      notes.accept(found.get(), "content in other media types is left out: it");
      return Optional.empty();
    }
    String property = properties.containsKey("body") ? "request_body" : "body";
    if (properties.containsKey(property)) {
      throw found.get().refuse(ToolsError.OPENAPI_NAME, "a parameter is called " + property);
    }
    JsonValue schema =
        content
            .get()
            .getValue()
            .get("schema")
            .map(input::convert)
            .orElse(JsonValue.object().build());
    properties.put(property, schema);
    if (needed) {
      required.add(property);
    }
    var body = JsonValue.object().put("from", property);
    if (!content.get().getKey().equals("application/json")) {
      body.put("media_type", content.get().getKey());
    }
    return Optional.of(body.build());
  }

  private static Optional<Map.Entry<String, Node>> sendable(Map<String, Node> contents) {
    LinkedHashMap<String, Node> plain = new LinkedHashMap<>();
    contents.forEach((type, node) ->
        plain.putIfAbsent(type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT), node));
    List<String> order = new ArrayList<>(List.of("application/json"));
    plain.keySet().stream().filter(type -> type.endsWith("+json")).forEach(order::add);
    order.add("application/x-www-form-urlencoded");
    order.add("text/plain");
    return order.stream()
        .filter(plain::containsKey)
        .findFirst()
        .map(type -> Map.entry(type, plain.get(type)));
  }

  private JsonValue input(Node operation) {
    JsonValue.Obj whole = input(input.definitions());
    if (ToolSchemas.isAcceptable(whole)) {
      return whole;
    }
    notes.accept(operation, "a schema that takes too long to check, so what a request holds");
    properties.replaceAll((name, schema) -> JsonValue.object().build());
    return input(Optional.empty());
  }

  private JsonValue.Obj input(Optional<JsonValue.Obj> definitions) {
    var object = JsonValue.object().put("type", "object");
    definitions.ifPresent(all -> object.put("$defs", all));
    object.put("properties", object(properties));
    if (!required.isEmpty()) {
      object.putList("required", List.copyOf(required), JsonValue::of);
    }
    return object.put("additionalProperties", false).build();
  }

  /** The document {@code {status, headers, body}}, with the schema of JSON that succeeds. */
  private JsonValue output(Node operation) {
    HeldSchema held = new HeldSchema(document, HeldSchema.Direction.ANSWER, notes);
    List<JsonValue> bodies = new ArrayList<>();
    boolean other = false;
    Node responses =
        operation
            .get("responses")
            .orElseGet(() -> new Node(operation.pointer() + "/responses", operation.value()));
    for (Map.Entry<String, Node> response :
        responses.isMap() && operation.get("responses").isPresent()
            ? responses.members().entrySet()
            : Map.<String, Node>of().entrySet()) {
      if (!response.getKey().matches("2[0-9][0-9]|2XX|default")) {
        continue;
      }
      Optional<Node> schema =
          document
              .resolved(response.getValue())
              .get("content")
              .map(Node::members)
              .flatMap(all -> Optional.ofNullable(all.get("application/json")))
              .flatMap(json -> json.get("schema"));
      if (schema.isPresent() && !response.getKey().equals("default")) {
        bodies.add(held.convert(schema.get()));
      } else {
        other |= !response.getKey().equals("default");
      }
    }
    if (bodies.isEmpty() || other) {
      return document(JsonValue.object().build(), Optional.empty());
    }
    JsonValue body =
        bodies.size() == 1
            ? bodies.getFirst()
            : JsonValue.object().put("anyOf", JsonValue.of(bodies)).build();
    JsonValue.Obj whole = document(body, held.definitions());
    if (ToolSchemas.isAcceptable(whole)) {
      return whole;
    }
    notes.accept(operation, "a schema that takes too long to check, so what an answer holds");
    return document(JsonValue.object().build(), Optional.empty());
  }

  private static JsonValue.Obj document(JsonValue body, Optional<JsonValue.Obj> definitions) {
    var parts =
        JsonValue.object()
            .put("status", JsonValue.object().put("type", "integer").build())
            .put("headers", JsonValue.object().put("type", "object").build())
            .put("body", body);
    var object = JsonValue.object().put("type", "object");
    definitions.ifPresent(all -> object.put("$defs", all));
    return object
        .put("properties", parts.build())
        .putList("required", List.of("headers", "status"), JsonValue::of)
        .put("additionalProperties", false)
        .build();
  }
}

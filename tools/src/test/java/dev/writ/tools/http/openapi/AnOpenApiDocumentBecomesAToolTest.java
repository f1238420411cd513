package dev.writ.tools.http.openapi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.author.Lint;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.http.HttpApi;
import dev.writ.tools.http.openapi.OpenApiImport.Imported;
import dev.writ.tools.http.openapi.OpenApiImport.Wanted;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is made of an OpenAPI document passes lint, and what is left out of it is told. */
class AnOpenApiDocumentBecomesAToolTest {
  private static final String PETS =
      """
      openapi: 3.0.3
      info: { title: Pet Store!, version: "2.1" }
      servers: [{ url: "https://pets.example/v1/" }]
      security: [{ token: [] }]
      paths:
        /pets/{petId}:
          parameters:
            - { name: petId, in: path, required: true, schema: { type: integer, format: int64 } }
          get:
            operationId: getPetById
            tags: [read]
            summary: Finds a pet.
            parameters:
              - name: fields
                in: query
                explode: false
                schema: { type: array, items: { type: string, enum: [a, b] } }
              - { name: session, in: cookie, schema: { type: string } }
              - { name: X-Trace, in: header, schema: { type: string } }
            responses:
              200:
                description: one
                content:
                  application/json: { schema: { $ref: "#/components/schemas/Pet" } }
              404: { description: none }
          delete:
            operationId: pets/delete
            tags: [write]
            security: []
            responses: { "204": { description: gone } }
        /pets:
          post:
            operationId: addPet
            tags: [write]
            parameters:
              - { name: Idempotency-Key, in: header, schema: { type: string } }
            requestBody:
              required: true
              content:
                application/json: { schema: { $ref: "#/components/schemas/Pet" } }
            responses:
              "201":
                description: made
                content:
                  application/json: { schema: { $ref: "#/components/schemas/Pet" } }
          put:
            operationId: uploadPet
            requestBody:
              required: true
              content: { multipart/form-data: { schema: { type: object } } }
            responses: {}
          get:
            responses: {}
      components:
        securitySchemes:
          token: { type: http, scheme: bearer }
        schemas:
          Pet:
            type: object
            required: [id, name]
            properties:
              id: { type: integer, format: int64, maximum: 9223372036854775807, readOnly: true }
              name: { type: string, minLength: 1, pattern: "^(?!x)" }
              tag: { type: string, nullable: true, x-internal: yes, example: dog }
              mother: { $ref: "#/components/schemas/Pet" }
              age: { type: number, minimum: 0, exclusiveMinimum: true }
              kind: { oneOf: [{ type: string, format: date }, { type: integer }] }
              other: { not: { format: email } }
      """;

  private static Imported imported(String document, String... only) {
    return OpenApiImport.of(
        bytes(document), "api.yaml", new Wanted(Optional.empty(), List.of(only), Optional.empty()));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static ToolProject project(Imported imported) {
    TreeMap<String, byte[]> files = new TreeMap<>();
    files.put("tool.manifest", imported.manifest());
    files.put("tool.lock", bytes("format: 1\ndependencies: []\n"));
    ToolProject project = ToolProject.of(files);
    assertThat(new Lint(new TreeMap<>()).check(project)).isEmpty();
    return project;
  }

  private static ToolManifest.Operation operation(ToolProject project, String name) {
    return project.manifest().operation(name).orElseThrow();
  }

  private static String json(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }

  @Test
  void it_passes_lint_and_says_what_each_request_is_made_of() {
    Imported imported = imported(PETS);
    ToolProject project = project(imported);
    assertThat(imported.tool()).isEqualTo("pet-store");
    assertThat(imported.operations()).containsExactly("addPet", "getPetById", "pets_delete");
    assertThat(project.manifest().version()).isEqualTo("2.1");
    assertThat(project.manifest().capabilities().hosts()).containsExactly("pets.example:443");
    assertThat(project.manifest().capabilities().ownSecrets()).containsExactly("pet_store_token");
    HttpApi api = project.source().http().orElseThrow();
    assertThat(api.operations().get("getPetById").parameters())
        .extracting("property", "explode")
        .containsExactlyInAnyOrder(
            org.assertj.core.groups.Tuple.tuple("petId", false),
            org.assertj.core.groups.Tuple.tuple("fields", false),
            org.assertj.core.groups.Tuple.tuple("X-Trace", false));
    assertThat(api.operations().get("getPetById").credentials()).containsExactly("pet_store_token");
    assertThat(api.operations().get("pets_delete").credentials()).isEmpty();
    assertThat(api.operations().get("pets_delete").idempotent()).isTrue();
    assertThat(api.operations().get("addPet").idempotencyKey()).contains("Idempotency-Key");
    assertThat(api.lines())
        .as("what an approver reads")
        .containsEntry(
            "addPet",
            "POST https://pets.example/v1/pets, content application/json, key in Idempotency-Key,"
                + " with pet_store_token, idempotent, retries 0, redirects same-host");
    assertThat(json(operation(project, "getPetById").input()))
        .contains("\"description\":\"Finds a pet.\"")
        .contains("\"required\":[\"petId\"]");
  }

  @Test
  void the_same_document_gives_the_same_bytes() {
    assertThat(imported(PETS).manifest()).isEqualTo(imported(PETS).manifest());
  }

  @Test
  void what_is_left_out_accepts_more_and_is_told_with_its_line() {
    Imported imported = imported(PETS, "addPet", "getPetById");
    ToolProject project = project(imported);
    ToolSchemas schemas = ToolSchemas.of(project.manifest());
    // Neither a pattern that RE2 does not run nor a bound that no double holds refuses anything.
    schemas.requireInput(
        "addPet",
        Jcs.parse(
            bytes(
                "{\"body\":{\"name\":\"xy\",\"tag\":null,\"mother\":{\"name\":\"a\",\"mother\":7},"
                    + "\"kind\":1,\"other\":\"a@b.c\"}}")));
    // What the server would refuse by what is held is refused before it is sent.
    for (String bad :
        List.of(
            "{}",
            "{\"body\":{\"id\":1}}",
            "{\"body\":{\"name\":\"\"}}",
            "{\"body\":{\"name\":\"a\",\"age\":0}}",
            "{\"body\":{\"name\":\"a\"},\"more\":1}")) {
      assertThatThrownBy(() -> schemas.requireInput("addPet", Jcs.parse(bytes(bad))))
          .as(bad)
          .hasMessageContaining("GRD-403");
    }
    // An answer has to have what it says it has; what only requests have is not asked of it.
    schemas.requireOutput(
        "getPetById",
        Jcs.parse(bytes("{\"status\":200,\"headers\":{},\"body\":{\"id\":1,\"name\":\"a\"}}")));
    assertThatThrownBy(() ->
            schemas.requireOutput(
                "getPetById",
                Jcs.parse(bytes("{\"status\":200,\"headers\":{},\"body\":{\"name\":\"a\"}}"))))
        .hasMessageContaining("GRD-421");
    assertThat(imported.notes())
        .anyMatch(n -> n.contains("`format`") && n.contains("line 8"))
        .anyMatch(n -> n.contains("`pattern`") && n.contains("/components/schemas/Pet"))
        .anyMatch(n -> n.contains("`maximum`"))
        .anyMatch(n -> n.contains("a schema within itself"))
        .anyMatch(n -> n.contains("`not`"))
        .anyMatch(n -> n.contains("a parameter in a cookie"));
  }

  @Test
  void operations_that_the_driver_cannot_do_or_that_have_no_name_are_left_out_and_told() {
    assertThat(imported(PETS).notes())
        .anyMatch(n -> n.startsWith("uploadPet was left out: ") && n.contains("line "))
        .anyMatch(n -> n.startsWith("GET /pets was left out: it has no operationId"))
        .anyMatch(n -> n.startsWith("pets_delete stands for"));
    assertThatThrownBy(() -> imported(PETS, "uploadPet"))
        .as("one that is asked for is no silent loss")
        .hasMessageContaining("TOL-262")
        .hasMessageContaining("line ");
  }

  @Test
  void tags_and_operation_ids_choose() {
    assertThat(imported(PETS, "write").operations()).containsExactly("addPet", "pets_delete");
    assertThat(imported(PETS, "read", "pets/delete").operations())
        .containsExactly("getPetById", "pets_delete");
    assertThatThrownBy(() -> imported(PETS, "read", "nothing"))
        .hasMessageContaining("TOL-261")
        .hasMessageContaining("nothing");
  }

  @Test
  void schemas_of_3_1_are_json_schema() {
    String plain =
        """
        openapi: 3.1.0
        info: { title: t, version: "1" }
        servers: [{ url: "https://x.example" }]
        paths:
          /a:
            post:
              operationId: a
              requestBody:
                content:
                  application/json:
                    schema:
                      type: [object, "null"]
                      properties:
                        id: { $ref: "#/components/schemas/Id", maximum: 9 }
                        pair: { prefixItems: [{ type: string }], items: false }
                        size: { exclusiveMinimum: 0 }
                        any: true
                        moved: { $dynamicRef: "#x" }
              responses: {}
        components: { schemas: { Id: { type: integer, minimum: 1 } } }
        """;
    Imported imported = imported(plain);
    ToolSchemas schemas = ToolSchemas.of(project(imported).manifest());
    schemas.requireInput(
        "a", Jcs.parse(bytes("{\"body\":{\"id\":9,\"pair\":[\"a\"],\"size\":1,\"moved\":[]}}")));
    schemas.requireInput("a", Jcs.parse(bytes("{\"body\":null}")));
    for (String bad :
        List.of(
            "{\"id\":0}",
            "{\"id\":10}",
            "{\"pair\":[\"a\",1]}",
            "{\"pair\":[1]}",
            "{\"size\":0}")) {
      assertThatThrownBy(
              () -> schemas.requireInput("a", Jcs.parse(bytes("{\"body\":" + bad + "}"))))
          .as(bad)
          .hasMessageContaining("GRD-403");
    }
    assertThat(imported.notes()).anyMatch(n -> n.contains("$dynamicRef"));
  }

  private static String minimal(String paths, String more) {
    return """
    openapi: 3.0.0
    info: { title: t, version: "1" }
    servers: [{ url: "https://x.example" }]
    paths:
    %s
    %s
    """
        .formatted(paths.indent(2), more);
  }

  private static String get(String path, String id, String more) {
    return "\"" + path + "\": { get: { operationId: " + id + ", responses: {}" + more + " } }\n";
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://elsewhere.example/schemas.yaml#/Pet",
        "file:///etc/passwd",
        "other.yaml#/Pet",
        "#/components/schemas/Nowhere",
        "#/components/schemas/A",
        "#",
        ""
      })
  void a_reference_out_of_the_document_or_in_a_circle_or_nowhere_is_refused(String reference) {
    String document =
        minimal(
            get(
                "/a",
                "a",
                ", parameters: [{ name: q, in: query, schema: { $ref: \"" + reference + "\" } }]"),
            "components: { schemas: { A: { $ref: \"#/components/schemas/B\" },"
                + " B: { $ref: \"#/components/schemas/A\" } } }");
    assertThatThrownBy(() -> imported(document))
        .hasMessageContaining("TOL-256")
        .hasMessageContaining("api.yaml line ")
        .hasMessageContaining("#/");
  }

  /** Wherever a document may name another: a server that listens is never connected to. */
  @Test
  void nothing_is_fetched_wherever_a_reference_stands() throws IOException {
    try (ServerSocketChannel listening = ServerSocketChannel.open()) {
      listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      listening.configureBlocking(false);
      int port = ((InetSocketAddress) listening.getLocalAddress()).getPort();
      String url = "http://127.0.0.1:" + port + "/x.yaml#/A";
      String ref = "{ $ref: \"" + url + "\" }";
      String body = ", requestBody: { content: { application/json: { schema: ";
      for (String refused :
          List.of(
              "\"/a\": " + ref,
              get("/a", "a", ", parameters: [" + ref + "]"),
              get("/a", "a", ", requestBody: " + ref).replace("get:", "post:"),
              get("/a", "a", body + ref + " } } }").replace("get:", "post:"),
              get("/a", "a", body + "{ type: object, properties: { p: " + ref + " } } } } }")
                  .replace("get:", "post:"),
              get("/a", "a", body + "{ allOf: [" + ref + "] } } } }").replace("get:", "post:"))) {
        assertThatThrownBy(() -> imported(minimal(refused, "")))
            .as(refused)
            .hasMessageContaining("TOL-256")
            .hasMessageContaining("nothing is fetched");
      }
      String ignored =
          get(
                  "/a",
                  "a",
                  ", externalDocs: { url: \""
                      + url
                      + "\" }, requestBody: { content: { application/json: { schema: { type: object"
                      + " }, examples: { e: { externalValue: \""
                      + url
                      + "\" } } } } }")
              .replace("get:", "post:");
      assertThat(imported(minimal(ignored, "")).operations()).containsExactly("a");
      assertThat(listening.accept()).isNull();
    }
  }

  /** A schema of itself, which is no fault: trees are described so. */
  @Test
  void a_schema_that_contains_itself_ends() {
    String document =
        minimal(
            "/a: { post: { operationId: a, responses: {}, requestBody: { content: {"
                + " application/json: { schema: { $ref: \"#/components/schemas/T\" } } } } } }\n",
            "components: { schemas: { T: { type: object, properties: { left: { $ref:"
                + " \"#/components/schemas/T\" }, right: { $ref: \"#/components/schemas/T\" }, all:"
                + " { type: array, items: { $ref: \"#/components/schemas/T\" } } } } } }");
    assertThat(imported(document).operations()).containsExactly("a");
    project(imported(document));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/a/../b",
        "/a/%2e%2e/b",
        "/a//b",
        "/a?b={c}",
        "/a#b",
        "a",
        "/a\\\\b",
        "/a/./b",
        "/{x}/{x}",
        "/a/{b c}",
        "/a\\r\\nX: y",
        "//evil.example/x",
        "/{"
      })
  void a_path_that_could_be_left_is_refused(String path) {
    assertThatThrownBy(() -> imported(minimal(get(path, "a", ""), "")))
        .hasMessageContaining("TOL-259")
        .hasMessageContaining("line ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "http://localhost:8080/v1 | TOL-251",
        "http://127.0.0.1/ | TOL-251",
        "https://10.0.0.5/ | TOL-251",
        "http://169.254.169.254/latest | TOL-251",
        "https://[::1]/ | TOL-251",
        "https://{region}.example.com | TOL-251",
        "/v1 | TOL-251",
        "https://user:pw@x.example/ | TOL-251",
        "ftp://x.example/ | TOL-251",
        "https://x.example/../y | TOL-251"
      })
  void a_server_that_only_the_reader_can_mean_is_refused_unless_it_is_named(
      String url, String code) {
    String document = minimal(get("/a", "a", ""), "").replace("https://x.example", url);
    assertThatThrownBy(() -> imported(document))
        .hasMessageContaining(code)
        .hasMessageContaining("line 3");
    Imported named =
        OpenApiImport.of(
            bytes(document),
            "api.yaml",
            new Wanted(Optional.empty(), List.of(), Optional.of("http://127.0.0.1:8080/v1")));
    assertThat(project(named).manifest().capabilities().hosts()).containsExactly("127.0.0.1:8080");
  }

  @Test
  void names_are_each_operations_own() {
    assertThatThrownBy(() -> imported(minimal(get("/a", "a", "") + get("/b", "a", ""), "")))
        .hasMessageContaining("TOL-258")
        .hasMessageContaining("line 6")
        .hasMessageContaining("line 5");
    assertThatThrownBy(() -> imported(minimal(get("/a", "x.y", "") + get("/b", "x/y", ""), "")))
        .hasMessageContaining("TOL-258");
    String unnamed = minimal(get("/a", "\"1st\"", "") + get("/b", "b", ""), "");
    assertThat(imported(unnamed).operations()).containsExactly("b");
    assertThat(imported(unnamed).notes()).anyMatch(n -> n.startsWith("left out, since no name"));
    assertThatThrownBy(() -> imported(unnamed, "1st")).hasMessageContaining("TOL-258");
  }

  @Test
  void a_document_with_too_many_operations_is_refused_and_a_part_of_it_is_not() {
    String paths =
        IntStream.range(0, 2_000)
            .mapToObj(
                n -> get("/p" + n, "op" + n, ", tags: [" + (n % 2 == 0 ? "even" : "odd") + "]"))
            .collect(Collectors.joining());
    assertThatThrownBy(() -> imported(minimal(paths, "")))
        .hasMessageContaining("TOL-260")
        .hasMessageContaining("2000");
    assertThat(imported(minimal(paths, ""), "op7", "op8").operations())
        .containsExactly("op7", "op8");
  }

  @Test
  void a_million_operations_are_refused_before_they_are_read_as_such() {
    StringBuilder document = new StringBuilder("{\"openapi\":\"3.0.0\",\"paths\":{");
    for (int n = 0; document.length() < 17 << 20; n++) {
      document.append(n == 0 ? "" : ",").append("\"/p").append(n).append("\":{\"get\":{}}");
    }
    assertThatThrownBy(() -> imported(document.append("}}").toString()))
        .hasMessageContaining("TOL-254");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a: &a [x, x]\nb: &b [*a, *a]\nopenapi: 3.0.0\n",
        "openapi: !!java.lang.Runtime 3.0.0\n",
        "openapi: 3.0.0\nopenapi: 3.0.1\n",
        "openapi: 3.0.0\n--- \nopenapi: 3.0.0\n",
        "openapi: 3.0.0\n<<: { a: b }\n",
        "openapi: 3.0.0\ninfo: { title: \"a\u202eb\" }\n",
        "openapi: [",
        "openapi: 3.0.0\n\tx: y\n"
      })
  void yaml_that_grows_constructs_or_misleads_is_refused(String document) {
    assertThatThrownBy(() -> imported(document))
        .hasMessageContaining("TOL-254")
        .hasMessageContaining("api.yaml");
  }

  /** The parser would copy it for each buffer: minutes. */
  @Test
  void a_text_of_many_megabytes_takes_no_time_of_its_square() {
    String document = minimal(get("/a", "a", ""), "x-long: \"" + "a".repeat(14 << 20) + "\"");
    assertThat(imported(document).operations()).containsExactly("a");
  }

  @Test
  void deep_nesting_ends_in_a_refusal() {
    assertThatThrownBy(() -> imported("openapi: 3.0.0\nx: " + "[".repeat(50_000)))
        .hasMessageContaining("TOL-254");
    assertThatThrownBy(() -> imported("{\"openapi\":\"3.0.0\",\"x\":" + "[".repeat(50_000)))
        .hasMessageContaining("TOL-254");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "swagger: \"2.0\"",
        "openapi: 3.2.0",
        "openapi: 2",
        "openapi: \"4.0.0\"",
        "a: b",
        "[]"
      })
  void other_versions_are_refused(String document) {
    assertThatThrownBy(() -> imported(document + "\n"))
        .hasMessageMatching("(?s)(TOL-255|TOL-257) .*api.yaml .*");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "paths: []",
        "paths: { /a: { get: { operationId: 5 } } }",
        "paths: { /a: { get: { operationId: a, parameters: {} } } }",
        "paths: { /a: { get: { operationId: a, parameters: [{ in: query }] } } }",
        "paths: { /a: { get: { operationId: a, parameters: [{ in: query, name: b, required: 1 }] }"
            + " } }",
        "paths: { /a: { get: { operationId: a, parameters: [{ in: query, name: b, schema: 1 }] } }"
            + " }",
        "paths: { /a: { get: { operationId: a, tags: read } } }"
      })
  void what_has_not_the_form_of_its_version_is_refused_at_its_place(String paths) {
    String document = "openapi: 3.0.0\nservers: [{ url: \"https://x.example\" }]\n" + paths + "\n";
    assertThatThrownBy(
            () -> imported(document, paths.contains("tags") ? new String[] {"a"} : new String[0]))
        .hasMessageContaining("TOL-257")
        .hasMessageContaining("api.yaml line 3, #/");
  }

  @Test
  void schemas_that_fan_out_are_bounded() {
    StringBuilder schemas = new StringBuilder("components:\n  schemas:\n");
    for (int n = 0; n < 60; n++) {
      schemas.append(
          "    S%d: { type: object, properties: { a: { $ref: \"#/components/schemas/S%d\" }, b: { $ref: \"#/components/schemas/S%d\" } } }\n"
              .formatted(n, n + 1, n + 1));
    }
    schemas.append("    S60: { type: string }\n");
    String document =
        minimal(
            "/a: { post: { operationId: a, responses: {}, requestBody: { content: {"
                + " application/json: { schema: { $ref: \"#/components/schemas/S0\" } } } } } }\n"
                + get("/b", "b", ""),
            schemas.toString());
    assertThat(imported(document).operations()).contains("b");
    project(imported(document));
  }
}

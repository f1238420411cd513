package dev.writ.surfaces;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.v1.VouchedSurface;
import dev.writ.surfaces.engine.EngineSurface;
import dev.writ.surfaces.engine.ToolExecutionContext;
import dev.writ.surfaces.engine.ToolExecutionIncident;
import dev.writ.surfaces.engine.ToolExecutionRequest;
import dev.writ.surfaces.engine.ToolExecutionResult;
import java.lang.reflect.RecordComponent;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TheOpenApiDocumentIsWhatIsServedTest {
  private static final Pattern NAME = Pattern.compile("\\{([a-z_]+)\\}");

  @TempDir Path dir;

  /** The engine's routes are in the document where the server has that surface. */
  private TestGateway start() {
    return TestGateway.start(
        dir,
        HttpLimits.DEFAULT,
        pipeline ->
            List.of(
                new EngineSurface(pipeline, _ -> Optional.empty(), Lane.DIRECT),
                new VouchedSurface(pipeline, _ -> Optional.empty())));
  }

  private static JsonValue.Obj document(TestGateway gateway) {
    return gateway.send(HttpRequest.newBuilder(gateway.uri("/v1/openapi.json"))).json();
  }

  @Test
  void everyRouteIsAnOperationAndEveryOperationARoute() {
    try (TestGateway gateway = start()) {
      JsonValue.Obj document = document(gateway);
      TreeMap<String, Route> routes = new TreeMap<>();
      gateway.surfaces.stream()
          .flatMap(surface -> surface.routes().stream())
          .forEach(route -> routes.put(route.method() + " " + route.path(), route));
      TreeMap<String, JsonValue.Obj> operations = operations(document);
      assertThat(operations.keySet()).isEqualTo(routes.keySet());
      operations.forEach((name, operation) -> agree(name, operation, routes.get(name)));
      assertThat(references(document))
          .allSatisfy(ref -> assertThat(at(document, ref)).as(ref).isNotNull());
    }
  }

  @Test
  void aSurfaceThatIsNotServedIsNotDescribedAndTheServerIsNamed() {
    try (TestGateway gateway = TestGateway.start(dir)) {
      JsonValue.Obj document = document(gateway);
      assertThat(operations(document).keySet())
          .contains("POST /v1/effects")
          .noneMatch(name -> name.contains("/v1/tool-executions"))
          .noneMatch(name -> name.contains("/v1/vouched-effects"));
      assertThat(new String(Jcs.write(document.get("servers")), StandardCharsets.UTF_8))
          .contains("\"url\":\"/\"");
    }
  }

  @Test
  void aRefusalBeforeADecisionIsAProblemAndTheDocumentSaysSo() {
    try (TestGateway gateway = TestGateway.start(dir)) {
      gateway.home.revoke("alice");
      var refused = gateway.submit(gateway.home.ask("alice").sign());
      assertThat(refused.status()).isEqualTo(403);
      assertThat(refused.header("Content-Type")).isEqualTo("application/problem+json");
      for (String path : List.of("effects", "decisions")) {
        JsonValue.Obj content =
            (JsonValue.Obj)
                at(
                    operations(document(gateway)).get("POST /v1/" + path),
                    "#/responses/403/content");
        assertThat(content.members().keySet())
            .containsExactly("application/json", "application/problem+json");
      }
    }
  }

  private static TreeMap<String, JsonValue.Obj> operations(JsonValue.Obj document) {
    TreeMap<String, JsonValue.Obj> operations = new TreeMap<>();
    ((JsonValue.Obj) document.get("paths"))
        .members()
        .forEach((path, item) ->
            ((JsonValue.Obj) item)
                .members()
                .forEach((method, operation) ->
                    operations.put(
                        method.toUpperCase(Locale.ROOT) + " " + path, (JsonValue.Obj) operation)));
    return operations;
  }

  private static void agree(String name, JsonValue.Obj operation, Route route) {
    boolean body = !(route.body() instanceof Route.Body.None);
    assertThat(operation.get("requestBody") != null).as(name + " body").isEqualTo(body);
    boolean secured = !((JsonValue.Arr) operation.get("security")).items().isEmpty();
    assertThat(secured).as(name + " security").isEqualTo(route.access() == Route.Access.CALLER);
    assertThat(((JsonValue.Obj) operation.get("responses")).members())
        .as(name)
        .containsKey("default")
        .hasSizeGreaterThan(1);
    TreeSet<String> inPath = new TreeSet<>();
    NAME.matcher(route.path()).results().forEach(m -> inPath.add(m.group(1)));
    TreeSet<String> declared = new TreeSet<>();
    if (operation.get("parameters") instanceof JsonValue.Arr parameters) {
      for (JsonValue parameter : parameters.items()) {
        JsonValue.Obj p = (JsonValue.Obj) parameter;
        if (p.get("in").equals(JsonValue.of("path"))) {
          declared.add(((JsonValue.Str) p.get("name")).value());
        }
      }
    }
    assertThat(declared).as(name + " path parameters").isEqualTo(inPath);
  }

  private static List<String> references(JsonValue value) {
    List<String> found = new ArrayList<>();
    switch (value) {
      case JsonValue.Obj object -> {
        if (object.get("$ref") instanceof JsonValue.Str ref) {
          found.add(ref.value());
        }
        object.members().values().forEach(member -> found.addAll(references(member)));
      }
      case JsonValue.Arr list -> list.items().forEach(item -> found.addAll(references(item)));
      default -> {}
    }
    return found;
  }

  private static JsonValue at(JsonValue.Obj document, String ref) {
    JsonValue at = document;
    for (String part : ref.substring("#/".length()).split("/")) {
      at = ((JsonValue.Obj) at).get(part);
    }
    return at;
  }

  @Test
  void theContractOfTheEngineHasTheMembersOfItsRecords() {
    try (TestGateway gateway = TestGateway.start(dir)) {
      JsonValue.Obj document =
          gateway.send(HttpRequest.newBuilder(gateway.uri("/v1/openapi.json"))).json();
      for (Class<?> type :
          List.of(
              ToolExecutionRequest.class,
              ToolExecutionContext.class,
              ToolExecutionIncident.class,
              ToolExecutionResult.class,
              ToolExecutionResult.Metrics.class,
              ToolExecutionResult.Artifact.class)) {
        TreeSet<String> components = new TreeSet<>();
        for (RecordComponent component : type.getRecordComponents()) {
          components.add(component.getName());
        }
        assertThat(schema(document, type).members().keySet())
            .as(type.getSimpleName())
            .isEqualTo(components);
      }
    }
  }

  private static JsonValue.Obj schema(JsonValue.Obj document, Class<?> type) {
    String result = "#/components/schemas/ToolExecutionResult/properties/";
    String at =
        switch (type.getSimpleName()) {
          case "Metrics" -> result + "metrics";
          case "Artifact" -> result + "outputArtifacts/items";
          default -> "#/components/schemas/" + type.getSimpleName();
        };
    return (JsonValue.Obj) at(document, at + "/properties");
  }

  @Test
  void theEnvelopeOfTheDocumentHasTheMembersOfAnEnvelope() throws Exception {
    try (TestGateway gateway = TestGateway.start(dir)) {
      JsonValue.Obj document =
          gateway.send(HttpRequest.newBuilder(gateway.uri("/v1/openapi.json"))).json();
      JsonValue.Obj schema = (JsonValue.Obj) at(document, "#/components/schemas/Envelope");
      JsonValue.Obj envelope = gateway.home.ask("alice").sign().toJson();
      assertThat(((JsonValue.Obj) schema.get("properties")).members().keySet())
          .isEqualTo(envelope.members().keySet());
      assertThat(Jcs.write(envelope)).isNotEmpty();
    }
  }
}

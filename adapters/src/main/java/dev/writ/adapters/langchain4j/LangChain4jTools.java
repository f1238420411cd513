package dev.writ.adapters.langchain4j;

import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.request.json.JsonRawSchema;
import dev.langchain4j.model.chat.request.json.JsonSchemaElement;
import dev.langchain4j.service.tool.ToolExecutor;
import dev.langchain4j.service.tool.ToolProvider;
import dev.langchain4j.service.tool.ToolProviderRequest;
import dev.langchain4j.service.tool.ToolProviderResult;
import dev.writ.adapters.OfferedTools;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.client.AvailableOperation;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Tools of Writ for LangChain4j: {@code AiServices.builder(…).toolProvider(new
 * LangChain4jTools(offered))}. The id of a tool call is its idempotency key in the run.
 */
public final class LangChain4jTools implements ToolProvider {
  private final OfferedTools offered;

  public LangChain4jTools(OfferedTools offered) {
    this.offered = offered;
  }

  @Override
  public ToolProviderResult provideTools(ToolProviderRequest request) {
    return new ToolProviderResult(tools());
  }

  /** The same for {@code AiServices.builder(…).tools(…)}. */
  public Map<ToolSpecification, ToolExecutor> tools() {
    Map<ToolSpecification, ToolExecutor> tools = new LinkedHashMap<>();
    offered
        .operations()
        .forEach((name, operation) ->
            tools.put(
                specification(name, operation),
                (call, _) -> offered.call(name, call.arguments(), Optional.ofNullable(call.id()))));
    return tools;
  }

  private static ToolSpecification specification(String name, AvailableOperation operation) {
    return ToolSpecification.builder()
        .name(name)
        .description(operation.description().isEmpty() ? name : operation.description())
        .parameters(parameters(operation.input()))
        .build();
  }

  /**
   * The properties' schemas as they are, with the definitions that they refer to; LangChain4j has
   * no type for all that they can say.
   */
  private static JsonObjectSchema parameters(JsonValue.Obj schema) {
    JsonObjectSchema.Builder parameters = JsonObjectSchema.builder();
    parameters.addProperties(schemas(schema, "properties"));
    parameters.definitions(schemas(schema, "$defs"));
    if (schema.get("required") instanceof JsonValue.Arr required) {
      List<String> names =
          required.items().stream().map(name -> ((JsonValue.Str) name).value()).toList();
      parameters.required(names);
    }
    return parameters.additionalProperties(false).build();
  }

  private static Map<String, JsonSchemaElement> schemas(JsonValue.Obj schema, String keyword) {
    Map<String, JsonSchemaElement> schemas = new LinkedHashMap<>();
    if (schema.get(keyword) instanceof JsonValue.Obj named) {
      named
          .members()
          .forEach((name, each) ->
              schemas.put(
                  name, JsonRawSchema.from(new String(Jcs.write(each), StandardCharsets.UTF_8))));
    }
    return schemas;
  }
}

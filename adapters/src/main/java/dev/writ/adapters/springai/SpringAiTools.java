package dev.writ.adapters.springai;

import dev.writ.adapters.OfferedTools;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.client.AvailableOperation;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.ToolCallbackProvider;
import org.springframework.ai.tool.definition.ToolDefinition;

/**
 * Tools of Writ for Spring AI: {@code ChatClient.create(model).prompt().toolCallbacks(new
 * SpringAiTools(offered))}. Spring AI gives no id of a call, so two equal calls are two effects.
 */
public final class SpringAiTools implements ToolCallbackProvider {
  private final OfferedTools offered;

  public SpringAiTools(OfferedTools offered) {
    this.offered = offered;
  }

  @Override
  public ToolCallback[] getToolCallbacks() {
    return offered.operations().entrySet().stream()
        .map(each -> callback(each.getKey(), each.getValue()))
        .toArray(ToolCallback[]::new);
  }

  private ToolCallback callback(String name, AvailableOperation operation) {
    ToolDefinition definition =
        ToolDefinition.builder()
            .name(name)
            .description(operation.description().isEmpty() ? name : operation.description())
            .inputSchema(new String(Jcs.write(operation.input()), StandardCharsets.UTF_8))
            .build();
    return new ToolCallback() {
      @Override
      public ToolDefinition getToolDefinition() {
        return definition;
      }

      @Override
      public String call(String arguments) {
        return offered.call(name, arguments, Optional.empty());
      }
    };
  }
}

package dev.writ.cli.clients;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.AiServices;
import dev.writ.adapters.OfferedTools;
import dev.writ.adapters.langchain4j.LangChain4jTools;
import dev.writ.adapters.springai.SpringAiTools;
import dev.writ.client.WritClient;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.springframework.ai.tool.ToolCallback;

/** How a program gives a framework the tools of Writ, with a stand-in for the model. */
final class FrameworksExample {
  private FrameworksExample() {}

  /** What a program's users see of an assistant. */
  interface Assistant {
    String chat(String message);
  }

  /** LangChain4j's own loop: the model asks for tools, is told, and answers. */
  static String langChain4j(WritClient client, String run) {
    OfferedTools offered = offered(client, run);
    Assistant assistant =
        AiServices.builder(Assistant.class)
            .chatModel(new Model())
            .toolProvider(new LangChain4jTools(offered))
            .build();
    return assistant.chat("What is six times seven?");
  }

  /** Some models name none of their calls, and write no arguments where there are none to write. */
  static String unnamed(WritClient client, String run) {
    OfferedTools offered = offered(client, run);
    return offered.call("js", "{\"source\":\"1\"}", Optional.of(""))
        + " "
        + offered.call("js", "{\"source\":\"2\"}", Optional.of(""))
        + " "
        + new SpringAiTools(offered).getToolCallbacks()[0].call(null);
  }

  /** What Spring AI's ChatClient does with the callbacks that a prompt has. */
  static String springAi(WritClient client, String run) {
    ToolCallback[] callbacks = new SpringAiTools(offered(client, run)).getToolCallbacks();
    ToolCallback js = callbacks[0];
    return js.getToolDefinition().name()
        + " "
        + js.getToolDefinition().inputSchema().contains("\"source\"")
        + " "
        + js.call("{\"source\":\"6*7\"}")
        + " | "
        + js.call("{\"source\":\"" + "1".repeat(20_001) + "\"}");
  }

  private static OfferedTools offered(WritClient client, String run) {
    return OfferedTools.of(client, o -> o.tool().equals("js"), run, Duration.ZERO);
  }

  /** Asks for two things, of which policy allows one, and then says what it was told. */
  static final class Model implements ChatModel {
    @Override
    public ChatResponse doChat(ChatRequest request) {
      List<String> told =
          request.messages().stream()
              .filter(ToolExecutionResultMessage.class::isInstance)
              .map(ToolExecutionResultMessage.class::cast)
              .map(ToolExecutionResultMessage::text)
              .toList();
      ChatMessage answer =
          told.isEmpty()
              ? AiMessage.from(List.of(call("1", "6*7"), call("2", "1".repeat(20_001))))
              : AiMessage.from(told.stream().collect(Collectors.joining(" | ")));
      return ChatResponse.builder().aiMessage((AiMessage) answer).build();
    }

    private static ToolExecutionRequest call(String id, String source) {
      return ToolExecutionRequest.builder()
          .id(id)
          .name("js")
          .arguments("{\"source\":\"" + source + "\"}")
          .build();
    }
  }
}

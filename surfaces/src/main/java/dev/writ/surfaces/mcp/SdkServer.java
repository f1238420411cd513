package dev.writ.surfaces.mcp;

import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.schema.JsonSchemaValidator;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpStatelessServerFeatures.SyncResourceTemplateSpecification;
import io.modelcontextprotocol.server.McpStatelessServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * The SDK's stateless server, which implements the protocol. It is made for each request with what
 * that caller may see, so that callers cannot see each other's data.
 */
final class SdkServer {
  static final McpJsonMapper MAPPER = McpJsonDefaults.getMapper();

  private SdkServer() {}

  static McpStatelessServerHandler of(
      String name,
      String version,
      String instructions,
      McpSchema.ServerCapabilities capabilities,
      List<SyncToolSpecification> tools,
      List<SyncResourceTemplateSpecification> templates) {
    Link link = new Link();
    McpServer.sync(link)
        .serverInfo(name, version)
        .instructions(instructions)
        .capabilities(capabilities)
        .jsonMapper(MAPPER)
        .jsonSchemaValidator(new NoSecondOpinion())
        .strictToolNameValidation(false)
        .validateToolInputs(false)
        .immediateExecution(true)
        .tools(tools)
        .resourceTemplates(templates)
        .build();
    return link.handler;
  }

  /** Gets the SDK's handler; the transport is {@link McpEndpoint}. */
  private static final class Link implements McpStatelessServerTransport {
    private McpStatelessServerHandler handler;

    @Override
    public void setMcpHandler(McpStatelessServerHandler handler) {
      this.handler = handler;
    }

    @Override
    public Mono<Void> closeGracefully() {
      return Mono.empty();
    }

    @Override
    public List<String> protocolVersions() {
      return McpVersion.withSessions();
    }
  }

  /**
   * The Guardian validates inputs and the executor outputs, by the same schemas: the SDK need not
   * validate again.
   */
  private static final class NoSecondOpinion implements JsonSchemaValidator {
    @Override
    public ValidationResponse validate(Map<String, Object> schema, Object content) {
      return ValidationResponse.asValid("");
    }
  }
}

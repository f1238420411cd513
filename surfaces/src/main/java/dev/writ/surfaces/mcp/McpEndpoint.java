package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.policy.Policy;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.schema.JsonSchemaValidator;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpStatelessServerFeatures.SyncResourceTemplateSpecification;
import io.modelcontextprotocol.server.McpStatelessServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ErrorCodes;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
import io.modelcontextprotocol.spec.ProtocolVersions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/**
 * Answers one request of the protocol, on any transport. The SDK's stateless server implements the
 * protocol. It is made for each request with what that caller may see, so that callers cannot see
 * each other's data.
 */
public final class McpEndpoint {
  /** Oldest first. Earlier versions have batches, or another HTTP transport. */
  public static final List<String> VERSIONS =
      List.of(ProtocolVersions.MCP_2025_06_18, ProtocolVersions.MCP_2025_11_25);

  private static final String INSTRUCTIONS =
      "Every call is judged by policy and ends in a signed receipt or a signed denial; its ids are"
          + " in the result's _meta. A call that waits for approval says what to approve.";

  private static final McpJsonMapper MAPPER = McpJsonDefaults.getMapper();

  private final McpParts parts;
  private final Calls calls;
  private final McpResources resources;

  public McpEndpoint(McpParts parts) {
    this.parts = parts;
    this.calls = new Calls(parts);
    this.resources = new McpResources(parts.kernel(), parts.bundles());
  }

  /**
   * An answer.
   *
   * @param json one JSON-RPC response
   * @param failed whether it is an error of the protocol; a failed tool is not
   * @param request the id of the request that a tool's call became, for the log
   */
  public record Reply(
      byte[] json, boolean failed, Optional<String> request, Optional<String> receipt) {}

  /**
   * @param raw digest of the message as received
   * @param context further data for the request that a call becomes; no decision uses it
   */
  public Reply answer(
      McpSession session, McpMessage.Request message, Digest raw, JsonValue.Obj context) {
    return new Exchange(session, message, new IncomingCall(raw, context)).answer();
  }

  /** Gets the SDK's handler; the transport is this class. */
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
      return VERSIONS;
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

  /** One request and its context. */
  private final class Exchange {
    private final McpSession session;
    private final McpMessage.Request message;
    private final IncomingCall said;
    private final Call call;
    private final Optional<Catalogue.Usable> called;
    private Optional<RuntimeException> unforeseen = Optional.empty();
    private Map<String, Object> meta = Map.of();

    Exchange(McpSession session, McpMessage.Request message, IncomingCall said) {
      this.session = session;
      this.message = message;
      this.said = said;
      boolean calls = message.method().equals(McpSchema.METHOD_TOOLS_CALL);
      this.call = Call.of(calls ? message.params() : Optional.empty());
      this.called = call.name().flatMap(name -> catalogue().find(session.caller(), name));
    }

    Reply answer() {
      Object id = PlainJson.of(message.id());
      if (message.method().equals(McpSchema.METHOD_RESOURCES_READ) && !namesResource()) {
        return reply(paramsRefused(id));
      }
      McpStatelessServerHandler server = server();
      JSONRPCRequest request = new JSONRPCRequest(message.method(), id, params());
      JSONRPCResponse response;
      try {
        response = server.handleRequest(McpTransportContext.EMPTY, request).block();
      } catch (RuntimeException e) {
        response = paramsRefused(id); // some methods throw instead of answering
      }
      if (unforeseen.isPresent()) {
        throw unforeseen.get();
      }
      return reply(inOrder(withoutInternals(response)));
    }

    private boolean namesResource() {
      return message.params().orElse(JsonValue.NULL) instanceof JsonValue.Obj params
          && params.get("uri") instanceof JsonValue.Str;
    }

    /** The SDK keeps lists in unordered tables; this restores our order. */
    private JSONRPCResponse inOrder(JSONRPCResponse response) {
      return switch (response.result()) {
        case McpSchema.ListResourcesResult _ ->
            JSONRPCResponse.result(
                response.id(),
                McpSchema.ListResourcesResult.builder(resources.list(session)).build());
        case McpSchema.ListResourceTemplatesResult _ ->
            JSONRPCResponse.result(
                response.id(),
                McpSchema.ListResourceTemplatesResult.builder(McpResources.templates()).build());
        case null, default -> response;
      };
    }

    private Reply reply(JSONRPCResponse told) {
      try {
        return new Reply(
            MAPPER.writeValueAsBytes(told), told.error() != null, id("request"), id("receipt"));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private Optional<String> id(String what) {
      return Optional.ofNullable((String) meta.get(Results.META + what));
    }

    /**
     * Our code reports its own failures, so an internal error of the SDK means malformed params.
     */
    private static JSONRPCResponse withoutInternals(JSONRPCResponse response) {
      return response.error() != null && response.error().code() == ErrorCodes.INTERNAL_ERROR
          ? paramsRefused(response.id())
          : response;
    }

    private static JSONRPCResponse paramsRefused(Object id) {
      return JSONRPCResponse.error(
          id,
          new JSONRPCResponse.JSONRPCError(
              ErrorCodes.INVALID_PARAMS, "the params are not what the method takes"));
    }

    private McpStatelessServerHandler server() {
      Link link = new Link();
      McpServer.sync(link)
          .serverInfo("writ", parts.version())
          .instructions(INSTRUCTIONS)
          .capabilities(
              McpSchema.ServerCapabilities.builder().tools(false).resources(false, false).build())
          .jsonMapper(MAPPER)
          .jsonSchemaValidator(new NoSecondOpinion())
          .validateToolInputs(false)
          .immediateExecution(true)
          .tools(tools())
          .resourceTemplates(templates())
          .build();
      return link.handler;
    }

    /** Arguments bypass the SDK: they are judged as the strict parser read them. */
    private Object params() {
      if (message.method().equals(McpSchema.METHOD_TOOLS_CALL)) {
        return Map.of("name", calledView().name(), "arguments", Map.of());
      }
      return message.params().map(PlainJson::of).orElse(Map.of());
    }

    private List<SyncToolSpecification> tools() {
      return switch (message.method()) {
        case McpSchema.METHOD_TOOLS_LIST -> listed();
        case McpSchema.METHOD_TOOLS_CALL ->
            List.of(new SyncToolSpecification(calledView(), (_, _) -> guarded(this::call)));
        default -> List.of();
      };
    }

    private List<SyncToolSpecification> listed() {
      BiFunction<McpTransportContext, McpSchema.CallToolRequest, CallToolResult> never =
          (_, _) -> {
            throw new IllegalStateException("tools/list calls nothing");
          };
      List<SyncToolSpecification> all = new ArrayList<>();
      catalogue()
          .usable(session.caller())
          .forEach(tool -> all.add(new SyncToolSpecification(view(tool), never)));
      all.add(new SyncToolSpecification(OutcomeTool.view(), never));
      return all;
    }

    private McpSchema.Tool view(Catalogue.Usable tool) {
      return ToolView.of(tool.entry(), parts.tools().granted(tool.entry().manifest()));
    }

    private Catalogue catalogue() {
      Policy policy = parts.kernel().system().policyInForce();
      return new Catalogue(
          policy,
          parts.tools(),
          parts.kernel().access().draw(session.caller().who(policy), session.run()));
    }

    /**
     * A tool that is not listed is represented by a stand-in, so that its call still reaches the
     * Guardian.
     */
    private McpSchema.Tool calledView() {
      return called
          .map(this::view)
          .orElseGet(() ->
              McpSchema.Tool.builder("not-listed", Map.<String, Object>of("type", "object"))
                  .build());
    }

    private CallToolResult call() {
      CallToolResult result =
          call.name().filter(OutcomeTool.NAME::equals).isPresent()
              ? calls.outcome(session, call)
              : called.isPresent()
                  ? calls.listed(session, called.get(), call, said)
                  : calls.unlisted(session, call, said);
      meta = result.meta();
      return result;
    }

    private List<SyncResourceTemplateSpecification> templates() {
      return McpResources.templates().stream()
          .map(template -> new SyncResourceTemplateSpecification(template, this::read))
          .toList();
    }

    private McpSchema.ReadResourceResult read(
        McpTransportContext context, McpSchema.ReadResourceRequest asked) {
      return guarded(() -> resources.read(session.caller(), asked.uri()));
    }

    /** Keeps an unexpected exception for the transport to report; the SDK would expose it. */
    private <T> T guarded(Supplier<T> work) {
      try {
        return work.get();
      } catch (McpError e) {
        throw e;
      } catch (RuntimeException e) {
        unforeseen = Optional.of(e);
        throw e;
      }
    }
  }
}

package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.server.McpStatelessServerFeatures.SyncResourceTemplateSpecification;
import io.modelcontextprotocol.server.McpStatelessServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ErrorCodes;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** One request of the protocol, in its session, and the answer. */
final class McpExchange {
  /** What a request without a session may ask for. */
  private static final List<String> STATELESS =
      List.of(
          StatelessProtocol.DISCOVER,
          McpSchema.METHOD_TOOLS_LIST,
          McpSchema.METHOD_TOOLS_CALL,
          McpSchema.METHOD_RESOURCES_LIST,
          McpSchema.METHOD_RESOURCES_TEMPLATES_LIST,
          McpSchema.METHOD_RESOURCES_READ,
          Completions.METHOD);

  /** What the view of one server does not have: our own resources are not of it. */
  private static final List<String> NOT_OF_SERVERS =
      List.of(
          McpSchema.METHOD_RESOURCES_LIST,
          McpSchema.METHOD_RESOURCES_TEMPLATES_LIST,
          Completions.METHOD);

  private static final String INSTRUCTIONS =
      "Every call is judged by policy and ends in a signed receipt or a signed denial; its ids are"
          + " in the result's _meta. A call that waits for approval says what to approve.";

  private static final TypeRef<LinkedHashMap<String, Object>> AS_MAP = new TypeRef<>() {};

  private final McpEndpoint endpoint;
  private final McpDependencies parts;
  private final McpSession session;
  private final McpMessage.Request message;
  private final IncomingCall said;
  private final boolean isPassed;
  private final ToolCallParams call;
  private final Optional<Catalogue.Usable> called;
  private Optional<RuntimeException> unforeseen = Optional.empty();
  private Map<String, Object> meta = Map.of();
  private Optional<ApprovalQuestion> question = Optional.empty();

  McpExchange(
      McpEndpoint endpoint, McpSession session, McpMessage.Request message, IncomingCall said) {
    endpoint.requireSomething(session);
    this.endpoint = endpoint;
    this.parts = endpoint.parts();
    this.session = session;
    this.message = message;
    this.said = said;
    boolean calls = message.method().equals(McpSchema.METHOD_TOOLS_CALL);
    Optional<Catalogue.Usable> method =
        isOfServer() && isForServer()
            ? endpoint.catalogue(session).method(session.caller(), message.method())
            : Optional.empty();
    this.isPassed = method.isPresent();
    this.call =
        isPassed
            ? ToolCallParams.ofMethod(message.method(), message.params())
            : ToolCallParams.of(calls ? message.params() : Optional.empty());
    this.called =
        isPassed
            ? method
            : call.name().flatMap(name -> endpoint.catalogue(session).find(session.caller(), name));
  }

  McpEndpoint.Reply answer() {
    Map<ListKind, Digest> shown = lists() ? endpoint.shown(session) : Map.of();
    McpEndpoint.Reply reply = answered();
    if (!reply.failed() && message.method().equals(McpSchema.METHOD_INITIALIZE)) {
      session.lists().begin(shown);
    } else if (!reply.failed()) {
      shown.forEach((kind, digest) -> {
        if (message.method().equals(kind.text() + "/list")) {
          session.lists().saw(kind, digest);
        }
      });
    }
    return reply;
  }

  /** Whether its answer says what a list shows, or that the client is told of its changes. */
  private boolean lists() {
    return List.of(
            McpSchema.METHOD_INITIALIZE, McpSchema.METHOD_TOOLS_LIST, McpSchema.METHOD_PROMPT_LIST)
        .contains(message.method());
  }

  private McpEndpoint.Reply answered() {
    Object id = PlainJson.of(message.id());
    if (isPassed) {
      return reply(ServerMethods.answer(id, call()));
    }
    if (isOfServer()) {
      Optional<Map<String, Object>> pinned = methods().pinned(message.method());
      if (pinned.isPresent()) {
        return reply(JSONRPCResponse.result(id, pinned.get()));
      }
      if (message.method().equals(McpSchema.METHOD_LOGGING_SET_LEVEL)) {
        return reply(levelSet(id));
      }
    }
    if (version().isStateless() && !STATELESS.contains(message.method())
        || isOfServer() && NOT_OF_SERVERS.contains(message.method())) {
      return reply(McpFaults.unserved(id));
    }
    if (message.method().equals(StatelessProtocol.DISCOVER)) {
      return reply(JSONRPCResponse.result(id, discovered()));
    }
    if (message.method().equals(Completions.METHOD)) {
      return reply(
          endpoint
              .completions()
              .complete(session, message)
              .map(result -> JSONRPCResponse.result(id, result))
              .orElseGet(() -> McpFaults.paramsRefused(id)));
    }
    if (message.method().equals(McpSchema.METHOD_RESOURCES_READ) && !namesResource()) {
      return reply(McpFaults.paramsRefused(id));
    }
    McpStatelessServerHandler server =
        SdkServer.of(
            session.view().name(),
            parts.version(),
            INSTRUCTIONS,
            capabilities(),
            tools(),
            templates());
    JSONRPCRequest request = new JSONRPCRequest(message.method(), id, params());
    JSONRPCResponse response;
    try {
      response = server.handleRequest(McpTransportContext.EMPTY, request).block();
    } catch (RuntimeException e) {
      response = McpFaults.paramsRefused(id); // some methods throw instead of answering
    }
    if (unforeseen.isPresent()) {
      throw unforeseen.get();
    }
    JSONRPCResponse told = inOrder(McpFaults.withoutInternals(response));
    if (message.method().equals(McpSchema.METHOD_INITIALIZE)
        && told.result() instanceof McpSchema.InitializeResult agreed) {
      session.agreed(
          McpPeer.of(
              McpVersion.of(agreed.protocolVersion()).orElseThrow(),
              message.param("capabilities").orElse(JsonValue.NULL) instanceof JsonValue.Obj c
                  ? c
                  : JsonValue.object().build()));
    }
    return reply(told);
  }

  private boolean isOfServer() {
    return session.view().server().isPresent();
  }

  private boolean isForServer() {
    return ServerMethods.EFFECTS.contains(message.method())
        && !ServerMethods.isOurs(message.param("uri"));
  }

  /** For the calls that follow in the session; a version without sessions has no such method. */
  private JSONRPCResponse levelSet(Object id) {
    if (!methods().logs() || version().isStateless()) {
      return McpFaults.unserved(id);
    }
    if (!(message.param("level").orElse(JsonValue.NULL) instanceof JsonValue.Str level)
        || !McpCallPeer.LEVELS.contains(level.value())) {
      return McpFaults.paramsRefused(id);
    }
    session.logs(level.value());
    return JSONRPCResponse.result(id, Map.of());
  }

  private ServerMethods methods() {
    return new ServerMethods(endpoint.catalogue(session), session.caller());
  }

  private McpVersion version() {
    return session.peer().version();
  }

  private Map<String, Object> discovered() {
    Map<String, Object> capabilities = new TreeMap<>();
    capabilities.put("tools", Map.of("listChanged", true));
    if (isOfServer()) {
      capabilities.putAll(methods().capabilities());
      capabilities.computeIfPresent(ListKind.PROMPTS.text(), (_, _) -> Map.of("listChanged", true));
    } else {
      capabilities.put("resources", Map.of());
      capabilities.put("completions", Map.of());
    }
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("supportedVersions", McpVersion.spoken());
    result.put("capabilities", capabilities);
    result.put("instructions", INSTRUCTIONS);
    return result;
  }

  private Map<String, Object> server() {
    return new TreeMap<>(Map.of("name", session.view().name(), "version", parts.version()));
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
              McpSchema.ListResourcesResult.builder(endpoint.resources().list(session)).build());
      case McpSchema.ListResourceTemplatesResult _ ->
          JSONRPCResponse.result(
              response.id(),
              McpSchema.ListResourceTemplatesResult.builder(McpResources.templates()).build());
      case null, default -> response;
    };
  }

  private McpEndpoint.Reply reply(JSONRPCResponse response) {
    JSONRPCResponse told =
        version().isStateless() && question.isPresent()
            ? JSONRPCResponse.result(
                response.id(),
                ResultForms.shaped(
                    version(),
                    message.method(),
                    ResultForms.asking(question.get(), meta),
                    server()))
            : inDialect(response);
    try {
      return new McpEndpoint.Reply(
          SdkServer.MAPPER.writeValueAsBytes(told),
          told.error() != null,
          told.error() != null && told.error().code() == ErrorCodes.METHOD_NOT_FOUND,
          id("request"),
          id("receipt"),
          version().isStateless() ? Optional.empty() : question);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private JSONRPCResponse inDialect(JSONRPCResponse told) {
    if (told.error() != null) {
      return version().isStateless() ? McpFaults.stateless(told) : told;
    }
    if (!ResultForms.differs(version(), message.method())) {
      return told;
    }
    Map<String, Object> result = SdkServer.MAPPER.convertValue(told.result(), AS_MAP);
    return JSONRPCResponse.result(
        told.id(), ResultForms.shaped(version(), message.method(), result, server()));
  }

  private Optional<String> id(String what) {
    return Optional.ofNullable((String) meta.get(Results.META + what));
  }

  /** What is not announced in the view of one server may be read all the same: an output. */
  private McpSchema.ServerCapabilities capabilities() {
    McpSchema.ServerCapabilities.Builder all = McpSchema.ServerCapabilities.builder().tools(true);
    if (!isOfServer() || message.method().equals(McpSchema.METHOD_RESOURCES_READ)) {
      return all.resources(false, false).completions().build();
    }
    for (String capability : methods().capabilities().keySet()) {
      switch (capability) {
        case "prompts" -> all.prompts(true);
        case "resources" -> all.resources(false, false);
        case "completions" -> all.completions();
        default -> all.logging();
      }
    }
    return all.build();
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
    endpoint
        .catalogue(session)
        .usable(session.caller())
        .forEach(tool -> all.add(new SyncToolSpecification(view(tool), never)));
    if (!isOfServer()) {
      all.add(new SyncToolSpecification(OutcomeTool.view(), never));
    }
    return all;
  }

  private McpSchema.Tool view(Catalogue.Usable tool) {
    ToolManifest manifest = tool.entry().manifest();
    return parts
        .tools()
        .listed(manifest, tool.entry().operation())
        .map(listed -> ToolView.ofServer(tool.entry(), listed))
        .orElseGet(() ->
            ToolView.of(
                tool.entry(),
                parts.tools().input(manifest, tool.entry().operation()),
                parts.tools().granted(manifest)));
  }

  /**
   * A tool that is not listed is represented by a stand-in, so that its call still reaches the
   * Guardian.
   */
  private McpSchema.Tool calledView() {
    return called
        .map(this::view)
        .orElseGet(() ->
            McpSchema.Tool.builder("not-listed", Map.<String, Object>of("type", "object")).build());
  }

  private CallToolResult call() {
    Optional<Digest> state = state();
    CallToolResult result =
        !isOfServer() && call.name().filter(OutcomeTool.NAME::equals).isPresent()
            ? endpoint.calls().outcome(session, call, said)
            : called.isEmpty()
                ? endpoint.calls().unlisted(session, call, said)
                : state.isPresent()
                    ? endpoint
                        .calls()
                        .retried(session, called.get(), call, said, state.get(), goesOn())
                    : endpoint.calls().listed(session, called.get(), call, said);
    meta = result.meta();
    question = goesOn() ? question(result) : Optional.empty();
    return result;
  }

  /** What a client gives back of our question, which it may have changed. */
  private Optional<Digest> state() {
    Optional<JsonValue> given =
        version().isStateless() ? message.param("requestState") : Optional.empty();
    return given.map(value -> {
      if (value instanceof JsonValue.Str text && text.value().matches("sha256:[0-9a-f]{64}")) {
        return Digest.parse(text.value());
      }
      throw new WritException(McpRefusal.STATE, "");
    });
  }

  /** False where the person beside the client declined, so that nobody is asked again. */
  private boolean goesOn() {
    return message
        .param("inputResponses")
        .filter(JsonValue.Obj.class::isInstance)
        .map(all -> ((JsonValue.Obj) all).get(ApprovalQuestion.KEY))
        .filter(JsonValue.Obj.class::isInstance)
        .map(one -> ((JsonValue.Obj) one).get("action"))
        .filter(action -> !JsonValue.of("accept").equals(action))
        .isEmpty();
  }

  private Optional<ApprovalQuestion> question(CallToolResult result) {
    if (!Verdict.ESCALATE.name().equals(meta.get(Results.META + "verdict"))
        || meta.containsKey(Results.META + "receipt")) {
      return Optional.empty();
    }
    Digest request = Digest.parse((String) meta.get(Results.META + "request"));
    String text =
        result.content().stream()
            .filter(McpSchema.TextContent.class::isInstance)
            .map(content -> ((McpSchema.TextContent) content).text())
            .collect(Collectors.joining("\n"));
    return ApprovalQuestion.of(session.peer(), request, text, parts.settings().linkOf(request));
  }

  private List<SyncResourceTemplateSpecification> templates() {
    return McpResources.templates().stream()
        .map(template -> new SyncResourceTemplateSpecification(template, this::read))
        .toList();
  }

  private McpSchema.ReadResourceResult read(
      McpTransportContext context, McpSchema.ReadResourceRequest asked) {
    return guarded(() -> endpoint.resources().read(session.caller(), asked.uri()));
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

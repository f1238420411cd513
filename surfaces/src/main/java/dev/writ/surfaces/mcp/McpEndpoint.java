package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.TypeRef;
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
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import reactor.core.publisher.Mono;

/**
 * Answers one request of the protocol, on any transport. The SDK's stateless server implements the
 * protocol. It is made for each request with what that caller may see, so that callers cannot see
 * each other's data.
 */
public final class McpEndpoint {
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

  private static final McpJsonMapper MAPPER = McpJsonDefaults.getMapper();
  private static final TypeRef<LinkedHashMap<String, Object>> AS_MAP = new TypeRef<>() {};

  private final McpDependencies parts;
  private final McpToolCalls calls;
  private final McpResources resources;
  private final Completions completions;

  public McpEndpoint(McpDependencies parts) {
    this.parts = parts;
    this.calls = new McpToolCalls(parts);
    this.resources = new McpResources(parts.kernel(), parts.bundles());
    this.completions = new Completions(resources);
  }

  /**
   * An answer.
   *
   * @param json one JSON-RPC response
   * @param failed whether it is an error of the protocol; a failed tool is not
   * @param isUnknown whether the method is not served
   * @param request the id of the request that a tool's call became, for the log
   * @param question what the client's person is to be asked before the same message is answered
   *     again; only in a session
   */
  public record Reply(
      byte[] json,
      boolean failed,
      boolean isUnknown,
      Optional<String> request,
      Optional<String> receipt,
      Optional<ApprovalQuestion> question) {}

  /**
   * @param raw digest of the message as received
   * @param context further data for the request that a call becomes; no decision uses it
   * @throws WritException {@code GWY-160}, {@code GWY-161}
   */
  public Reply answer(
      McpSession session,
      McpMessage.Request message,
      Digest raw,
      JsonValue.Obj context,
      MessageInProgress work) {
    return new Exchange(session, message, new IncomingCall(raw, context, work)).answer();
  }

  /** The session of a request that stands for itself. */
  public McpSession sessionOf(Caller caller, McpView view, McpMessage.Request request) {
    McpPeer peer = StatelessProtocol.peer(request);
    return McpSession.ofOneRequest(
        caller, StatelessProtocol.run(parts.kernel().ledger(), caller, request), view, peer);
  }

  /** What the lists that a client can be told of show this caller, to be compared. */
  Map<ListKind, Digest> shown(McpSession session) {
    Catalogue catalogue = catalogue(session);
    EnumMap<ListKind, Digest> shown = new EnumMap<>(ListKind.class);
    shown.put(
        ListKind.TOOLS,
        digest(
            catalogue.usable(session.caller()).stream()
                .map(tool -> tool.entry().name() + " " + tool.entry().manifest().ref())
                .collect(Collectors.joining("\n"))));
    if (session.view().server().isPresent()) {
      new ServerMethods(catalogue, session.caller())
          .prompts()
          .ifPresent(prompts -> shown.put(ListKind.PROMPTS, Digest.sha256(Jcs.write(prompts))));
    }
    return shown;
  }

  private static Digest digest(String text) {
    return Digest.sha256(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Tells the client which lists became others since it saw them. */
  public void tellChanges(McpSession session, McpChannel to) {
    if (to.isOpen() && !session.lists().isEmpty()) {
      session.lists().changed(shown(session)).forEach(kind -> to.send(kind.changed()));
    }
  }

  /** The same for a subscription, of which each message says that it is about it. */
  public void tellChanges(McpSession session, Subscription subscription, McpChannel to) {
    session.lists().changed(shown(session)).forEach(kind -> to.send(subscription.changed(kind)));
  }

  /**
   * Begins a subscription.
   *
   * @param session of its own
   * @return the acknowledgment, which is sent first
   * @throws WritException {@code GWY-208}
   */
  public JsonValue.Obj subscribe(McpSession session, Subscription subscription) {
    requireSomething(session);
    Map<ListKind, Digest> shown = shown(session);
    shown.keySet().retainAll(subscription.wanted());
    session.lists().begin(shown);
    return subscription.acknowledged(shown.keySet());
  }

  /** A server that nobody knows, and one that is not for this caller, get the same answer. */
  private void requireSomething(McpSession session) {
    if (session.view().server().isPresent() && catalogue(session).isEmpty(session.caller())) {
      throw new WritException(McpRefusal.SERVER_UNKNOWN, session.view().server().get());
    }
  }

  private Catalogue catalogue(McpSession session) {
    Policy policy = parts.kernel().system().policyInForce();
    return new Catalogue(
        policy,
        parts.tools(),
        session.view(),
        parts.kernel().access().draw(session.caller().who(policy), session.run()));
  }

  /** Waits for an approver as long as settings say. */
  public void awaitDecision(ApprovalQuestion question, MessageInProgress work) {
    calls.awaitDecision(question.request(), work);
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

  /** One request and its context. */
  private final class Exchange {
    private final McpSession session;
    private final McpMessage.Request message;
    private final IncomingCall said;
    private final boolean isPassed;
    private final ToolCallParams call;
    private final Optional<Catalogue.Usable> called;
    private Optional<RuntimeException> unforeseen = Optional.empty();
    private Map<String, Object> meta = Map.of();
    private Optional<ApprovalQuestion> question = Optional.empty();

    Exchange(McpSession session, McpMessage.Request message, IncomingCall said) {
      requireSomething(session);
      this.session = session;
      this.message = message;
      this.said = said;
      boolean calls = message.method().equals(McpSchema.METHOD_TOOLS_CALL);
      Optional<Catalogue.Usable> method =
          isOfServer() && isForServer()
              ? catalogue(session).method(session.caller(), message.method())
              : Optional.empty();
      this.isPassed = method.isPresent();
      this.call =
          isPassed
              ? ToolCallParams.ofMethod(message.method(), message.params())
              : ToolCallParams.of(calls ? message.params() : Optional.empty());
      this.called =
          isPassed
              ? method
              : call.name().flatMap(name -> catalogue(session).find(session.caller(), name));
    }

    Reply answer() {
      Map<ListKind, Digest> shown = lists() ? shown(session) : Map.of();
      Reply reply = answered();
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
              McpSchema.METHOD_INITIALIZE,
              McpSchema.METHOD_TOOLS_LIST,
              McpSchema.METHOD_PROMPT_LIST)
          .contains(message.method());
    }

    private Reply answered() {
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
        return reply(unserved(id));
      }
      if (message.method().equals(StatelessProtocol.DISCOVER)) {
        return reply(JSONRPCResponse.result(id, discovered()));
      }
      if (message.method().equals(Completions.METHOD)) {
        return reply(
            completions
                .complete(session, message)
                .map(result -> JSONRPCResponse.result(id, result))
                .orElseGet(() -> paramsRefused(id)));
      }
      if (message.method().equals(McpSchema.METHOD_RESOURCES_READ) && !namesResource()) {
        return reply(paramsRefused(id));
      }
      McpStatelessServerHandler server = handler();
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
      JSONRPCResponse told = inOrder(withoutInternals(response));
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
        return unserved(id);
      }
      if (!(message.param("level").orElse(JsonValue.NULL) instanceof JsonValue.Str level)
          || !McpCallPeer.LEVELS.contains(level.value())) {
        return paramsRefused(id);
      }
      session.logs(level.value());
      return JSONRPCResponse.result(id, Map.of());
    }

    private ServerMethods methods() {
      return new ServerMethods(catalogue(session), session.caller());
    }

    private McpVersion version() {
      return session.peer().version();
    }

    private JSONRPCResponse unserved(Object id) {
      return JSONRPCResponse.error(
          id,
          new JSONRPCResponse.JSONRPCError(
              ErrorCodes.METHOD_NOT_FOUND, "this method is not served"));
    }

    private Map<String, Object> discovered() {
      Map<String, Object> capabilities = new TreeMap<>();
      capabilities.put("tools", Map.of("listChanged", true));
      if (isOfServer()) {
        capabilities.putAll(methods().capabilities());
        capabilities.computeIfPresent(
            ListKind.PROMPTS.text(), (_, _) -> Map.of("listChanged", true));
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
                McpSchema.ListResourcesResult.builder(resources.list(session)).build());
        case McpSchema.ListResourceTemplatesResult _ ->
            JSONRPCResponse.result(
                response.id(),
                McpSchema.ListResourceTemplatesResult.builder(McpResources.templates()).build());
        case null, default -> response;
      };
    }

    private Reply reply(JSONRPCResponse response) {
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
        return new Reply(
            MAPPER.writeValueAsBytes(told),
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
        return version().isStateless() && told.error().code() == ErrorCodes.RESOURCE_NOT_FOUND
            ? JSONRPCResponse.error(
                told.id(),
                new JSONRPCResponse.JSONRPCError(
                    ErrorCodes.INVALID_PARAMS, told.error().message(), told.error().data()))
            : told;
      }
      if (!ResultForms.differs(version(), message.method())) {
        return told;
      }
      Map<String, Object> result = MAPPER.convertValue(told.result(), AS_MAP);
      return JSONRPCResponse.result(
          told.id(), ResultForms.shaped(version(), message.method(), result, server()));
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

    private McpStatelessServerHandler handler() {
      Link link = new Link();
      McpServer.sync(link)
          .serverInfo(session.view().name(), parts.version())
          .instructions(INSTRUCTIONS)
          .capabilities(capabilities())
          .jsonMapper(MAPPER)
          .jsonSchemaValidator(new NoSecondOpinion())
          .strictToolNameValidation(false)
          .validateToolInputs(false)
          .immediateExecution(true)
          .tools(tools())
          .resourceTemplates(templates())
          .build();
      return link.handler;
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
      catalogue(session)
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
              McpSchema.Tool.builder("not-listed", Map.<String, Object>of("type", "object"))
                  .build());
    }

    private CallToolResult call() {
      Optional<Digest> state = state();
      CallToolResult result =
          !isOfServer() && call.name().filter(OutcomeTool.NAME::equals).isPresent()
              ? calls.outcome(session, call, said)
              : called.isEmpty()
                  ? calls.unlisted(session, call, said)
                  : state.isPresent()
                      ? calls.retried(session, called.get(), call, said, state.get(), goesOn())
                      : calls.listed(session, called.get(), call, said);
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

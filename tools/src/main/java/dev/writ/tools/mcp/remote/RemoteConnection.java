package dev.writ.tools.mcp.remote;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.egress.EgressAnswer;
import dev.writ.sandbox.egress.EgressClient;
import dev.writ.sandbox.egress.EgressClient.Field;
import dev.writ.sandbox.egress.EgressClient.NoAnswer;
import dev.writ.sandbox.egress.EgressClient.Sent;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.oauth.TokenKeeper;
import dev.writ.tools.mcp.protocol.Patience;
import dev.writ.tools.mcp.protocol.PeerHooks;
import dev.writ.tools.mcp.protocol.PeerMessage;
import dev.writ.tools.mcp.protocol.PeerPairing;
import dev.writ.tools.mcp.protocol.ProtocolVersion;
import dev.writ.tools.mcp.protocol.ServerLink;
import dev.writ.tools.mcp.web.WebAddress;
import dev.writ.tools.process.Masking;
import dev.writ.tools.process.SecretStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * A server elsewhere, over Streamable HTTP: each message is a request of its own, answered by one
 * message or by a stream of them.
 */
public final class RemoteConnection implements ServerLink {
  /** The longest message, beyond what any call may give. */
  static final int MESSAGE_BYTES_MAX = 40 << 20;

  private static final Duration NOTICE = Duration.ofSeconds(10);
  private static final Duration GOODBYE = Duration.ofSeconds(5);

  /** What is never sent twice, whatever the reason. */
  private static final List<String> ACTS = List.of("tools/call", "resources/read", "prompts/get");

  private final SandboxSettings settings;
  private final RemoteSpec spec;
  private final List<Field> own;
  private final List<SecretFile> secrets;
  private final Optional<TokenKeeper> tokens;
  private volatile Masking masking;
  private volatile int masked;
  private final Function<String, Optional<JsonValue.Obj>> schemas;
  private final PeerHooks hooks;
  private final EgressClient client;
  private final AtomicLong last = new AtomicLong();
  private final Unasked unasked = new Unasked();
  private volatile Optional<String> version = Optional.empty();
  private volatile Optional<String> session = Optional.empty();
  private volatile String address = "";
  private Optional<WritException> failure = Optional.empty();
  private volatile boolean closed;

  /**
   * @param store renews tokens
   * @param schemas the input schema of a tool by its name, for the marks that it may have
   * @throws WritException {@code TOL-041}, {@code TOL-277} for headers that cannot be sent
   */
  public RemoteConnection(
      SandboxSettings settings,
      RemoteSpec spec,
      List<SecretFile> secrets,
      SecretStore store,
      Function<String, Optional<JsonValue.Obj>> schemas,
      PeerHooks hooks) {
    this.settings = settings;
    this.spec = spec;
    this.secrets = List.copyOf(secrets);
    this.tokens = spec.oauth().map(o -> new TokenKeeper(settings, spec.url(), o, store, secrets));
    this.masking = new Masking(secrets);
    this.schemas = schemas;
    this.hooks = hooks;
    this.own =
        spec.headers().entrySet().stream()
            .map(e -> new Field(e.getKey(), e.getValue().with(secrets)))
            .toList();
    this.client = new EgressClient(settings.resolver(), settings.tls());
  }

  @Override
  public PeerMessage.Answer request(String method, JsonValue.Obj params, Patience patience)
      throws InterruptedException {
    requireSound();
    boolean again = !ACTS.contains(method) && tokens.filter(TokenKeeper::canRenew).isPresent();
    try {
      return once(method, params, patience, again);
    } catch (WritException e) {
      if (!again || e.code() != ToolsError.UPSTREAM_UNAUTHORIZED) {
        throw e;
      }
      return once(method, params, patience, false); // with another token
    }
  }

  /**
   * Sends a request once.
   *
   * @param again whether it is sent again where the token is not taken
   */
  private PeerMessage.Answer once(
      String method, JsonValue.Obj params, Patience patience, boolean again)
      throws InterruptedException {
    long id = last.incrementAndGet();
    unasked.again();
    PostedRequest exchange = new PostedRequest(this, id, method, patience.wallMs());
    Thread.ofVirtual()
        .name("writ-mcp-post")
        .start(() -> exchange.run(fields(method, params), PeerPairing.request(id, method, params)));
    try {
      // The exchange ends by itself in time; this is for one that does not.
      PeerMessage.Answer answer =
          exchange.answer().get(patience.wallMs() + 5_000, TimeUnit.MILLISECONDS);
      if (method.equals("initialize")) {
        session = exchange.session();
      }
      return masked(answer);
    } catch (InterruptedException e) {
      exchange.abandon();
      cancelled(id, "cancelled");
      throw e;
    } catch (TimeoutException e) {
      exchange.abandon();
      throw new WritException(ToolsError.UPSTREAM_TIMEOUT, method, e);
    } catch (ExecutionException e) {
      throw failed(id, method, e, again);
    }
  }

  private WritException failed(long id, String method, ExecutionException e, boolean again) {
    if (!(e.getCause() instanceof WritException why)) {
      throw new IllegalStateException(e.getCause());
    }
    boolean isStatus =
        why.code() == ToolsError.UPSTREAM_STATUS || why.code() == ToolsError.UPSTREAM_BROKE;
    if (isStatus && method.equals("initialize") && OldTransport.isSpoken(this)) {
      return new WritException(ToolsError.UPSTREAM_OLD_TRANSPORT, spec.url().text(), e);
    }
    if (why.code() == ToolsError.UPSTREAM_TIMEOUT) {
      cancelled(id, "too late");
    }
    if (why.code() == ToolsError.UPSTREAM_UNAUTHORIZED) {
      tokens.ifPresent(TokenKeeper::refuse);
    }
    boolean over = why.code() == ToolsError.UPSTREAM_UNAUTHORIZED && !again;
    if (over
        || why.code() == ToolsError.UPSTREAM_MESSAGE
        || why.code() == ToolsError.UPSTREAM_FLOOD
        || why.code() == ToolsError.UPSTREAM_SESSION) {
      fail(why);
    }
    return new WritException(why.code(), masking().apply(why.found()), e);
  }

  /** Tells a server with sessions; without them the end of the stream says it. */
  private void cancelled(long id, String why) {
    if (!isStateless()) {
      Thread.ofVirtual()
          .start(() ->
              tell(
                  "notifications/cancelled",
                  JsonValue.object().put("requestId", id).put("reason", why).build()));
    }
  }

  /** Knows each token so far. */
  private Masking masking() {
    if (tokens.isPresent()) {
      List<SecretFile> seen = tokens.get().seen();
      if (seen.size() != masked) {
        List<SecretFile> all = new ArrayList<>(secrets);
        all.addAll(seen);
        masking = new Masking(all);
        masked = seen.size();
      }
    }
    return masking;
  }

  private PeerMessage.Answer masked(PeerMessage.Answer answer) {
    Masking masking = masking();
    return new PeerMessage.Answer(
        answer.id(),
        answer.result().map(result -> (JsonValue.Obj) masking.apply((JsonValue) result)),
        answer
            .error()
            .map(f ->
                new PeerMessage.Fault(
                    f.code(), masking.apply(f.message()), f.data().map(d -> masking.apply(d)))));
  }

  @Override
  public void tell(String method, JsonValue.Obj params) {
    post(fields(method, params), PeerPairing.notification(method, params));
  }

  /** Answers a request of the server, in its own time. */
  void reply(PeerMessage.Asked asked) {
    Thread.ofVirtual()
        .name("writ-mcp-reply")
        .start(() ->
            PeerPairing.reply(
                asked, hooks, bytes -> post(fields("", JsonValue.object().build()), bytes)));
  }

  /** Sends what has no answer. */
  private void post(List<Field> fields, byte[] message) {
    try (EgressAnswer answer = open("POST", fields, Optional.of(message), NOTICE)) {
      address = answer.address();
    } catch (NoAnswer | WritException e) {
      return; // nobody waits for it
    }
  }

  @Override
  public void agreed(String spoken) {
    version = Optional.of(spoken);
  }

  @Override
  public void listen(Optional<JsonValue.Obj> params) {
    Listening listening = new Listening(this, params);
    Thread.ofVirtual().name("writ-mcp-listen").start(listening::run);
  }

  /** The fields of a message that is sent. */
  List<Field> fields(String method, JsonValue.Obj params) {
    List<Field> fields = new ArrayList<>();
    fields.add(new Field("Content-Type", "application/json"));
    fields.add(new Field("Accept", "application/json, text/event-stream"));
    if (params.get("_meta") instanceof JsonValue.Obj meta
        && meta.get("io.modelcontextprotocol/protocolVersion") instanceof JsonValue.Str spoken) {
      fields.add(new Field("MCP-Protocol-Version", spoken.value()));
      fields.addAll(HeaderText.of(method, params));
      if (method.equals("tools/call") && params.get("name") instanceof JsonValue.Str tool) {
        schemas
            .apply(tool.value())
            .ifPresent(
                schema -> fields.addAll(HeaderText.arguments(schema, params.get("arguments"))));
      }
    } else {
      fields.addAll(sessionFields());
    }
    return fields;
  }

  /** The fields of a session: its id, and its version from the one on that has a field for it. */
  List<Field> sessionFields() {
    List<Field> fields = new ArrayList<>();
    version
        .filter(v -> v.compareTo("2025-06-18") >= 0)
        .ifPresent(v -> fields.add(new Field("MCP-Protocol-Version", v)));
    session.ifPresent(id -> fields.add(new Field("Mcp-Session-Id", id)));
    return fields;
  }

  /** Opens an exchange with the server's one address, with what is sent along each time. */
  EgressAnswer open(String method, List<Field> fields, Optional<byte[]> content, Duration within)
      throws NoAnswer {
    List<Field> all = new ArrayList<>(fields);
    all.add(new Field("Accept-Encoding", "identity"));
    all.add(new Field("User-Agent", "writ"));
    all.addAll(own);
    tokens.ifPresent(t -> all.add(new Field("Authorization", t.authorization())));
    WebAddress url = spec.url();
    EgressAnswer answer =
        client.open(
            new Sent(url.rule(settings, true), url.secure(), method, url.target(), all, content),
            within);
    address = answer.address();
    return answer;
  }

  WebAddress url() {
    return spec.url();
  }

  PeerHooks hooks() {
    return hooks;
  }

  Unasked unasked() {
    return unasked;
  }

  boolean isStateless() {
    return version.filter(ProtocolVersion.STATELESS::equals).isPresent();
  }

  boolean hasSession() {
    return session.isPresent();
  }

  boolean isClosed() {
    return closed;
  }

  synchronized void fail(WritException why) {
    if (failure.isEmpty()) {
      failure = Optional.of(why);
    }
  }

  private synchronized void requireSound() {
    if (failure.isPresent()) {
      WritException why = failure.get();
      throw new WritException(why.code(), why.found(), why);
    }
  }

  @Override
  public synchronized Optional<WritException> failure() {
    return failure;
  }

  @Override
  public Used used() {
    return Used.NOTHING;
  }

  @Override
  public Optional<String> sandbox() {
    return Optional.empty();
  }

  @Override
  public String lastWords() {
    return "";
  }

  @Override
  public Optional<JsonValue.Obj> where() {
    return Optional.of(
        JsonValue.object().put("address", address).put("place", spec.url().place()).build());
  }

  /** Ends the session, where there is one, and every exchange. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    fail(new WritException(ToolsError.UPSTREAM_ENDED, "it was closed"));
    if (session.isPresent()) {
      try (EgressAnswer _ = open("DELETE", sessionFields(), Optional.empty(), GOODBYE)) {
        client.close();
      } catch (NoAnswer | WritException e) {
        client.close(); // the session ends by itself some day
      }
    }
    client.close();
  }
}

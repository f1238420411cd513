package dev.writ.cli.mcp;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.base.Version;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.InstalledTools;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.document.RunClose;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.surfaces.mcp.McpChannel;
import dev.writ.surfaces.mcp.McpDependencies;
import dev.writ.surfaces.mcp.McpDialogue;
import dev.writ.surfaces.mcp.McpEndpoint;
import dev.writ.surfaces.mcp.McpLines;
import dev.writ.surfaces.mcp.McpMessage;
import dev.writ.surfaces.mcp.McpRefusal;
import dev.writ.surfaces.mcp.McpSession;
import dev.writ.surfaces.mcp.McpSettings;
import dev.writ.surfaces.mcp.McpSurface;
import dev.writ.surfaces.mcp.McpTrace;
import dev.writ.surfaces.mcp.McpView;
import dev.writ.surfaces.mcp.MessageInProgress;
import dev.writ.surfaces.mcp.PausedCalls;
import dev.writ.surfaces.mcp.Subscription;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.registry.BrokenPackage;
import java.io.ByteArrayOutputStream;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Answers in this process, for an agent whose key is available here: one session. */
public final class LocalAnswering implements AutoCloseable {
  private static final int LISTENING_MAX = 16;

  private final SharedHome home;
  private final SigningKey key;
  private final BooleanSupplier giveUp;
  private final ToldOnce broken;
  private final McpView view;
  private final SecureRandom random = new SecureRandom();
  private final McpSession session;
  private final PinnedLists pinned = new PinnedLists();

  /** By the ids of their requests. */
  private final Map<JsonValue, Listening> listening = new ConcurrentHashMap<>();

  private final PausedCalls paused =
      new PausedCalls(random, () -> false, Version.text(), UnaryOperator.identity());

  /**
   * @param processes where processes run
   * @param kept where MCP servers run, which go on between calls
   * @param key the agent's, which signs every request
   * @param view what the agent sees
   * @param giveUp asked while another process has the home open; true to stop waiting for it
   * @param broken is told once of a package that cannot be read
   */
  public LocalAnswering(
      Home home,
      Supplier<ProcessHost> processes,
      Supplier<ProcessHost> kept,
      SigningKey key,
      McpView view,
      BooleanSupplier giveUp,
      Consumer<BrokenPackage> broken) {
    this.home = new SharedHome(home, processes, kept);
    this.key = key;
    this.view = view;
    this.giveUp = giveUp;
    this.broken = new ToldOnce(broken);
    this.session = this.home.work(giveUp, this::begin);
  }

  private McpSession begin(OpenHome open) {
    TrustedKey holder =
        open.kernel()
            .system()
            .trust()
            .key(key.kid())
            .orElseThrow(
                () -> new WritException(CanonicalizeError.KEY_UNKNOWN, "key " + key.kid()));
    byte[] id = new byte[16];
    random.nextBytes(id);
    return new McpSession(
        HexFormat.of().formatHex(id),
        new Caller("key", key.kid(), holder.tenant().orElse(""), holder.subject(), List.of()),
        view);
  }

  /**
   * @param beside for messages before the answer
   * @throws WritException {@code GWY-151}; {@code LED-003} where another process has the home
   */
  public Optional<byte[]> answer(byte[] line, McpChannel beside) {
    JsonValue json = McpMessage.read(line);
    if (json instanceof JsonValue.Arr all) {
      return batch(line, all, beside);
    }
    return answer(line, McpMessage.of(json), beside, beside);
  }

  /**
   * @param lists for what is told of changed lists
   */
  private Optional<byte[]> answer(
      byte[] line, McpMessage message, McpChannel beside, McpChannel lists) {
    return switch (message) {
      case McpMessage.Request request ->
          unlessCancelled(() -> answer(line, request, beside, lists));
      case McpMessage.Notification notification -> {
        if (notification.method().equals(McpSurface.CANCELLED)) {
          notification
              .param("requestId")
              .ifPresent(id -> {
                session.cancel(id);
                listening.remove(id);
              });
        }
        yield Optional.empty();
      }
      case McpMessage.Response response -> {
        session.answered(response);
        yield Optional.empty();
      }
    };
  }

  /** Nobody waits for the answer to a call that was cancelled before its effect began either. */
  private static Optional<byte[]> unlessCancelled(Supplier<Optional<byte[]>> answer) {
    try {
      return answer.get();
    } catch (WritException e) {
      if (e.code() == McpRefusal.CANCELLED) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private Optional<byte[]> answer(
      byte[] line, McpMessage.Request request, McpChannel beside, McpChannel lists) {
    if (request.isStateless()) {
      return home.work(giveUp, open -> stateless(open, line, request, beside));
    }
    MessageInProgress work = MessageInProgress.of(request);
    byte[] answer;
    if (request.method().equals("ping")) {
      answer = pong(request); // clients ping often: not worth opening the home
    } else {
      answer =
          new McpDialogue(session, session, work, beside)
              .answer(request, () -> once(session, line, request, work, lists), _ -> {})
              .json();
    }
    return work.isCancelled() ? Optional.empty() : Optional.of(answer);
  }

  private Optional<byte[]> stateless(
      OpenHome open, byte[] line, McpMessage.Request request, McpChannel beside) {
    McpSession own = endpoint(open).sessionOf(session.caller(), view, request);
    if (Subscription.is(request)) {
      listen(endpoint(open), own, request, beside);
      return Optional.empty();
    }
    PausedCalls.Turn turn = paused.turn(own, request);
    byte[] answer =
        new McpDialogue(session, own, turn.work(), beside)
            .answer(
                request,
                () -> turn.answer(() -> once(own, line, request, turn.work(), beside)),
                _ -> {})
            .json();
    return turn.work().isCancelled() ? Optional.empty() : Optional.of(answer);
  }

  /**
   * A call has the home open by itself: in a session it is closed while the person beside the
   * client is asked about an approval, without one a call may wait for its client's next request.
   */
  private McpEndpoint.Reply once(
      McpSession of,
      byte[] line,
      McpMessage.Request request,
      MessageInProgress work,
      McpChannel lists) {
    return home.work(
        giveUp,
        open -> {
          McpEndpoint endpoint = endpoint(open);
          McpEndpoint.Reply reply =
              endpoint.answer(of, request, Digest.sha256(line), context(request), work);
          tellChanges(endpoint, lists);
          return reply;
        });
  }

  /**
   * What the lists show is compared whenever the home is open anyway: another process, above all
   * {@code writ policy activate}, changes it meanwhile.
   */
  private void tellChanges(McpEndpoint endpoint, McpChannel to) {
    endpoint.tellChanges(session, to);
    listening.values().forEach(each -> endpoint.tellChanges(each.of(), each.subscription(), to));
  }

  /** Its client is told until it cancels the request, or the input ends. */
  private void listen(
      McpEndpoint endpoint, McpSession own, McpMessage.Request request, McpChannel beside) {
    if (listening.size() >= LISTENING_MAX) {
      throw new WritException(
          McpRefusal.MESSAGE, "there are " + LISTENING_MAX + " subscriptions already");
    }
    Subscription subscription = new Subscription(request);
    beside.send(endpoint.subscribe(own, subscription));
    listening.put(request.id(), new Listening(own, subscription));
  }

  /** A subscription and the lists as its client saw them. */
  private record Listening(McpSession of, Subscription subscription) {}

  /** The answers in their order, in the versions that have batches. */
  private Optional<byte[]> batch(byte[] line, JsonValue.Arr all, McpChannel lists) {
    McpMessage.requireBatch(all, session);
    ByteArrayOutputStream answers = new ByteArrayOutputStream();
    for (JsonValue each : all.items()) {
      Optional<byte[]> answer;
      try {
        answer = answer(line, McpMessage.of(each), McpChannel.NONE, lists);
      } catch (WritException e) {
        if (!(e.code() instanceof McpRefusal)) {
          throw e;
        }
        answer = McpLines.refusal(e, Jcs.write(each));
      }
      answer.ifPresent(bytes -> {
        answers.write(answers.size() == 0 ? '[' : ',');
        answers.writeBytes(bytes);
      });
    }
    if (answers.size() == 0) {
      return Optional.empty();
    }
    answers.write(']');
    return Optional.of(answers.toByteArray());
  }

  /** The trace that the client states: this process has no spans of its own. */
  private JsonValue.Obj context(McpMessage.Request request) {
    return McpTrace.of(request, this::newSpan)
        .map(trace -> trace.putTo(JsonValue.object()).build())
        .orElseGet(() -> JsonValue.object().build());
  }

  private String newSpan() {
    byte[] id = new byte[8];
    random.nextBytes(id);
    return HexFormat.of().formatHex(id);
  }

  private static byte[] pong(McpMessage.Request request) {
    return Jcs.write(
        JsonValue.object()
            .put("jsonrpc", "2.0")
            .put("id", request.id())
            .put("result", JsonValue.object().build())
            .build());
  }

  private McpEndpoint endpoint(OpenHome open) {
    InstalledTools packages = open.packages();
    return new McpEndpoint(
        new McpDependencies(
            open.kernel(),
            new RegistryTools(open, packages, broken, pinned),
            new RunBundle(packages),
            new SigningAsker(open.kernel(), key, random, home.running()),
            McpSettings.DEFAULT,
            Version.text()));
  }

  /**
   * Ends what was kept, and closes the session's run unless a request in it waits; otherwise the
   * run stays open.
   */
  @Override
  public void close() {
    paused.close();
    try {
      home.work(
          () -> true,
          open ->
              open.kernel()
                  .closeRun(
                      Envelope.sign(
                          RunClose.TYPE,
                          new RunClose(
                                  session.caller().tenant(), session.run(), open.kernel().now())
                              .toJson(),
                          key)));
    } catch (WritException e) {
      // There is no run, it cannot be closed, or another process has the home open.
    } finally {
      home.close();
    }
  }
}

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
import dev.writ.gateway.http.Caller;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.surfaces.mcp.McpChannel;
import dev.writ.surfaces.mcp.McpDialogue;
import dev.writ.surfaces.mcp.McpEndpoint;
import dev.writ.surfaces.mcp.McpLines;
import dev.writ.surfaces.mcp.McpMessage;
import dev.writ.surfaces.mcp.McpParts;
import dev.writ.surfaces.mcp.McpRefusal;
import dev.writ.surfaces.mcp.McpSession;
import dev.writ.surfaces.mcp.McpSettings;
import dev.writ.surfaces.mcp.McpSurface;
import dev.writ.surfaces.mcp.McpTrace;
import dev.writ.surfaces.mcp.McpView;
import dev.writ.surfaces.mcp.McpWork;
import dev.writ.tools.process.ProcessHost;
import java.io.ByteArrayOutputStream;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Answers in this process, for an agent whose key is available here: one session. */
public final class LocalAnswering {
  private final SharedHome home;
  private final SigningKey key;
  private final BooleanSupplier giveUp;
  private final McpView view;
  private final SecureRandom random = new SecureRandom();
  private final McpSession session;

  /**
   * @param processes where processes run
   * @param kept where MCP servers run, which go on between calls
   * @param key the agent's, which signs every request
   * @param view what the agent sees
   * @param giveUp asked while another process has the home open; true to stop waiting for it
   */
  public LocalAnswering(
      Home home,
      Supplier<ProcessHost> processes,
      Supplier<ProcessHost> kept,
      SigningKey key,
      McpView view,
      BooleanSupplier giveUp) {
    this.home = new SharedHome(home, processes, kept);
    this.key = key;
    this.view = view;
    this.giveUp = giveUp;
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
      return batch(line, all);
    }
    return answer(line, McpMessage.of(json), beside);
  }

  private Optional<byte[]> answer(byte[] line, McpMessage message, McpChannel beside) {
    return switch (message) {
      case McpMessage.Request request -> answer(line, request, beside);
      case McpMessage.Notification notification -> {
        if (notification.method().equals(McpSurface.CANCELLED)) {
          notification.param("requestId").ifPresent(session::cancel);
        }
        yield Optional.empty();
      }
      case McpMessage.Response response -> {
        session.answered(response);
        yield Optional.empty();
      }
    };
  }

  private Optional<byte[]> answer(byte[] line, McpMessage.Request request, McpChannel beside) {
    McpWork work = McpWork.of(request);
    byte[] answer;
    if (request.isStateless()) {
      answer =
          home.work(
              giveUp,
              open -> {
                McpEndpoint endpoint = endpoint(open);
                McpSession own = endpoint.sessionOf(session.caller(), view, request);
                return new McpDialogue(session, own, work, beside)
                    .answer(
                        request,
                        () ->
                            endpoint.answer(
                                own, request, Digest.sha256(line), context(request), work),
                        _ -> {})
                    .json();
              });
    } else if (request.method().equals("ping")) {
      answer = pong(request); // clients ping often: not worth opening the home
    } else {
      answer =
          new McpDialogue(session, session, work, beside)
              .answer(request, () -> once(line, request, work), _ -> {})
              .json();
    }
    return work.isCancelled() ? Optional.empty() : Optional.of(answer);
  }

  /** In a session: the home is closed while the person beside the client is asked. */
  private McpEndpoint.Reply once(byte[] line, McpMessage.Request request, McpWork work) {
    return home.work(
        giveUp,
        open ->
            endpoint(open).answer(session, request, Digest.sha256(line), context(request), work));
  }

  /** The answers in their order, in the versions that have batches. */
  private Optional<byte[]> batch(byte[] line, JsonValue.Arr all) {
    McpMessage.requireBatch(all, session);
    ByteArrayOutputStream answers = new ByteArrayOutputStream();
    for (JsonValue each : all.items()) {
      Optional<byte[]> answer;
      try {
        answer = answer(line, McpMessage.of(each), McpChannel.NONE);
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
        new McpParts(
            open.kernel(),
            new RegistryTools(open, packages),
            new RunBundle(packages),
            new SigningAsker(open.kernel(), key, random, home.running()),
            McpSettings.DEFAULT,
            Version.text(),
            false));
  }

  /**
   * Ends what was kept, and closes the session's run unless a request in it waits; otherwise the
   * run stays open.
   */
  public void close() {
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

package dev.writ.tools.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.ExpectedCall;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.engine.HostTerms;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.SecretFile;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.protocol.Patience;
import dev.writ.tools.mcp.protocol.PeerMessage;
import dev.writ.tools.mcp.protocol.ServerLink;
import dev.writ.tools.mcp.protocol.StillRunning;
import dev.writ.tools.process.ProcessCall;
import dev.writ.tools.process.ProcessDriver;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.Program;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Calls the tools of MCP servers (spec/tool-mcp.md). A server that lists anything else than its
 * package pins is refused before a call is dispatched.
 */
public final class McpDriver extends ProcessDriver implements AutoCloseable {
  private static final String JSON = "application/json";

  private final RunningServers servers;
  private final boolean keepsThem;
  private final ConcurrentSkipListMap<Digest, UpstreamPackage> packages =
      new ConcurrentSkipListMap<>();

  public McpDriver(ProcessHost host) {
    this(host, RunningServers.Terms.STANDARD);
  }

  McpDriver(ProcessHost host, RunningServers.Terms terms) {
    this(host, new RunningServers(() -> host, terms), false);
  }

  /** A driver whose servers go on when it is closed. */
  public McpDriver(ProcessHost host, KeptServers kept) {
    this(host, kept.servers(), true);
  }

  private McpDriver(ProcessHost host, RunningServers servers, boolean keepsThem) {
    super(
        UpstreamPackage.DRIVER,
        () -> Digest.sha256("mcp 1".getBytes(StandardCharsets.UTF_8)),
        host);
    this.servers = servers;
    this.keepsThem = keepsThem;
  }

  @Override
  protected Program program(
      ToolManifest manifest, ToolManifest.Operation operation, PackageContent content) {
    UpstreamPackage upstream = upstream(manifest, content);
    return call -> run(call, upstream, operation.name());
  }

  @Override
  protected Program program(
      ToolManifest manifest,
      ToolManifest.Operation operation,
      PackageContent content,
      HostTerms terms,
      Optional<ExpectedCall> call) {
    if (call.isPresent()) {
      try {
        servers.work(
            upstream(manifest, content), place(manifest, terms, call.get()), _ -> "it is ready");
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new WritException(ToolsError.UPSTREAM_START, "the call was cancelled", e);
      }
    }
    return program(manifest, operation, content);
  }

  /** A server elsewhere needs no sandbox here. */
  @Override
  protected void requireEngine(ToolManifest manifest, PackageContent content, HostTerms terms) {
    if (upstream(manifest, content).spec().remote().isEmpty()) {
      super.requireEngine(manifest, content, terms);
    } else {
      host().requireSettings();
    }
  }

  private UpstreamPackage upstream(ToolManifest manifest, PackageContent content) {
    return packages.computeIfAbsent(
        manifest.packageDigest(), _ -> UpstreamPackage.read(manifest, content));
  }

  private ServerPlace place(ToolManifest manifest, HostTerms terms, ExpectedCall call) {
    return place(
        call.scope(),
        call.sandbox(),
        call.resources(),
        call.approved(),
        terms,
        host().secrets().granted(manifest, undispatched(call, terms)));
  }

  private static ServerPlace place(
      Scope scope,
      String profile,
      Resources resources,
      boolean approved,
      HostTerms terms,
      List<SecretFile> secrets) {
    List<Guarantee> waived = terms.waived().stream().map(Guarantee::waivable).toList();
    return new ServerPlace(
        scope, profile, resources.memoryBytes(), approved, waived, secrets, true);
  }

  /** The secrets of such tools do not depend on the params. */
  private static Invocation undispatched(ExpectedCall call, HostTerms terms) {
    return new Invocation(
        call.scope(),
        JsonValue.object().build(),
        List.of(),
        input -> InputStream.nullInputStream(),
        new byte[32],
        Instant.EPOCH,
        call.resources(),
        call.sandbox(),
        Optional.empty(),
        call.approved(),
        terms);
  }

  private DriverOutcome run(ProcessCall call, UpstreamPackage upstream, String tool) {
    Invocation invocation = call.invocation();
    ServerPlace place =
        place(
            invocation.scope(),
            invocation.sandbox(),
            invocation.resources(),
            invocation.approved(),
            invocation.host(),
            call.secrets());
    call.masking();
    PassedMethod.of(tool).ifPresent(method -> method.requireAddress(call.params()));
    try {
      return servers.work(upstream, place, server -> run(call, server, tool));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return call.ended(
          DriverOutcome.End.KILLED,
          "cancelled",
          "the caller cancelled it"
              + (e instanceof StillRunning
                  ? "; the server was told, did not end it (" + e.getMessage() + "), and is ended"
                  : ""),
          Optional.empty());
    }
  }

  private static DriverOutcome run(ProcessCall call, ReadyServer server, String tool)
      throws InterruptedException {
    Resources most = call.invocation().resources();
    server.server().sandbox().ifPresent(call.invocation().call().observer()::in);
    call.invocation().call().observer().executing();
    observe(call, server);
    long from = System.nanoTime();
    ServerLink.Used before = server.server().used();
    CallLine line = server.line(call.invocation().call().observer().peer());
    Patience patience = new Patience(most.wallMs(), most.cpuMs());
    AtomicBoolean asked = new AtomicBoolean();
    try {
      PeerMessage.Answer answer =
          server.during(
              line,
              patience,
              (_, token) -> {
                asked.set(true);
                return answer(call, server, tool, token, patience);
              });
      observe(call, line);
      measure(call, server, before, from, line.waitedMs());
      return outcome(call, answer, tool, most.outputBytes());
    } catch (WritException e) {
      observe(call, line);
      measure(call, server, before, from, line.waitedMs());
      return failed(call, server, asked.get() && PassedMethod.of(tool).isEmpty(), e);
    } catch (InterruptedException e) {
      observe(call, line);
      throw e;
    } finally {
      call.invocation().call().observer().executed();
    }
  }

  private static PeerMessage.Answer answer(
      ProcessCall call,
      ReadyServer server,
      String operation,
      Optional<String> token,
      Patience patience)
      throws InterruptedException {
    Optional<PassedMethod> method = PassedMethod.of(operation);
    return method.isPresent()
        ? server.ask(method.get(), call.params(), token, patience)
        : server.call(operation, call.params(), token, patience);
  }

  private static void observe(ProcessCall call, ReadyServer server) {
    call.observe("protocol", JsonValue.of(server.session().version()));
    call.observe("server", server.session().server());
    server.server().where().ifPresent(where -> call.observe("remote", where));
  }

  private static void observe(ProcessCall call, CallLine line) {
    line.questions().ifPresent(questions -> call.observe("asked", questions));
  }

  private static void measure(
      ProcessCall call, ReadyServer server, ServerLink.Used before, long from, long waitedMs) {
    ServerLink.Used after = server.server().used();
    call.used(
        new DriverOutcome.Metrics(
            Math.max(0, after.cpuMs() - before.cpuMs()),
            after.memoryPeakBytes(),
            Math.max(0, (System.nanoTime() - from) / 1_000_000 - waitedMs),
            0));
  }

  private static DriverOutcome outcome(
      ProcessCall call, PeerMessage.Answer answer, String operation, long outputBytesMax) {
    if (answer.error().isPresent()) {
      PeerMessage.Fault fault = answer.error().get();
      return call.ended(
          DriverOutcome.End.FAILED,
          "mcp-error",
          fault.code() + ": " + fault.message(),
          Optional.empty());
    }
    JsonValue.Obj said = answer.result().orElseThrow();
    Optional<PassedMethod> method = PassedMethod.of(operation);
    Optional<ToolAnswer> result =
        method.isPresent() ? Optional.empty() : Optional.of(ToolAnswer.read(said));
    byte[] bytes =
        Jcs.write(method.map(m -> m.output(said)).orElseGet(() -> result.get().output()));
    if (bytes.length > outputBytesMax) {
      return call.ended(
          DriverOutcome.End.KILLED,
          "output-limit",
          bytes.length + " bytes, at most " + outputBytesMax,
          Optional.empty());
    }
    Optional<DriverOutcome.Output> output = Optional.of(new DriverOutcome.Output(bytes, JSON));
    return result.filter(ToolAnswer::failed).isPresent()
        ? call.ended(DriverOutcome.End.FAILED, "tool-error", result.get().text(), output)
        : call.ended(DriverOutcome.End.SUCCEEDED, "ok", "", output);
  }

  /**
   * What no answer means: a server that died may have done it, and so may one whose answer cannot
   * be believed, so nobody knows; one that was late is ended, unless it is elsewhere, where it goes
   * on.
   *
   * @param acts whether the server may have been asked for more than to read
   */
  private static DriverOutcome failed(
      ProcessCall call, ReadyServer server, boolean acts, WritException e) {
    if (!(e.code() instanceof ToolsError code)) {
      throw e;
    }
    return switch (code) {
      case UPSTREAM_ENDED, UPSTREAM_MESSAGE, UPSTREAM_FLOOD, UPSTREAM_BROKE -> {
        if (!acts) {
          throw e;
        }
        yield call.ended(DriverOutcome.End.IN_DOUBT, "in-doubt", e.getMessage(), Optional.empty());
      }
      case UPSTREAM_TIMEOUT ->
          server.isRemote() && acts
              ? call.ended(DriverOutcome.End.IN_DOUBT, "in-doubt", e.getMessage(), Optional.empty())
              : call.ended(
                  DriverOutcome.End.TIMED_OUT, "timed-out", e.getMessage(), Optional.empty());
      case STATE_FULL ->
          call.ended(DriverOutcome.End.KILLED, "disk-limit", e.getMessage(), Optional.empty());
      case UPSTREAM_CPU ->
          call.ended(DriverOutcome.End.KILLED, "cpu-limit", e.getMessage(), Optional.empty());
      default -> throw e;
    };
  }

  /** Ends the servers of the run. */
  @Override
  public void closed(String tenant, String run) {
    servers.end(tenant, run);
  }

  /** Ends all servers. */
  @Override
  public void close() {
    if (!keepsThem) {
      servers.close();
    }
  }
}

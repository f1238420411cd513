package dev.writ.tools.language;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.driver.Outcome;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.NetworkPlace;
import dev.writ.sandbox.Bind;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Limits;
import dev.writ.sandbox.Reproducible;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.tools.ToolsError;
import dev.writ.tools.author.ToolSource;
import dev.writ.tools.process.ProcessCall;
import dev.writ.tools.process.ProcessDriver;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.Program;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Runs tool packages of one language: a worker in a sandbox of its own, one call, and it is gone.
 * The operation is named, never given as code (seed 004).
 */
public final class LanguageDriver extends ProcessDriver {
  private static final String JSON = "application/json";

  /** Room for the frames around an output. */
  private static final long FRAMING = 64 << 10;

  private final LanguageAdapter adapter;
  private final SortedMap<String, byte[]> workers;
  private final WarmPool pool;
  private final ConcurrentSkipListMap<Digest, Path> placed = new ConcurrentSkipListMap<>();

  /** Every call starts cold. */
  public LanguageDriver(LanguageAdapter adapter, ProcessHost host) {
    this(adapter, host, new WarmPool(host, PoolSettings.NONE));
  }

  /**
   * @param pool of the same host, with workers that may be ready for a call
   */
  public LanguageDriver(LanguageAdapter adapter, ProcessHost host, WarmPool pool) {
    this(adapter, Workers.of(adapter.workers()), host, pool);
  }

  private LanguageDriver(
      LanguageAdapter adapter, SortedMap<String, byte[]> workers, ProcessHost host, WarmPool pool) {
    super(adapter.language().text(), digest(workers), host);
    this.adapter = adapter;
    this.workers = workers;
    this.pool = pool;
  }

  private static Digest digest(SortedMap<String, byte[]> files) {
    var digests = JsonValue.object();
    files.forEach((name, bytes) -> digests.put(name, Digest.sha256(bytes)));
    return Jcs.digest(digests.build());
  }

  /** What a manifest may promise: an author who says reproducible is run reproducibly. */
  @Override
  public Determinism determinism() {
    return Determinism.REPRODUCIBLE;
  }

  @Override
  protected Program program(
      ToolManifest manifest, ToolManifest.Operation operation, PackageContent content) {
    ToolManifest.PackageFile file =
        manifest.files().stream()
            .filter(f -> f.path().equals(ToolSource.FILE))
            .findFirst()
            .orElseThrow(() ->
                new WritException(
                    ToolsError.PACKAGE_FILES, manifest.name() + " has no " + ToolSource.FILE));
    ToolSource source = ToolSource.parse(content.read(file));
    List<Bind> binds = new ArrayList<>(adapter.binds());
    binds.add(new Bind(place(manifest, content), LanguageAdapter.PACKAGE));
    if (!workers.isEmpty()) {
      binds.add(new Bind(host().sharedFiles(workers), LanguageAdapter.WORKERS));
    }
    return call -> run(call, manifest, operation.name(), source, binds);
  }

  /** Where the package's files are for sandboxes; read, and so verified, once. */
  private Path place(ToolManifest manifest, PackageContent content) {
    return placed.computeIfAbsent(
        manifest.packageDigest(),
        digest -> {
          TreeMap<String, byte[]> files = new TreeMap<>();
          manifest.files().forEach(file -> files.put(file.path(), content.read(file)));
          return host().sharedFiles(files);
        });
  }

  private Outcome run(
      ProcessCall call,
      ToolManifest manifest,
      String operation,
      ToolSource source,
      List<Bind> binds) {
    Invocation invocation = call.invocation();
    Limits limits = call.limits();
    Command command =
        call.command(adapter.argv(source))
            .withLimits(
                limits
                    .withPids(Math.max(limits.pids(), adapter.pids()))
                    .withOutputBytes(limits.outputBytes() + FRAMING))
            .withBinds(binds)
            .withEgress(egress(manifest));
    Optional<List<String>> executables = adapter.executables(source);
    if (executables.isPresent()) {
      command = command.withExecutables(executables.get());
    }
    if (manifest.determinism() == Determinism.REPRODUCIBLE) {
      long seed = ByteBuffer.wrap(invocation.seed()).getLong();
      command = command.reproducibly(new Reproducible(invocation.time(), seed >>> 1));
    }
    Ended ended = run(call, manifest, command, Frames.write(envelope(call, operation)));
    String said = text(call.mask(ended.stderr().bytes()));
    call.observe("stderr", JsonValue.of(said));
    return ended.reason() == EndReason.EXITED || ended.reason() == EndReason.SIGNALLED
        ? answer(call, ended)
        : call.end(ended, () -> new Outcome.Output(new byte[0], JSON));
  }

  /** In a worker that waits for such a call, or in a new one. */
  private Ended run(ProcessCall call, ToolManifest manifest, Command command, byte[] stdin) {
    Optional<Ended> warm =
        WarmKey.of(manifest, call.invocation(), host(), command)
            .flatMap(key -> pool.run(key, stdin, command.limits().wallMs()));
    if (warm.isPresent()) {
      return call.ran(warm.get());
    }
    call.copyInputs("in");
    return call.exec(command.withStdin(stdin));
  }

  private static List<EgressRule> egress(ToolManifest manifest) {
    return manifest.capabilities().hosts().stream()
        .map(host -> NetworkPlace.parse(host).orElseThrow())
        .map(place -> EgressRule.of(place.host(), place.port()))
        .toList();
  }

  /** What the worker is given, once and whole. */
  private static JsonValue.Obj envelope(ProcessCall call, String operation) {
    Invocation invocation = call.invocation();
    return JsonValue.object()
        .put("protocol", Frames.PROTOCOL)
        .put("kind", "call")
        .put("operation", operation)
        .put("input", invocation.params())
        .put(
            "context",
            JsonValue.object()
                .put("tenant", invocation.scope().tenant())
                .put("run", invocation.scope().run())
                .put("time", invocation.time())
                .put("seed", HexFormat.of().formatHex(invocation.seed()))
                .putList(
                    "inputs", invocation.inputs(), in -> JsonValue.of("/workspace/in/" + in.name()))
                .build())
        .build();
  }

  /** What the frames of a worker that ended by itself come to. */
  private static Outcome answer(ProcessCall call, Ended ended) {
    List<JsonValue.Obj> frames;
    try {
      frames = Frames.read(ended.stdout().bytes());
    } catch (Frames.Violation e) {
      return call.failed("protocol-violation", e.getMessage(), Optional.empty());
    }
    JsonValue.Obj last = frames.isEmpty() ? JsonValue.object().build() : frames.getLast();
    boolean incident = !frames.isEmpty() && Frames.kind(last).equals("incident");
    if (incident) {
      boolean loading = JsonValue.of("DependencyLoadFailure").equals(last.get("incident"));
      String message = last.get("message") instanceof JsonValue.Str s ? s.value() : "";
      return call.failed(
          loading ? "dependency-load-failure" : "tool-error",
          text(call.mask(message.getBytes(StandardCharsets.UTF_8))),
          Optional.empty());
    }
    boolean whole =
        frames.size() == 2
            && Frames.kind(frames.getFirst()).equals("ready")
            && Frames.kind(last).equals("result")
            && last.get("output") != null;
    if (!whole) {
      String kinds = frames.stream().map(Frames::kind).limit(5).toList().toString();
      return frames.size() < 2
          ? call.failed("worker-died", "it ended after the frames " + kinds, Optional.empty())
          : call.failed("protocol-violation", "its frames are " + kinds, Optional.empty());
    }
    byte[] output = Jcs.write(last.get("output"));
    return call.end(ended, () -> new Outcome.Output(output, JSON));
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}

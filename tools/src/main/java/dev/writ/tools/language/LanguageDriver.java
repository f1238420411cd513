package dev.writ.tools.language;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.rule.NetworkPlace;
import dev.writ.sandbox.Bind;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.ProgramImage;
import dev.writ.sandbox.Reproducible;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.RuntimeRange;
import dev.writ.tools.author.SourceForm;
import dev.writ.tools.author.ToolLock;
import dev.writ.tools.author.ToolSource;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.Artifacts;
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
 * Runs tool packages of one language: each call has a worker in a sandbox of its own, which ends
 * with the call. The operation is named, never sent as code (seed 004).
 */
public final class LanguageDriver extends ProcessDriver {
  private static final String JSON = "application/json";

  /** Room for the frames around an output. */
  private static final long FRAMING = 64 << 10;

  private final LanguageAdapter adapter;
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
    super(adapter.language().text(), () -> digest(WorkerScripts.of(adapter.workers())), host);
    this.adapter = adapter;
    this.pool = pool;
  }

  private static Digest digest(SortedMap<String, byte[]> files) {
    var digests = JsonValue.object();
    files.forEach((name, bytes) -> digests.put(name, Digest.sha256(bytes)));
    return Jcs.digest(digests.build());
  }

  /**
   * The strongest determinism that a manifest may state: a tool that states reproducible is run
   * reproducibly.
   */
  @Override
  public Determinism determinism() {
    return Determinism.REPRODUCIBLE;
  }

  /**
   * @throws WritException {@code TOL-214}
   */
  @Override
  public Optional<LanguageRuntime> runtime(ToolManifest manifest) {
    return version().map(found -> new LanguageRuntime(adapter.language().text(), found));
  }

  /** The runtime's version: of the image that stands in its place, or of this host. */
  private Optional<String> version() {
    return adapter
        .interpreter()
        .map(found -> image().map(ProgramImage::version).orElseGet(found::version));
  }

  /** The image that gives the runtime, where the engine has one. */
  private Optional<ProgramImage> image() {
    return adapter.interpreter().flatMap(found -> host().imageOf(found.program().toString()));
  }

  /**
   * Refuses what this host cannot run, before anything is dispatched.
   *
   * @throws WritException {@code TOL-212} to {@code TOL-214}
   */
  private void requireRuntime(ToolSource source) {
    RuntimeRange range = RuntimeRange.of(source.runtime());
    adapter.language().requireSupported(range);
    version().ifPresent(found -> adapter.language().requireRuntime(range, found));
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
    requireRuntime(source);
    List<Bind> binds = new ArrayList<>(image().isPresent() ? List.of() : adapter.binds());
    Path files = place(manifest, source, content);
    Optional<List<String>> executables =
        source.spawn() ? Optional.empty() : adapter.executables(source, files);
    binds.add(new Bind(files, LanguageAdapter.PACKAGE));
    if (!adapter.workers().isEmpty()) {
      binds.add(new Bind(host().sharedFiles(adapter.workerFiles()), LanguageAdapter.WORKERS));
    }
    return call -> run(call, manifest, operation, source, binds, executables);
  }

  /** The directory of the package's files for sandboxes; read, and so verified, once. */
  private Path place(ToolManifest manifest, ToolSource source, PackageContent content) {
    return placed.computeIfAbsent(
        manifest.packageDigest(),
        digest -> {
          TreeMap<String, byte[]> files = new TreeMap<>();
          manifest.files().forEach(file -> files.put(file.path(), content.read(file)));
          requireForm(source, files);
          return host().sharedFiles(files);
        });
  }

  /**
   * Requires, for any package, that no file can be loaded which no parser has read. Jars are exempt
   * here: registration checks that they are named, and older packages name none.
   *
   * @throws WritException {@code TOL-218}, {@code TOL-219}
   */
  private void requireForm(ToolSource source, SortedMap<String, byte[]> files) {
    List<String> jars =
        files.keySet().stream()
            .filter(path -> path.startsWith(ToolLock.VENDOR) && path.endsWith(".jar"))
            .toList();
    List<String> named = adapter.language().equals(Language.JAVA) ? jars : source.compiled();
    SourceForm.require(adapter.language(), named, files);
  }

  private DriverOutcome run(
      ProcessCall call,
      ToolManifest manifest,
      ToolManifest.Operation operation,
      ToolSource source,
      List<Bind> binds,
      Optional<List<String>> executables) {
    Invocation invocation = call.invocation();
    CgroupLimits limits = call.limits();
    Command command =
        call.command(adapter.argv(source))
            .withLimits(limits.withOutputBytes(room(manifest, limits.outputBytes())))
            .withBinds(binds)
            .withEgress(egress(manifest));
    if (executables.isPresent()) {
      command = command.withExecutables(executables.get());
    }
    if (manifest.determinism() == Determinism.REPRODUCIBLE) {
      long seed = ByteBuffer.wrap(invocation.seed()).getLong();
      command = command.reproducibly(new Reproducible(invocation.time(), seed >>> 1));
    }
    runtime(manifest).ifPresent(found -> observe(call, found));
    byte[] stdin = Frames.write(envelope(call, operation, source));
    Ended ended = run(call, manifest, source, command, stdin);
    String said = text(call.mask(ended.stderr().bytes()));
    call.observe("stderr", JsonValue.of(said));
    return ended.reason() == EndReason.EXITED || ended.reason() == EndReason.SIGNALLED
        ? answer(call, ended, source)
        : call.end(ended, () -> new DriverOutcome.Output(new byte[0], JSON));
  }

  /**
   * The most bytes that a worker may write for an output of this size: base64 makes four bytes of
   * three.
   */
  private static long room(ToolManifest manifest, long outputBytes) {
    boolean bytes =
        manifest.operations().stream().anyMatch(operation -> !operation.mediaType().equals(JSON));
    return outputBytes + (bytes ? outputBytes / 3 : 0) + FRAMING;
  }

  /**
   * Runs in a waiting worker for such a call, or in a new one. A tool that produces artifacts needs
   * a new one, since their workspace belongs to the call.
   */
  private Ended run(
      ProcessCall call, ToolManifest manifest, ToolSource source, Command command, byte[] stdin) {
    boolean leavesFiles = !source.artifacts().isEmpty();
    if (!leavesFiles && image().isEmpty()) { // an engine with images has no commands that wait
      Optional<Ended> warm =
          WarmKey.of(manifest, call.invocation(), host(), command)
              .flatMap(key ->
                  pool.run(
                      key,
                      poolOf(call.invocation()),
                      stdin,
                      command.limits().wallMs(),
                      call.invocation().call().observer()));
      if (warm.isPresent()) {
        return call.ran(warm.get());
      }
    }
    call.copyInputs("in");
    if (leavesFiles) {
      call.sandbox().workspace().makeDirectory(artifactsOf(call));
    }
    return call.execUnmasked(command.withStdin(stdin));
  }

  private PoolName poolOf(Invocation invocation) {
    return new PoolName(
        adapter.language().text(), invocation.host().classes().leastFor(invocation.resources()));
  }

  /** Records the runtime that ran it, and its file. */
  private void observe(ProcessCall call, LanguageRuntime runtime) {
    call.observe(
        "runtime",
        JsonValue.object()
            .put("language", runtime.language())
            .put("version", runtime.version())
            .build());
    call.observeProgram(adapter.interpreter().orElseThrow().program().toString());
  }

  private static List<EgressRule> egress(ToolManifest manifest) {
    return manifest.capabilities().hosts().stream()
        .map(host -> NetworkPlace.parse(host).orElseThrow())
        .map(place -> EgressRule.of(place.host(), place.port()))
        .toList();
  }

  /** The directory for a call's artifacts in the workspace. */
  private static String artifactsOf(ProcessCall call) {
    return "artifacts-" + HexFormat.of().formatHex(call.invocation().seed(), 0, 8);
  }

  /** The worker's input: one frame with the whole call. */
  private static JsonValue.Obj envelope(
      ProcessCall call, ToolManifest.Operation operation, ToolSource source) {
    Invocation invocation = call.invocation();
    var context =
        JsonValue.object()
            .put("tenant", invocation.scope().tenant())
            .put("run", invocation.scope().run())
            .put("time", invocation.time())
            .put("seed", HexFormat.of().formatHex(invocation.seed()))
            .putList(
                "inputs", invocation.inputs(), in -> JsonValue.of("/workspace/in/" + in.name()));
    invocation.call().trace().traceparent().ifPresent(parent -> context.put("traceparent", parent));
    invocation.call().trace().tracestate().ifPresent(state -> context.put("tracestate", state));
    invocation.call().trace().correlationId().ifPresent(id -> context.put("correlationId", id));
    if (!source.artifacts().isEmpty()) {
      context.put("artifacts", "/workspace/" + artifactsOf(call));
    }
    if (!source.secrets().isEmpty()) {
      var secrets = JsonValue.object();
      source.secrets().forEach(name -> secrets.put(name, SecretFile.DIRECTORY + "/" + name));
      context.put("secrets", secrets.build());
    }
    Optional<String> bytesOf =
        Optional.of(operation.mediaType()).filter(type -> !type.equals(JSON));
    return JsonValue.object()
        .put("protocol", Frames.PROTOCOL)
        .put("kind", "call")
        .put("operation", operation.name())
        .putIfPresent("media_type", bytesOf, JsonValue::of)
        .put("input", invocation.params())
        .put("context", context.build())
        .build();
  }

  /**
   * The outcome by the frames of a worker that ended by itself.
   *
   * @param ended with the output as the worker wrote it: its secrets are masked here
   */
  private static DriverOutcome answer(ProcessCall call, Ended ended, ToolSource source) {
    List<JsonValue.Obj> frames;
    try {
      frames = Frames.read(ended.stdout().bytes());
    } catch (Frames.Violation e) {
      return call.failed("protocol-violation", e.getMessage(), Optional.empty());
    }
    List<String> kinds = frames.stream().map(Frames::kind).limit(5).toList();
    if (kinds.isEmpty() || kinds.equals(List.of("ready"))) {
      return call.failed("worker-died", "it ended after the frames " + kinds, Optional.empty());
    }
    JsonValue.Obj last = frames.getLast();
    boolean loaded = kinds.size() == 2 && kinds.getFirst().equals("ready");
    if (kinds.getLast().equals("incident") && (loaded || kinds.size() == 1)) {
      return incident(call, last, loaded);
    }
    if (!loaded || !kinds.getLast().equals("result")) {
      return call.failed("protocol-violation", "its frames are " + kinds, Optional.empty());
    }
    DriverOutcome.Output output;
    try {
      output = output(call, last);
    } catch (Frames.Violation e) {
      return call.failed("protocol-violation", e.getMessage(), Optional.empty());
    }
    Artifacts artifacts =
        source.artifacts().isEmpty()
            ? Artifacts.none()
            : Artifacts.declared(call, artifactsOf(call), source.artifacts());
    return artifacts.end(call, ended, () -> output);
  }

  /** A JSON value, or bytes of the media type that the worker states; stage 5 checks the type. */
  private static DriverOutcome.Output output(ProcessCall call, JsonValue.Obj result)
      throws Frames.Violation {
    JsonValue value = result.get("output");
    if (value != null && result.get("base64") == null && result.get("media_type") == null) {
      return new DriverOutcome.Output(Jcs.write(call.masking().apply(value)), JSON);
    }
    if (value == null
        && result.get("base64") instanceof JsonValue.Str base64
        && result.get("media_type") instanceof JsonValue.Str mediaType) {
      try {
        return new DriverOutcome.Output(
            call.mask(StrictBase64.decode("base64", base64.value())),
            ToolSource.mediaType(call.masking().apply(mediaType.value())));
      } catch (WritException e) {
        throw new Frames.Violation("a result's bytes or their media type are malformed");
      }
    }
    throw new Frames.Violation("a result has neither output nor base64 with media_type");
  }

  private static DriverOutcome incident(ProcessCall call, JsonValue.Obj frame, boolean loaded) {
    boolean loading = JsonValue.of("DependencyLoadFailure").equals(frame.get("incident"));
    boolean known = JsonValue.of("Failed").equals(frame.get("incident")) || (loading && !loaded);
    if (!known || !(frame.get("message") instanceof JsonValue.Str message)) {
      return call.failed(
          "protocol-violation", "an incident that no worker has at that point", Optional.empty());
    }
    return call.failed(
        loading ? "dependency-load-failure" : "tool-error", message.value(), Optional.empty());
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}

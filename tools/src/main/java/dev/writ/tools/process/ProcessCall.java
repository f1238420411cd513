package dev.writ.tools.process;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.JsonPointers;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.NetworkPlace;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Engine;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.wasm.Texts;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * One call of a process tool: its sandbox, what it may still use, and what its commands did. Used
 * by one thread; what it made is gone when it is closed.
 */
public final class ProcessCall implements AutoCloseable {
  /** The largest input that is handed over as a file. */
  public static final long INPUT_BYTES_MAX = 64L << 20;

  private static final AtomicLong SERIAL = new AtomicLong();

  private final ProcessHost host;
  private final ToolManifest manifest;
  private final Invocation invocation;
  private final List<Ended> commands = new ArrayList<>();
  private final TreeMap<String, JsonValue> observed = new TreeMap<>();
  private final TreeMap<String, Supplier<JsonValue>> programs = new TreeMap<>();
  private Optional<List<SecretFile>> secrets = Optional.empty();
  private Optional<Masking> masking = Optional.empty();
  private Optional<ImageReference> image = Optional.empty();
  private Sandbox sandbox;
  private List<Guarantee> shortfalls = List.of();

  ProcessCall(ProcessHost host, ToolManifest manifest, Invocation invocation) {
    this.host = host;
    this.manifest = manifest;
    this.invocation = invocation;
  }

  public ToolManifest manifest() {
    return manifest;
  }

  public Invocation invocation() {
    return invocation;
  }

  public JsonValue.Obj params() {
    return invocation.params();
  }

  /**
   * What the next command may use: the declared ceiling, less what earlier commands of this call
   * used. A tool may ask for other numbers of processes and files, never for more of these.
   *
   * @throws WritException {@code SBX-026} where nothing is left, or the ceiling is too low
   */
  public CgroupLimits limits() {
    Resources most = invocation.resources();
    long wall = most.wallMs();
    long cpu = most.cpuMs();
    long output = most.outputBytes();
    for (Ended ended : commands) {
      wall -= ended.usage().wallMs();
      cpu -= ended.usage().cpuMs();
      output -= ended.stdout().bytes().length + (long) ended.stderr().bytes().length;
    }
    return CgroupLimits.STANDARD
        .withWallMs(Math.min(wall, 86_400_000L))
        .withCpuMs(Math.min(cpu, 64 * 86_400_000L))
        .withMemoryBytes(Math.min(most.memoryBytes(), 1L << 40))
        .withOutputBytes(Math.clamp(output, 0, 1L << 30));
  }

  /** A command under {@link #limits}, with the secrets that this call was granted. */
  public Command command(List<String> argv) {
    return Command.of(argv).withLimits(limits()).withSecrets(secrets());
  }

  /** From its first command on this call sees an image, and nothing of the host's programs. */
  public void runIn(ImageReference reference) {
    if (sandbox != null) {
      throw new IllegalStateException("the sandbox is there");
    }
    image = Optional.of(reference);
  }

  /**
   * The sandbox of this call, made when it is first asked for: in the run's workspace where the
   * manifest says that the tool uses it, else in a fresh one.
   *
   * @throws WritException why there is none
   */
  public Sandbox sandbox() {
    if (sandbox == null) {
      SandboxSpec spec =
          SandboxSpec.of("call-" + SERIAL.incrementAndGet(), Profile.named(invocation.sandbox()))
              .without(waived());
      if (invocation.approved()) {
        spec = spec.asApproved();
      }
      if (manifest.capabilities().workspace()) {
        spec = spec.in(host.runWorkspaces().open(invocation));
      }
      if (image.isPresent()) {
        spec = spec.withImage(image.get());
      }
      Engine engine = image.isPresent() ? host.engineOfImages(waived()) : engine();
      sandbox = engine.create(spec);
      shortfalls = engine.report().shortfalls();
    }
    return sandbox;
  }

  /** What of the host's shortfalls the policy of this call does without. */
  public List<Guarantee> waived() {
    return invocation.host().waived().stream().map(Guarantee::waivable).toList();
  }

  private Engine engine() {
    return host.engine(waived());
  }

  /** Runs a command to its end and remembers how it ended, without this call's secrets. */
  public Ended exec(Command command) {
    return remember(sandbox().exec(command));
  }

  /** Remembers a command that ran for this call in a sandbox that was not made by it. */
  public Ended ran(Ended how) {
    shortfalls = engine().report().shortfalls();
    return remember(how);
  }

  private Ended remember(Ended how) {
    Ended ended = masking().apply(how);
    commands.add(ended);
    return ended;
  }

  /** What the commands so far did, in their order. */
  public List<Ended> commands() {
    return List.copyOf(commands);
  }

  /** The secrets that this call names and was granted. */
  public List<SecretFile> secrets() {
    if (secrets.isEmpty()) {
      secrets = Optional.of(List.copyOf(host.secrets().granted(manifest, invocation)));
    }
    return secrets.get();
  }

  /**
   * The places that this call names where its manifest says that places are named; the guardian let
   * them through. An address is one that policy names by itself, so it may be a private one.
   *
   * @throws WritException {@code SBX-029} for what is no place
   */
  public List<EgressRule> egress() {
    List<EgressRule> rules = new ArrayList<>();
    for (String pointer : manifest.capabilities().network()) {
      JsonPointers.find(params(), pointer).ifPresent(value -> collect(value, rules));
    }
    return List.copyOf(rules);
  }

  private static void collect(JsonValue value, List<EgressRule> rules) {
    switch (value) {
      case JsonValue.Str text -> rules.add(rule(text.value()));
      case JsonValue.Arr list -> list.items().forEach(item -> collect(item, rules));
      default -> throw new WritException(SandboxError.EGRESS_RULE, "neither text nor a list");
    }
  }

  /** One place, as {@code host:port} or a URL. */
  public static EgressRule rule(String text) {
    NetworkPlace place =
        NetworkPlace.parse(text)
            .orElseThrow(() ->
                new WritException(
                    SandboxError.EGRESS_RULE, "a place of " + text.length() + " characters"));
    String host = place.host().replace("[", "").replace("]", "");
    boolean address = host.contains(":") || host.matches("[0-9.]+");
    return new EgressRule(host, place.port(), address);
  }

  /**
   * Notes which program of the host a command runs, for the observations: its place, size and
   * digest, which is computed beside the run.
   */
  public void observeProgram(String program) {
    programs.put(program, host.programs().describe(program));
  }

  /** Takes this call's secrets out of what leaves it. */
  public Masking masking() {
    if (masking.isEmpty()) {
      masking = Optional.of(new Masking(secrets()));
    }
    return masking.get();
  }

  /** What a program wrote to a file, say, without this call's secrets. */
  public byte[] mask(byte[] bytes) {
    return masking().apply(bytes);
  }

  /**
   * Copies the effect's inputs into the workspace, each to {@code directory/NAME}; bytes are
   * verified against their digest while they are read.
   *
   * @throws WritException {@code TOL-030} for one that is too large, {@code SBX-043} to {@code
   *     SBX-045} for a name that is no plain path
   */
  public void copyInputs(String directory) {
    for (Input input : invocation.inputs()) {
      if (input.size() > INPUT_BYTES_MAX) {
        throw new WritException(
            ToolsError.INPUT_TOO_LARGE, input.size() + " bytes, at most " + INPUT_BYTES_MAX);
      }
      try (InputStream in = invocation.content().open(input)) {
        sandbox().workspace().write(directory + "/" + input.name(), in.readAllBytes(), false);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Adds something that the driver saw, such as the versions of a toolchain. */
  public void observe(String name, JsonValue value) {
    observed.put(name, value);
  }

  /**
   * What a call comes to whose last command ended so. A program that exited by itself is a success,
   * whatever its code; limits, kills and timeouts are not, and what there is of the output is kept.
   */
  public DriverOutcome end(Ended ended, Supplier<DriverOutcome.Output> output) {
    return end(ended, output, List.of());
  }

  /** The same, with files that the tool leaves behind. */
  public DriverOutcome end(
      Ended ended, Supplier<DriverOutcome.Output> output, List<DriverOutcome.Artifact> artifacts) {
    DriverOutcome.End how = how(ended.reason());
    boolean succeeded = how == DriverOutcome.End.SUCCEEDED;
    return new DriverOutcome(
        how,
        succeeded ? "ok" : ended.reason().text(),
        succeeded ? "" : "the program was ended, or failed, by: " + ended.reason().text(),
        Optional.of(output.get()),
        artifacts,
        metrics(),
        observations());
  }

  /** A call that fails for a reason of the tool's own. */
  public DriverOutcome failed(
      String reason, String message, Optional<DriverOutcome.Output> output) {
    return new DriverOutcome(
        DriverOutcome.End.FAILED,
        reason,
        Texts.message(message),
        output,
        List.of(),
        metrics(),
        observations());
  }

  /** A call that was refused on the way: the reason word is {@code refused}. */
  DriverOutcome refused(WritException e) {
    return failed("refused", e.getMessage(), Optional.empty());
  }

  private static DriverOutcome.End how(EndReason reason) {
    return switch (reason) {
      case EXITED, SIGNALLED -> DriverOutcome.End.SUCCEEDED;
      case TIMED_OUT -> DriverOutcome.End.TIMED_OUT;
      case CANCELLED, OUTPUT_LIMIT, CPU_LIMIT, OUT_OF_MEMORY, SECCOMP_VIOLATION ->
          DriverOutcome.End.KILLED;
      case PIDS_LIMIT, DISK_LIMIT, EGRESS_DENIED -> DriverOutcome.End.FAILED;
    };
  }

  /**
   * Times added up; of memory the most that one command had. Where nobody measures processor time,
   * it is taken to be all that was declared: a budget must not be spent for nothing.
   */
  private DriverOutcome.Metrics metrics() {
    long cpu = 0;
    long memory = 0;
    long wall = 0;
    for (Ended ended : commands) {
      cpu += ended.usage().cpuMs();
      memory = Math.max(memory, ended.usage().memoryPeakBytes());
      wall += ended.usage().wallMs();
    }
    if (shortfalls.contains(Guarantee.MEASURED)) {
      cpu = invocation.resources().cpuMs();
    }
    return new DriverOutcome.Metrics(cpu, memory, wall, 0);
  }

  private JsonValue.Obj observations() {
    var json = JsonValue.object().putList("commands", commands, Ended::toJson);
    if (!programs.isEmpty()) {
      var found = JsonValue.object();
      programs.forEach((name, program) -> found.put(name, program.get()));
      json.put("programs", found.build());
    }
    if (!shortfalls.isEmpty()) {
      json.putList("shortfalls", shortfalls, g -> JsonValue.of(g.text()));
    }
    observed.forEach(json::put);
    JsonValue all = json.build();
    return (JsonValue.Obj) masking.map(m -> m.apply(all)).orElse(all);
  }

  /** Ends what runs and takes the sandbox away. */
  @Override
  public void close() {
    if (sandbox != null) {
      sandbox.destroy();
    }
  }
}

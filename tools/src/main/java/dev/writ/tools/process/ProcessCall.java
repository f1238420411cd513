package dev.writ.tools.process;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.JsonPointers;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.engine.CallLimits;
import dev.writ.guardian.policy.rule.NetworkPlace;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Engine;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.ProgramImage;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.egress.EgressEvent;
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
 * One call of a process tool: its sandbox, its remaining resources, and the results of its
 * commands. Not thread safe; closing it removes what it made.
 */
public final class ProcessCall implements AutoCloseable {
  /** The largest input that is passed as a file. */
  public static final long INPUT_BYTES_MAX = 64L << 20;

  private static final int REFUSALS_SHOWN = 3;

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
  private DriverOutcome.Metrics used = DriverOutcome.Metrics.NONE;
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
   * The limits of the next command: the declared ceiling minus the use of earlier commands of this
   * call. A tool may change the numbers of processes and files, but not raise these limits.
   *
   * @throws WritException {@code SBX-026} if nothing is left, or the ceiling is too low
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
    CallLimits set = policyLimits();
    return CgroupLimits.STANDARD
        .withGraceMs(set.graceMs().orElse(CgroupLimits.STANDARD.graceMs()))
        .withTmpBytes(set.tmpBytes().orElse(CgroupLimits.STANDARD.tmpBytes()))
        .withFileBytes(set.fileBytes().orElse(CgroupLimits.STANDARD.fileBytes()))
        .withPids(set.pids().orElse(CgroupLimits.STANDARD.pids()))
        .withWallMs(Math.min(wall, 86_400_000L))
        .withCpuMs(Math.min(cpu, 64 * 86_400_000L))
        .withMemoryBytes(Math.min(most.memoryBytes(), 1L << 40))
        .withOutputBytes(Math.clamp(output, 0, 1L << 30));
  }

  /** What policy's resource class sets for this call beside its resources. */
  CallLimits policyLimits() {
    return invocation.host().limitsFor(invocation.resources());
  }

  /** A command under {@link #limits}, with the secrets that this call was granted. */
  public Command command(List<String> argv) {
    return Command.of(argv).withLimits(limits()).withSecrets(secrets());
  }

  /** Runs its commands in an image, without programs of the host; only before its first command. */
  public void runIn(ImageReference reference) {
    if (sandbox != null) {
      throw new IllegalStateException("the sandbox is there");
    }
    image = Optional.of(reference);
  }

  /**
   * The sandbox of this call, made on first use: with the run's workspace if the manifest states
   * that the tool uses it, otherwise with a fresh one.
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
      Optional<Long> freshBytes = policyLimits().workspaceBytes();
      if (freshBytes.isPresent()) {
        spec = spec.withFreshBytes(freshBytes.get());
      }
      if (manifest.capabilities().workspace()) {
        spec = spec.in(host.runWorkspaces().open(invocation));
      }
      if (invocation.call().intent().isPresent()) {
        spec = spec.forIntent(invocation.call().intent().get());
      }
      if (image.isPresent()) {
        spec = spec.withImage(image.get());
      }
      Engine engine = image.isPresent() ? host.engineOfImages(waived()) : engine();
      sandbox = engine.create(spec);
      shortfalls = engine.report().shortfalls();
      invocation.call().observer().in(sandbox.id());
      invocation.call().observer().created();
    }
    return sandbox;
  }

  /** The PATH of this call's sandbox profile. */
  public List<String> path() {
    return List.of(Profile.named(invocation.sandbox()).path().split(":"));
  }

  /** The sandbox guarantees that this call's policy waives. */
  public List<Guarantee> waived() {
    return invocation.host().waived().stream().map(Guarantee::waivable).toList();
  }

  private Engine engine() {
    return host.engine(waived());
  }

  /** Runs a command to its end and records the result, with this call's secrets masked. */
  public Ended exec(Command command) {
    execUnmasked(command);
    return commands.getLast();
  }

  /**
   * The same, but returns the output as the command wrote it, to a caller that masks what it reads
   * from it: masking would change the lengths that a protocol states.
   */
  public Ended execUnmasked(Command command) {
    Sandbox place = sandbox();
    invocation.call().observer().executing();
    try {
      Ended ended = place.exec(command);
      commands.add(masking().apply(ended));
      return ended;
    } finally {
      invocation.call().observer().executed();
    }
  }

  /** Records the result of a command that ran for this call in another sandbox. */
  public Ended ran(Ended how) {
    shortfalls = engine().report().shortfalls();
    Ended ended = masking().apply(how);
    commands.add(ended);
    return ended;
  }

  /** Adds what was used elsewhere for this call, such as by a server that runs all the time. */
  public void used(DriverOutcome.Metrics elsewhere) {
    used = elsewhere;
  }

  /** The results of the commands so far, in order. */
  public List<Ended> commands() {
    return List.copyOf(commands);
  }

  /** The granted secrets of the tool and those that this call names. */
  public List<SecretFile> secrets() {
    if (secrets.isEmpty()) {
      secrets = Optional.of(List.copyOf(host.secrets().granted(manifest, invocation)));
    }
    return secrets.get();
  }

  /**
   * The network destinations in the params that the manifest declares as such; the Guardian has
   * allowed them. A literal address may be private, since policy must list it literally.
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

  /** One destination, as {@code host:port} or a URL. */
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
   * Records the program that a command runs, for the observations: of one of this host path, size
   * and digest, which is computed meanwhile; of one of an image the image.
   */
  public void observeProgram(String program) {
    Optional<ProgramImage> elsewhere = host.imageOf(program);
    programs.put(
        program,
        elsewhere.isPresent()
            ? () -> JsonValue.object().put("image", elsewhere.get().image().toString()).build()
            : host.programs().describe(program));
  }

  /** Masks this call's secrets in its outputs. */
  public Masking masking() {
    if (masking.isEmpty()) {
      masking = Optional.of(new Masking(secrets()));
    }
    return masking.get();
  }

  /** Masks this call's secrets, for example in a file that a program wrote. */
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

  /** Adds an observation of the driver, such as the versions of a toolchain. */
  public void observe(String name, JsonValue value) {
    observed.put(name, value);
  }

  /**
   * The outcome of a call whose last command ended like this. A program that exited by itself is a
   * success, with any exit code; a limit, kill or timeout is not, and the available output is kept.
   */
  public DriverOutcome end(Ended ended, Supplier<DriverOutcome.Output> output) {
    return end(ended, output, List.of());
  }

  /** The same, with artifacts of the tool. */
  public DriverOutcome end(
      Ended ended, Supplier<DriverOutcome.Output> output, List<DriverOutcome.Artifact> artifacts) {
    DriverOutcome.End how = how(ended.reason());
    boolean succeeded = how == DriverOutcome.End.SUCCEEDED;
    return new DriverOutcome(
        how,
        succeeded ? "ok" : ended.reason().text(),
        succeeded
            ? ""
            : "the program was ended, or failed, by: " + ended.reason().text() + refused(),
        Optional.of(output.get()),
        artifacts,
        metrics(),
        observations());
  }

  /** The outcome of a call that fails for a reason of the tool. */
  public DriverOutcome failed(
      String reason, String message, Optional<DriverOutcome.Output> output) {
    return new DriverOutcome(
        DriverOutcome.End.FAILED,
        reason,
        Texts.message(masking.map(m -> m.apply(message + refused())).orElse(message + refused())),
        output,
        List.of(),
        metrics(),
        observations());
  }

  /** The outcome of a call of which only the driver knows how it ended. */
  public DriverOutcome ended(
      DriverOutcome.End end, String reason, String message, Optional<DriverOutcome.Output> output) {
    return new DriverOutcome(
        end,
        reason,
        Texts.message(masking.map(m -> m.apply(message)).orElse(message)),
        output,
        List.of(),
        metrics(),
        observations());
  }

  /** What the egress proxy refused, and by which rule; empty where it refused nothing. */
  private String refused() {
    List<String> denied =
        commands.stream()
            .flatMap(ended -> ended.egress().stream())
            .filter(EgressEvent::denied)
            .map(EgressEvent::text)
            .distinct()
            .toList();
    if (denied.isEmpty()) {
      return "";
    }
    int more = denied.size() - REFUSALS_SHOWN;
    return "; the egress proxy refused "
        + String.join(", ", denied.subList(0, Math.min(REFUSALS_SHOWN, denied.size())))
        + (more > 0 ? " and " + more + " more" : "");
  }

  /**
   * The outcome of a call that was refused while it ran; its reason is {@code refused}, and the
   * code is among the observations.
   */
  DriverOutcome refused(WritException e) {
    observed.put("refused", JsonValue.of(e.code().code()));
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
   * The sum of times, and the maximum of memory, over all commands. If processor time cannot be
   * measured, the declared ceiling counts: otherwise the budget would be charged nothing.
   */
  private DriverOutcome.Metrics metrics() {
    long cpu = used.cpuMs();
    long memory = used.memoryBytes();
    long wall = used.wallMs();
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

  /** Ends running commands and removes the sandbox. */
  @Override
  public void close() {
    if (sandbox != null) {
      sandbox.destroy();
      invocation.call().observer().destroyed();
    }
  }
}

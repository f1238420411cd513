package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.RecordedCode;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.engine.HostTerms;
import dev.writ.verify.bundle.RecordedRun;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The tools at one step: which package was registered, and whether its driver and sandbox were
 * available. A recording does not state these; they are inferred from the recorded snapshot and
 * from refusals of stage 3. Instead of running, a tool returns its recorded outcome.
 */
final class RecordedTools extends Tools {
  private final RecordedRun recording;
  private final TreeMap<String, Driver> drivers;
  private final StepFixture scene;

  /** The state that is set before each step. */
  static final class StepFixture {
    Optional<ToolManifest> manifest = Optional.empty();
    boolean driverMissing;
    boolean sandboxMissing;

    /**
     * The receipt does not directly follow the dispatch, so the effect was not written as a pure
     * one.
     */
    boolean alone;

    /** The sandbox profile's digest in the release that recorded the run, if it differs. */
    Optional<Digest> sandbox = Optional.empty();

    /** The recorded snapshot, if it cannot be computed here. */
    Optional<Digest> snapshot = Optional.empty();

    /** What stage 3 refused with. */
    Optional<Refusal> refusal = Optional.empty();

    /** The tool's outcome; throws if the driver failed. */
    Supplier<DriverOutcome> outcome;

    /** The tool itself, if it runs again. */
    Optional<Driver.Prepared> live = Optional.empty();
  }

  private RecordedTools(RecordedRun recording, TreeMap<String, Driver> drivers, StepFixture scene) {
    super(
        new Registry() {
          @Override
          public Optional<ToolManifest> manifest(String name, String version) {
            return scene.manifest.filter(m -> m.name().equals(name) && m.version().equals(version));
          }

          @Override
          public Driver.PackageContent content(ToolManifest manifest) {
            return recording.files(manifest);
          }
        },
        List.of());
    this.recording = recording;
    this.drivers = drivers;
    this.scene = scene;
  }

  static RecordedTools of(RecordedRun recording, List<Driver> drivers) {
    TreeMap<String, Driver> byName = new TreeMap<>();
    drivers.forEach(driver -> byName.put(driver.name(), driver));
    return new RecordedTools(recording, byName, new StepFixture());
  }

  StepFixture scene() {
    return scene;
  }

  /** Whether the real driver of a tool is available here. */
  boolean hasDriver(ToolManifest manifest) {
    return drivers.containsKey(manifest.driver());
  }

  /** Whether that driver's tools give the same result again. */
  boolean reproduces(ToolManifest manifest) {
    return Optional.ofNullable(drivers.get(manifest.driver()))
        .filter(d -> d.determinism().weaker(manifest.determinism()) != Determinism.RECORDED)
        .isPresent();
  }

  /**
   * Gets a tool ready to run again.
   *
   * @param host the terms for hosts of the policy of that time
   * @throws WritException where its package is not here, or does not run here
   */
  Driver.Prepared prepare(ToolManifest manifest, String operation, HostTerms host) {
    return drivers.get(manifest.driver()).prepare(manifest, operation, content(manifest), host);
  }

  @Override
  public Circumstances circumstances(Effect effect, Policy policy) {
    Circumstances computed = super.circumstances(effect, policy);
    return scene.snapshot.map(s -> new Circumstances(computed.manifest(), s)).orElse(computed);
  }

  @Override
  protected Optional<Driver> find(String name) {
    return scene.driverMissing ? Optional.empty() : Optional.of(new Recorded(name));
  }

  /** How well the scene is known. */
  enum Known {
    /** Computing the snapshot gives the recorded one. */
    COMPUTED,
    /** The tool's manifest is not in the bundle, so neither judgement nor stages can run again. */
    NO_MANIFEST,
    /** Its driver is not available, so the snapshot is taken as recorded. */
    NO_DRIVER,
    /** All parts are available, and give another snapshot. */
    OTHER
  }

  /** Looks for a state that gives this snapshot, sets it, and says what was found. */
  Known infer(Effect effect, Policy policy, Digest snapshot) {
    reset();
    Optional<ToolManifest> approved =
        policy.tool(effect.tool(), effect.version()).flatMap(tool -> recording.tool(tool.ref()));
    for (Optional<ToolManifest> manifest : List.of(approved, Optional.<ToolManifest>empty())) {
      for (boolean missing : new boolean[] {false, true}) {
        scene.manifest = manifest;
        scene.sandboxMissing = missing;
        if (super.circumstances(effect, policy).snapshot().equals(snapshot)) {
          return Known.COMPUTED;
        }
      }
    }
    scene.manifest = approved;
    scene.sandboxMissing = false;
    for (Digest before : profilesBefore(approved, effect)) {
      scene.sandbox = Optional.of(before);
      if (super.circumstances(effect, policy).snapshot().equals(snapshot)) {
        return Known.COMPUTED;
      }
    }
    scene.sandbox = Optional.empty();
    scene.snapshot = Optional.of(snapshot);
    if (approved.isEmpty()) {
      return Known.NO_MANIFEST;
    }
    return hasDriver(approved.get()) ? Known.OTHER : Known.NO_DRIVER;
  }

  private List<Digest> profilesBefore(Optional<ToolManifest> manifest, Effect effect) {
    return manifest
        .map(m -> drivers.get(m.driver()))
        .map(driver -> driver.sandboxProfilesBefore(effect.sandbox()))
        .orElse(List.of());
  }

  private void reset() {
    scene.sandbox = Optional.empty();
    scene.manifest = Optional.empty();
    scene.driverMissing = false;
    scene.sandboxMissing = false;
    scene.alone = false;
    scene.snapshot = Optional.empty();
    scene.refusal = Optional.empty();
    scene.live = Optional.empty();
  }

  /** A driver that returns the recorded outcome. */
  private final class Recorded implements Driver {
    private final String name;
    private final Optional<Driver> real;

    Recorded(String name) {
      this.name = name;
      this.real = Optional.ofNullable(drivers.get(name));
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public Determinism determinism() {
      return scene.alone
          ? Determinism.RECORDED
          : real.map(Driver::determinism).orElse(Determinism.RECORDED);
    }

    @Override
    public Digest sandboxProfile(String profile) {
      if (scene.sandboxMissing) {
        throw refusal().orElseGet(() -> new WritException(ExecutorError.SANDBOX_MISSING, profile));
      }
      return scene
          .sandbox
          .or(() -> real.map(driver -> driver.sandboxProfile(profile)))
          .orElseGet(Digest::sha256);
    }

    private Optional<WritException> refusal() {
      return scene.refusal.map(RecordedCode::thrown);
    }

    @Override
    public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
      refusal()
          .ifPresent(refused -> {
            throw refused;
          });
      return invocation ->
          scene.live.isPresent() ? scene.live.get().run(invocation) : scene.outcome.get();
    }
  }
}

package dev.writ.executor.stage;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.error.ExecutorError;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Snapshot;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.ApprovedTool;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The registered tools and their drivers. */
public class Tools {

  /** Finds registered packages; their content is verified against the package digest. */
  public interface Registry {
    Optional<ToolManifest> manifest(String name, String version);

    Driver.PackageContent content(ToolManifest manifest);
  }

  private final Registry registry;
  private final SortedMap<String, Driver> drivers;

  /** The snapshot that was computed last; null before the first. */
  private volatile Known known;

  public Tools(Registry registry, Iterable<? extends Driver> drivers) {
    this.registry = registry;
    this.drivers = new TreeMap<>();
    drivers.forEach(driver -> this.drivers.put(driver.name(), driver));
  }

  /** Tells all drivers that a run is closed, which it is whatever becomes of what they keep. */
  public void closed(String tenant, String run) {
    for (Driver driver : drivers.values()) {
      try {
        driver.closed(tenant, run);
      } catch (WritException e) {
        continue; // it ends with the driver
      }
    }
  }

  /**
   * The tool of an effect, which policy must approve by its package digest.
   *
   * @throws WritException {@code EXE-301}, {@code EXE-302}
   */
  public ToolManifest resolve(Effect effect, Policy policy) {
    String shown = effect.tool() + " " + effect.version();
    ToolManifest manifest =
        registry
            .manifest(effect.tool(), effect.version())
            .orElseThrow(() -> new WritException(ExecutorError.TOOL_UNKNOWN, shown));
    ApprovedTool approved =
        policy
            .tool(effect.tool(), effect.version())
            .orElseThrow(() -> new WritException(ExecutorError.TOOL_NOT_APPROVED, shown));
    if (!approved.ref().equals(manifest.ref())) {
      throw new WritException(
          ExecutorError.TOOL_NOT_APPROVED,
          shown
              + ": policy approves "
              + approved.ref().packageDigest()
              + ", registered is "
              + manifest.packageDigest());
    }
    return manifest;
  }

  /**
   * The tool and the snapshot that a decision rests on beside policy; also for tools that cannot
   * run.
   */
  public record Circumstances(ToolManifest manifest, Digest snapshot) {}

  /**
   * The registered tool and the snapshot, for judging and for stage 2. A missing part is recorded
   * as missing, so that its later arrival changes the snapshot.
   */
  public Circumstances circumstances(Effect effect, Policy policy) {
    ToolManifest manifest =
        registry
            .manifest(effect.tool(), effect.version())
            .orElseGet(() -> ToolManifest.unregistered(effect.tool(), effect.version()));
    String stage =
        policy
            .tool(effect.tool(), effect.version())
            .filter(approved -> approved.ref().equals(manifest.ref()))
            .map(ApprovedTool::stage)
            .orElse("unapproved");
    return new Circumstances(
        manifest,
        snapshot(policy.digest(), manifest.ref(), stage, sandboxProfile(manifest, effect)));
  }

  /** A snapshot, and what it is the digest of. */
  private record Known(
      Digest policy, ToolRef tool, String stage, Digest sandbox, Digest snapshot) {}

  /** It changes with policy and tools alone, but is asked for twice for each effect. */
  private Digest snapshot(Digest policy, ToolRef tool, String stage, Digest sandbox) {
    Known last = known;
    if (last == null
        || !last.policy().equals(policy)
        || !last.tool().equals(tool)
        || !last.stage().equals(stage)
        || !last.sandbox().equals(sandbox)) {
      last = new Known(policy, tool, stage, sandbox, Snapshot.digest(policy, tool, stage, sandbox));
      known = last;
    }
    return last.snapshot();
  }

  /** Whether the tool of an effect, as it is registered now, uses the workspace of its run. */
  public boolean usesWorkspace(Effect effect) {
    return registry
        .manifest(effect.tool(), effect.version())
        .filter(manifest -> manifest.capabilities().workspace())
        .isPresent();
  }

  /**
   * The manifest of exactly this package, if it is the one registered under its name and version.
   */
  public Optional<ToolManifest> manifest(ToolRef ref) {
    return registry.manifest(ref.name(), ref.version()).filter(found -> found.ref().equals(ref));
  }

  private Digest sandboxProfile(ToolManifest manifest, Effect effect) {
    Optional<Driver> driver = find(manifest.driver());
    try {
      return driver.isEmpty() ? Digest.sha256() : driver.get().sandboxProfile(effect.sandbox());
    } catch (WritException e) {
      return Digest.sha256(); // unknown profile: stage 3 reports it
    }
  }

  /**
   * @throws WritException {@code EXE-304}
   */
  public Driver driver(ToolManifest manifest) {
    return find(manifest.driver())
        .orElseThrow(() -> new WritException(ExecutorError.DRIVER_MISSING, manifest.driver()));
  }

  /** The driver of that name, where there is one. */
  protected Optional<Driver> find(String name) {
    return Optional.ofNullable(drivers.get(name));
  }

  /** The files of a package; each must have the digest that the manifest states. */
  public Driver.PackageContent content(ToolManifest manifest) {
    Driver.PackageContent content = registry.content(manifest);
    return file -> {
      byte[] bytes = content.read(file);
      Digest found = Digest.sha256(bytes);
      if (!found.equals(file.digest())) {
        throw new WritException(
            ExecutorError.PREPARE_FAILED,
            file.path() + " is " + found + ", the manifest names " + file.digest());
      }
      return bytes;
    };
  }
}

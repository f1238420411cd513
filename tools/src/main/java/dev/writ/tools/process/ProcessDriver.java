package dev.writ.tools.process;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverFailed;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.ExpectedCall;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.engine.HostTerms;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.tools.wasm.Preparation;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;

/** Runs tools whose operations are confined processes of this host. */
public abstract class ProcessDriver implements Driver {
  /** Failures of the host or of Writ, not of the call. */
  private static final EnumSet<SandboxError> OURS =
      EnumSet.of(
          SandboxError.ENGINE_FAILED,
          SandboxError.HOST,
          SandboxError.SANDBOX_ID,
          SandboxError.SANDBOX_BUSY,
          SandboxError.SANDBOX_GONE,
          SandboxError.STATE_DIRECTORY,
          SandboxError.STATE_LOCKED);

  private final String name;
  private final Supplier<Digest> program;
  private final ProcessHost host;

  /** By name of the profile: each call asks for it several times. */
  private final ConcurrentSkipListMap<String, Digest> profiles = new ConcurrentSkipListMap<>();

  /**
   * @param program the digest of the driver's own parts (launcher, table of environment variables,
   *     and so on) that affect the result of a call; asked for when there is one, since a short
   *     command makes all drivers, and these parts have to be read
   */
  protected ProcessDriver(String name, Supplier<Digest> program, ProcessHost host) {
    this.name = Objects.requireNonNull(name);
    this.program = Objects.requireNonNull(program);
    this.host = Objects.requireNonNull(host);
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public Determinism determinism() {
    return Determinism.RECORDED;
  }

  protected final ProcessHost host() {
    return host;
  }

  /**
   * Covers the profile and the driver's own parts, not the host's engine and toolchains: an
   * auditor's machine without those must compute the same. They are in the observations.
   *
   * @throws WritException {@code SBX-020}
   */
  @Override
  public final Digest sandboxProfile(String profile) {
    return profiles.computeIfAbsent(profile, p -> withDriver(Profile.named(p).digest()));
  }

  @Override
  public final List<Digest> sandboxProfilesBefore(String profile) {
    return Profile.before(profile).stream().map(this::withDriver).toList();
  }

  private Digest withDriver(Digest profile) {
    return Jcs.digest(
        JsonValue.object()
            .put("driver", name)
            .put("interface", 1)
            .put("profile", profile)
            .put("program", program.get())
            .build());
  }

  /**
   * @throws WritException {@code TOL-001}, {@code TOL-002}, {@code SBX-020}, or why there is no
   *     engine here: {@code SBX-001}, {@code SBX-003}
   */
  @Override
  public final Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
    return prepare(manifest, operation, content, HostTerms.NONE);
  }

  @Override
  public final Prepared prepare(
      ToolManifest manifest, String operation, PackageContent content, HostTerms terms) {
    return prepare(manifest, operation, content, terms, Optional.empty());
  }

  @Override
  public final Prepared prepare(
      ToolManifest manifest,
      String operation,
      PackageContent content,
      HostTerms terms,
      ExpectedCall call) {
    return prepare(manifest, operation, content, terms, Optional.of(call));
  }

  private Prepared prepare(
      ToolManifest manifest,
      String operation,
      PackageContent content,
      HostTerms terms,
      Optional<ExpectedCall> call) {
    ToolManifest.Operation found = Preparation.operation(this, manifest, operation);
    requireEngine(manifest, content, terms);
    Program prepared = program(manifest, found, content, terms, call);
    return invocation -> run(manifest, invocation, prepared);
  }

  /**
   * Requires what confines the tool's processes.
   *
   * @throws WritException why there is none
   */
  protected void requireEngine(ToolManifest manifest, PackageContent content, HostTerms terms) {
    host.engine(terms.waived().stream().map(Guarantee::waivable).toList());
  }

  /**
   * What an operation does.
   *
   * @throws WritException where this host lacks what every call of it needs
   */
  protected abstract Program program(
      ToolManifest manifest, ToolManifest.Operation operation, PackageContent content);

  /**
   * The same for a driver that keeps something ready for each scope.
   *
   * @param call what is known of the call before its dispatch, where it is
   */
  protected Program program(
      ToolManifest manifest,
      ToolManifest.Operation operation,
      PackageContent content,
      HostTerms terms,
      Optional<ExpectedCall> call) {
    return program(manifest, operation, content);
  }

  private DriverOutcome run(ToolManifest manifest, Invocation invocation, Program prepared) {
    ProcessCall call = new ProcessCall(host, manifest, invocation);
    try (call) {
      return prepared.run(call);
    } catch (WritException e) {
      if (e.code() instanceof SandboxError error && OURS.contains(error)) {
        throw new DriverFailed(e.code().code(), e);
      }
      return call.refused(e);
    }
  }
}

package dev.writ.tools.language;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.sandbox.Bind;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.tools.process.ProcessHost;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Everything that determines a worker before its call. A worker is started from its key alone, and
 * is given only to calls with an equal key, so it equals a cold start of that call. The rest comes
 * with the call: its input, context and elapsed time.
 *
 * @param limits without the elapsed time, which is 1
 * @param workspaceBytes size of its fresh workspace, where policy sets one
 */
record WarmKey(
    Digest packageDigest,
    String engine,
    String profile,
    List<Guarantee> waived,
    List<String> argv,
    SortedMap<String, String> environment,
    String directory,
    CgroupLimits limits,
    Optional<Long> workspaceBytes,
    List<Bind> binds,
    Optional<List<String>> executables) {
  WarmKey {
    Objects.requireNonNull(packageDigest);
    Objects.requireNonNull(engine);
    Objects.requireNonNull(profile);
    waived = List.copyOf(waived);
    argv = List.copyOf(argv);
    environment = Collections.unmodifiableSortedMap(new TreeMap<>(environment));
    Objects.requireNonNull(directory);
    limits = limits.withWallMs(1);
    binds = List.copyOf(binds);
    executables = executables.map(List::copyOf);
  }

  /**
   * The key of a call; empty if its worker cannot be started before it: with secrets, files or a
   * workspace, which belong to the call; with a network, which may not be used before the call;
   * reproducible, since clock and seed come with the call; or in a profile for approved calls.
   */
  static Optional<WarmKey> of(
      ToolManifest manifest, Invocation invocation, ProcessHost host, Command command) {
    List<Guarantee> waived = invocation.host().waived().stream().map(Guarantee::waivable).toList();
    boolean coldOnly =
        manifest.capabilities().workspace()
            || !invocation.inputs().isEmpty()
            || Profile.named(invocation.sandbox()).approval();
    return coldOnly
        ? Optional.empty()
        : of(
            manifest.packageDigest(),
            host.engine(waived).name(),
            invocation.sandbox(),
            waived,
            invocation.host().limitsFor(invocation.resources()).workspaceBytes(),
            command);
  }

  /** The part of {@link #of} that depends on the command alone. */
  static Optional<WarmKey> of(
      Digest packageDigest,
      String engine,
      String profile,
      List<Guarantee> waived,
      Optional<Long> workspaceBytes,
      Command command) {
    boolean coldOnly =
        !command.secrets().isEmpty()
            || !command.egress().isEmpty()
            || command.reproducible().isPresent();
    return coldOnly
        ? Optional.empty()
        : Optional.of(
            new WarmKey(
                packageDigest,
                engine,
                profile,
                waived,
                command.argv(),
                command.environment(),
                command.directory(),
                command.limits(),
                workspaceBytes,
                command.binds(),
                command.executables()));
  }

  /** The command that starts a worker of this key. */
  Command command() {
    return new Command(
        argv,
        new byte[0],
        environment,
        directory,
        limits,
        binds,
        List.of(),
        executables,
        List.of(),
        Optional.empty());
  }

  /** What it runs in. */
  SandboxSpec sandbox(String id) {
    SandboxSpec spec = SandboxSpec.of(id, Profile.named(profile)).without(waived);
    return workspaceBytes.map(spec::withFreshBytes).orElse(spec);
  }
}

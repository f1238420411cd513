package dev.writ.kube.testing;

import dev.writ.kube.KubernetesEngine;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Engine;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.engine.Engines;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/** The engine on a cluster of its own, and on a state directory that is gone at the end. */
public final class TestPods implements AutoCloseable {
  /** What a policy for this engine has to accept. */
  public static final List<Guarantee> WAIVED =
      List.of(
          Guarantee.CPU_LIMIT,
          Guarantee.DISTINCT_UID,
          Guarantee.MEASURED,
          Guarantee.PIDS_LIMIT,
          Guarantee.TMP_NOEXEC);

  private static final AtomicLong IDS = new AtomicLong();

  public final FakeCluster cluster;
  public final Path state;
  private final Path directory;

  /** The process's variables, as the engine gets them; set before the first use. */
  public Map<String, String> environment = Map.of();

  /** Set before the first use. */
  public Function<SandboxSettings, SandboxSettings> settings = s -> s;

  private Engines engines;

  public TestPods() {
    try {
      directory = Files.createTempDirectory(Path.of("/tmp"), "pods");
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    state = directory.resolve("s");
    cluster = new FakeCluster(directory);
  }

  /** Opened on first use. */
  public synchronized Engine engine() {
    if (engines == null) {
      engines = open(state);
    }
    return engines.named("kubernetes", WAIVED);
  }

  private Engines open(Path where) {
    return Engines.open(
        settings
            .apply(SandboxSettings.in(where))
            .remotely(KubernetesEngine.opener(cluster::settings, environment)));
  }

  public SandboxSpec spec(String image) {
    return SandboxSpec.of("a" + IDS.incrementAndGet(), Profile.named("default"))
        .without(WAIVED)
        .withImage(ImageReference.parse(image));
  }

  /** Runs a line of shell in a sandbox of its own. */
  public Ended run(String line) {
    return run(Command.of("sh", "-c", line));
  }

  public Ended run(Command command) {
    try (Sandbox sandbox = engine().create(spec(FakeCluster.DEBIAN))) {
      return sandbox.exec(command);
    }
  }

  public static CgroupLimits wallMs(long ms) {
    return CgroupLimits.STANDARD.withWallMs(ms);
  }

  /** How many pods the cluster has. */
  public int pods() {
    return cluster.client.pods().inNamespace(FakeCluster.NAMESPACE).list().getItems().size();
  }

  @Override
  public void close() {
    if (engines != null) {
      engines.close();
    }
    cluster.close();
    Trees.remove(directory);
  }
}

package dev.writ.sandbox.testing;

import dev.writ.sandbox.host.Mounts;
import dev.writ.sandbox.host.Spawner;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A podman service of the tests' own, with nothing of the host's podman: one for each JVM, started
 * on first use, gone with it. Its store is in memory.
 */
public final class PodmanService {
  private static PodmanService shared;

  private final Path directory;
  private Process process;

  private PodmanService(Path directory, Process process) {
    this.directory = directory;
    this.process = process;
  }

  /** One of its own, which can be killed and started again. */
  public static PodmanService own() {
    return start("");
  }

  /** Kills the service with SIGKILL; its containers go on. */
  public synchronized void kill() throws IOException {
    process.destroyForcibly().onExit().join();
    Files.deleteIfExists(socket());
  }

  /** Starts a service on the same store, after {@link #kill}. */
  public synchronized void again() throws IOException, InterruptedException {
    Path log = directory.resolve("log");
    process =
        Spawner.start(
            new ProcessBuilder(service(directory))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile())));
    awaitSocket(log);
  }

  private static List<String> service(Path directory) {
    List<String> argv = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL", "--"));
    argv.addAll(podman(directory));
    argv.addAll(List.of("system", "service", "--time=0", "unix://" + socket(directory)));
    return argv;
  }

  public static synchronized PodmanService shared() {
    if (shared == null) {
      shared = start("");
    }
    return shared;
  }

  /** One of its own, which fetches from a registry on loopback without TLS. */
  public static PodmanService trusting(String registry) {
    return start("[[registry]]\nlocation = \"" + registry + "\"\ninsecure = true\n");
  }

  private static PodmanService start(String registries) {
    try {
      Path directory = Files.createTempDirectory(Path.of("/tmp"), "sbxp");
      Mounts.tmpfs(directory, 512 << 20, "0700", 0, true);
      List<String> argv = service(directory);
      Path log = directory.resolve("log");
      ProcessBuilder builder =
          new ProcessBuilder(argv).redirectErrorStream(true).redirectOutput(log.toFile());
      if (!registries.isEmpty()) {
        builder
            .environment()
            .put(
                "CONTAINERS_REGISTRIES_CONF",
                Files.writeString(directory.resolve("registries.conf"), registries).toString());
      }
      PodmanService service = new PodmanService(directory, Spawner.start(builder));
      Runtime.getRuntime().addShutdownHook(new Thread(service::stop));
      service.awaitSocket(log);
      return service;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<String> podman(Path directory) {
    return List.of(
        "podman",
        "--root",
        directory.resolve("root").toString(),
        "--runroot",
        directory.resolve("run").toString(),
        "--tmpdir",
        directory.resolve("tmp").toString(),
        "--cgroup-manager=cgroupfs",
        "--events-backend=file",
        "--storage-driver=overlay",
        "--runtime=runc");
  }

  private void awaitSocket(Path log) throws IOException, InterruptedException {
    while (!Files.exists(socket())) {
      if (process.waitFor(20, TimeUnit.MILLISECONDS)) {
        throw new IOException(Files.readString(log, StandardCharsets.UTF_8));
      }
    }
  }

  private static Path socket(Path directory) {
    return directory.resolve("podman.sock");
  }

  public Path socket() {
    return socket(directory);
  }

  /** Runs a podman command on its store, and returns what it says. */
  public String podman(String... arguments) throws IOException, InterruptedException {
    List<String> argv = new ArrayList<>(podman(directory));
    argv.addAll(List.of(arguments));
    Process run = Spawner.start(new ProcessBuilder(argv).redirectErrorStream(true));
    try (var in = run.getInputStream()) {
      String said = new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
      if (run.waitFor() != 0) {
        throw new IOException(said);
      }
      return said;
    }
  }

  /**
   * podman cleans up after containers in processes of their own, which would mount again: here
   * nothing needs to be clean that is not removed.
   */
  private void endHelpers() {
    for (List<ProcessHandle> left = helpers(); !left.isEmpty(); left = helpers()) {
      left.forEach(ProcessHandle::destroyForcibly);
      left.forEach(helper -> helper.onExit().join());
    }
  }

  private List<ProcessHandle> helpers() {
    return ProcessHandle.allProcesses()
        .filter(process -> process.info().commandLine().orElse("").contains(directory + "/"))
        .toList();
  }

  private void stop() {
    try {
      podman("rm", "--all", "--force", "--time", "0");
    } catch (IOException | InterruptedException e) {
      System.err.println("podman rm: " + e.getMessage());
    }
    process.destroyForcibly().onExit().join();
    endHelpers();
    Mounts.below(directory).forEach(Mounts::unmount);
    Trees.remove(directory);
  }
}

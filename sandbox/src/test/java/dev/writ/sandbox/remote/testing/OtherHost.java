package dev.writ.sandbox.remote.testing;

import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Engine;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.engine.Engines;
import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.remote.RemoteDockerEngine;
import dev.writ.sandbox.remote.RemoteDockerSettings;
import dev.writ.sandbox.testing.PodmanService;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A podman service of its own behind TLS, as another host would have it, with images of BusyBox;
 * and the engine that uses it, on a state directory that is gone at the end.
 */
public final class OtherHost implements AutoCloseable {
  /** What a policy for this engine has to accept. */
  public static final List<Guarantee> WAIVED =
      List.of(Guarantee.CPU_LIMIT, Guarantee.DISTINCT_UID, Guarantee.MEASURED);

  private static final AtomicLong IDS = new AtomicLong();
  private static final List<String> APPLETS =
      List.of(
          "cat", "dd", "echo", "head", "id", "ln", "ls", "mkfifo", "mv", "nc", "rm", "sh", "sleep",
          "touch", "tail", "true", "chmod", "cp");

  public final PodmanService podman;
  public final Authority authority;
  public final Authority.Issued client;
  public final TlsRelay relay;
  public final Path directory;

  /** Of BusyBox alone. */
  public final ImageReference helper;

  /** With a shell and what it needs. */
  public final ImageReference image;

  private Engines engines;

  public OtherHost() throws IOException, InterruptedException {
    podman = PodmanService.own();
    directory = Files.createTempDirectory(Path.of("/tmp"), "rem");
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
    authority = new Authority(directory.resolve("authority"));
    client = authority.issue("writ.example");
    relay = new TlsRelay(podman.socket(), authority.issue("localhost").trusting(authority));
    Path bin = Files.createDirectories(directory.resolve("helper/bin"));
    Files.copy(Path.of("/bin/busybox"), bin.resolve("busybox"));
    helper = imported("helper", directory.resolve("helper"));
    Path tools = Files.createDirectories(directory.resolve("tools/bin"));
    Files.copy(Path.of("/bin/busybox"), tools.resolve("busybox"));
    for (String applet : APPLETS) {
      Files.createSymbolicLink(tools.resolve(applet), Path.of("busybox"));
    }
    image = imported("tools", directory.resolve("tools"));
  }

  /** An image of a directory. */
  public ImageReference imported(String name, Path root) throws IOException, InterruptedException {
    Path tar = root.resolveSibling(name + ".tar");
    Process process =
        new ProcessBuilder("tar", "-C", root.toString(), "-cf", tar.toString(), ".").start();
    if (process.waitFor() != 0) {
      throw new IOException("tar");
    }
    podman.podman(
        "import",
        "-q",
        "--change",
        "ENV PATH=/bin",
        tar.toString(),
        "localhost/" + name + ":latest");
    String id = podman.podman("image", "inspect", "--format", "{{.Id}}", name);
    return ImageReference.parse("localhost/" + name + "@sha256:" + id);
  }

  public RemoteDockerSettings settings() {
    return settings("localhost", relay.port(), authority.certificate(), client);
  }

  public RemoteDockerSettings settings(String host, int port, Path ca, Authority.Issued shown) {
    return new RemoteDockerSettings(
        host, port, ca, shown.certificate(), shown.key(), helper, 60_000, 3_000);
  }

  /** The engine, opened on first use. */
  public synchronized Engine engine() {
    if (engines == null) {
      engines = open(settings());
    }
    return engines.named("docker-remote", WAIVED);
  }

  public Engines open(RemoteDockerSettings settings) {
    return Engines.open(
        SandboxSettings.in(directory.resolve("s"))
            .remotely(RemoteDockerEngine.opener(() -> settings)));
  }

  /** Closes the engine, so that it is opened again on the same directory. */
  public synchronized void closeEngine() {
    if (engines != null) {
      engines.close();
      engines = null;
    }
  }

  /** The id of the state directory. */
  public String installation() throws IOException {
    return Files.readString(directory.resolve("s/id"), StandardCharsets.US_ASCII).strip();
  }

  public SandboxSpec spec() {
    return spec(image);
  }

  public SandboxSpec spec(ImageReference of) {
    return SandboxSpec.of("r" + IDS.incrementAndGet(), Profile.named("default"))
        .without(WAIVED)
        .withImage(of);
  }

  /** Runs a line of shell in a sandbox of its own. */
  public Ended run(String line) {
    return run(Command.of("sh", "-c", line));
  }

  public Ended run(Command command) {
    try (Sandbox sandbox = engine().create(spec())) {
      return sandbox.exec(command);
    }
  }

  public static String out(Ended ended) {
    return new String(ended.stdout().bytes(), StandardCharsets.UTF_8);
  }

  /** What is on the other host: containers and volumes. */
  public List<String> left() throws IOException, InterruptedException {
    List<String> all = new ArrayList<>();
    podman.podman("ps", "-a", "--format", "{{.Names}}").lines().forEach(all::add);
    podman.podman("volume", "ls", "-q").lines().forEach(all::add);
    return all;
  }

  @Override
  public void close() throws IOException {
    closeEngine();
    relay.close();
    Trees.remove(directory);
  }
}

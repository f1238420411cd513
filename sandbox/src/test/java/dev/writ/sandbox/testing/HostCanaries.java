package dev.writ.sandbox.testing;

import dev.writ.sandbox.Command;
import dev.writ.sandbox.Execution;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.cgroup.CgroupLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;

/** What an attack would reach on the host, if it could: a file, services, another sandbox. */
public final class HostCanaries implements AutoCloseable {
  private final Path file;
  private final ServerSocket service;
  private final ServerSocketChannel socket;
  private final Process abstractSocket;
  private final Sandbox other;
  private final Execution running;
  private final SortedMap<String, String> environment = new TreeMap<>();

  public HostCanaries(TestEngines engines, String engine) throws Exception {
    Path directory = engines.directory();
    file = directory.resolve("canary-" + engine);
    Files.writeString(file, "untouched", StandardCharsets.US_ASCII);
    service = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Path path = directory.resolve(engine + ".sock");
    socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    socket.bind(UnixDomainSocketAddress.of(path));
    String name = "writ-canary-" + engine + ProcessHandle.current().pid();
    abstractSocket =
        new ProcessBuilder("socat", "-d", "-d", "ABSTRACT-LISTEN:" + name, "STDIO")
            .redirectErrorStream(true)
            .start();
    abstractSocket.getInputStream().read(); // it says that it listens
    other =
        engines.named(engine).create(SandboxSpec.of(TestEngines.newId(), Profile.named("default")));
    other.workspace().write("secret", "of another".getBytes(StandardCharsets.US_ASCII), false);
    CountDownLatch up = new CountDownLatch(1);
    running =
        other.start(
            Command.of("/bin/sh", "-c", "echo up; exec sleep 600")
                .withLimits(CgroupLimits.STANDARD.withWallMs(600_000)),
            (OutputListener.Stream s, byte[] b) -> up.countDown());
    up.await();
    long uid = other.workspace().owner();
    long pid =
        ProcessHandle.allProcesses()
            .map(ProcessHandle::pid)
            .filter(p -> ownerIs(p, uid))
            .max(Long::compare)
            .orElseThrow();
    environment.put("CANARY_FILE", file.toString());
    environment.put("OTHER_WORKSPACE", other.workspace().directory().toString());
    environment.put("CANARY_PORT", Integer.toString(service.getLocalPort()));
    environment.put("JVM_PID", Long.toString(ProcessHandle.current().pid()));
    environment.put("OTHER_PID", Long.toString(pid));
    environment.put("CANARY_ABSTRACT", name);
    environment.put("CANARY_SOCKET", path.toString());
  }

  private static boolean ownerIs(long pid, long uid) {
    try {
      return ((Integer) Files.getAttribute(Path.of("/proc/" + pid), "unix:uid")).longValue() == uid;
    } catch (IOException e) {
      return false;
    }
  }

  public SortedMap<String, String> environment() {
    return environment;
  }

  /** Whether something that is there belongs to the other sandbox. */
  boolean owns(String what) {
    long uid = other.workspace().owner();
    return what.contains("u" + uid + "-") || (what + "/").contains("/live/" + other.id() + "/");
  }

  /** Throws unless all is as it was. */
  public void requireUntouched() throws IOException {
    if (!Files.readString(file, StandardCharsets.US_ASCII).equals("untouched")) {
      throw new AssertionError("the host's file was changed");
    }
    long pid = Long.parseLong(environment.get("OTHER_PID"));
    if (!ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)) {
      throw new AssertionError("the other sandbox was killed");
    }
  }

  @Override
  public void close() throws IOException {
    running.cancel();
    other.destroy();
    service.close();
    socket.close();
    abstractSocket.destroyForcibly();
  }
}

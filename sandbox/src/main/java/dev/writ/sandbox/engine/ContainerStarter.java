package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.sandbox.DebianPackages;
import dev.writ.sandbox.cgroup.Cgroup;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.docker.ApiClient;
import dev.writ.sandbox.docker.Attached;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Host;
import dev.writ.sandbox.host.Modes;
import dev.writ.sandbox.seccomp.OciSeccomp;
import dev.writ.sandbox.seccomp.SystemCalls;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Starts commands in containers of a docker or podman service. The container's first process only
 * waits, and the command is a second process in it. So the cgroup outlives the command until its
 * counters are read, and processes that the command leaves can be killed without losing its exit
 * code.
 */
final class ContainerStarter implements Starter {
  private final ApiClient client;
  private final RootImage images;
  private final Host host;
  private final Path init;
  private final NetworkForwarder forwarder;

  /**
   * @param init a static program that waits and reaps
   */
  ContainerStarter(
      ApiClient client, RootImage images, Host host, Path init, NetworkForwarder forwarder) {
    this.client = client;
    this.images = images;
    this.host = host;
    this.init = init;
    this.forwarder = forwarder;
  }

  @Override
  public boolean ownCgroups() {
    return false;
  }

  @Override
  public void requireAble(Confinement.Wanted wanted) {
    if (wanted.reproducible()) {
      throw new WritException(
          SandboxError.UNSUPPORTED,
          "a service cannot turn address randomisation off; bubblewrap and runc do");
    }
    if (wanted.image() && wanted.executables()) {
      throw new WritException(
          SandboxError.UNSUPPORTED, "the executables of an image are those that are in it");
    }
    if (wanted.egress() && !forwarder.available()) {
      throw new WritException(
          SandboxError.ENGINE_MISSING,
          "socat and nsenter: " + DebianPackages.install(List.of("socat", "util-linux")));
    }
  }

  /**
   * Removes all containers of a state directory. Only at a start, when no other process uses them.
   *
   * @return whether none is left; a failing service must not stop other engines from starting
   */
  static boolean sweep(ApiClient client, String state) {
    try {
      client.containers(ContainerConfig.LABEL + "=" + state).forEach(client::remove);
      return true;
    } catch (WritException e) {
      return false;
    }
  }

  @Override
  public RunningCommand start(Confinement c) {
    ContainerConfig config = new ContainerConfig(client.service(), init, c);
    String image = c.image().map(images::of).orElseGet(() -> images.empty(c.view()));
    String id = client.create("writ-" + c.containerId(), config.container(image, seccomp(c)));
    Optional<Process> forward = Optional.empty();
    Attached streams = null;
    try {
      client.start(id);
      long keeper = client.state(id).pid();
      Cgroup cgroup = prove(c, id, keeper);
      if (c.proxySocket().isPresent()) {
        forward = Optional.of(forwarder.start(c, keeper));
      }
      String exec = client.exec(id, config.process());
      streams = client.startExec(exec);
      return new RunningContainer(client, id, keeper, cgroup, exec, streams, forward, c.feeds());
    } catch (RuntimeException e) {
      if (streams != null) {
        streams.close();
      }
      forward.ifPresent(Process::destroyForcibly);
      client.remove(id);
      throw e;
    }
  }

  /** The seccomp filter: docker takes it as JSON, podman as a file. */
  private String seccomp(Confinement c) {
    byte[] filter = Jcs.write(OciSeccomp.forServices(host.architecture(), c.rules()));
    if (!client.service().podman()) {
      return new String(filter, StandardCharsets.UTF_8);
    }
    try {
      Path file = c.directory().resolve("seccomp.json");
      Modes.writePrivate(file, filter);
      return file.toString();
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot write a filter", e);
    }
  }

  /** Checks by the kernel's data, not the service's, that the container is as requested. */
  private Cgroup prove(Confinement c, String id, long keeper) {
    Path proc = Path.of("/proc", Long.toString(keeper));
    List<String> hidden =
        c.view().stream().filter(Mounted.Hidden.class::isInstance).map(Mounted::target).toList();
    List<String> noexec = new ArrayList<>(List.of("/run"));
    if (!c.runsFromTmp()) {
      noexec.addAll(List.of("/dev/shm", "/tmp"));
    }
    if (c.rules() == SystemCalls.Rules.LISTED) {
      noexec.add("/workspace");
    }
    new ContainerProof(proc, Path.of("/proc/self")).require(c.uid(), hidden, noexec);
    try {
      String text = Files.readString(proc.resolve("cgroup"), StandardCharsets.UTF_8);
      if (!text.contains(id)) {
        throw new WritException(
            SandboxError.ENGINE_FAILED, "the container's first process is not on this host");
      }
      Cgroup cgroup = host.cgroups().ofProcess(text);
      cgroup.limitSockets(c.command().limits());
      requireLimits(cgroup, c.command().limits());
      return cgroup;
    } catch (IOException e) {
      throw new WritException(SandboxError.ENGINE_FAILED, "the container ended at once", e);
    }
  }

  private static void requireLimits(Cgroup cgroup, CgroupLimits limits) {
    List<String> wrong = cgroup.wrongLimits(limits);
    if (!wrong.isEmpty()) {
      throw new WritException(SandboxError.NOT_ENFORCED, Detection.DOCKER + ": " + wrong);
    }
  }
}

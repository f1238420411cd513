package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.EngineReport.Holding;
import dev.writ.sandbox.EngineReport.Missing;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.docker.ApiClient;
import dev.writ.sandbox.docker.Service;
import dev.writ.sandbox.host.Host;
import dev.writ.sandbox.host.HostCommands;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The docker or podman service of this host.
 *
 * @param client a client of the first socket on which a service answers
 */
record Containers(EngineReport report, Optional<ApiClient> client) {

  static Containers look(Host host, List<Path> sockets) {
    List<Missing> missing = new ArrayList<>();
    Detection.require(missing, "catatonit", "catatonit");
    Detection.require(missing, "setpriv", "util-linux");
    Optional<ApiClient> client = Optional.empty();
    for (Path socket : sockets) {
      if (client.isEmpty()) {
        client = answering(socket);
      }
    }
    if (client.isEmpty()) {
      missing.add(service());
    }
    TreeMap<Guarantee, Holding> holdings = Detection.common(host);
    String version = "";
    if (client.isPresent()) {
      Service service = client.get().service();
      version = service.version() + (service.podman() ? " (podman)" : "");
      hold(holdings, host, service);
    }
    if (!host.root()) {
      holdAll(holdings, "a service is used by root only");
    }
    return new Containers(new EngineReport(Detection.DOCKER, version, missing, holdings), client);
  }

  private static Optional<ApiClient> answering(Path socket) {
    try {
      return Optional.of(ApiClient.at(socket));
    } catch (WritException e) {
      return Optional.empty(); // no service behind the socket, or no permission
    }
  }

  private static Missing service() {
    String name = "a socket that docker or podman serves";
    return HostCommands.find("podman").isPresent()
        ? new Missing(name, "", "systemctl enable --now podman.socket")
        : new Missing(name, "podman", "systemctl enable --now podman.socket");
  }

  private static void hold(TreeMap<Guarantee, Holding> all, Host host, Service service) {
    if (!service.idsAreTheHosts()) {
      holdAll(all, "the service maps user ids, or runs without root: not used yet");
      return;
    }
    all.put(
        Guarantee.NAMESPACES,
        new Holding(true, "mount, pid, ipc, uts, network; looked at for each command"));
    all.put(
        Guarantee.READ_ONLY_ROOT,
        new Holding(true, "read-only: what the profile names, or an image"));
    all.put(Guarantee.NO_NEW_USERNS, new Holding(true, "seccomp"));
    if (service.security().contains("apparmor")) {
      all.put(Guarantee.APPARMOR, new Holding(true, "the service's own profile"));
    }
    String groups = host.cgroups().describe() + ", by the service";
    if (!service.security().contains("seccomp")) {
      all.put(Guarantee.SECCOMP, new Holding(false, "the service has no seccomp"));
    }
    require(all, Guarantee.MEMORY_LIMIT, service.memory(), groups);
    require(all, Guarantee.PIDS_LIMIT, service.pids(), groups);
    require(all, Guarantee.CPU_LIMIT, service.cpu() && host.cgroups().measures(), groups);
  }

  /** A service gives a guarantee only if the host can. */
  private static void require(
      TreeMap<Guarantee, Holding> all, Guarantee one, boolean able, String how) {
    boolean held = able && all.get(one).held();
    all.put(one, new Holding(held, held ? how : "not limited here: " + how));
  }

  private static void holdAll(TreeMap<Guarantee, Holding> all, String why) {
    for (Guarantee one : Guarantee.values()) {
      if (one.required()) {
        all.put(one, new Holding(false, why));
      }
    }
  }

  /** Null without a service; it is never used then. */
  Starter starter(Host host, StateDirectory state, Forwarder forwarder) {
    if (!report.available()) {
      return null;
    }
    return new ContainerStarter(
        client.orElseThrow(),
        new RootImage(client.orElseThrow(), state.roots()),
        host,
        HostCommands.find("catatonit").orElseThrow(),
        new NetworkForwarder(forwarder));
  }
}

package dev.writ.sandbox.remote;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.EngineReport.Holding;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.RemoteEngine;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.Tally;
import dev.writ.sandbox.docker.Service;
import dev.writ.sandbox.elsewhere.LiveSandboxes;
import dev.writ.sandbox.error.SandboxError;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Confines commands in containers of a docker or podman service on another host
 * (spec/sandbox-remote.md).
 */
public final class RemoteDockerEngine implements RemoteEngine {
  static final String NAME = "docker-remote";

  private final RemoteDockerSettings settings;
  private final RemoteService service;
  private final EngineReport report;
  private final String installation;
  private final LiveSandboxes live;

  private RemoteDockerEngine(RemoteDockerSettings settings, RemoteService service, Place place) {
    this.settings = settings;
    this.service = service;
    this.report = report(service.service());
    this.installation = place.installation();
    this.live = new LiveSandboxes(place.live());
  }

  /**
   * Opens it.
   *
   * @param settings read when it is opened or looked at, and not before
   */
  public static Opener opener(Supplier<RemoteDockerSettings> settings) {
    return new Opener() {
      @Override
      public EngineReport look() {
        return RemoteDockerEngine.report(RemoteService.at(settings.get().address()).service());
      }

      @Override
      public RemoteEngine open(Place place) {
        RemoteDockerSettings read = settings.get();
        RemoteService service = RemoteService.at(read.address());
        service.image(read.helper());
        service.sweep(place.installation());
        return new RemoteDockerEngine(read, service, place);
      }
    };
  }

  private static EngineReport report(Service service) {
    TreeMap<Guarantee, Holding> all = new TreeMap<>();
    all.put(Guarantee.NAMESPACES, new Holding(true, "of the container; no network; looked at"));
    all.put(Guarantee.READ_ONLY_ROOT, new Holding(true, "the image, read-only; looked at"));
    all.put(Guarantee.NO_CAPABILITIES, new Holding(true, "all dropped; no_new_privs; looked at"));
    all.put(Guarantee.NO_NEW_USERNS, new Holding(true, "seccomp"));
    all.put(
        Guarantee.SECCOMP,
        new Holding(true, "the service's own allow-list; looked at that one is"));
    all.put(
        Guarantee.DISTINCT_UID,
        new Holding(false, "all containers run as the user id 65534 of their host"));
    all.put(Guarantee.MEMORY_LIMIT, limit(service.memory(), "cgroup; looked at"));
    all.put(Guarantee.PIDS_LIMIT, limit(service.pids(), "cgroup; looked at"));
    all.put(
        Guarantee.CPU_LIMIT,
        new Holding(false, "share of processors only; processor time of each process"));
    all.put(Guarantee.MEASURED, new Holding(false, "nothing that is told could be checked"));
    all.put(Guarantee.DISK_LIMIT, new Holding(true, "a tmpfs of that size; looked at"));
    all.put(Guarantee.TMP_NOEXEC, new Holding(true, "tmpfs with noexec; looked at"));
    all.put(Guarantee.LANDLOCK, new Holding(false, "not asked for"));
    all.put(Guarantee.APPARMOR, new Holding(false, "the service's own, where its host has it"));
    String version = service.version() + (service.podman() ? " (podman)" : "");
    return new EngineReport(NAME, version, List.of(), all);
  }

  private static Holding limit(boolean held, String how) {
    return new Holding(held, held ? how : "the service says that it cannot");
  }

  @Override
  public EngineReport report() {
    return report;
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    report.requireHeld(spec.waived());
    if (spec.image().isEmpty()) {
      throw new WritException(
          SandboxError.UNSUPPORTED,
          NAME + " runs images alone: policy has to name one (commands.images)");
    }
    return live.add(
        spec, (own, workspace) -> new RemoteDockerSandbox(this, live, spec, own, workspace));
  }

  RemoteDockerSettings settings() {
    return settings;
  }

  RemoteService service() {
    return service;
  }

  String installation() {
    return installation;
  }

  @Override
  public Tally tally() {
    return live.tally();
  }

  @Override
  public void close() {
    live.destroyAll();
  }
}

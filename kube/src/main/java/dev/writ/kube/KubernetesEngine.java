package dev.writ.kube;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Bind;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.EngineReport.Holding;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.ProgramImage;
import dev.writ.sandbox.RemoteEngine;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.Tally;
import dev.writ.sandbox.elsewhere.LiveSandboxes;
import dev.writ.sandbox.error.SandboxError;
import io.fabric8.kubernetes.api.model.Pod;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/** Confines commands in pods of a Kubernetes cluster (spec/sandbox-kubernetes.md). */
public final class KubernetesEngine implements RemoteEngine {
  static final String NAME = "kubernetes";

  /** The most digits of a digest in a pod's name, which may have 63 characters. */
  private static final int NAME_DIGITS = 40;

  private final KubernetesSettings settings;
  private final Place place;
  private final Cluster cluster;
  private final Optional<EgressProxies> egress;
  private final EngineReport report;
  private final PodForm form;
  private final SecureRandom random = new SecureRandom();
  private final LiveSandboxes live;

  private KubernetesEngine(
      KubernetesSettings settings,
      Place place,
      Cluster cluster,
      Optional<EgressProxies> egress,
      EngineReport report) {
    this.settings = settings;
    this.place = place;
    this.cluster = cluster;
    this.egress = egress;
    this.report = report;
    this.form = new PodForm(settings);
    this.live = new LiveSandboxes(place.live());
  }

  /**
   * Opens it.
   *
   * @param settings read when it is opened or looked at, and not before
   * @param environment the process's variables: where a pod finds its cluster, and its own address
   */
  public static Opener opener(
      Supplier<KubernetesSettings> settings, Map<String, String> environment) {
    return new Opener() {
      @Override
      public EngineReport look() {
        KubernetesSettings read = settings.get();
        try (Cluster cluster = Cluster.of(read, environment)) {
          return KubernetesEngine.report(read, cluster);
        }
      }

      @Override
      public RemoteEngine open(Place place) {
        KubernetesSettings read = settings.get();
        Cluster cluster = Cluster.of(read, environment);
        Optional<EgressProxies> egress = Optional.empty();
        try {
          Optional<InetSocketAddress> proxy = read.proxy().map(p -> p.place(environment));
          egress = proxy.map(at -> EgressProxies.open(at, place.settings()));
          NetworkRules.of(read, proxy).forEach(cluster::ensure);
          EngineReport report = KubernetesEngine.report(read, cluster);
          new OrphanSweep(cluster, place.installation()).run(Instant.now());
          return new KubernetesEngine(read, place, cluster, egress, report);
        } catch (RuntimeException e) {
          egress.ifPresent(EgressProxies::close);
          cluster.close();
          throw e;
        }
      }
    };
  }

  private static EngineReport report(KubernetesSettings settings, Cluster cluster) {
    TreeMap<Guarantee, Holding> all = new TreeMap<>();
    all.put(
        Guarantee.NAMESPACES,
        new Holding(true, "of the pod; network policies, which each pod tries"));
    all.put(Guarantee.READ_ONLY_ROOT, new Holding(true, "the image, read-only; looked at"));
    all.put(Guarantee.NO_CAPABILITIES, new Holding(true, "all dropped; no_new_privs; looked at"));
    all.put(Guarantee.NO_NEW_USERNS, new Holding(true, "seccomp"));
    all.put(
        Guarantee.SECCOMP,
        new Holding(true, "the runtime's own allow-list; looked at that one is"));
    all.put(
        Guarantee.DISTINCT_UID,
        settings.userNamespaces()
            ? new Holding(true, "a user namespace for each pod")
            : new Holding(false, "all pods run as the user id 65534 of their node"));
    all.put(Guarantee.MEMORY_LIMIT, new Holding(true, "limits of the container"));
    all.put(
        Guarantee.PIDS_LIMIT,
        settings.podPids() > 0
            ? new Holding(true, settings.podPids() + " in a pod, as its settings say")
            : new Holding(false, "a pod cannot ask for it; kubelets limit it, if they do"));
    all.put(
        Guarantee.CPU_LIMIT,
        new Holding(false, "share of processors only; processor time of each process"));
    all.put(Guarantee.MEASURED, new Holding(false, "the cluster's API does not tell"));
    all.put(Guarantee.DISK_LIMIT, new Holding(true, "size of volumes, by eviction"));
    all.put(Guarantee.TMP_NOEXEC, new Holding(false, "volumes cannot be noexec"));
    all.put(Guarantee.LANDLOCK, new Holding(false, "not asked for"));
    all.put(Guarantee.APPARMOR, new Holding(false, "the runtime's own, where its nodes have it"));
    return new EngineReport(NAME, cluster.version(), List.of(), all);
  }

  @Override
  public EngineReport report() {
    return report;
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    report.requireHeld(spec.waived());
    if (spec.image().isEmpty() && settings.programs().isEmpty()) {
      throw new WritException(
          SandboxError.UNSUPPORTED,
          NAME
              + " runs images alone: policy has to name one (commands.images), or its settings"
              + " (programs)");
    }
    return live.add(spec, (own, workspace) -> new PodSandbox(this, live, spec, own, workspace));
  }

  Cluster cluster() {
    return cluster;
  }

  long startMs() {
    return settings.startMs();
  }

  /** The way out for commands; empty where the settings name no proxy. */
  Optional<EgressProxies> egress() {
    return egress;
  }

  @Override
  public Optional<ProgramImage> imageOf(String program) {
    return Optional.ofNullable(settings.programs().get(program));
  }

  /**
   * The pod of a command. Its name is made of the intent and of the command's number in its call,
   * so that a cluster runs it at most once, whoever asks.
   */
  Pod form(SandboxSpec spec, ImageReference image, Command command, long number) {
    String name =
        spec.intent()
            .map(digest -> digest.hex().substring(0, NAME_DIGITS) + "-" + number)
            .orElseGet(() -> "x" + random(NAME_DIGITS / 2));
    String network = command.egress().isEmpty() ? NetworkRules.NONE : NetworkRules.PROXY;
    Map<String, String> labels =
        Map.of(PodForm.INSTALLATION, place.installation(), PodForm.NETWORK, network);
    TreeMap<String, String> annotations = new TreeMap<>(Map.of(Cluster.ATTEMPT, random(16)));
    spec.intent().ifPresent(digest -> annotations.put(PodForm.INTENT, digest.toString()));
    return form.of(
        new PodForm.Names("writ-" + name, labels, annotations),
        image,
        command.limits(),
        spec.freshBytes(),
        command.binds().stream().map(Bind::target).toList());
  }

  private String random(int bytes) {
    byte[] some = new byte[bytes];
    random.nextBytes(some);
    return HexFormat.of().formatHex(some);
  }

  @Override
  public Tally tally() {
    return live.tally();
  }

  @Override
  public void close() {
    live.destroyAll();
    egress.ifPresent(EgressProxies::close);
    cluster.close();
  }
}

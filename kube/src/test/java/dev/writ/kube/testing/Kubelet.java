package dev.writ.kube.testing;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A node: takes pods from the API, runs the commands of their containers in bubblewrap with the
 * volumes, user and capabilities that the pod asks for, and writes the status. Where a real node
 * pulls an image, this one has some files of this host for each name.
 */
public final class Kubelet implements AutoCloseable {
  private static final Pattern REFERENCE =
      Pattern.compile("\\$\\$|\\$\\(([A-Za-z_][A-Za-z0-9_]*)\\)");
  private static final int TERM_MS = 5_000;
  private static final int LOOK_MS = 2;
  private static final int MOST_LOOKS = 30_000 / LOOK_MS;

  private final KubernetesClient client;
  private final Path root;
  private final Map<String, List<String>> images = new ConcurrentHashMap<>();
  private final Map<String, FakePod> pods = new ConcurrentHashMap<>();
  private final Behaviour behaviour;
  private final Semaphore pulling = new Semaphore(0);
  private final AtomicInteger addresses = new AtomicInteger();
  private volatile boolean closed;

  /** What goes wrong on this node; changed by tests. */
  public static final class Behaviour {
    /**
     * The address of the API that containers are told and can reach, where policies do not hold.
     */
    public volatile String reachable = "";

    /** Whether pods stay pending. */
    public volatile boolean full;

    /** Reported instead of {@code Error} for the command. */
    public volatile String reason = "";

    /** Whether containers run as root, with all capabilities. */
    public volatile boolean careless;

    /** Whether containers are in the network of this host. */
    public volatile boolean network;

    /** The container of which an answer is lost, after it ended; once. */
    public volatile String loses = "";

    /** Until when images are being pulled. */
    public volatile CountDownLatch pulled = new CountDownLatch(0);
  }

  Kubelet(KubernetesClient client, Path root, Behaviour behaviour) {
    this.client = client;
    this.root = root;
    this.behaviour = behaviour;
  }

  /** An image that this node has: how bubblewrap makes its root. */
  public void image(String name, List<String> options) {
    images.put(name, options);
  }

  /** What the API has of a pod now. */
  void told(String what, Pod pod) {
    String uid = pod.getMetadata().getUid();
    if (what.equals("ADDED") && !closed) {
      FakePod fake = new FakePod(pod);
      if (pods.putIfAbsent(uid, fake) == null) {
        Thread.ofVirtual().name("kubelet").start(fake::run);
      }
    } else if (what.equals("DELETED")) {
      FakePod fake = pods.remove(uid);
      if (fake != null) {
        Thread.ofVirtual().start(fake::terminate);
      }
    }
  }

  /** Whether the answer to a program that was run in it is lost, once. */
  boolean losesAnswer(String container) {
    if (behaviour.loses.equals(container)) {
      behaviour.loses = "";
      return true;
    }
    return false;
  }

  /** The process of a container, for exec; null if it does not run. */
  Running running(String pod, String container) {
    return pods.values().stream()
        .filter(p -> p.pod.getMetadata().getName().equals(pod))
        .map(p -> p.running.get(container))
        .filter(r -> r != null && r.process.isAlive())
        .findFirst()
        .orElse(null);
  }

  /** Waits until a pod waits for its image. */
  public void awaitPulling() throws InterruptedException {
    if (!pulling.tryAcquire(60, TimeUnit.SECONDS)) {
      throw new IllegalStateException("no pod waits for its image");
    }
  }

  /** Ends all containers, of which nobody tells the API any more. */
  public void lost() {
    pods.values().forEach(FakePod::kill);
  }

  /** How many pods are there. */
  public int pods() {
    return pods.size();
  }

  /** Ends a pod as an eviction does. */
  public void evict(String message) {
    pods.values().forEach(pod -> pod.fail("Evicted", message));
  }

  /** Ends pods as their deadline does. */
  public void deadline() {
    pods.values()
        .forEach(pod -> pod.fail("DeadlineExceeded", "Pod was active longer than specified"));
  }

  /** A container that runs. */
  record Running(Process process, Path info, Container container) {
    long pid() throws IOException {
      Matcher matcher =
          Pattern.compile("\"child-pid\": *([0-9]+)")
              .matcher(Files.readString(info, StandardCharsets.US_ASCII));
      if (!matcher.find()) {
        throw new IOException("bubblewrap did not say");
      }
      return Long.parseLong(matcher.group(1));
    }

    /** Until its namespaces stand: before, a program run in it would see this host. */
    void awaitProgram() throws InterruptedException {
      for (int i = 0; i < MOST_LOOKS && process.isAlive(); i++) {
        try {
          if (!Files.readSymbolicLink(Path.of("/proc/" + pid() + "/exe")).endsWith("bwrap")) {
            return;
          }
        } catch (IOException e) {
          // Not yet.
        }
        Thread.sleep(LOOK_MS);
      }
      if (process.isAlive()) {
        throw new IllegalStateException(container.getName() + " does not start");
      }
    }

    /** Does nothing once it has ended: its number may be another's by then. */
    void signal(String name) {
      if (!process.isAlive()) {
        return;
      }
      try {
        new ProcessBuilder("kill", "-" + name, Long.toString(pid()))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start()
            .waitFor();
      } catch (IOException e) {
        process.destroyForcibly();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** The words that drop what a container must not have. */
  List<String> dropping() {
    return behaviour.careless
        ? List.of()
        : List.of(
            "/usr/bin/setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--bounding-set=-all",
            "--inh-caps=-all",
            "--no-new-privs",
            "--");
  }

  /** As a kubelet expands {@code $(NAME)}, of which {@code $$} is the escape. */
  static List<String> expanded(List<String> words, Map<String, String> environment) {
    return words.stream()
        .map(word ->
            REFERENCE
                .matcher(word)
                .replaceAll(found ->
                    Matcher.quoteReplacement(
                        found.group().equals("$$")
                            ? "$"
                            : environment.getOrDefault(found.group(1), found.group()))))
        .toList();
  }

  private final class FakePod {
    private final Pod pod;
    private final Path home;
    private final Map<String, Running> running = new ConcurrentHashMap<>();
    private final List<ContainerStatus> init = new ArrayList<>();
    private final TreeMap<String, ContainerStatus> main = new TreeMap<>();
    private volatile boolean over;
    private final String address = "127.0.1." + addresses.incrementAndGet();
    private Optional<PodNetwork> network = Optional.empty();

    FakePod(Pod pod) {
      this.pod = pod;
      this.home = root.resolve(pod.getMetadata().getUid());
    }

    void run() {
      try {
        if (behaviour.full) {
          unschedulable();
          return;
        }
        volumes();
        network = PodNetwork.of(pod, address, client, home);
        for (Container container : pod.getSpec().getInitContainers()) {
          if (!runToEnd(container)) {
            write("Failed", null, null);
            return;
          }
        }
        List<Thread> threads = new ArrayList<>();
        for (Container container : pod.getSpec().getContainers()) {
          threads.add(Thread.ofVirtual().start(() -> runMain(container)));
        }
        for (Thread thread : threads) {
          thread.join();
        }
      } catch (IOException e) {
        throw new IllegalStateException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void volumes() throws IOException {
      for (Volume volume : pod.getSpec().getVolumes()) {
        Path directory = Files.createDirectories(home.resolve(volume.getName()));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
      }
    }

    private boolean runToEnd(Container container) throws IOException, InterruptedException {
      Running started = start(container);
      if (started == null) {
        return false;
      }
      show(container, started(), true);
      int code = started.process.waitFor();
      show(container, terminated(code, ""), true);
      return code == 0;
    }

    private void runMain(Container container) {
      try {
        Running started = start(container);
        if (started != null) {
          show(container, started(), false);
          int code = started.process.waitFor();
          String why = container.getName().equals("command") ? behaviour.reason : "";
          show(container, terminated(code, why), false);
        }
      } catch (IOException e) {
        throw new IllegalStateException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private Running start(Container container) throws IOException, InterruptedException {
      List<String> image = images.get(container.getImage());
      boolean isInit = pod.getSpec().getInitContainers().contains(container);
      if (image == null) {
        show(
            container,
            new ContainerStateBuilder()
                .withNewWaiting()
                .withReason("ErrImagePull")
                .withMessage("not found: " + container.getImage())
                .endWaiting()
                .build(),
            isInit);
        return null;
      }
      if (behaviour.pulled.getCount() > 0) {
        pulling.release();
        behaviour.pulled.await();
      }
      Path info = home.resolve(container.getName() + ".info");
      Path filter = Files.write(home.resolve("filter"), ALLOW_ALL);
      List<String> argv =
          new ArrayList<>(List.of("sh", "-c", "exec \"$@\" 3>" + info + " 4<" + filter, "sh"));
      network.ifPresent(n -> argv.addAll(n.entering()));
      argv.addAll(bubblewrap(container, image));
      argv.addAll(dropping());
      argv.addAll(expanded(container.getCommand(), Map.of()));
      synchronized (this) {
        if (over) {
          return null;
        }
        Process process =
            new ProcessBuilder(argv)
                .redirectErrorStream(true)
                .redirectOutput(home.resolve(container.getName() + ".log").toFile())
                .start();
        Running started = new Running(process, info, container);
        started.awaitProgram();
        running.put(container.getName(), started);
        return started;
      }
    }

    private List<String> bubblewrap(Container container, List<String> image) {
      List<String> argv =
          new ArrayList<>(
              List.of(
                  "bwrap",
                  "--unshare-pid",
                  "--unshare-ipc",
                  "--unshare-uts",
                  "--as-pid-1",
                  "--info-fd",
                  "3",
                  "--seccomp",
                  "4",
                  "--clearenv",
                  "--setenv",
                  "PATH",
                  "/usr/bin:/bin"));
      if (!behaviour.network && network.isEmpty()) {
        argv.add("--unshare-net");
      }
      if (!behaviour.reachable.isEmpty()) {
        String[] place = behaviour.reachable.split(":");
        argv.addAll(List.of("--setenv", "KUBERNETES_SERVICE_HOST", place[0]));
        argv.addAll(List.of("--setenv", "KUBERNETES_SERVICE_PORT", place[1]));
      }
      argv.addAll(image);
      argv.addAll(List.of("--proc", "/proc", "--dev", "/dev"));
      for (String parent : List.of("/pod", "/writ", "/run")) {
        argv.addAll(List.of("--perms", "0755", "--dir", parent));
      }
      for (VolumeMount mount : container.getVolumeMounts()) {
        boolean readOnly = Boolean.TRUE.equals(mount.getReadOnly());
        argv.addAll(
            List.of(
                readOnly ? "--ro-bind" : "--bind",
                home.resolve(mount.getName())
                    .resolve(mount.getSubPath() == null ? "" : mount.getSubPath())
                    .toString(),
                mount.getMountPath()));
      }
      if (Boolean.TRUE.equals(container.getSecurityContext().getReadOnlyRootFilesystem())) {
        argv.addAll(List.of("--remount-ro", "/"));
      }
      argv.add("--");
      return argv;
    }

    private ContainerState started() {
      return new ContainerStateBuilder().withNewRunning().endRunning().build();
    }

    private ContainerState terminated(int code, String why) {
      return new ContainerStateBuilder()
          .withNewTerminated()
          .withExitCode(code)
          .withReason(!why.isEmpty() ? why : code == 0 ? "Completed" : "Error")
          .endTerminated()
          .build();
    }

    private synchronized void show(Container container, ContainerState state, boolean isInit) {
      ContainerStatus status =
          new ContainerStatusBuilder()
              .withName(container.getName())
              .withImage(container.getImage())
              .withState(state)
              .build();
      if (isInit) {
        init.removeIf(s -> s.getName().equals(container.getName()));
        init.add(status);
      } else {
        main.put(container.getName(), status);
      }
      write(main.isEmpty() ? "Pending" : "Running", null, null);
    }

    private synchronized void write(String phase, String reason, String message) {
      if (over) {
        return;
      }
      edit(there ->
          new PodBuilder(there)
              .editOrNewSpec()
              .withNodeName("node-1")
              .endSpec()
              .withNewStatus()
              .withPodIP(address)
              .withPhase(phase)
              .withReason(reason)
              .withMessage(message)
              .withInitContainerStatuses(init)
              .withContainerStatuses(new ArrayList<>(main.values()))
              .endStatus()
              .build());
    }

    /** Of a pod that was deleted meanwhile there is nothing to tell. */
    private void edit(UnaryOperator<Pod> change) {
      try {
        client
            .pods()
            .inNamespace(pod.getMetadata().getNamespace())
            .withName(pod.getMetadata().getName())
            .edit(change);
      } catch (KubernetesClientException e) {
        if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
          throw e;
        }
      }
    }

    private void unschedulable() {
      edit(there ->
          new PodBuilder(there)
              .withNewStatus()
              .withPhase("Pending")
              .addNewCondition()
              .withType("PodScheduled")
              .withStatus("False")
              .withReason("Unschedulable")
              .withMessage("0/1 nodes are available: 1 Insufficient memory.")
              .endCondition()
              .endStatus()
              .build());
    }

    void fail(String reason, String message) {
      write("Failed", reason, message);
      terminate();
    }

    /** TERM to the first process of each container, and KILL after a while. */
    void terminate() {
      synchronized (this) {
        over = true;
      }
      running.values().forEach(r -> r.signal("TERM"));
      running
          .values()
          .forEach(r -> {
            try {
              if (!r.process.waitFor(TERM_MS, TimeUnit.MILLISECONDS)) {
                r.signal("KILL");
              }
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
      network.ifPresent(PodNetwork::close);
    }

    void kill() {
      synchronized (this) {
        over = true;
      }
      running
          .values()
          .forEach(r -> {
            r.signal("KILL");
            r.process.destroyForcibly();
          });
      network.ifPresent(PodNetwork::close);
    }
  }

  /**
   * One instruction: every system call is allowed. A runtime's own filter is not the point here.
   */
  private static final byte[] ALLOW_ALL = {0x06, 0, 0, 0, 0, 0, (byte) 0xff, 0x7f};

  @Override
  public void close() {
    closed = true;
    pods.values().forEach(FakePod::kill);
  }
}

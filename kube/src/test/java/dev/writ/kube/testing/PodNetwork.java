package dev.writ.kube.testing;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The network of a pod whose policies let something out: one that its containers share, in which
 * nothing is but forwarders to what the policies in the API name. Any other pod has none.
 */
final class PodNetwork implements AutoCloseable {
  private static final Pattern CHILD = Pattern.compile("\"child-pid\": *([0-9]+)");
  private static final int LOOK_MS = 2;
  private static final int MOST_LOOKS = 30_000 / LOOK_MS;

  private final List<Process> processes = new ArrayList<>();
  private final long pid;

  private PodNetwork(Path home) throws IOException, InterruptedException {
    Path info = home.resolve("network.info");
    start(
        List.of(
            "sh",
            "-c",
            "exec bwrap --unshare-net --dev-bind / / --info-fd 3 -- sleep 600 3>" + info));
    this.pid = Long.parseLong(await(info, CHILD));
  }

  /**
   * The network of a pod, by the policies that choose it.
   *
   * @param address what it comes from
   */
  static Optional<PodNetwork> of(Pod pod, String address, KubernetesClient client, Path home)
      throws IOException, InterruptedException {
    List<String> open = new ArrayList<>();
    String namespace = pod.getMetadata().getNamespace();
    for (NetworkPolicy policy :
        client.network().v1().networkPolicies().inNamespace(namespace).list().getItems()) {
      boolean chosen =
          pod.getMetadata()
              .getLabels()
              .entrySet()
              .containsAll(policy.getSpec().getPodSelector().getMatchLabels().entrySet());
      if (chosen) {
        policy
            .getSpec()
            .getEgress()
            .forEach(rule ->
                rule.getTo()
                    .forEach(to ->
                        rule.getPorts()
                            .forEach(port ->
                                open.add(
                                    to.getIpBlock().getCidr().replace("/32", "")
                                        + ":"
                                        + port.getPort().getIntVal()))));
      }
    }
    if (open.isEmpty()) {
      return Optional.empty();
    }
    PodNetwork network = new PodNetwork(home);
    for (String place : open) {
      network.forward(place, address, home);
    }
    return Optional.of(network);
  }

  private void forward(String place, String address, Path home)
      throws IOException, InterruptedException {
    String[] parts = place.split(":");
    Path socket = home.resolve("out-" + parts[1]);
    start(List.of("socat", "UNIX-LISTEN:" + socket + ",fork", "TCP:" + place + ",bind=" + address));
    List<String> inside = new ArrayList<>(entering());
    inside.addAll(
        List.of(
            "socat",
            "TCP-LISTEN:" + parts[1] + ",bind=" + parts[0] + ",fork,reuseaddr",
            "UNIX-CONNECT:" + socket));
    start(inside);
    await(
        Path.of("/proc/" + pid + "/net/tcp"),
        Pattern.compile("(:%04X) 00000000:0000 0A".formatted(Integer.parseInt(parts[1]))));
  }

  private void start(List<String> argv) throws IOException {
    processes.add(
        new ProcessBuilder(argv)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start());
  }

  private String await(Path file, Pattern what) throws IOException, InterruptedException {
    for (int i = 0; i < MOST_LOOKS; i++) {
      if (Files.exists(file)) {
        Matcher found = what.matcher(Files.readString(file, StandardCharsets.US_ASCII));
        if (found.find()) {
          return found.group(1);
        }
      }
      Thread.sleep(LOOK_MS);
    }
    throw new IllegalStateException("a pod's network does not stand: " + what);
  }

  /** What a command line begins with that is run in it. */
  List<String> entering() {
    return List.of("nsenter", "--net=/proc/" + pid + "/ns/net", "--");
  }

  @Override
  public void close() {
    processes.forEach(process -> {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    });
  }
}

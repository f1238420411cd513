package dev.writ.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.kube.testing.FakeCluster;
import dev.writ.kube.testing.TestPods;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.cgroup.CgroupLimits;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How a server reaches its cluster, what it asks of it, and what it removes when it comes back. */
@Timeout(300)
class AServerComesAndGoesTest {
  private static TestPods pods;

  @TempDir Path dir;

  @BeforeAll
  static void open() {
    pods = new TestPods();
  }

  @AfterAll
  static void close() {
    pods.close();
  }

  @AfterEach
  void mend() {
    pods.cluster.behaviour.full = false;
    pods.cluster.fault(request -> Optional.empty());
    pods.cluster.more = settings -> {};
  }

  private static List<String> names() {
    return pods.cluster.client.pods().inNamespace(FakeCluster.NAMESPACE).list().getItems().stream()
        .map(pod -> pod.getMetadata().getName())
        .toList();
  }

  /** Its own at once, those of others only when nobody can be waiting for them. */
  @Test
  void orphansAreRemovedAndOthersPodsAreNot() {
    pods.engine();
    pods.cluster.behaviour.full = true;
    Pod foreign = PodsOfOthers.pod("foreign", "us", 10);
    foreign.getMetadata().setLabels(Map.of(PodForm.INSTALLATION, "us"));
    for (Pod pod :
        List.of(
            foreign,
            PodsOfOthers.pod("ours", "us", 10_000),
            PodsOfOthers.pod("others", "them", 10),
            PodsOfOthers.pod("others-long", "them", 10_000))) {
      pods.cluster.client.pods().inNamespace(FakeCluster.NAMESPACE).resource(pod).create();
    }
    try (Cluster cluster = Cluster.of(pods.cluster.settings(), Map.of())) {
      OrphanSweep sweep = new OrphanSweep(cluster, "us");
      sweep.run(Instant.now());
      assertThat(names()).containsExactlyInAnyOrder("others", "others-long", "foreign");
      sweep.run(Instant.now().plus(Duration.ofMinutes(11)));
      assertThat(names()).containsExactlyInAnyOrder("others-long", "foreign");
    }
    pods.cluster.client.pods().inNamespace(FakeCluster.NAMESPACE).delete();
  }

  /** Between the pod's creation and its input there is nothing that could run. */
  @Test
  void aServerThatIsKilledBeforeTheInputWasSentRanNothing() throws Exception {
    try (Cluster cluster = Cluster.of(pods.cluster.settings(), Map.of())) {
      NetworkRules.of(pods.cluster.settings(), Optional.empty()).forEach(cluster::ensure);
      Pod form =
          new PodForm(pods.cluster.settings())
              .of(
                  new PodForm.Names(
                      "writ-killed",
                      Map.of(PodForm.INSTALLATION, "killed"),
                      Map.of(Cluster.ATTEMPT, "1")),
                  ImageReference.parse(FakeCluster.DEBIAN),
                  CgroupLimits.STANDARD,
                  1 << 20,
                  List.of());
      Pod made = cluster.create(form);
      PodEye eye = new PodEye(cluster, made);
      PodState last = new PodState(made);
      while (!last.runs(PodForm.BRING)) {
        last = new PodState(eye.next(1_000).orElseThrow());
      }
      assertThat(last.commandStarted()).isFalse();
      eye.close();
      new OrphanSweep(cluster, "killed").run(Instant.now());
      assertThat(cluster.get("writ-killed")).isEmpty();
    }
  }

  @Test
  void podsGoWhereTheSettingsSay() {
    pods.cluster.more =
        settings ->
            settings
                .put("node_selector", JsonValue.object().put("pool", "sandboxes").build())
                .put("runtime_class", "gvisor")
                .put("user_namespaces", true)
                .putList(
                    "tolerations",
                    List.of("only", ""),
                    value -> {
                      var one = JsonValue.object().put("key", "sandboxes");
                      return value.isEmpty()
                          ? one.build()
                          : one.put("value", value).put("effect", "NoSchedule").build();
                    });
    PodSpec spec =
        new PodForm(pods.cluster.settings())
            .of(
                new PodForm.Names("x", Map.of(), Map.of()),
                ImageReference.parse(FakeCluster.DEBIAN),
                CgroupLimits.STANDARD,
                1 << 20,
                List.of())
            .getSpec();
    assertThat(spec.getNodeSelector()).isEqualTo(Map.of("pool", "sandboxes"));
    assertThat(spec.getRuntimeClassName()).isEqualTo("gvisor");
    assertThat(spec.getHostUsers()).isFalse();
    assertThat(spec.getTolerations())
        .extracting(t -> t.getKey() + t.getOperator() + t.getValue() + t.getEffect())
        .containsExactly("sandboxesEqualonlyNoSchedule", "sandboxesExistsnullnull");
  }

  /** The token of a service account is another one after an hour or so. */
  @Test
  void aPodReachesItsClusterByItsServiceAccountWhoseTokenChanges() throws Exception {
    try (FakeCluster secured = FakeCluster.secured(Files.createDirectories(dir.resolve("c")))) {
      Path account = Files.createDirectories(dir.resolve("account"));
      Map<String, String> environment =
          Map.of(
              "KUBERNETES_SERVICE_HOST",
              "localhost",
              "KUBERNETES_SERVICE_PORT",
              Integer.toString(secured.relay.port()));
      List<String> tokens = Collections.synchronizedList(new ArrayList<>());
      secured.fault(request -> {
        tokens.add(request.getHeader("Authorization"));
        return Optional.empty();
      });
      KubernetesSettings settings = secured.inCluster(account);
      assertThat(WhatGoesWrongInAClusterTest.refusal(() -> Cluster.of(settings, environment)))
          .as("no token")
          .startsWith("SBX-037");
      Files.writeString(account.resolve("token"), "first\n");
      Files.writeString(account.resolve("ca.crt"), secured.authority());
      assertThat(WhatGoesWrongInAClusterTest.refusal(() -> Cluster.of(settings, Map.of())))
          .as("no pod")
          .startsWith("SBX-037");
      try (Cluster cluster = Cluster.of(settings, environment)) {
        assertThat(cluster.version()).isEqualTo("v1.31.0");
        Files.writeString(account.resolve("token"), "second\n");
        assertThat(cluster.labelled(PodForm.OURS)).isEmpty();
      }
      assertThat(tokens).containsExactly("Bearer first", "Bearer second");
    }
  }

  /** No more verbs than the page's role has, which is the chart's, and no fewer. */
  @Test
  void theRoleIsWhatIsAskedFor() throws Exception {
    try (Sandbox sandbox = pods.engine().create(pods.spec(FakeCluster.DEBIAN))) {
      Ended ended = sandbox.exec(Command.of("sh", "-c", "echo in a role"));
      assertThat(ended.stdout().bytes())
          .isEqualTo("in a role\n".getBytes(StandardCharsets.US_ASCII));
    }
    try (Cluster again = Cluster.of(pods.cluster.settings(), Map.of())) {
      NetworkRules.of(pods.cluster.settings(), Optional.empty()).forEach(again::ensure);
    }
    TreeSet<String> asked = new TreeSet<>(pods.cluster.asked());
    asked.add("create pods/exec"); // what later API servers ask for a web socket, beside get
    assertThat(asked).isEqualTo(new TreeSet<>(role()));
  }

  private static List<String> role() throws Exception {
    String page =
        Files.readString(Path.of(System.getProperty("writ.root"), "spec/sandbox-kubernetes.md"));
    Matcher rule = Pattern.compile("resources: \\[([a-z/]+)], verbs: \\[([a-z, ]+)]").matcher(page);
    List<String> all = new ArrayList<>();
    while (rule.find()) {
      for (String verb : rule.group(2).split(", ")) {
        all.add(verb + " " + rule.group(1));
      }
    }
    return all;
  }
}

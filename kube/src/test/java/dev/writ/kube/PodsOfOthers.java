package dev.writ.kube;

import dev.writ.kube.testing.FakeCluster;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.Map;

/** Pods that no engine of this test made. */
final class PodsOfOthers {
  private PodsOfOthers() {}

  /** One of Writ's, with so many seconds to run. */
  static Pod pod(String name, String installation, long deadlineS) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(FakeCluster.NAMESPACE)
        .withLabels(
            Map.of("app.kubernetes.io/managed-by", "writ", PodForm.INSTALLATION, installation))
        .withAnnotations(Map.of(Cluster.ATTEMPT, name))
        .endMetadata()
        .withNewSpec()
        .withActiveDeadlineSeconds(deadlineS)
        .withTerminationGracePeriodSeconds(1L)
        .addNewContainer()
        .withName("command")
        .withImage(FakeCluster.DEBIAN)
        .endContainer()
        .endSpec()
        .build();
  }
}

package dev.writ.kube;

import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyBuilder;
import java.util.List;

/** The network policies of pods, chosen by a label of theirs. */
final class NetworkRules {
  /** The label's value of a pod that reaches nothing. */
  static final String NONE = "none";

  private NetworkRules() {}

  static List<NetworkPolicy> of(KubernetesSettings settings) {
    return List.of(
        new NetworkPolicyBuilder()
            .withNewMetadata()
            .withName("writ-nothing")
            .withNamespace(settings.namespace())
            .withLabels(PodForm.OURS)
            .endMetadata()
            .withNewSpec()
            .withNewPodSelector()
            .withMatchLabels(PodForm.OURS)
            .endPodSelector()
            .withPolicyTypes("Ingress", "Egress")
            .endSpec()
            .build());
  }
}

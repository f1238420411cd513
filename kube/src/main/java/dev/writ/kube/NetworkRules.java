package dev.writ.kube;

import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPeer;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPeerBuilder;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The network policies of pods: one closes them all, one opens the way to the egress proxy. */
final class NetworkRules {
  /** The label's value of a pod that reaches nothing. */
  static final String NONE = "none";

  /** The label's value of a pod that reaches the egress proxy, and nothing else. */
  static final String PROXY = "proxy";

  private NetworkRules() {}

  /**
   * @param proxy where the proxy listens
   */
  static List<NetworkPolicy> of(KubernetesSettings settings, Optional<InetSocketAddress> proxy) {
    NetworkPolicy nothing =
        named(settings, "writ-nothing")
            .withNewSpec()
            .withNewPodSelector()
            .withMatchLabels(PodForm.OURS)
            .endPodSelector()
            .withPolicyTypes("Ingress", "Egress")
            .endSpec()
            .build();
    return proxy
        .map(place -> List.of(nothing, open(settings, place)))
        .orElseGet(() -> List.of(nothing));
  }

  private static NetworkPolicy open(KubernetesSettings settings, InetSocketAddress proxy) {
    Map<String, String> labels = new TreeMap<>(PodForm.OURS);
    labels.put(PodForm.NETWORK, PROXY);
    return named(settings, "writ-proxy")
        .withNewSpec()
        .withNewPodSelector()
        .withMatchLabels(labels)
        .endPodSelector()
        .withPolicyTypes("Egress")
        .addNewEgress()
        .withTo(peer(settings.proxy().orElseThrow().pods(), proxy))
        .addNewPort()
        .withProtocol("TCP")
        .withNewPort(proxy.getPort())
        .endPort()
        .endEgress()
        .endSpec()
        .build();
  }

  private static NetworkPolicyPeer peer(Map<String, String> pods, InetSocketAddress proxy) {
    if (!pods.isEmpty()) {
      return new NetworkPolicyPeerBuilder()
          .withNewPodSelector()
          .withMatchLabels(pods)
          .endPodSelector()
          .build();
    }
    String bits = proxy.getAddress() instanceof Inet6Address ? "/128" : "/32";
    return new NetworkPolicyPeerBuilder()
        .withNewIpBlock()
        .withCidr(proxy.getAddress().getHostAddress() + bits)
        .endIpBlock()
        .build();
  }

  private static NetworkPolicyBuilder named(KubernetesSettings settings, String name) {
    return new NetworkPolicyBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(settings.namespace())
        .withLabels(PodForm.OURS)
        .endMetadata();
  }
}

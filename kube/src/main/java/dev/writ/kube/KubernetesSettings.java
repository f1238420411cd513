package dev.writ.kube;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How pods are made in a cluster (spec/sandbox-kubernetes.md).
 *
 * @param namespace where all pods are; nothing else should be there
 * @param helper the image with a static BusyBox at {@code /bin/busybox}
 * @param kubeconfig how the cluster is reached; if absent, as a pod of it reaches it
 * @param nodeSelector labels of the nodes that may run pods
 * @param tolerations taints of nodes that pods tolerate
 * @param runtimeClass the container runtime, where not the cluster's own
 * @param userNamespaces whether each pod gets a user namespace ({@code hostUsers: false})
 * @param podPids how many processes the kubelets allow in a pod ({@code podPidsLimit}), as the
 *     operator says; 0 if they allow any number
 * @param startMs how long a pod may take until its command runs
 * @param proxy where pods reach this server's egress proxy; without it none has a network
 */
public record KubernetesSettings(
    String namespace,
    ImageReference helper,
    Optional<Path> kubeconfig,
    SortedMap<String, String> nodeSelector,
    List<Tolerated> tolerations,
    Optional<String> runtimeClass,
    boolean userNamespaces,
    long podPids,
    long startMs,
    Optional<ProxyPlace> proxy) {
  private static final String DNS_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
  private static final long START_S = 120;
  private static final long START_S_MOST = 3_600;

  public KubernetesSettings {
    nodeSelector = Collections.unmodifiableSortedMap(new TreeMap<>(nodeSelector));
    tolerations = List.copyOf(tolerations);
    if (!namespace.matches(DNS_LABEL)) {
      throw refused("namespace is no name of one");
    }
    if (startMs < 1_000 || startMs > START_S_MOST * 1_000) {
      throw refused("start_s is not within 1 and " + START_S_MOST);
    }
  }

  /**
   * A taint that pods tolerate, with any value where {@code value} is absent.
   *
   * @param effect {@code NoSchedule}, {@code PreferNoSchedule} or {@code NoExecute}; empty for all
   */
  public record Tolerated(String key, Optional<String> value, String effect) {
    static Tolerated read(String path, JsonValue json) {
      Fields fields = Fields.of(path, json);
      String key = fields.name("key");
      Optional<String> value = fields.optional("value", fields::string);
      String effect = fields.optional("effect", fields::string).orElse("");
      fields.end();
      if (!List.of("", "NoSchedule", "PreferNoSchedule", "NoExecute").contains(effect)) {
        throw refused(path + ".effect is none of Kubernetes");
      }
      return new Tolerated(key, value, effect);
    }
  }

  /**
   * The proxy, as pods see it.
   *
   * @param address of this server's pod, without a name: pods ask no DNS
   */
  public record ProxyPlace(String address, int port) {
    static ProxyPlace read(Fields fields) {
      String address = fields.name("address");
      long port = fields.count("port");
      fields.end();
      if (!address.matches("[0-9a-fA-F.:]{2,45}") || port > 65_535) {
        throw refused("proxy is no address and port");
      }
      return new ProxyPlace(address, (int) port);
    }
  }

  /**
   * @throws WritException {@code SBX-037} for a file that cannot be read or says what cannot be
   */
  static KubernetesSettings read(Path file) {
    try {
      return read(Jcs.parse(Files.readAllBytes(file)));
    } catch (IOException e) {
      throw new WritException(SandboxError.CLUSTER, file + " cannot be read", e);
    }
  }

  /** A document of {@code spec/sandbox-kubernetes.md}. */
  public static KubernetesSettings read(JsonValue document) {
    Fields fields = Fields.of("kubernetes", document);
    KubernetesSettings settings =
        new KubernetesSettings(
            fields.name("namespace"),
            ImageReference.parse(fields.string("helper")),
            fields.optional("kubeconfig", fields::name).map(Path::of),
            fields
                .optional("node_selector", fields::obj)
                .map(KubernetesSettings::texts)
                .orElseGet(TreeMap::new),
            fields
                .optional(
                    "tolerations", key -> fields.list(key, (path, v) -> Tolerated.read(path, v)))
                .orElse(List.of()),
            fields.optional("runtime_class", fields::name),
            fields.optional("user_namespaces", fields::bool).orElse(false),
            fields.optional("pod_pids", fields::count).orElse(0L),
            fields.optional("start_s", fields::count).orElse(START_S) * 1_000,
            fields.optional("proxy", key -> ProxyPlace.read(fields.fields(key))));
    fields.end();
    return settings;
  }

  public JsonValue.Obj toJson() {
    var json =
        JsonValue.object()
            .put("namespace", namespace)
            .put("helper", helper.toString())
            .put("user_namespaces", userNamespaces)
            .put("pod_pids", podPids)
            .put("start_s", startMs / 1_000);
    kubeconfig.ifPresent(path -> json.put("kubeconfig", path.toString()));
    runtimeClass.ifPresent(name -> json.put("runtime_class", name));
    if (!nodeSelector.isEmpty()) {
      var labels = JsonValue.object();
      nodeSelector.forEach(labels::put);
      json.put("node_selector", labels.build());
    }
    if (!tolerations.isEmpty()) {
      json.putList(
          "tolerations",
          tolerations,
          t -> {
            var one = JsonValue.object().put("key", t.key());
            t.value().ifPresent(value -> one.put("value", value));
            if (!t.effect().isEmpty()) {
              one.put("effect", t.effect());
            }
            return one.build();
          });
    }
    proxy.ifPresent(p ->
        json.put(
            "proxy",
            JsonValue.object().put("address", p.address()).put("port", (long) p.port()).build()));
    return json.build();
  }

  private static SortedMap<String, String> texts(JsonValue.Obj object) {
    TreeMap<String, String> all = new TreeMap<>();
    object.members().keySet().forEach(name -> all.put(name, text(object, name)));
    return all;
  }

  private static String text(JsonValue.Obj object, String name) {
    if (object.get(name) instanceof JsonValue.Str text) {
      return text.value();
    }
    throw refused("node_selector." + name + " is no text");
  }

  private static WritException refused(String found) {
    return new WritException(SandboxError.CLUSTER, found);
  }
}

package dev.writ.kube;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.ProgramImage;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
 * @param programs images for commands that name none, by the name of the program
 * @param serviceAccount the directory with the token and the authority of a pod's service account;
 *     used where there is no {@code kubeconfig}
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
    Optional<ProxyPlace> proxy,
    SortedMap<String, ProgramImage> programs,
    Path serviceAccount) {
  private static final Path SERVICE_ACCOUNT =
      Path.of("/var/run/secrets/kubernetes.io/serviceaccount");
  private static final String DNS_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
  private static final long START_S = 120;
  private static final long START_S_MOST = 3_600;

  public KubernetesSettings {
    nodeSelector = Collections.unmodifiableSortedMap(new TreeMap<>(nodeSelector));
    tolerations = List.copyOf(tolerations);
    programs = Collections.unmodifiableSortedMap(new TreeMap<>(programs));
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
   * The egress proxy of this server, as pods see it.
   *
   * @param address of this server without a name, since pods ask no DNS; absent: what the variable
   *     {@code WRIT_POD_ADDRESS} says
   * @param pods labels of this server's pods in the same namespace, by which the network policy
   *     names them; without any it names the address, which not every network plugin takes for a
   *     pod's
   */
  public record ProxyPlace(Optional<String> address, int port, SortedMap<String, String> pods) {
    public ProxyPlace {
      pods = Collections.unmodifiableSortedMap(new TreeMap<>(pods));
      if (port < 1 || port > 65_535) {
        throw refused("proxy.port is none");
      }
    }

    static ProxyPlace read(Fields fields) {
      ProxyPlace place =
          new ProxyPlace(
              fields.optional("address", fields::name),
              (int) Math.min(fields.count("port"), 65_536),
              fields
                  .optional("pods", fields::obj)
                  .map(labels -> texts("proxy.pods", labels))
                  .orElseGet(TreeMap::new));
      fields.end();
      return place;
    }

    /**
     * The address and port.
     *
     * @param environment the process's variables
     * @throws WritException {@code SBX-037} where there is none
     */
    InetSocketAddress place(Map<String, String> environment) {
      String text = address.orElseGet(() -> environment.getOrDefault("WRIT_POD_ADDRESS", ""));
      if (!text.matches("[0-9.]{7,15}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")) {
        throw refused("proxy.address, or else WRIT_POD_ADDRESS, is no address");
      }
      try {
        return new InetSocketAddress(InetAddress.getByName(text), port); // asks no DNS for these
      } catch (UnknownHostException e) {
        throw refused("proxy.address, or else WRIT_POD_ADDRESS, is no address");
      }
    }
  }

  private static ProgramImage program(Fields fields) {
    ProgramImage image =
        new ProgramImage(ImageReference.parse(fields.string("image")), fields.name("version"));
    fields.end();
    return image;
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
                .map(labels -> texts("node_selector", labels))
                .orElseGet(TreeMap::new),
            fields
                .optional(
                    "tolerations", key -> fields.list(key, (path, v) -> Tolerated.read(path, v)))
                .orElse(List.of()),
            fields.optional("runtime_class", fields::name),
            fields.optional("user_namespaces", fields::bool).orElse(false),
            fields.optional("pod_pids", fields::count).orElse(0L),
            fields.optional("start_s", fields::count).orElse(START_S) * 1_000,
            fields.optional("proxy", key -> ProxyPlace.read(fields.fields(key))),
            programs(fields),
            fields.optional("service_account", fields::name).map(Path::of).orElse(SERVICE_ACCOUNT));
    fields.end();
    return settings;
  }

  private static SortedMap<String, ProgramImage> programs(Fields fields) {
    TreeMap<String, ProgramImage> all = new TreeMap<>();
    Optional<JsonValue.Obj> object = fields.optional("programs", fields::obj);
    for (String name : object.map(o -> o.members().keySet()).orElse(Set.of())) {
      if (!name.matches("[A-Za-z0-9._+-]{1,64}")) {
        throw refused("programs has a name that is no program's");
      }
      String path = "kubernetes.programs." + name;
      all.put(name, program(Fields.of(path, object.orElseThrow().get(name))));
    }
    return all;
  }

  private static SortedMap<String, String> texts(String path, JsonValue.Obj object) {
    TreeMap<String, String> all = new TreeMap<>();
    object.members().keySet().forEach(name -> all.put(name, text(path, object, name)));
    return all;
  }

  private static String text(String path, JsonValue.Obj object, String name) {
    if (object.get(name) instanceof JsonValue.Str text) {
      return text.value();
    }
    throw refused(path + "." + name + " is no text");
  }

  private static WritException refused(String found) {
    return new WritException(SandboxError.CLUSTER, found);
  }
}

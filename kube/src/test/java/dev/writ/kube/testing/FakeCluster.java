package dev.writ.kube.testing;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.kube.KubernetesSettings;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import io.fabric8.mockwebserver.http.Dispatcher;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/**
 * A cluster: fabric8's API server that stores what it is told, a {@link Kubelet}, and a {@link
 * Relay} between them and the engine. Its names are those of a real one, but the images are files
 * of this host.
 */
public final class FakeCluster implements AutoCloseable {
  public static final String NAMESPACE = "sandboxes";
  public static final String HELPER = "registry.example/busybox@sha256:" + "b".repeat(64);
  public static final String DEBIAN = "registry.example/debian@sha256:" + "d".repeat(64);
  public static final String EMPTY = "registry.example/empty@sha256:" + "e".repeat(64);

  /** As those come that have the {@link #kubeconfig}. */
  private static final String CLIENT = "Bearer test";

  /** The programs of this host. */
  private static final List<String> HOST =
      List.of(
          "--ro-bind",
          "/usr",
          "/usr",
          "--symlink",
          "usr/bin",
          "/bin",
          "--symlink",
          "usr/lib",
          "/lib",
          "--symlink",
          "usr/lib64",
          "/lib64");

  public final Kubelet.Behaviour behaviour = new Kubelet.Behaviour();

  /** How long a pod may take to start. */
  public volatile long startS = 60;

  /** Further members of the settings. */
  public volatile Consumer<ObjectBuilder> more = settings -> {};

  public final Relay relay;
  public final Kubelet kubelet;
  public final KubernetesClient client;
  private final Store crud = new Store();
  private final KubernetesMockServer server;
  private final Path directory;
  private final Set<String> asked = ConcurrentHashMap.newKeySet();
  private final AtomicReference<Function<RecordedRequest, Optional<MockResponse>>> fault =
      new AtomicReference<>(r -> Optional.empty());

  public FakeCluster(Path directory) {
    this(directory, false);
  }

  /** One whose API has a certificate. */
  public static FakeCluster secured(Path directory) {
    return new FakeCluster(directory, true);
  }

  private FakeCluster(Path directory, boolean tls) {
    this.directory = directory;
    Logger.getLogger("io.fabric8.mockwebserver").setLevel(Level.WARNING);
    try {
      server =
          new KubernetesMockServer(
              new Context(), new MockWebServer(), new HashMap<>(), new Answers(), tls);
      server.init();
      client = server.createClient();
      relay = new Relay(server.getPort());
      kubelet = new Kubelet(client, Files.createDirectories(directory.resolve("node")), behaviour);
      crud.node(kubelet::told);
      kubelet.image(HELPER, HOST);
      kubelet.image(DEBIAN, HOST);
      image(EMPTY, List.of("--setenv", "PATH", "/none"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Answers in the API's place, where the function gives an answer. */
  public void fault(Function<RecordedRequest, Optional<MockResponse>> answer) {
    fault.set(answer);
  }

  /**
   * Another image, with the programs of this host.
   *
   * @param options what bubblewrap adds to its root
   */
  public void image(String name, List<String> options) {
    kubelet.image(name, Stream.concat(HOST.stream(), options.stream()).toList());
  }

  /** What a fault does that lets a request through and loses the answer. */
  public void store(RecordedRequest request) {
    crud.dispatch(request);
  }

  /** What was asked for so far, as rules of a role have it: {@code create pods}. */
  public Set<String> asked() {
    return new TreeSet<>(asked);
  }

  private static final Pattern RESOURCE =
      Pattern.compile(
          "/apis?/(?:[a-z0-9.]+/)?v1/namespaces/"
              + NAMESPACE
              + "/([a-z]+)(/[^/?]+)?(/[a-z]+)?(\\?.*)?");

  private static Optional<String> verb(RecordedRequest request) {
    Matcher path = RESOURCE.matcher(request.getPath());
    if (!path.matches()) {
      return Optional.empty();
    }
    String query = String.valueOf(path.group(4));
    String verb =
        switch (request.getMethod()) {
          case "POST" -> "create";
          case "PUT" -> "update";
          case "PATCH" -> "patch";
          case "DELETE" -> path.group(2) == null ? "deletecollection" : "delete";
          default ->
              query.contains("watch=true") ? "watch" : path.group(2) == null ? "list" : "get";
        };
    String part = path.group(3) == null ? "" : path.group(3);
    return Optional.of(verb + " " + path.group(1) + part);
  }

  private final class Answers extends Dispatcher {
    private final Discovery discovery = new Discovery();

    @Override
    public MockResponse dispatch(RecordedRequest request) {
      if (CLIENT.equals(request.getHeader("Authorization"))) {
        verb(request).ifPresent(asked::add);
      }
      Optional<MockResponse> injected = fault.get().apply(request);
      if (injected.isPresent()) {
        return injected.get();
      }
      Optional<MockResponse> exec = PodExec.answer(request, kubelet);
      return exec.or(() -> discovery.answer(request)).orElseGet(() -> crud.dispatch(request));
    }
  }

  /** The file by which clients reach this cluster, through the relay. */
  public Path kubeconfig() {
    return kubeconfig(relay.port());
  }

  private Path kubeconfig(int port) {
    String text =
        """
        apiVersion: v1
        kind: Config
        clusters: [{name: c, cluster: {server: "http://127.0.0.1:%d"}}]
        users: [{name: u, user: {token: test}}]
        contexts: [{name: x, context: {cluster: c, user: u, namespace: %s}}]
        current-context: x
        """
            .formatted(port, NAMESPACE);
    try {
      return Files.writeString(directory.resolve("kubeconfig"), text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The certificate of a cluster that is {@link #secured}, as PEM. */
  public String authority() throws Exception {
    SSLContext trusting = SSLContext.getInstance("TLS");
    List<X509Certificate> seen = new ArrayList<>();
    trusting.init(
        null,
        new TrustManager[] {
          new X509TrustManager() {
            @Override
            public void checkClientTrusted(X509Certificate[] chain, String kind) {}

            @Override
            public void checkServerTrusted(X509Certificate[] chain, String kind) {
              seen.addAll(List.of(chain));
            }

            @Override
            public X509Certificate[] getAcceptedIssuers() {
              return new X509Certificate[0];
            }
          }
        },
        null);
    try (SSLSocket socket =
        (SSLSocket) trusting.getSocketFactory().createSocket("localhost", server.getPort())) {
      socket.startHandshake();
    }
    String base64 = Base64.getMimeEncoder().encodeToString(seen.getLast().getEncoded());
    return "-----BEGIN CERTIFICATE-----\n" + base64 + "\n-----END CERTIFICATE-----\n";
  }

  /** Settings of an engine that is a pod of this cluster. */
  public KubernetesSettings inCluster(Path account) {
    return KubernetesSettings.read(
        JsonValue.object()
            .put("namespace", NAMESPACE)
            .put("helper", HELPER)
            .put("service_account", account.toString())
            .build());
  }

  /** Settings of an engine on this cluster, as its file has them. */
  public JsonValue.Obj settingsFile() {
    ObjectBuilder settings =
        JsonValue.object()
            .put("namespace", NAMESPACE)
            .put("helper", HELPER)
            .put("kubeconfig", kubeconfig().toString())
            .put("start_s", startS);
    more.accept(settings);
    return settings.build();
  }

  public KubernetesSettings settings() {
    return KubernetesSettings.read(settingsFile());
  }

  @Override
  public void close() {
    kubelet.close();
    client.close();
    try {
      relay.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.destroy();
  }
}

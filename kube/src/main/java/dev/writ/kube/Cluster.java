package dev.writ.kube;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.elsewhere.LostConnection;
import dev.writ.sandbox.error.SandboxError;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.dsl.ExecListener;
import io.fabric8.kubernetes.client.dsl.ExecWatch;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * The API of a cluster. Requests are repeated, for about ten seconds, after a lost connection, 429
 * and 5xx; what still fails is {@code SBX-009}.
 */
final class Cluster implements AutoCloseable {
  /** The annotation by which a creation whose answer was lost is told from another's. */
  static final String ATTEMPT = "dev.writ/attempt";

  private static final int REQUEST_MS = 10_000;
  private static final int RETRIES = 6;
  private static final int FIRST_PAUSE_MS = 150;
  private static final int CONFLICT = 409;
  private static final int NOT_FOUND = 404;
  private static final int MOST_WORDS = 500;

  private final KubernetesClient client;
  private final String namespace;

  private Cluster(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
  }

  /**
   * @param environment where a pod is told its cluster's API
   * @throws WritException {@code SBX-037}
   */
  static Cluster of(KubernetesSettings settings, Map<String, String> environment) {
    try {
      Config config =
          settings.kubeconfig().isPresent()
              ? Config.fromKubeconfig(Files.readString(settings.kubeconfig().get()))
              : asAPod(settings.serviceAccount(), environment);
      config.setRequestTimeout(REQUEST_MS);
      config.setConnectionTimeout(REQUEST_MS);
      config.setRequestRetryBackoffLimit(RETRIES);
      config.setRequestRetryBackoffInterval(FIRST_PAUSE_MS);
      return new Cluster(
          new KubernetesClientBuilder().withConfig(config).build(), settings.namespace());
    } catch (IOException | KubernetesClientException | IllegalArgumentException e) {
      throw new WritException(SandboxError.CLUSTER, "the way to the cluster is not readable", e);
    }
  }

  /**
   * The way of a pod to its cluster, and nothing beside it: no file of a user's home, no further
   * variables. The token is read for each request, since it is replaced while the pod runs.
   */
  private static Config asAPod(Path account, Map<String, String> environment) throws IOException {
    String host = environment.getOrDefault("KUBERNETES_SERVICE_HOST", "");
    String port = environment.getOrDefault("KUBERNETES_SERVICE_PORT", "443");
    if (host.isEmpty()) {
      throw new WritException(
          SandboxError.CLUSTER, "its settings name no kubeconfig, and this is no pod of a cluster");
    }
    Path token = account.resolve("token");
    Files.readString(token);
    return new ConfigBuilder(Config.empty())
        .withMasterUrl("https://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port)
        .withCaCertFile(account.resolve("ca.crt").toString())
        .withOauthTokenProvider(() -> {
          try {
            return Files.readString(token).strip();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        })
        .build();
  }

  /** The version of the cluster, as it tells it. */
  String version() {
    return told(() -> client.getKubernetesVersion().getGitVersion());
  }

  /**
   * Makes a pod.
   *
   * @return as the cluster has it
   * @throws WritException {@code SBX-036} where one of that name is there already
   */
  Pod create(Pod pod) {
    try {
      return client.pods().inNamespace(namespace).resource(pod).create();
    } catch (KubernetesClientException e) {
      if (e.getCode() != CONFLICT) {
        throw answer(e);
      }
      ObjectMeta meta = pod.getMetadata();
      return get(meta.getName())
          .filter(
              there -> meta.getAnnotations().get(ATTEMPT).equals(annotations(there).get(ATTEMPT)))
          .orElseThrow(() ->
              new WritException(
                  SandboxError.EXECUTION_EXISTS, "pod " + namespace + "/" + meta.getName()));
    }
  }

  private static Map<String, String> annotations(Pod pod) {
    return Optional.ofNullable(pod.getMetadata().getAnnotations()).orElse(Map.of());
  }

  Optional<Pod> get(String name) {
    return told(
        () -> Optional.ofNullable(client.pods().inNamespace(namespace).withName(name).get()));
  }

  List<Pod> labelled(Map<String, String> labels) {
    return told(() -> client.pods().inNamespace(namespace).withLabels(labels).list().getItems());
  }

  /** Deletes a pod, if it is the very one; its processes get TERM, and KILL after the grace. */
  void delete(Pod pod, long graceS) {
    String uid = pod.getMetadata().getUid();
    if (get(pod.getMetadata().getName())
        .filter(there -> uid.equals(there.getMetadata().getUid()))
        .isEmpty()) {
      return;
    }
    told(() ->
        client
            .pods()
            .inNamespace(namespace)
            .withName(pod.getMetadata().getName())
            .withGracePeriod(graceS)
            .delete());
  }

  void ensure(NetworkPolicy policy) {
    told(() ->
        client
            .network()
            .v1()
            .networkPolicies()
            .inNamespace(namespace)
            .resource(policy)
            .unlock()
            .createOr(there -> there.update()));
  }

  Watch watch(String name, Watcher<Pod> watcher) {
    return told(() -> client.pods().inNamespace(namespace).withName(name).watch(watcher));
  }

  /**
   * Runs a program in a container.
   *
   * @param in its input, of which it must itself know the end; the protocol does not tell it
   * @return its exit code
   */
  int exec(Place place, InputStream in, OutputStream out, long mostMs, List<String> argv)
      throws LostConnection, InterruptedException {
    End end = new End();
    try (ExecWatch watch =
        client
            .pods()
            .inNamespace(namespace)
            .withName(place.pod())
            .inContainer(place.container())
            .withReadyWaitTimeout(0)
            .redirectingInput()
            .writingOutput(out)
            .writingError(OutputStream.nullOutputStream())
            .usingListener(end)
            .exec(argv.toArray(String[]::new))) {
      in.transferTo(watch.getInput());
      watch.getInput().flush();
      return end.code.get(mostMs, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw e;
    } catch (ExecutionException e) {
      throw new LostConnection(words(e.getCause()), e);
    } catch (TimeoutException e) {
      throw new LostConnection("no end within " + mostMs + " ms", e);
    } catch (Exception e) { // the client throws what it does not declare, such as of handshakes
      throw new LostConnection(words(e), e);
    }
  }

  /** A container of a pod. */
  record Place(String pod, String container) {}

  private static final class End implements ExecListener {
    private final CompletableFuture<Integer> code = new CompletableFuture<>();

    @Override
    public void onExit(int exit, Status status) {
      if (exit >= 0) {
        code.complete(exit);
      } else {
        code.completeExceptionally(new IOException("no exit code: " + status.getMessage()));
      }
    }

    @Override
    public void onFailure(Throwable failure, Response response) {
      code.completeExceptionally(failure);
    }

    @Override
    public void onClose(int status, String reason) {
      code.completeExceptionally(new IOException("closed: " + status + " " + reason));
    }
  }

  private static <T> T told(Supplier<T> question) {
    try {
      return question.get();
    } catch (KubernetesClientException e) {
      if (e.getCode() == NOT_FOUND) {
        throw new WritException(
            SandboxError.ENGINE_ANSWER, "the cluster: not found: " + words(e), e);
      }
      throw answer(e);
    }
  }

  private static WritException answer(KubernetesClientException e) {
    return new WritException(
        SandboxError.ENGINE_ANSWER, "the cluster: " + e.getCode() + " " + words(e), e);
  }

  private static String words(Throwable e) {
    String text = String.valueOf(e.getMessage()).replaceAll("[\\p{Cntrl}]+", " ");
    return text.length() > MOST_WORDS ? text.substring(0, MOST_WORDS) : text;
  }

  @Override
  public void close() {
    client.close();
  }
}

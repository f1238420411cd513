package dev.writ.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.marcnuri.helm.LintResult;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1Deployment;
import io.kubernetes.client.openapi.models.V1NetworkPolicy;
import io.kubernetes.client.openapi.models.V1PersistentVolumeClaim;
import io.kubernetes.client.openapi.models.V1PodDisruptionBudget;
import io.kubernetes.client.openapi.models.V1Role;
import io.kubernetes.client.openapi.models.V1RoleBinding;
import io.kubernetes.client.openapi.models.V1Service;
import io.kubernetes.client.openapi.models.V1ServiceAccount;
import io.kubernetes.client.openapi.models.V1StatefulSet;
import io.kubernetes.client.openapi.models.V2HorizontalPodAutoscaler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The Helm chart and the manifests that are made of it, against Helm and the API's own schemas. */
class ManifestsFitTheKubernetesApiTest {
  private static final Path MANIFESTS = Project.deploy().resolve("kubernetes/tool-gateway.yaml");

  private static final String HEAD =
      """
      # The tool gateway of seed 002 on Kubernetes: spec/deploy.md. Made of deploy/helm/tool-gateway, by
      #   mvn -q test -pl deploy -Dtest=ManifestsFitTheKubernetesApiTest -Dwrit.update=true
      """;

  private static final String HELPER = "busybox@sha256:" + "b".repeat(64);

  /** A chart for a pod for each execution. */
  private static final Map<String, Object> PODS =
      Map.of("sandbox.engine", "kubernetes", "sandbox.kubernetes.helper", HELPER);

  /** Replicas that share the load. */
  private static final Map<String, Object> SHARED =
      Map.of(
          "cells.join",
          "gateways",
          "cells.certificate",
          "gateways-tls",
          "gateway.cells.lease_ms",
          9000,
          "gateway.tokens[0].name",
          "dev",
          "gateway.tokens[0].digest",
          "sha256:" + "d".repeat(64));

  private static Map<String, Object> scaled(int most) {
    Map<String, Object> values = new TreeMap<>(SHARED);
    values.put("cells.most", most);
    return values;
  }

  /** Refuses what the schema of a kind does not know, and what it requires and is not there. */
  private interface Schema {
    void check(JsonElement object) throws IOException;
  }

  private static final Map<String, Schema> SCHEMAS =
      Map.ofEntries(
          Map.entry("apps/v1 Deployment", V1Deployment::validateJsonElement),
          Map.entry("apps/v1 StatefulSet", V1StatefulSet::validateJsonElement),
          Map.entry(
              "autoscaling/v2 HorizontalPodAutoscaler",
              V2HorizontalPodAutoscaler::validateJsonElement),
          Map.entry("networking.k8s.io/v1 NetworkPolicy", V1NetworkPolicy::validateJsonElement),
          Map.entry("policy/v1 PodDisruptionBudget", V1PodDisruptionBudget::validateJsonElement),
          Map.entry("rbac.authorization.k8s.io/v1 Role", V1Role::validateJsonElement),
          Map.entry("rbac.authorization.k8s.io/v1 RoleBinding", V1RoleBinding::validateJsonElement),
          Map.entry("v1 ConfigMap", V1ConfigMap::validateJsonElement),
          Map.entry("v1 PersistentVolumeClaim", V1PersistentVolumeClaim::validateJsonElement),
          Map.entry("v1 Service", V1Service::validateJsonElement),
          Map.entry("v1 ServiceAccount", V1ServiceAccount::validateJsonElement));

  private static void check(Map<?, ?> object) throws IOException {
    String kind = object.get("apiVersion") + " " + object.get("kind");
    assertThat(SCHEMAS).containsKey(kind);
    SCHEMAS.get(kind).check(new Gson().toJsonTree(object));
  }

  /** The member at this path; numbers are places in lists. */
  private static Object at(Object object, Object... path) {
    Object found = object;
    for (Object step : path) {
      found = step instanceof Integer i ? ((List<?>) found).get(i) : ((Map<?, ?>) found).get(step);
    }
    return found;
  }

  private static List<Map<String, Object>> maps(Object list) {
    return ((List<?>) list)
        .stream()
            .map(one -> {
              Map<String, Object> members = new TreeMap<>();
              ((Map<?, ?>) one).forEach((name, value) -> members.put((String) name, value));
              return members;
            })
            .toList();
  }

  private static Map<?, ?> deployment(Map<String, Object> values) {
    return object(values, "Deployment");
  }

  private static Map<?, ?> object(Map<String, Object> values, String kind) {
    return Chart.objects(values).stream()
        .filter(object -> object.get("kind").equals(kind))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void everyObjectOfTheChartFitsItsSchema() throws IOException {
    for (Map<String, Object> values :
        List.of(
            Map.<String, Object>of(),
            PODS,
            SHARED,
            scaled(7),
            Map.<String, Object>of(
                "sandbox.engine",
                "kubernetes",
                "sandbox.kubernetes.helper",
                HELPER,
                "egress[0].ports[0].port",
                443),
            Map.<String, Object>of(
                "sandbox.seccomp.type", "Unconfined", "storage.className", "fast"),
            Map.<String, Object>of("egress[0].ports[0].port", 4318, "replicas", 1),
            Map.<String, Object>of(
                "image.digest", "sha256:" + "0".repeat(64), "policy", "writ_policy: 1"))) {
      List<Map<?, ?>> objects = Chart.objects(values);
      assertThat(objects).hasSizeGreaterThan(5);
      for (Map<?, ?> object : objects) {
        check(object);
      }
    }
  }

  @Test
  void theSchemasRefuseAMemberThatIsNotThere() {
    String misspelt =
        Chart.text(Map.of()).replace("readOnlyRootFilesystem", "readOnlyRootFileSystem");
    assertThatThrownBy(
            () -> {
              for (Map<?, ?> object : Project.documents(misspelt)) {
                check(object);
              }
            })
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("readOnlyRootFileSystem");
  }

  @Test
  void helmFindsNothingWrong() {
    LintResult lint = Chart.helm().lint().strict().call();

    assertThat(lint.getMessages()).noneMatch(message -> message.contains("[WARNING]"));
    assertThat(lint.isFailed()).isFalse();
  }

  @Test
  void theDeploymentIsTheSeeds() {
    Map<?, ?> deployment = deployment(Map.of());
    Object pod = at(deployment, "spec", "template", "spec");

    assertThat(at(deployment, "metadata", "name")).isEqualTo("tool-gateway");
    assertThat(at(deployment, "spec", "replicas")).isEqualTo(3);
    assertThat(at(deployment, "spec", "selector", "matchLabels"))
        .isEqualTo(Map.of("app", "tool-gateway"));
    assertThat(at(deployment, "spec", "template", "metadata", "labels", "app"))
        .isEqualTo("tool-gateway");
    assertThat(at(pod, "containers", 0, "name")).isEqualTo("tool-gateway");
    assertThat(at(pod, "containers", 0, "image")).isEqualTo("swe-ai-fleet/tool-gateway:latest");
    assertThat(at(pod, "containers", 0, "ports", 0, "containerPort")).isEqualTo(8088);
    assertThat(at(pod, "containers", 0, "securityContext", "readOnlyRootFilesystem"))
        .isEqualTo(true);
    assertThat(at(pod, "containers", 0, "securityContext", "runAsNonRoot")).isEqualTo(true);
  }

  @Test
  void thePodIsConfinedWithEitherEngine() {
    for (String engine : List.of("bubblewrap", "kubernetes")) {
      Map<String, Object> values = new TreeMap<>(PODS);
      values.put("sandbox.engine", engine);
      Object pod = at(deployment(values), "spec", "template", "spec");
      Map<?, ?> container = (Map<?, ?>) at(pod, "containers", 0, "securityContext");

      assertThat((List<?>) at(pod, "containers")).as(engine).hasSize(1);
      assertThat(at(pod, "securityContext", "runAsNonRoot")).isEqualTo(true);
      assertThat(at(pod, "securityContext", "runAsUser")).isEqualTo(65532);
      assertThat(at(pod, "securityContext", "seccompProfile", "type"))
          .isEqualTo(engine.equals("kubernetes") ? "RuntimeDefault" : "Localhost");
      assertThat(container.get("runAsNonRoot")).isEqualTo(true);
      assertThat(container.get("readOnlyRootFilesystem")).isEqualTo(true);
      assertThat(container.get("allowPrivilegeEscalation")).isEqualTo(false);
      assertThat(container.get("capabilities")).isEqualTo(Map.of("drop", List.of("ALL")));
      assertThat(at(pod, "automountServiceAccountToken")).isEqualTo(engine.equals("kubernetes"));
      assertThat(container.containsKey("seccompProfile")).as("another than the pod's").isFalse();
    }
  }

  @Test
  void theProfileOfSystemCallsIsAFileOfTheNodeUnlessTheOperatorSaysOtherwise() {
    assertThat(seccomp(Map.of()))
        .isEqualTo(Map.of("type", "Localhost", "localhostProfile", "writ/tool-gateway.json"));
    // A path beside another type is what the API server refuses.
    assertThat(seccomp(Map.of("sandbox.seccomp.type", "Unconfined")))
        .isEqualTo(Map.of("type", "Unconfined"));
  }

  private static Object seccomp(Map<String, Object> values) {
    return at(deployment(values), "spec", "template", "spec", "securityContext", "seccompProfile");
  }

  @Test
  void whatTheChartDoesNotKnowIsRefused() {
    assertThatThrownBy(() -> Chart.text(Map.of("sandbox.engine", "podman")))
        .hasMessageContaining("sandbox");
    assertThatThrownBy(() -> Chart.text(Map.of("image.digest", "latest")))
        .hasMessageContaining("digest");
    assertThatThrownBy(() -> Chart.text(Map.of("replica", 1))).hasMessageContaining("replica");
    assertThatThrownBy(() -> Chart.text(Map.of("sandbox.kubernets.helper", "x")))
        .hasMessageContaining("kubernets");
    assertThatThrownBy(() -> Chart.text(Map.of("redis.url", "redis://redis:6379")))
        .hasMessageContaining("url");
  }

  @Test
  void callersAndFurtherPlacesAreValues() {
    Map<?, ?> policy =
        Chart.objects(Map.of("egress[0].ports[0].port", 4318)).stream()
            .filter(object -> object.get("kind").equals("NetworkPolicy"))
            .findFirst()
            .orElseThrow();

    assertThat(at(policy, "spec", "ingress", 0, "from", 0, "podSelector", "matchLabels"))
        .isEqualTo(Map.of("tool-gateway-client", "true"));
    assertThat((List<?>) at(policy, "spec", "egress"))
        .hasSize(3)
        .last()
        .isEqualTo(Map.of("ports", List.of(Map.of("port", 4318))));
  }

  @Test
  void portAndTimeToEndFollowTheConfiguration() throws IOException {
    Map<String, Object> other = Map.of("gateway.listen.port", 9000, "gateway.drain_s", 120);
    for (Map<?, ?> object : Chart.objects(other)) {
      check(object);
    }
    Object pod = at(object(other, "Deployment"), "spec", "template", "spec");
    assertThat(at(pod, "terminationGracePeriodSeconds")).isEqualTo(190);
    assertThat(at(pod, "containers", 0, "ports", 0, "containerPort")).isEqualTo(9000);
    assertThat(at(pod, "containers", 0, "livenessProbe", "exec", "command"))
        .isEqualTo(List.of("/usr/bin/writ-start", "alive", "9000"));
    assertThat(at(object(other, "Service"), "spec", "ports", 0, "port")).isEqualTo(9000);
    assertThat(at(object(other, "NetworkPolicy"), "spec", "ingress", 0, "ports", 0, "port"))
        .isEqualTo(9000);
    assertThatThrownBy(() -> Chart.text(Map.of("gateway.listen.tls", "own")))
        .hasMessageContaining("gateway.listen.tls");
  }

  @Test
  void itsProbesAreThoseOfTheImage() {
    Object container = at(deployment(Map.of()), "spec", "template", "spec", "containers", 0);

    assertThat(at(container, "readinessProbe", "httpGet"))
        .isEqualTo(Map.of("path", "/ready", "port", "http"));
    assertThat(at(container, "livenessProbe", "exec", "command"))
        .isEqualTo(List.of("/usr/bin/writ-start", "alive", "8088"));
  }

  @Test
  void thePodCarriesTheLimitsThatItsSandboxesLack() {
    Map<?, ?> deployment = deployment(Map.of());
    Object container = at(deployment, "spec", "template", "spec", "containers", 0);

    assertThat(at(container, "resources", "limits"))
        .isEqualTo(new TreeMap<>(Map.of("cpu", "2", "ephemeral-storage", "1Gi", "memory", "2Gi")));
  }

  @Test
  void bubblewrapGetsAnUncoveredProcOnlyInAUserNamespace() {
    Object own = at(deployment(Map.of()), "spec", "template", "spec");
    Object pods = at(deployment(PODS), "spec", "template", "spec");

    assertThat(at(own, "hostUsers")).isEqualTo(false);
    assertThat(at(own, "containers", 0, "securityContext", "procMount")).isEqualTo("Unmasked");
    assertThat(at(pods, "containers", 0, "securityContext", "procMount")).isNull();
  }

  @Test
  void theEngineOfPodsIsToldItsClusterAndItsOwnAddress() {
    Object container = at(deployment(PODS), "spec", "template", "spec", "containers", 0);
    Object settings =
        new Gson()
            .fromJson((String) at(object(PODS, "ConfigMap"), "data", "kubernetes.json"), Map.class);

    assertThat(settings)
        .isEqualTo(
            Map.of(
                "helper",
                HELPER,
                "namespace",
                "default",
                "proxy",
                Map.of("pods", Map.of("app", "tool-gateway"), "port", 3128.0)));
    assertThat(maps(at(container, "env")))
        .contains(
            Map.of("name", "WRIT_KUBERNETES", "value", "/etc/writ/kubernetes.json"),
            Map.of(
                "name",
                "WRIT_POD_ADDRESS",
                "valueFrom",
                Map.of("fieldRef", Map.of("fieldPath", "status.podIP"))));
    assertThat(maps(at(container, "volumeMounts")))
        .contains(
            Map.of(
                "name",
                "configuration",
                "mountPath",
                "/etc/writ/kubernetes.json",
                "subPath",
                "kubernetes.json",
                "readOnly",
                true));
    assertThat(at(object(PODS, "NetworkPolicy"), "spec", "ingress", 1))
        .isEqualTo(
            Map.of(
                "from",
                List.of(
                    Map.of(
                        "podSelector",
                        Map.of(
                            "matchLabels",
                            Map.of(
                                "app.kubernetes.io/managed-by",
                                "writ",
                                "dev.writ/network",
                                "proxy")))),
                "ports",
                List.of(Map.of("port", 3128))));
  }

  @Test
  void withoutAHelperThereIsNoChartOfPods() {
    assertThatThrownBy(() -> Chart.text(Map.of("sandbox.engine", "kubernetes")))
        .hasMessageContaining("sandbox.kubernetes.helper");
  }

  @Test
  void replicasThatShareTheLoadEachHaveAVolumeAndAName() {
    Map<?, ?> set = object(SHARED, "StatefulSet");
    Object pod = at(set, "spec", "template", "spec");

    assertThat(Chart.objects(SHARED))
        .noneMatch(object -> object.get("kind").equals("Deployment"))
        .noneMatch(object -> object.get("kind").equals("PersistentVolumeClaim"));
    assertThat(at(set, "spec", "replicas")).isEqualTo(3);
    assertThat(at(set, "spec", "serviceName")).isEqualTo("tool-gateway-cells");
    assertThat(maps(at(set, "spec", "volumeClaimTemplates")))
        .extracting(claim -> at(claim, "metadata", "name"))
        .containsExactly("data", "workspaces");
    assertThat(at(pod, "affinity")).as("on one node").isNull();
    assertThat(at(pod, "containers", 0, "securityContext", "readOnlyRootFilesystem"))
        .isEqualTo(true);
    assertThat(maps(at(pod, "containers", 0, "env")))
        .contains(
            Map.of("name", "WRIT_JOIN", "value", "/etc/writ/join"),
            Map.of(
                "name",
                "WRIT_CELL_ADDRESS",
                "value",
                "$(POD_NAME).tool-gateway-cells.default.svc:8182"));
    assertThat(maps(at(pod, "volumes")))
        .contains(
            Map.of("name", "join", "secret", Map.of("secretName", "gateways", "defaultMode", 288)));
    List<Map<String, Object>> services =
        maps(Chart.objects(SHARED)).stream()
            .filter(object -> object.get("kind").equals("Service"))
            .toList();
    assertThat(services)
        .extracting(service -> at(service, "metadata", "name"))
        .containsExactlyInAnyOrder("tool-gateway", "tool-gateway-cells");
    assertThat(services)
        .filteredOn(service -> "None".equals(at(service, "spec", "clusterIP")))
        .singleElement()
        .satisfies(
            service -> assertThat(at(service, "spec", "publishNotReadyAddresses")).isEqualTo(true));
    assertThat(maps(at(object(SHARED, "NetworkPolicy"), "spec", "ingress")))
        .contains(
            Map.of(
                "from",
                List.of(
                    Map.of("podSelector", Map.of("matchLabels", Map.of("app", "tool-gateway")))),
                "ports",
                List.of(Map.of("port", 8182))));
    assertThat(at(object(SHARED, "PodDisruptionBudget"), "spec", "maxUnavailable")).isEqualTo(1);
  }

  @Test
  void theConfigurationOfReplicasIsTheOperatorsWithTheirOwnAddress() {
    String text = (String) at(object(SHARED, "ConfigMap"), "data", "gateway.yaml");
    Object gateway = Project.documents(text).getFirst();

    assertThat(at(gateway, "cells"))
        .isEqualTo(
            Map.of(
                "address",
                "CELL_ADDRESS",
                "ca",
                "/etc/writ/certificate/ca.crt",
                "certificate",
                "/etc/writ/certificate/tls.crt",
                "host",
                "0.0.0.0",
                "key",
                "/etc/writ/certificate/tls.key",
                "lease_ms",
                9000,
                "port",
                8182));
    assertThat(at(gateway, "listen", "port")).isEqualTo(8088);
  }

  @Test
  void replicasAreAsManyAsTheLoadAsksForWhereAMostIsSaid() {
    Object scaler = at(object(scaled(7), "HorizontalPodAutoscaler"), "spec");

    assertThat(at(scaler, "scaleTargetRef", "kind")).isEqualTo("StatefulSet");
    assertThat(at(scaler, "minReplicas")).isEqualTo(3);
    assertThat(at(scaler, "maxReplicas")).isEqualTo(7);
    assertThat(at(object(scaled(7), "StatefulSet"), "spec", "replicas"))
        .as("who upgrades the chart does not undo it")
        .isNull();
    assertThat(Chart.objects(SHARED))
        .noneMatch(object -> object.get("kind").equals("HorizontalPodAutoscaler"));
  }

  @Test
  void replicasWithoutACertificateOrWithATokenOfEachAreRefused() {
    assertThatThrownBy(() -> Chart.text(Map.of("cells.join", "gateways", "cells.certificate", "c")))
        .hasMessageContaining("FIRST_TOKEN");
    Map<String, Object> bare = new TreeMap<>(SHARED);
    bare.remove("cells.certificate");
    assertThatThrownBy(() -> Chart.text(bare)).hasMessageContaining("cells.certificate");
    assertThatThrownBy(() -> Chart.text(Map.of("cells.replicas", 3)))
        .hasMessageContaining("replicas");
  }

  /** The page's role is what the engine asks for, by a test of module kube. */
  @Test
  void theRoleIsThatOfThePage() throws IOException {
    String page = Files.readString(Project.deploy().resolve("../spec/sandbox-kubernetes.md"));
    int from = page.indexOf("rules:\n");

    assertThat(at(object(PODS, "Role"), "rules"))
        .isEqualTo(
            at(
                Project.documents(page.substring(from, page.indexOf("```", from))).getFirst(),
                "rules"));
  }

  @Test
  void theManifestsAreWhatTheChartGives() throws IOException {
    String rendered = HEAD + Chart.text(Map.of());
    if (Boolean.getBoolean("writ.update")) {
      Files.writeString(MANIFESTS, rendered);
    }

    assertThat(Files.readString(MANIFESTS)).isEqualTo(rendered);
  }
}

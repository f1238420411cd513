package dev.writ.kube;

import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.elsewhere.ElsewhereScripts;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The pod of one command. It holds nothing of the command but its image and limits: arguments,
 * environment, input and secrets are sent into it, so that who may read pods does not read them.
 *
 * <p>Four containers, one after the other but for the last two: {@code bring} takes what is sent,
 * {@code look} examines its confinement and finds the program, {@code command} runs it, and {@code
 * keep} holds what it leaves until that was fetched.
 */
final class PodForm {
  static final String BRING = ElsewhereScripts.BRING;
  static final String LOOK = "look";
  static final String COMMAND = "command";
  static final String KEEP = ElsewhereScripts.KEEP;

  static final String INSTALLATION = "dev.writ/installation";
  static final String NETWORK = "dev.writ/network";
  static final String INTENT = "dev.writ/intent";
  static final Map<String, String> OURS = Map.of("app.kubernetes.io/managed-by", "writ");

  /** The directory of ours in a command's container. */
  static final String OWN = "/writ";

  static final String BUSYBOX = ElsewhereScripts.BUSYBOX;

  /** The user and group that all four run as. */
  private static final long USER = 65_534;

  private static final long MIB = 1L << 20;
  private static final long BIN_BYTES = 8 * MIB;
  private static final long INPUT_BYTES = 128 * MIB;

  /** What files of this host may hold that a command sees. */
  static final long FILES_BYTES = 64 * MIB;

  private static final long SECRET_BYTES = 16 * MIB;

  /** What may be needed, beside the start and the command, to fetch what it left. */
  private static final long FETCH_S = 300;

  private final KubernetesSettings settings;

  PodForm(KubernetesSettings settings) {
    this.settings = settings;
  }

  /**
   * What a pod is called and marked with.
   *
   * @param labels beside those of all pods of ours
   */
  record Names(String name, Map<String, String> labels, Map<String, String> annotations) {}

  /**
   * @param places where files of this host are, each tree as {@code files/0} and so on of what is
   *     sent
   */
  Pod of(
      Names names,
      ImageReference image,
      CgroupLimits limits,
      long workspaceBytes,
      List<String> places) {
    TreeMap<String, String> labels = new TreeMap<>(OURS);
    labels.putAll(names.labels());
    return new PodBuilder()
        .withNewMetadata()
        .withName(names.name())
        .withNamespace(settings.namespace())
        .withLabels(labels)
        .withAnnotations(names.annotations())
        .endMetadata()
        .withNewSpec()
        .withRestartPolicy("Never")
        .withActiveDeadlineSeconds(deadlineS(limits))
        .withTerminationGracePeriodSeconds(graceS(limits))
        .withAutomountServiceAccountToken(false)
        .withEnableServiceLinks(false)
        .withHostUsers(settings.userNamespaces() ? Boolean.FALSE : null)
        .withHostname("sandbox")
        .withDnsPolicy("None")
        .withNewDnsConfig()
        .withNameservers("127.0.0.1")
        .endDnsConfig()
        .withNodeSelector(settings.nodeSelector())
        .withTolerations(settings.tolerations().stream().map(PodForm::toleration).toList())
        .withRuntimeClassName(settings.runtimeClass().orElse(null))
        .withNewSecurityContext()
        .withRunAsNonRoot(true)
        .withRunAsUser(USER)
        .withRunAsGroup(USER)
        .withFsGroup(USER)
        .withNewSeccompProfile()
        .withType("RuntimeDefault")
        .endSeccompProfile()
        .endSecurityContext()
        .withVolumes(volumes(limits, workspaceBytes))
        .withInitContainers(
            bring(),
            inImage(LOOK, image, limits, workspaceBytes, places)
                .withCommand(BUSYBOX, "sh", "/writ/in/look")
                .build())
        .withContainers(
            inImage(COMMAND, image, limits, workspaceBytes, places)
                .withCommand(BUSYBOX, "sh", "/writ/in/run")
                .build(),
            keep())
        .endSpec()
        .build();
  }

  /** Until the cluster ends the pod, though its server be gone. */
  private long deadlineS(CgroupLimits limits) {
    return (settings.startMs() + limits.wallMs() + limits.graceMs()) / 1_000 + FETCH_S;
  }

  static long graceS(CgroupLimits limits) {
    return limits.graceMs() / 1_000 + 1;
  }

  private static Toleration toleration(KubernetesSettings.Tolerated one) {
    return new TolerationBuilder()
        .withKey(one.key())
        .withOperator(one.value().isPresent() ? "Equal" : "Exists")
        .withValue(one.value().orElse(null))
        .withEffect(one.effect().isEmpty() ? null : one.effect())
        .build();
  }

  private static List<Volume> volumes(CgroupLimits limits, long workspaceBytes) {
    return List.of(
        volume("bin", "", BIN_BYTES),
        volume("files", "", FILES_BYTES),
        volume("in", "", INPUT_BYTES),
        volume("out", "", outBytes(limits)),
        volume("secrets", "Memory", SECRET_BYTES),
        volume("tmp", "Memory", limits.tmpBytes()),
        volume("workspace", "", workspaceBytes));
  }

  private static long outBytes(CgroupLimits limits) {
    return 2 * limits.fileBytes() + MIB;
  }

  private static Volume volume(String name, String medium, long bytes) {
    return new VolumeBuilder()
        .withName(name)
        .withNewEmptyDir()
        .withMedium(medium)
        .withSizeLimit(quantity(bytes))
        .endEmptyDir()
        .build();
  }

  private Container bring() {
    return confined(BRING, settings.helper())
        .withCommand("/bin/busybox", "sh", "-c", PodScripts.BRING)
        .withResources(resources(100, 64 * MIB, INPUT_BYTES + FILES_BYTES))
        .withVolumeMounts(
            mount("bin", "/pod/bin", false),
            mount("files", "/pod/files", false),
            mount("in", "/pod/in", false),
            mount("out", "/pod/out", false),
            mount("secrets", "/pod/secrets", false),
            mount("workspace", "/pod/workspace", false))
        .build();
  }

  private ContainerBuilder inImage(
      String name,
      ImageReference image,
      CgroupLimits limits,
      long workspaceBytes,
      List<String> places) {
    List<VolumeMount> files = new ArrayList<>();
    for (int i = 0; i < places.size(); i++) {
      files.add(
          new VolumeMountBuilder()
              .withName("files")
              .withSubPath(Integer.toString(i))
              .withMountPath(places.get(i))
              .withReadOnly(true)
              .build());
    }
    return confined(name, image)
        .withResources(
            resources(limits.cpuMilli(), limits.memoryBytes(), workspaceBytes + outBytes(limits)))
        .withVolumeMounts(
            mount("bin", "/writ/bin", true),
            mount("in", "/writ/in", true),
            mount("out", "/writ/out", false),
            mount("secrets", "/run/secrets", true),
            mount("tmp", "/tmp", false),
            mount("workspace", "/workspace", false))
        .addAllToVolumeMounts(files);
  }

  private Container keep() {
    return confined(KEEP, settings.helper())
        .withCommand("/bin/busybox", "sh", "-c", ElsewhereScripts.WAIT)
        .withResources(resources(100, 64 * MIB, MIB))
        .withVolumeMounts(
            mount("out", "/pod/out", true), mount("workspace", "/pod/workspace", true))
        .build();
  }

  private static ContainerBuilder confined(String name, ImageReference image) {
    return new ContainerBuilder()
        .withName(name)
        .withImage(image.toString())
        .withImagePullPolicy("IfNotPresent")
        .withTerminationMessagePolicy("File")
        .withNewSecurityContext()
        .withAllowPrivilegeEscalation(false)
        .withPrivileged(false)
        .withReadOnlyRootFilesystem(true)
        .withRunAsNonRoot(true)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .withNewSeccompProfile()
        .withType("RuntimeDefault")
        .endSeccompProfile()
        .endSecurityContext();
  }

  private static VolumeMount mount(String name, String path, boolean readOnly) {
    return new VolumeMountBuilder()
        .withName(name)
        .withMountPath(path)
        .withReadOnly(readOnly)
        .build();
  }

  private static Quantity quantity(long number) {
    return new Quantity(Long.toString(number));
  }

  /** Requests and limits are the same, so that a pod is the last to be evicted and never swaps. */
  private static ResourceRequirements resources(long cpuMilli, long memoryBytes, long diskBytes) {
    Map<String, Quantity> all =
        Map.of(
            "cpu", new Quantity(cpuMilli + "m"),
            "memory", quantity(memoryBytes),
            "ephemeral-storage", quantity(diskBytes));
    return new ResourceRequirementsBuilder().withRequests(all).withLimits(all).build();
  }
}

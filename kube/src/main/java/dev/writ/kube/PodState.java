package dev.writ.kube;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.elsewhere.ElsewhereScripts;
import dev.writ.sandbox.error.SandboxError;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/** What a pod's status says, in our words. */
record PodState(Pod pod) {
  private static final List<String> NO_IMAGE =
      List.of(
          "ErrImagePull",
          "ImagePullBackOff",
          "InvalidImageName",
          "ErrImageNeverPull",
          "ImageInspectError",
          "RegistryUnavailable",
          "SignatureValidationFailed");
  private static final List<String> NO_CONTAINER =
      List.of(
          "CreateContainerConfigError",
          "CreateContainerError",
          "RunContainerError",
          "PreCreateHookError",
          "PostStartHookError",
          "CrashLoopBackOff");
  private static final int MOST_WORDS = 300;

  private PodStatus status() {
    return pod.getStatus() == null ? new PodStatus() : pod.getStatus();
  }

  private Stream<ContainerStatus> containers() {
    return Stream.of(status().getInitContainerStatuses(), status().getContainerStatuses())
        .filter(Objects::nonNull)
        .flatMap(List::stream);
  }

  private Optional<ContainerState> container(String name) {
    return containers()
        .filter(c -> name.equals(c.getName()))
        .map(ContainerStatus::getState)
        .filter(Objects::nonNull)
        .findFirst();
  }

  boolean runs(String container) {
    return container(container).map(ContainerState::getRunning).isPresent();
  }

  Optional<ContainerStateTerminated> ended(String container) {
    return container(container).map(ContainerState::getTerminated);
  }

  /** Whether the command was started, as far as the status tells. */
  boolean commandStarted() {
    return runs(PodForm.COMMAND) || ended(PodForm.COMMAND).isPresent();
  }

  /** Whether all that the command left can be fetched. */
  boolean keeps() {
    return runs(PodForm.KEEP) || ended(PodForm.KEEP).isPresent();
  }

  /** Whether all that was sent is there. */
  boolean brought() {
    return ended(PodForm.BRING).filter(end -> end.getExitCode() == 0).isPresent();
  }

  /** The pod's address; empty before it has one. */
  Optional<InetAddress> address() {
    String text = String.valueOf(status().getPodIP());
    try {
      return text.matches("[0-9.]{7,15}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")
          ? Optional.of(InetAddress.getByName(text)) // asks no DNS for these
          : Optional.empty();
    } catch (UnknownHostException e) {
      return Optional.empty();
    }
  }

  /**
   * The reason for which the cluster ended the pod, such as {@code Evicted}; empty while it runs.
   */
  String failure() {
    return "Failed".equals(status().getPhase()) && status().getReason() != null
        ? status().getReason()
        : "";
  }

  /** Whether it was evicted since it, not its node, used more disk than it may. */
  boolean evictedForDisk() {
    String message = String.valueOf(status().getMessage());
    return failure().equals("Evicted")
        && (message.contains("ephemeral local storage") || message.contains("EmptyDir volume"));
  }

  /**
   * Refuses a pod whose command cannot start any more.
   *
   * @throws WritException {@code SBX-003}, {@code SBX-025}, {@code SBX-028}, {@code SBX-035},
   *     {@code SBX-037}
   */
  void requireStartable() {
    if (commandStarted()) {
      return;
    }
    containers()
        .map(ContainerStatus::getState)
        .filter(Objects::nonNull)
        .forEach(state -> {
          ContainerStateWaiting waiting = state.getWaiting();
          if (waiting != null && NO_IMAGE.contains(waiting.getReason())) {
            throw new WritException(
                SandboxError.IMAGE, waiting.getReason() + ": " + cut(waiting.getMessage()));
          }
          if (waiting != null && NO_CONTAINER.contains(waiting.getReason())) {
            throw new WritException(
                SandboxError.CLUSTER, waiting.getReason() + ": " + cut(waiting.getMessage()));
          }
        });
    ended(PodForm.BRING).filter(end -> end.getExitCode() != 0).ifPresent(PodState::refuseBring);
    ended(PodForm.LOOK).filter(end -> end.getExitCode() != 0).ifPresent(PodState::refuseLook);
    if (!failure().isEmpty()) {
      throw new WritException(SandboxError.CLUSTER, failure() + ": " + cut(status().getMessage()));
    }
  }

  private static void refuseBring(ContainerStateTerminated end) {
    if (end.getExitCode() == PodScripts.NETWORK_OPEN) {
      throw new WritException(
          SandboxError.NOT_ENFORCED,
          "a pod reached the cluster's API: its network policies are not enforced");
    }
    throw new WritException(
        SandboxError.CLUSTER, "the helper ended with " + end.getExitCode() + reason(end));
  }

  private static void refuseLook(ContainerStateTerminated end) {
    switch (end.getExitCode()) {
      case ElsewhereScripts.NOT_FOUND ->
          throw new WritException(SandboxError.EXECUTABLE_MISSING, "it is not in the image");
      case ElsewhereScripts.NOT_ENTERED ->
          throw new WritException(SandboxError.COMMAND, "its directory cannot be entered");
      case ElsewhereScripts.NOT_CONFINED ->
          throw new WritException(
              SandboxError.NOT_ENFORCED,
              "a container has another user, capabilities, filter or root than was asked for");
      default ->
          throw new WritException(
              SandboxError.CLUSTER, "look ended with " + end.getExitCode() + reason(end));
    }
  }

  private static String reason(ContainerStateTerminated end) {
    return end.getReason() == null ? "" : " (" + end.getReason() + ")";
  }

  /** Why it does not start yet, where the cluster tells. */
  String waitsFor() {
    return Stream.concat(
            Optional.ofNullable(status().getConditions()).stream()
                .flatMap(List::stream)
                .filter(c -> "False".equals(c.getStatus()) && c.getMessage() != null)
                .map(c -> c.getReason() + ": " + cut(c.getMessage())),
            containers()
                .map(ContainerStatus::getState)
                .filter(s -> s != null && s.getWaiting() != null)
                .map(s -> String.valueOf(s.getWaiting().getReason())))
        .findFirst()
        .orElse("the cluster does not say why");
  }

  /** The node that runs it; empty before one took it. */
  String node() {
    return pod.getSpec() == null || pod.getSpec().getNodeName() == null
        ? ""
        : pod.getSpec().getNodeName();
  }

  private static String cut(String message) {
    String text = String.valueOf(message).replaceAll("[\\p{Cntrl}]+", " ");
    return text.length() > MOST_WORDS ? text.substring(0, MOST_WORDS) : text;
  }
}

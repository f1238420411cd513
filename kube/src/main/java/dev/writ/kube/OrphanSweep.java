package dev.writ.kube;

import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/**
 * Removes pods that a killed process left: those of this installation, of which no process has
 * another, and those of any installation whose deadline is long over, since a server whose
 * directory is gone does not come back for them.
 */
final class OrphanSweep {
  private static final Duration LONG_OVER = Duration.ofMinutes(10);

  private final Cluster cluster;
  private final String installation;

  OrphanSweep(Cluster cluster, String installation) {
    this.cluster = cluster;
    this.installation = installation;
  }

  void run(Instant now) {
    for (Pod pod : cluster.labelled(PodForm.OURS)) {
      Map<String, String> labels = pod.getMetadata().getLabels();
      boolean ours = installation.equals(labels.get(PodForm.INSTALLATION));
      if (ours || isLongOver(pod, now)) {
        cluster.delete(pod, ours ? pod.getSpec().getTerminationGracePeriodSeconds() : 0);
      }
    }
  }

  private static boolean isLongOver(Pod pod, Instant now) {
    String created = pod.getMetadata().getCreationTimestamp();
    Long deadline = pod.getSpec().getActiveDeadlineSeconds();
    return created != null
        && deadline != null
        && Instant.parse(created).plusSeconds(deadline).plus(LONG_OVER).isBefore(now);
  }
}

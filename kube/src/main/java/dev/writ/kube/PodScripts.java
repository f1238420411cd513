package dev.writ.kube;

/** What the container {@code bring} of a pod runs. */
final class PodScripts {
  /** The port of the cluster's API answers, though no network policy lets a pod reach it. */
  static final int NETWORK_OPEN = 124;

  /**
   * Waits for what is sent. Meanwhile it tries the one address that each pod is told: where that
   * answers, network policies are not enforced.
   */
  static final String BRING =
      """
      trap 'exit 1' TERM
      cd /pod && cp /bin/busybox bin/busybox && : > out/stdout && : > out/stderr || exit 1
      api=$KUBERNETES_SERVICE_HOST
      port=${KUBERNETES_SERVICE_PORT:-443}
      if [ -n "$api" ] && /bin/busybox nc -w 1 "$api" "$port" < /dev/null > /dev/null 2>&1; then
        exit 124
      fi
      until [ -e in/go ]; do sleep 0.1; done
      """;

  private PodScripts() {}
}

package dev.writ.kube;

import dev.writ.canonicalize.WritException;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.util.Optional;

/**
 * What is known of one pod. A watch tells of changes; since one can be cut, or be told that it is
 * too old (410), the pod is also asked for: seldom while there is a watch, and often without.
 */
final class PodEye implements Watcher<Pod>, AutoCloseable {
  private static final long WATCHED_MS = 5_000;
  private static final long UNWATCHED_MS = 500;

  /** How long a cluster may not answer while a pod runs. */
  private static final long PATIENCE_MS = 60_000;

  private final Cluster cluster;
  private final String name;
  private final String uid;
  private Optional<Pod> latest;
  private Watch watch;
  private boolean changed;
  private long failsSince;
  private long askedAt = System.nanoTime() - UNWATCHED_MS * 1_000_000 - 1; // at once

  PodEye(Cluster cluster, Pod created) {
    this.cluster = cluster;
    this.name = created.getMetadata().getName();
    this.uid = created.getMetadata().getUid();
    this.latest = Optional.of(created);
  }

  /**
   * The pod as it is now, as soon as it changed, or after a time.
   *
   * @return empty if it is gone, or another has its name
   * @throws WritException {@code SBX-009} where the cluster has not answered for a minute
   */
  Optional<Pod> next(long ms) throws InterruptedException {
    long give = System.nanoTime() + ms * 1_000_000;
    boolean ask;
    synchronized (this) {
      while (!changed && System.nanoTime() < give && !isDue()) {
        wait(Math.max(1, Math.min((give - System.nanoTime()) / 1_000_000, UNWATCHED_MS)));
      }
      ask = !changed && isDue();
      changed = false;
    }
    if (ask) {
      ask();
    }
    synchronized (this) {
      return latest;
    }
  }

  private void ask() {
    watchAgain();
    try {
      Optional<Pod> now = cluster.get(name).filter(pod -> pod.getMetadata().getUid().equals(uid));
      synchronized (this) {
        latest = now;
        failsSince = 0;
      }
    } catch (WritException e) {
      long now = System.nanoTime();
      failsSince = failsSince == 0 ? now : failsSince;
      if (now - failsSince > PATIENCE_MS * 1_000_000) {
        throw e;
      }
    }
    synchronized (this) {
      askedAt = System.nanoTime();
    }
  }

  /** Ends a wait in {@link #next}. */
  synchronized void wake() {
    changed = true;
    notifyAll();
  }

  private boolean isDue() {
    return System.nanoTime() - askedAt > (watch == null ? UNWATCHED_MS : WATCHED_MS) * 1_000_000;
  }

  private void watchAgain() {
    synchronized (this) {
      if (watch != null) {
        return;
      }
    }
    try {
      Watch opened = cluster.watch(name, this);
      synchronized (this) {
        watch = opened;
      }
    } catch (WritException e) {
      // The pod is asked for instead.
    }
  }

  @Override
  public synchronized void eventReceived(Action action, Pod pod) {
    if (pod == null || !uid.equals(pod.getMetadata().getUid())) {
      return;
    }
    latest = action == Action.DELETED ? Optional.empty() : Optional.of(pod);
    changed = true;
    notifyAll();
  }

  @Override
  public synchronized void onClose(WatcherException cause) {
    watch = null;
    notifyAll();
  }

  @Override
  public void close() {
    Watch open;
    synchronized (this) {
      open = watch;
      watch = null;
    }
    if (open != null) {
      open.close();
    }
  }
}

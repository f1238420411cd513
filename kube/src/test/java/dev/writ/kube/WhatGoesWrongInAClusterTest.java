package dev.writ.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.writ.canonicalize.WritException;
import dev.writ.kube.testing.FakeCluster;
import dev.writ.kube.testing.TestPods;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Execution;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.cgroup.CgroupLimits;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each failure of a cluster has its code, or is overcome; none runs a command twice. */
@Timeout(300)
class WhatGoesWrongInAClusterTest {
  private static final String ENDLESS = "echo up; while :; do sleep 0.1; done";

  private static TestPods pods;

  @BeforeAll
  static void open() {
    pods = new TestPods();
  }

  @AfterAll
  static void close() {
    pods.close();
  }

  @AfterEach
  void mend() {
    pods.cluster.fault(request -> Optional.empty());
    pods.cluster.relay.up();
    pods.cluster.behaviour.loses = "";
    pods.cluster.behaviour.pulled.countDown();
    pods.cluster.startS = 60;
    pods.cluster.behaviour.full = false;
    pods.cluster.behaviour.careless = false;
    pods.cluster.behaviour.network = false;
    pods.cluster.behaviour.reachable = "";
    pods.cluster.behaviour.reason = "";
    assertThat(pods.pods()).as("pods that are left").isZero();
  }

  /** The code and the words of a refusal. */
  static String refusal(ThrowingCallable call) {
    Throwable thrown = catchThrowable(call);
    assertThat(thrown).isInstanceOf(WritException.class);
    return thrown.getMessage();
  }

  private static Ended in(String image, String... argv) {
    try (Sandbox sandbox = pods.engine().create(pods.spec(image))) {
      return sandbox.exec(Command.of(argv));
    }
  }

  private static String out(Ended ended) {
    return new String(ended.stdout().bytes(), StandardCharsets.UTF_8);
  }

  /** Does something to the cluster while a command runs. */
  private static Ended meanwhile(String line, Runnable what) throws InterruptedException {
    CountDownLatch said = new CountDownLatch(1);
    try (Sandbox sandbox = pods.engine().create(pods.spec(FakeCluster.DEBIAN))) {
      Execution running =
          sandbox.start(Command.of("sh", "-c", line), (stream, bytes) -> said.countDown());
      assertThat(said.await(60, TimeUnit.SECONDS)).as("it runs").isTrue();
      what.run();
      return running.await();
    }
  }

  @Test
  void whatCannotStartIsRefusedWithTheClustersReason() {
    String absent = "registry.example/absent@sha256:" + "a".repeat(64);
    assertThat(refusal(() -> in(absent, "sh")))
        .startsWith("SBX-035")
        .contains("ErrImagePull", absent);
    assertThat(refusal(() -> in(FakeCluster.EMPTY, "sh", "-c", "echo"))).startsWith("SBX-028");
    assertThat(refusal(() -> in(FakeCluster.DEBIAN, "/workspace"))).startsWith("SBX-028");
  }

  @Test
  void aPodThatNoNodeTakesIsGivenUp() {
    try (TestPods impatient = new TestPods()) {
      impatient.cluster.behaviour.full = true;
      impatient.cluster.startS = 1;
      assertThat(refusal(() -> impatient.run("true")))
          .startsWith("SBX-037")
          .contains("within 1 s", "Insufficient memory");
      assertThat(impatient.pods()).isZero();
    }
  }

  /** A node that ignores what it is asked for runs nothing of the image. */
  @Test
  void aNodeThatDoesNotConfineIsFoundOut() {
    pods.cluster.behaviour.careless = true;
    assertThat(refusal(() -> pods.run("echo ESCAPED"))).startsWith("SBX-003");
    pods.cluster.behaviour.careless = false;
    pods.cluster.behaviour.network = true;
    pods.cluster.behaviour.reachable = "127.0.0.1:" + pods.cluster.relay.port();
    assertThat(refusal(() -> pods.run("echo ESCAPED")))
        .startsWith("SBX-003")
        .contains("network policies are not enforced");
    pods.cluster.behaviour.network = false;
    assertThat(out(pods.run("echo fine"))).as("told of the API, and unable").isEqualTo("fine\n");
  }

  @Test
  void limitsAreToldApart() {
    Ended late =
        pods.run(
            Command.of("sh", "-c", "trap 'echo bye; exit 0' TERM; while :; do sleep 0.1; done")
                .withLimits(CgroupLimits.STANDARD.withWallMs(300)));
    assertThat(late.reason()).isEqualTo(EndReason.TIMED_OUT);
    assertThat(out(late)).isEqualTo("bye\n");
    Ended flood =
        pods.run(
            Command.of("sh", "-c", "head -c 100000 /dev/zero; while :; do sleep 0.1; done")
                .withLimits(CgroupLimits.STANDARD.withOutputBytes(1_000)));
    assertThat(flood.reason()).isEqualTo(EndReason.OUTPUT_LIMIT);
    assertThat(flood.stdout().bytes()).hasSize(1_000);
    pods.cluster.behaviour.reason = "OOMKilled";
    Ended full = pods.run("kill -9 $$");
    assertThat(full.reason()).isEqualTo(EndReason.OUT_OF_MEMORY);
    assertThat(full.signal()).hasValue(9);
  }

  @Test
  void aPodThatTheClusterEndsSaysWhy() throws Exception {
    Ended full =
        meanwhile(
            ENDLESS,
            () ->
                pods.cluster.kubelet.evict(
                    "Pod ephemeral local storage usage exceeds the total limit"));
    assertThat(full.reason()).isEqualTo(EndReason.DISK_LIMIT);
    assertThat(out(full)).isEqualTo("up\n");
    Ended late = meanwhile(ENDLESS, pods.cluster.kubelet::deadline);
    assertThat(late.reason()).isEqualTo(EndReason.TIMED_OUT);
    assertThat(
            refusal(() ->
                meanwhile(
                    ENDLESS,
                    () -> pods.cluster.kubelet.evict("The node was low on resource: memory."))))
        .startsWith("SBX-004")
        .contains("Evicted");
    assertThat(
            refusal(() ->
                meanwhile(
                    ENDLESS,
                    () -> pods.cluster.client.pods().inNamespace(FakeCluster.NAMESPACE).delete())))
        .startsWith("SBX-004")
        .contains("is gone");
  }

  /** Once with new connections at once, and once with none until some were refused. */
  @Test
  void aCutConnectionLosesNothing() throws Exception {
    String line = "echo up; for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done";
    String all = "up\n1\n2\n3\n4\n5\n6\n7\n8\n";
    assertThat(out(meanwhile(line, pods.cluster.relay::cut))).isEqualTo(all);
    assertThat(out(meanwhile(line, () -> pods.cluster.relay.downFor(3)))).isEqualTo(all);
  }

  @Test
  void requestsThatFailForAWhileAreRepeatedAndThePodIsMadeOnce() {
    AtomicInteger posts = new AtomicInteger();
    AtomicInteger watches = new AtomicInteger();
    pods.cluster.fault(request -> {
      boolean post = isCreation(request);
      if (post && posts.incrementAndGet() == 1) {
        return Optional.of(new MockResponse().setResponseCode(429).setHeader("Retry-After", "0"));
      }
      if (post && posts.get() == 2) { // made, but the answer is lost
        pods.cluster.store(request);
        return Optional.of(new MockResponse().setResponseCode(503));
      }
      boolean watch =
          request.getPath().contains("fieldSelector") && request.getPath().contains("watch=true");
      return watch && watches.incrementAndGet() > 0
          ? Optional.of(new MockResponse().setResponseCode(410))
          : Optional.empty();
    });
    assertThat(out(pods.run("echo once"))).as("no watch, ever").isEqualTo("once\n");
    assertThat(posts).as("the third found it made").hasValueGreaterThanOrEqualTo(3);
    assertThat(watches).hasPositiveValue();
  }

  private static boolean isCreation(RecordedRequest request) {
    return request.getMethod().equals("POST") && request.getPath().endsWith("/pods");
  }

  /** What may pass is repeated; what will not is refused at once, with the cluster's words. */
  @Test
  void eachErrorOfTheApiIsRepeatedOrRefused() throws Exception {
    pods.cluster.behaviour.full = true;
    pods.engine(); // before anything fails
    try (Cluster cluster = Cluster.of(pods.cluster.settings(), Map.of())) {
      for (int code : new int[] {429, 500, 502, 503, 504, 400, 403, 422}) {
        AtomicInteger posts = new AtomicInteger();
        pods.cluster.fault(request ->
            isCreation(request) && posts.incrementAndGet() == 1
                ? Optional.of(
                    new MockResponse()
                        .setResponseCode(code)
                        .setHeader("Content-Type", "application/json")
                        .setBody(
                            "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"quota of "
                                + code
                                + "\",\"code\":"
                                + code
                                + "}"))
                : Optional.empty());
        Pod form = PodsOfOthers.pod("e-" + code, "other", 10);
        if (code == 429 || code >= 500) {
          cluster.delete(cluster.create(form), 0);
          assertThat(posts).as("%s", code).hasValue(2);
        } else {
          assertThat(refusal(() -> cluster.create(form)))
              .startsWith("SBX-009")
              .contains(code + " ", "quota of " + code);
          assertThat(posts).hasValue(1);
        }
      }
      AtomicInteger down = new AtomicInteger();
      pods.cluster.fault(request -> {
        if (isCreation(request) && down.incrementAndGet() == 1) {
          pods.cluster.relay.cut();
        }
        return Optional.empty();
      });
      cluster.delete(cluster.create(PodsOfOthers.pod("e-cut", "other", 10)), 0);
    }
  }

  /** The process that takes what is sent may end with its container before it answers. */
  @Test
  void anAnswerThatIsLostWhenAllWasSentLosesNothing() {
    pods.cluster.behaviour.loses = "bring";
    assertThat(out(pods.run("echo once"))).isEqualTo("once\n");
    assertThat(pods.cluster.behaviour.loses).isEmpty();
  }

  @Test
  void anImageThatIsPulledSlowlyIsWaitedFor() throws Exception {
    pods.cluster.behaviour.pulled = new CountDownLatch(1);
    try (Sandbox sandbox = pods.engine().create(pods.spec(FakeCluster.DEBIAN))) {
      Execution running = sandbox.start(Command.of("sh", "-c", "echo late"), (stream, bytes) -> {});
      pods.cluster.kubelet.awaitPulling();
      pods.cluster.behaviour.pulled.countDown();
      assertThat(out(running.await())).isEqualTo("late\n");
    }
  }

  /** Its pod stays in the API, unknown, until the cluster deletes it. */
  @Test
  void aNodeThatIsLostIsNoEndOfTheCommand() {
    assertThat(
            refusal(() ->
                meanwhile(
                    ENDLESS,
                    () -> {
                      pods.cluster.kubelet.lost();
                      pods.cluster.client.pods().inNamespace(FakeCluster.NAMESPACE).delete();
                    })))
        .startsWith("SBX-004")
        .contains("is gone: deleted, or its node");
  }
}

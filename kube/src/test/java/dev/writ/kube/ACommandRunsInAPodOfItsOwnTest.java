package dev.writ.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.kube.testing.FakeCluster;
import dev.writ.kube.testing.TestPods;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Execution;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.workspace.TreeLimits;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The engine against an API that stores and a node that runs what it is told. */
@Timeout(300)
class ACommandRunsInAPodOfItsOwnTest {
  private static TestPods pods;

  @BeforeAll
  static void open() {
    pods = new TestPods();
  }

  @AfterAll
  static void close() {
    pods.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void itsInputsAreThereAndWhatItLeavesComesBack() {
    String longName = "a name of more than a hundred bytes, ".repeat(4) + "ü";
    try (Sandbox sandbox = pods.engine().create(pods.spec(FakeCluster.DEBIAN))) {
      sandbox.workspace().write("src/a.txt", bytes("given\n"), false);
      sandbox.workspace().write("gone.txt", new byte[0], false);
      sandbox.workspace().write(longName, bytes("long"), false);
      Ended ended =
          sandbox.exec(
              Command.of(
                      "sh",
                      "-c",
                      "cat a.txt - /run/secrets/token > ../out.txt; rm ../gone.txt; mv ../a\\ *"
                          + " \"../$1\"; ln -s a.txt link; echo \"$GREETING\"; echo no >&2; exit 3",
                      "sh",
                      longName + longName.length())
                  .withDirectory("/workspace/src")
                  .withEnvironment("GREETING", "it's $(HOME) `x` $$")
                  .withEnvironment("IFS", "123")
                  .withSecrets(List.of(new SecretFile("token", bytes("secret\n"))))
                  .withStdin(bytes("from stdin\n")));
      assertThat(ended.stderr().bytes()).asString(StandardCharsets.UTF_8).isEqualTo("no\n");
      assertThat(ended.stdout().bytes())
          .asString(StandardCharsets.UTF_8)
          .isEqualTo("it's $(HOME) `x` $$\n");
      assertThat(ended.reason()).isEqualTo(EndReason.EXITED);
      assertThat(ended.exitCode()).hasValue(3);
      assertThat(ended.engine())
          .startsWith("kubernetes v1.31.0, image " + FakeCluster.DEBIAN + ", pod writ-")
          .endsWith(" on node-1");
      assertThat(sandbox.workspace().read("out.txt", 1_000))
          .asString(StandardCharsets.UTF_8)
          .isEqualTo("given\nfrom stdin\nsecret\n");
      assertThat(sandbox.workspace().read(longName + longName.length(), 1_000))
          .asString(StandardCharsets.UTF_8)
          .isEqualTo("long");
      assertThat(sandbox.workspace().files(TreeLimits.STANDARD))
          .containsExactlyInAnyOrder("out.txt", "src/a.txt", longName + longName.length());
    }
    assertThat(pods.pods()).as("nothing is left").isZero();
  }

  /** A second client reads what the engine asked for, while it runs. */
  @Test
  void thePodIsConfinedAndTellsNothingOfTheCommandAndASecondOneCollides() throws Exception {
    Digest intent = Digest.sha256(bytes("an intent"));
    CountDownLatch said = new CountDownLatch(1);
    try (Sandbox first = pods.engine().create(pods.spec(FakeCluster.DEBIAN).forIntent(intent));
        Sandbox second = pods.engine().create(pods.spec(FakeCluster.DEBIAN).forIntent(intent))) {
      Command command =
          Command.of(
                  "sh", "-c", "echo up; trap 'echo down; exit 0' TERM; while :; do sleep 0.1; done")
              .withEnvironment("PAYLOAD", "told-to-nobody");
      Execution running = first.start(command, (stream, output) -> said.countDown());
      assertThat(said.await(60, TimeUnit.SECONDS)).as("it runs").isTrue();
      String name = "writ-" + intent.hex().substring(0, 40) + "-1";
      String json = kubectl("get", "pod", name, "-o", "json");
      assertThat(json).doesNotContain("told-to-nobody", "echo up");
      assertThat(shape(json)).isEqualTo(EXPECTED);
      assertThat(kubectl("get", "networkpolicies", "-o", "jsonpath={.items[*].spec}"))
          .contains("\"matchLabels\":{\"app.kubernetes.io/managed-by\":\"writ\"}")
          .contains("\"policyTypes\":[\"Ingress\",\"Egress\"]");
      assertThat(WhatGoesWrongInAClusterTest.refusal(() -> second.exec(command)))
          .startsWith("SBX-036")
          .contains(name);
      running.cancel();
      Ended ended = running.await();
      assertThat(ended.reason()).isEqualTo(EndReason.CANCELLED);
      assertThat(ended.stdout().bytes())
          .asString(StandardCharsets.UTF_8)
          .as("it had its grace")
          .isEqualTo("up\ndown\n");
    }
    assertThat(kubectl("get", "pods", "-o", "name")).isEmpty();
  }

  private static final String EXPECTED =
      """
      Never false false None RuntimeDefault true 65534
      bring: false true true ALL 100m 67108864
      look: false true true ALL 1000m 268435456
      command: false true true ALL 1000m 268435456
      keep: false true true ALL 100m 67108864
      """;

  private static String shape(String json) {
    JsonValue.Obj spec = object(object(Jcs.parse(bytes(json))).get("spec"));
    JsonValue.Obj whole = object(spec.get("securityContext"));
    StringBuilder text =
        new StringBuilder(
            String.join(
                    " ",
                    word(spec, "restartPolicy"),
                    word(spec, "automountServiceAccountToken"),
                    word(spec, "enableServiceLinks"),
                    word(spec, "dnsPolicy"),
                    word(object(whole.get("seccompProfile")), "type"),
                    word(whole, "runAsNonRoot"),
                    word(whole, "runAsUser"))
                + "\n");
    for (String list : List.of("initContainers", "containers")) {
      for (JsonValue one : ((JsonValue.Arr) spec.get(list)).items()) {
        JsonValue.Obj container = object(one);
        JsonValue.Obj context = object(container.get("securityContext"));
        JsonValue.Obj limits = object(object(container.get("resources")).get("limits"));
        text.append(word(container, "name"))
            .append(": ")
            .append(
                String.join(
                    " ",
                    word(context, "allowPrivilegeEscalation"),
                    word(context, "readOnlyRootFilesystem"),
                    word(context, "runAsNonRoot"),
                    word(
                        object(
                            JsonValue.object()
                                .put(
                                    "x",
                                    ((JsonValue.Arr)
                                            object(context.get("capabilities")).get("drop"))
                                        .items()
                                        .getFirst())
                                .build()),
                        "x"),
                    word(limits, "cpu"),
                    word(limits, "memory")))
            .append('\n');
      }
    }
    return text.toString();
  }

  private static String word(JsonValue.Obj object, String name) {
    return switch (object.get(name)) {
      case JsonValue.Str text -> text.value();
      case JsonValue value -> new String(Jcs.write(value), StandardCharsets.UTF_8);
      case null -> "absent";
    };
  }

  private static JsonValue.Obj object(JsonValue value) {
    return (JsonValue.Obj) value;
  }

  private static String kubectl(String... words) throws Exception {
    java.util.ArrayList<String> argv =
        new java.util.ArrayList<>(
            List.of("kubectl", "--kubeconfig", pods.cluster.kubeconfig().toString()));
    argv.addAll(List.of(words));
    ProcessBuilder builder = new ProcessBuilder(argv);
    builder.environment().put("HOME", pods.state.getParent().toString());
    Process process = builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said;
  }
}

package dev.writ.sandbox.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.sandbox.Bind;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Execution;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.Reproducible;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.sandbox.remote.testing.OtherHost;
import dev.writ.sandbox.workspace.TreeLimits;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Against a real podman service that is reached over TLS alone. */
@Timeout(300)
class ACommandRunsInAContainerElsewhereTest {
  private static OtherHost host;

  @BeforeAll
  static void open() throws Exception {
    host = new OtherHost();
  }

  @AfterAll
  static void close() throws Exception {
    host.close();
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    assertThat(host.left()).as("containers and volumes").isEmpty();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void itsInputsAreThereAndWhatItLeavesComesBack() {
    String longName = "a name of more than a hundred bytes, ".repeat(4) + "ü";
    try (Sandbox sandbox = host.engine().create(host.spec())) {
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
                  .withSecrets(List.of(new SecretFile("token", bytes("secret\n"))))
                  .withStdin(bytes("from stdin\n")));
      assertThat(ended.stderr().bytes()).asString(StandardCharsets.UTF_8).isEqualTo("no\n");
      assertThat(OtherHost.out(ended)).isEqualTo("it's $(HOME) `x` $$\n");
      assertThat(ended.reason()).isEqualTo(EndReason.EXITED);
      assertThat(ended.exitCode()).hasValue(3);
      assertThat(ended.engine())
          .startsWith("docker-remote ")
          .contains("(podman), image " + host.image + ", container writ-");
      assertThat(sandbox.workspace().read("out.txt", 1_000))
          .asString(StandardCharsets.UTF_8)
          .isEqualTo("given\nfrom stdin\nsecret\n");
      assertThat(sandbox.workspace().files(TreeLimits.STANDARD))
          .containsExactlyInAnyOrder("out.txt", "src/a.txt", longName + longName.length());
      Ended second = sandbox.exec(Command.of("cat", "out.txt"));
      assertThat(OtherHost.out(second)).as("the next command").startsWith("given\n");
    }
  }

  /** The program says what it sees; nothing of this is taken from what the service reports. */
  @Test
  void itIsConfined() {
    Ended ended =
        host.run(
            "id -u; cat /proc/self/status | while read k v r; do case $k in CapBnd:|NoNewPrivs:|"
                + "Seccomp:) echo $k $v;; esac; done; touch /x || echo read-only; echo 'echo RAN' >"
                + " /tmp/p; chmod 755 /tmp/p; /tmp/p; cat /proc/net/route | while read i r; do echo"
                + " net $i; done; nc -w 1 127.0.0.1 "
                + host.relay.port()
                + " </dev/null || echo unreachable; ls /pod; (: > /writ/in/x); (: >"
                + " /run/secrets/x); echo end");
    assertThat(OtherHost.out(ended))
        .as(new String(ended.stderr().bytes(), StandardCharsets.UTF_8))
        .isEqualTo(
            "65534\nCapBnd: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\nread-only\nnet Iface\n"
                + "unreachable\nend\n");
  }

  @Test
  void limitsAreEnforcedAndToldApart() {
    Ended memory =
        host.run(
            "dd if=/dev/zero of=/tmp/x bs=1M count=60; head -c 400000000 /dev/zero | tail -c"
                + " 390000000 > /dev/null; echo $?");
    assertThat(memory.reason()).as(OtherHost.out(memory)).isEqualTo(EndReason.OUT_OF_MEMORY);
    Ended processes =
        host.run(
            Command.of(
                    "sh",
                    "-c",
                    "i=0; while [ $i -lt 30 ]; do sleep 20 & i=$((i+1)); done; echo all")
                .withLimits(withPids(8)));
    assertThat(OtherHost.out(processes)).doesNotContain("all");
    assertThat(processes.reason()).isEqualTo(EndReason.PIDS_LIMIT);
    try (Sandbox sandbox = host.engine().create(host.spec().withFreshBytes(1 << 20))) {
      Ended full =
          sandbox.exec(
              Command.of(
                  "sh",
                  "-c",
                  "dd if=/dev/zero of=/workspace/x bs=64k count=40; c=$?; ls -l x; exit $c"));
      assertThat(OtherHost.out(full)).contains(" 1048576 ");
      assertThat(full.reason()).isEqualTo(EndReason.DISK_LIMIT);
      assertThat(new String(full.stderr().bytes(), StandardCharsets.UTF_8))
          .contains("No space left");
    }
    Ended late =
        host.run(
            Command.of("sh", "-c", "trap 'echo bye; exit 0' TERM; while :; do sleep 0.1; done")
                .withLimits(CgroupLimits.STANDARD.withWallMs(1_000)));
    assertThat(late.reason()).isEqualTo(EndReason.TIMED_OUT);
    assertThat(OtherHost.out(late)).as("it had its grace").isEqualTo("bye\n");
    Ended deaf =
        host.run(
            Command.of("sh", "-c", "trap '' TERM; while :; do sleep 0.1; done")
                .withLimits(CgroupLimits.STANDARD.withWallMs(500).withGraceMs(500)));
    assertThat(deaf.reason()).isEqualTo(EndReason.TIMED_OUT);
    Ended flood =
        host.run(
            Command.of("sh", "-c", "head -c 100000 /dev/zero; while :; do sleep 0.1; done")
                .withLimits(CgroupLimits.STANDARD.withOutputBytes(1_000)));
    assertThat(flood.reason()).isEqualTo(EndReason.OUTPUT_LIMIT);
    assertThat(flood.stdout().bytes()).hasSize(1_000);
    Ended signalled = host.run("kill -9 $$");
    assertThat(signalled.reason()).isEqualTo(EndReason.SIGNALLED);
    assertThat(signalled.signal()).hasValue(9);
  }

  private static CgroupLimits withPids(long pids) {
    CgroupLimits l = CgroupLimits.STANDARD;
    return new CgroupLimits(
        l.wallMs(),
        l.graceMs(),
        l.cpuMs(),
        l.cpuMilli(),
        l.memoryBytes(),
        pids,
        l.openFiles(),
        l.fileBytes(),
        l.tmpBytes(),
        l.outputBytes());
  }

  /** While one runs: what the service tells of it, and a second call of the same intent. */
  @Test
  void theContainerTellsNothingOfTheCommandAndASecondOneOfItsIntentIsRefused() throws Exception {
    Digest intent = Digest.sha256(bytes("an intent"));
    CountDownLatch said = new CountDownLatch(1);
    try (Sandbox first = host.engine().create(host.spec().forIntent(intent));
        Sandbox second = host.engine().create(host.spec().forIntent(intent))) {
      Command command =
          Command.of("sh", "-c", "echo up; trap 'exit 0' TERM; while :; do sleep 0.1; done")
              .withEnvironment("PAYLOAD", "told-to-nobody");
      Execution running = first.start(command, (stream, output) -> said.countDown());
      assertThat(said.await(100, TimeUnit.SECONDS)).as("it runs").isTrue();
      String name = "writ-" + intent.hex().substring(0, 40) + "-1";
      assertThat(host.podman.podman("inspect", name))
          .contains(intent.toString(), host.installation())
          .doesNotContain("told-to-nobody", "echo up");
      assertThatThrownBy(() -> second.exec(command))
          .hasMessageStartingWith("SBX-036")
          .hasMessageContaining(name);
      running.cancel();
      assertThat(running.await().reason()).isEqualTo(EndReason.CANCELLED);
    }
  }

  @Test
  void whatItCannotGiveIsRefusedBeforeAnythingIsMade() {
    Command command = Command.of("true");
    try (Sandbox sandbox = host.engine().create(host.spec())) {
      for (Command wrong :
          List.of(
              command.withEgress(List.of(EgressRule.of("example.com", 443))),
              command.withBinds(List.of(new Bind(Path.of("/usr"), "/opt/x"))),
              command.withExecutables(List.of("/bin/sh")),
              command.reproducibly(new Reproducible(Instant.EPOCH, 1)))) {
        assertThatThrownBy(() -> sandbox.exec(wrong)).hasMessageStartingWith("SBX-033");
      }
      assertThatThrownBy(() -> sandbox.hold(command, 1_000, OutputListener.NONE))
          .hasMessageStartingWith("SBX-033");
      assertThatThrownBy(() -> sandbox.exec(command.withDirectory("/etc")))
          .hasMessageStartingWith("SBX-025");
      assertThatThrownBy(() -> sandbox.exec(Command.of("no-such-program")))
          .hasMessageStartingWith("SBX-028");
    }
    ImageReference absent = ImageReference.parse("localhost/absent@sha256:" + "a".repeat(64));
    try (Sandbox sandbox = host.engine().create(host.spec(absent))) {
      assertThatThrownBy(() -> sandbox.exec(command)).hasMessageStartingWith("SBX-035");
    }
    assertThatThrownBy(() -> host.engine().create(host.spec().without(List.of())))
        .hasMessageStartingWith("SBX-003");
  }
}

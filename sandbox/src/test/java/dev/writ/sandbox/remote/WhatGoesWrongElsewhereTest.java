package dev.writ.sandbox.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Engine;
import dev.writ.sandbox.Execution;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.engine.Engines;
import dev.writ.sandbox.remote.testing.OtherHost;
import dev.writ.sandbox.remote.testing.TlsRelay;
import dev.writ.sandbox.testing.TamperingService;
import dev.writ.sandbox.workspace.TreeLimits;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A network that is cut, a service that is killed, and one that does not do what it is asked. */
@Timeout(300)
class WhatGoesWrongElsewhereTest {
  private static final String COUNTS =
      "echo up; for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.2; done";
  private static final String ALL = "up\n1\n2\n3\n4\n5\n6\n7\n8\n";
  private static final String ENDLESS = "echo up; while :; do sleep 0.1; done";

  /** Root without capabilities does not even reach BusyBox, which is another user's. */
  private static final int AS_ROOT = 3;

  private static OtherHost host;

  @BeforeAll
  static void open() throws Exception {
    host = new OtherHost();
  }

  @AfterAll
  static void close() throws Exception {
    host.close();
  }

  /** Something that is done to the other host. */
  @FunctionalInterface
  private interface Blow {
    void fall() throws Exception;
  }

  /** Does something while a command runs. */
  private static Ended meanwhile(String line, Blow what) throws Exception {
    CountDownLatch said = new CountDownLatch(1);
    try (Sandbox sandbox = host.engine().create(host.spec())) {
      Execution running =
          sandbox.start(Command.of("sh", "-c", line), (stream, bytes) -> said.countDown());
      assertThat(said.await(100, TimeUnit.SECONDS)).as("it runs").isTrue();
      what.fall();
      return running.await();
    }
  }

  @Test
  void aCutConnectionLosesNothing() throws Exception {
    assertThat(OtherHost.out(meanwhile(COUNTS, host.relay::cut))).isEqualTo(ALL);
    assertThat(OtherHost.out(meanwhile(COUNTS, () -> host.relay.downFor(4)))).isEqualTo(ALL);
    assertThat(host.left()).isEmpty();
  }

  /** At every place of the way in and out: a few connections are cut, whatever they are for. */
  @Test
  void cutsWhileEverythingGoesInAndOutAreOvercome() throws Exception {
    for (int round = 0; round < 4; round++) {
      Thread cutter =
          Thread.ofVirtual()
              .start(() -> {
                try {
                  for (int i = 0; i < 12; i++) {
                    Thread.sleep(250); // the pace of the blows, which nothing waits for
                    host.relay.cut();
                  }
                } catch (InterruptedException e) {
                  return;
                }
              });
      try (Sandbox sandbox = host.engine().create(host.spec())) {
        sandbox.workspace().write("in.txt", new byte[300_000], false);
        Ended ended =
            sandbox.exec(Command.of("sh", "-c", "cat in.txt in.txt > out.txt; echo once"));
        assertThat(OtherHost.out(ended)).isEqualTo("once\n");
        assertThat(sandbox.workspace().read("out.txt", 1_000_000)).hasSize(600_000);
      } finally {
        cutter.interrupt();
        cutter.join();
      }
    }
    assertThat(host.left()).isEmpty();
  }

  @Test
  void aServiceThatIsKilledAndStartedAgainLosesNothing() throws Exception {
    Ended ended =
        meanwhile(
            COUNTS,
            () -> {
              host.podman.kill();
              host.podman.again();
            });
    assertThat(OtherHost.out(ended)).isEqualTo(ALL);
    assertThat(host.left()).isEmpty();
  }

  /**
   * It is said to be unknown, neither failed nor done; what is left is removed at the next start.
   */
  @Test
  void aServiceThatStaysAwayLeavesTheEndUnknown() throws Exception {
    assertThatThrownBy(() -> meanwhile(ENDLESS, host.podman::kill))
        .hasMessageStartingWith("SBX-004")
        .hasMessageContaining("was started, and nobody knows its end");
    host.podman.again();
    assertThat(host.left()).as("it could not be removed").isNotEmpty();
    host.podman.podman("volume", "create", "--label", "dev.writ.state=another", "of-another");
    host.closeEngine();
    host.engine();
    assertThat(host.left()).as("of another installation").containsExactly("of-another");
    host.podman.podman("volume", "rm", "of-another");
  }

  @Test
  void aContainerThatIsRemovedWhileItRunsLeavesTheEndUnknown() throws Exception {
    assertThatThrownBy(() ->
            meanwhile(ENDLESS, () -> host.podman.podman("rm", "--all", "--force", "--time", "0")))
        .hasMessageStartingWith("SBX-004")
        .hasMessageContaining("nobody knows its end");
    assertThat(host.left()).isEmpty();
  }

  /** A service as it would be that does not know an option: nothing of the image runs. */
  @Test
  void aServiceThatConfinesLessThanItIsAskedIsFoundOut() throws Exception {
    List<UnaryOperator<String>> lies =
        List.of(
            s -> s.replaceAll("\"CapDrop\":\\[\"ALL\"\\]", "\"CapAdd\":[\"NET_RAW\"]"),
            s -> s.replace("\"no-new-privileges\"", "\"label=disable\""),
            s -> s.replace("\"no-new-privileges\"", "\"no-new-privileges\",\"seccomp=unconfined\""),
            s -> s.replace("\"User\":\"65534:65534\"", "\"User\":\"0:0\""),
            s -> s.replace("\"ReadonlyRootfs\":true", "\"ReadonlyRootfs\":false"),
            s -> s.replace("\"NetworkMode\":\"none\"", "\"NetworkMode\":\"host\""),
            s ->
                s.replaceAll("\"Memory\":[0-9]+", "\"Memory\":1073741824")
                    .replaceAll("\"MemorySwap\":[0-9]+", "\"MemorySwap\":1073741824"),
            s -> s.replaceAll("\"PidsLimit\":[0-9]+", "\"PidsLimit\":2000"),
            s -> s.replace("\"/tmp\":\"rw,nosuid,nodev,noexec,", "\"/tmp\":\"rw,nosuid,nodev,"));
    Path socket = host.directory.resolve("liar.sock");
    for (int i = 0; i < lies.size(); i++) {
      UnaryOperator<String> lie = ofTheCommand(lies.get(i));
      Files.deleteIfExists(socket);
      try (TamperingService liar = new TamperingService(socket, host.podman.socket(), lie);
          TlsRelay relay =
              new TlsRelay(
                  liar.socket(), host.authority.issue("localhost").trusting(host.authority));
          Engines engines = otherEngines(relay);
          Sandbox sandbox = engines.named("docker-remote", OtherHost.WAIVED).create(host.spec())) {
        assertThatThrownBy(() -> sandbox.exec(Command.of("sh", "-c", "echo ESCAPED > out")))
            .as("lie " + i)
            .hasMessageMatching(i == AS_ROOT ? "(?s)SBX-004 .*did not start.*" : "(?s)SBX-003 .*");
        assertThat(sandbox.workspace().files(TreeLimits.STANDARD)).isEmpty();
      }
    }
    assertThat(host.left()).isEmpty();
  }

  /** The helper's container is made as it should be. */
  private static UnaryOperator<String> ofTheCommand(UnaryOperator<String> lie) {
    return body -> body.contains("\"Entrypoint\":[\"/writ/bin/busybox\"]") ? lie.apply(body) : body;
  }

  private Engines otherEngines(TlsRelay relay) {
    return Engines.open(
        SandboxSettings.in(host.directory.resolve("liar"))
            .remotely(
                RemoteDockerEngine.opener(() ->
                    host.settings(
                        "localhost", relay.port(), host.authority.certificate(), host.client))));
  }

  /** What programs leave: nothing of it is followed, and what was here stays as it was. */
  @Test
  void hostileWorkspacesAreRefused() throws Exception {
    for (String line :
        List.of(
            "ln -s /etc/passwd link",
            "ln -s ../../../x link",
            "echo a > a; ln a b",
            "mkfifo pipe")) {
      try (Sandbox sandbox = host.engine().create(host.spec())) {
        sandbox.workspace().write("kept", new byte[] {1}, false);
        assertThatThrownBy(() -> sandbox.exec(Command.of("sh", "-c", line)))
            .as(line)
            .hasMessageStartingWith("SBX-047");
      }
    }
    assertThat(host.left()).isEmpty();
  }

  /** A helper of the service's choice sends archives that no program could make. */
  @Test
  void hostileArchivesAreRefused() throws Exception {
    Path root = Files.createDirectories(host.directory.resolve("evil/bin/real")).getParent();
    Files.copy(Path.of("/bin/busybox"), root.resolve("real/busybox"));
    Files.writeString(
        root.resolve("busybox"),
        """
        #!/bin/real/busybox sh
        case "$1 $2" in
        "tar -c") shift 5; [ "$1" = large ] && exec /bin/real/busybox head -c 80000000 /dev/zero
          exec /bin/real/busybox cat "/bin/$1.tar" ;;
        "cp /bin/busybox") exec /bin/real/busybox cp /bin/real/busybox "$3" ;;
        esac
        exec /bin/real/busybox "$@"
        """,
        StandardCharsets.US_ASCII);
    Files.setPosixFilePermissions(
        root.resolve("busybox"), PosixFilePermissions.fromString("rwxr-xr-x"));
    Process made =
        new ProcessBuilder("python3", "-c", ARCHIVES, root.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(made.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(made.waitFor()).as(said).isZero();
    ImageReference helper = host.imported("evil", root.getParent());
    RemoteDockerSettings plain = host.settings();
    RemoteDockerSettings evil =
        new RemoteDockerSettings(
            plain.host(),
            plain.port(),
            plain.ca(),
            plain.certificate(),
            plain.key(),
            helper,
            plain.startMs(),
            plain.patienceMs());
    host.closeEngine();
    Path outside = Files.writeString(host.directory.resolve("victim"), "whole");
    try (Engines engines = host.open(evil)) {
      Engine engine = engines.named("docker-remote", OtherHost.WAIVED);
      for (String kind : List.of("absolute", "dotdot", "link", "device", "cut", "large")) {
        try (Sandbox sandbox = engine.create(host.spec().withFreshBytes(1 << 20))) {
          assertThatThrownBy(() -> sandbox.exec(Command.of("sh", "-c", ": > " + kind)))
              .as(kind)
              .hasMessageStartingWith(kind.equals("large") ? "SBX-046" : "SBX-047");
        }
      }
      try (Sandbox sandbox = engine.create(host.spec())) {
        sandbox.exec(Command.of("sh", "-c", ": > plain"));
        assertThat(sandbox.workspace().files(TreeLimits.STANDARD))
            .as("it is the archives that are refused")
            .containsExactly("fine");
      }
    }
    assertThat(Files.readString(outside)).isEqualTo("whole");
    assertThat(Path.of("/victim")).doesNotExist();
    assertThat(host.left()).isEmpty();
  }

  private static final String ARCHIVES =
      """
      import io, sys, tarfile
      def made(name, *members):
          with tarfile.open(f"{sys.argv[1]}/{name}.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
              for path, kind, target in members:
                  info = tarfile.TarInfo(path)
                  info.type, info.linkname = kind, target
                  body = b"evil" if kind == tarfile.REGTYPE else b""
                  info.size = len(body)
                  tar.addfile(info, io.BytesIO(body))
      R, S, C = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE
      made("absolute", ("/victim", R, ""))
      made("dotdot", ("../../victim", R, ""))
      made("link", ("out", S, "../.."), ("out/victim", R, ""))
      made("device", ("null", C, ""))
      made("plain", ("fine", R, ""))
      made("cut", ("fine", R, ""))
      whole = open(f"{sys.argv[1]}/cut.tar", "rb").read()
      open(f"{sys.argv[1]}/cut.tar", "wb").write(whole[:700])
      """;
}

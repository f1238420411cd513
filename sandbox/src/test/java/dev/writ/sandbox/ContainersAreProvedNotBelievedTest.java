package dev.writ.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.cgroup.Cgroups;
import dev.writ.sandbox.egress.Resolver;
import dev.writ.sandbox.engine.Engines;
import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.testing.ContainerMain;
import dev.writ.sandbox.testing.Leftovers;
import dev.writ.sandbox.testing.OtherJvm;
import dev.writ.sandbox.testing.PodmanService;
import dev.writ.sandbox.testing.TamperingService;
import dev.writ.sandbox.testing.TestEngines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ContainersAreProvedNotBelievedTest {
  private static TestEngines engines;
  private static ImageReference image;

  @BeforeAll
  static void open() throws Exception {
    engines = TestEngines.withContainers(Resolver.HOST);
    image = image("writ-test-tool");
  }

  @AfterAll
  static void close() {
    engines.close();
  }

  /** An image with one static program, made of nothing but a file that the compiler here wrote. */
  private static ImageReference image(String name, String... changes) throws Exception {
    Path tar = engines.directory().resolve("image.tar");
    if (!Files.exists(tar)) {
      Path root = Files.createDirectories(engines.directory().resolve("image"));
      Path source = root.resolveSibling("image.c");
      Files.writeString(source, PROGRAM, StandardCharsets.US_ASCII);
      host("gcc", "-static", "-O1", "-o", root + "/hello", source.toString());
      host("tar", "-C", root.toString(), "-cf", tar.toString(), "hello");
    }
    List<String> line = new ArrayList<>(List.of("import", "-q"));
    for (String change : changes) {
      line.addAll(List.of("--change", change));
    }
    line.addAll(List.of(tar.toString(), "localhost/" + name + ":latest"));
    PodmanService.shared().podman(line.toArray(String[]::new));
    return ImageReference.parse(
        PodmanService.shared()
            .podman("image", "inspect", "--format", "{{index .RepoDigests 0}}", name));
  }

  private static final String PROGRAM =
      """
      #include <stdio.h>
      #include <stdlib.h>
      #include <sys/stat.h>
      #include <unistd.h>
      int main(int argc, char **argv) {
        struct stat s;
        char line[64] = "";
        if (fgets(line, sizeof line, stdin)) fputs(line, stdout);
        printf("%s %d %d\\n", getenv("FROM_IMAGE"), stat("/usr", &s), fopen("/x", "w") != NULL);
        FILE *f = fopen("/workspace/out", "w");
        if (!f) return 3;
        fputs(argv[1], f);
        return 0;
      }
      """;

  private static void host(String... argv) throws Exception {
    Process process = new ProcessBuilder(argv).redirectErrorStream(true).start();
    try (var in = process.getInputStream()) {
      String said = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).as(said).isZero();
    }
  }

  private static SandboxSpec spec() {
    return SandboxSpec.of(TestEngines.newId(), Profile.named("default"));
  }

  private static String text(Captured captured) {
    return new String(captured.bytes(), StandardCharsets.UTF_8);
  }

  @Test
  void anImageRunsByItsDigestWithNothingOfTheHost() throws Exception {
    ImageReference withVariable = image("writ-test-variable", "ENV FROM_IMAGE=yes");
    try (Sandbox sandbox = engines.named("docker").create(spec().withImage(withVariable))) {
      Ended ended =
          sandbox.exec(
              Command.of("/hello", "written")
                  .withStdin("in\n".getBytes(StandardCharsets.US_ASCII)));
      assertThat(ended.succeeded()).as(text(ended.stderr())).isTrue();
      assertThat(text(ended.stdout())).isEqualTo("in\nyes -1 0\n");
      assertThat(ended.engine()).startsWith("docker ").endsWith(", image " + withVariable);
      assertThat(ended.toJson().get("engine").toString())
          .contains(withVariable.digest().toString());
      assertThat(sandbox.workspace().read("out", 10))
          .isEqualTo("written".getBytes(StandardCharsets.US_ASCII));
      // What is not in the image is nowhere: that the engine says so is no end of a program.
      assertThatThrownBy(() -> sandbox.exec(Command.of("/bin/sh")))
          .hasMessageContaining("SBX-028")
          .hasMessageContaining("no such file");
      assertThatThrownBy(() -> sandbox.exec(Command.of("no-such-program")))
          .hasMessageContaining("SBX-028");
    }
  }

  @Test
  void anImageThatNeverWasInARegistryIsNamedByTheDigestOfItsConfiguration() throws Exception {
    String id =
        PodmanService.shared().podman("image", "inspect", "--format", "{{.Id}}", "writ-test-tool");
    ImageReference reference = ImageReference.parse("writ-test-tool@sha256:" + id);
    assertThat(reference.digest()).isNotEqualTo(image.digest());
    try (Sandbox sandbox = engines.named("docker").create(spec().withImage(reference))) {
      Ended ended = sandbox.exec(Command.of("/hello", "x"));
      assertThat(text(ended.stdout())).isEqualTo("(null) -1 0\n");
    }
  }

  @Test
  void aTagOrAnImageThatIsNotHereIsRefused() throws Exception {
    String digest = image.digest().toString();
    for (String bad :
        List.of(
            "python",
            "python:3",
            "python@sha256:12",
            "python:3@" + digest,
            "Python@" + digest,
            "a b@" + digest,
            "../x@" + digest,
            "@" + digest,
            "x@" + digest.toUpperCase(Locale.ROOT),
            "x@" + digest + "/json?a=")) {
      assertThatThrownBy(() -> ImageReference.parse(bad)).as(bad).hasMessageContaining("SBX-034");
    }
    assertThat(ImageReference.parse("host.test:5000/a/b@" + digest).name())
        .isEqualTo("host.test:5000/a/b");
    ImageReference absent = ImageReference.parse("python@sha256:" + "0".repeat(64));
    try (Sandbox sandbox = engines.named("docker").create(spec().withImage(absent))) {
      assertThatThrownBy(() -> sandbox.exec(Command.of("/hello")))
          .hasMessageContaining("SBX-035")
          .hasMessageContaining("nothing is pulled");
    }
    ImageReference volumes = image("writ-test-volumes", "VOLUME=/data");
    try (Sandbox sandbox = engines.named("docker").create(spec().withImage(volumes))) {
      assertThatThrownBy(() -> sandbox.exec(Command.of("/hello")))
          .hasMessageContaining("SBX-035")
          .hasMessageContaining("volumes");
    }
  }

  @Test
  void whatAnEngineCannotDoIsRefusedAndNotLeftOut() {
    for (String engine : TestEngines.names()) {
      assertThatThrownBy(() -> engines.named(engine).create(spec().withImage(image)))
          .hasMessageContaining("SBX-033");
    }
    assertThat(engines.engines().forImages(List.of()).name()).isEqualTo("docker");
    try (Sandbox sandbox = engines.named("docker").create(spec().withImage(image))) {
      Command hello = Command.of("/hello", "x");
      assertThatThrownBy(() -> sandbox.exec(hello.reproducibly(new Reproducible(Instant.EPOCH, 1))))
          .hasMessageContaining("SBX-033");
      assertThatThrownBy(() -> sandbox.exec(hello.withExecutables(List.of("/usr/bin/sh"))))
          .hasMessageContaining("SBX-033");
    }
  }

  /**
   * What a service makes of what it was asked.
   *
   * @param found what the refusal says of it
   */
  private record Omission(String asked, String made, String found) {}

  /** Of which version 1 of cgroups leaves a part to sockets. */
  private static final long MEMORY = Cgroups.detect().memoryBytes(CgroupLimits.STANDARD);

  private static final List<Omission> OMISSIONS =
      List.of(
          new Omission("\"PidsLimit\":64", "\"PidsLimit\":0", "pids.max"),
          new Omission(
              "\"Memory\":" + MEMORY + ",\"MemorySwap\":" + MEMORY,
              "\"Memory\":0",
              "memory.limit_in_bytes"),
          new Omission("\"CpuQuota\":100000", "\"CpuQuota\":0", "cpu.cfs_quota_us"),
          new Omission("\"ReadonlyRootfs\":true", "\"ReadonlyRootfs\":false", "/ is not ro"),
          new Omission("\"no-new-privileges\",", "", "privileges may be gained"),
          new Omission("\"mask=", "\"unmask=", "/sys is not hidden"),
          new Omission("\"User\":\"", "\"User\":\"7:7\",\"X\":\"", "Uid is 7"),
          new Omission("\"NetworkMode\":\"none\"", "\"NetworkMode\":\"host\"", "the net namespace"),
          new Omission(
              "\"NetworkMode\"", "\"PidMode\":\"host\",\"NetworkMode\"", "the pid namespace"),
          new Omission("\"seccomp=", "\"seccomp=unconfined\",\"label=", "no filter"));

  @Test
  void aServiceThatLeavesOutWhatItWasAskedForIsFoundOut() throws Exception {
    Path socket = engines.directory().resolve("liar.sock");
    AtomicReference<Omission> now = new AtomicReference<>();
    UnaryOperator<String> change =
        body -> {
          if (!body.contains(now.get().asked())) {
            throw new IllegalStateException(now + " was not asked for: " + body);
          }
          return body.replace(now.get().asked(), now.get().made());
        };
    try (TamperingService liar =
            new TamperingService(socket, PodmanService.shared().socket(), change);
        Engines deceived =
            Engines.open(
                SandboxSettings.in(engines.directory().resolve("d"))
                    .withContainers(liar.socket()))) {
      for (Omission one : OMISSIONS) {
        now.set(one);
        try (Sandbox sandbox = deceived.named("docker").create(spec())) {
          assertThatThrownBy(() -> sandbox.exec(Command.of("true")))
              .as(one.toString())
              .hasMessageContaining("SBX-003")
              .hasMessageContaining(one.found());
        }
      }
    }
    assertThat(PodmanService.shared().podman("ps", "--all", "--quiet")).isEmpty();
  }

  @Test
  void whereNobodyServesThereIsNoEngine() throws Exception {
    Path silent = engines.directory().resolve("silent.sock");
    Path nothing = engines.directory().resolve("nothing.sock");
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(silent));
      Thread answers =
          Thread.ofVirtual()
              .start(() -> {
                try (var one = server.accept()) {
                  one.write(
                      ByteBuffer.wrap(
                          "SSH-2.0-OpenSSH\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      for (Path socket : List.of(silent, nothing)) {
        SandboxSettings settings =
            SandboxSettings.in(engines.directory().resolve("n")).withContainers(socket);
        try (Engines none = Engines.open(settings)) {
          assertThatThrownBy(() -> none.named("docker"))
              .hasMessageContaining("SBX-002")
              .hasMessageContaining("podman.socket");
          assertThatThrownBy(() -> none.forImages(List.of())).hasMessageContaining("SBX-002");
        }
      }
      answers.join();
    }
  }

  @Test
  void whatAKilledJvmLeftIsSweptWhenTheServiceIsThereAgain() throws Exception {
    Path directory = Files.createTempDirectory(Path.of("/tmp"), "sbx");
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
    Path state = directory.resolve("s");
    Path socket = PodmanService.shared().socket();
    long pid;
    try (OtherJvm jvm =
        new OtherJvm(List.of(), ContainerMain.class, state.toString(), socket.toString())) {
      assertThat(jvm.line()).isEqualTo("up");
      pid = jvm.pid();
      jvm.kill();
    }
    String label = Files.readString(state.resolve("id"), StandardCharsets.US_ASCII);
    String filter = "label=dev.writ.state=" + label;
    assertThat(PodmanService.shared().podman("ps", "--quiet", "--filter", filter)).isNotEmpty();
    // Without the service nothing of it can be taken away, so its entry stays.
    Path nothing = directory.resolve("nothing.sock");
    try (Engines without = Engines.open(SandboxSettings.in(state).withContainers(nothing))) {
      assertThat(without.swept()).isEmpty();
    }
    try (Engines again = Engines.open(SandboxSettings.in(state).withContainers(socket))) {
      assertThat(again.swept()).containsExactly("left");
    }
    assertThat(PodmanService.shared().podman("ps", "--all", "--quiet", "--filter", filter))
        .isEmpty();
    assertThat(Leftovers.await(state, what -> false, List.of(pid))).isEmpty();
    Trees.remove(directory);
  }
}

package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.cli.base.ExitCode;
import dev.writ.sandbox.testing.PodmanService;
import dev.writ.sandbox.testing.TestRegistry;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code writ image}: from seed 002's tags to digests, over a registry and a podman of the test's
 * own.
 */
class ImagesArePulledAndPinnedTest {
  @TempDir Path dir;

  /** The policy that ships, with images of that registry. */
  private Path policy(String registry) throws Exception {
    String text;
    try (InputStream in =
        Commands.class.getResourceAsStream("/dev/writ/surfaces/seed-roles.yaml")) {
      text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    return Files.writeString(
        dir.resolve("policy.yaml"),
        text.replace("\"PACKAGE\"", "\"sha256:" + "0".repeat(64) + "\"")
            .replaceAll(
                "(?m)^(    [a-z0-9-]+: )[a-z0-9./-]+:[a-z0-9.-]+$",
                "$1" + registry + "/swe/tools:1"));
  }

  private byte[] layer(String content) throws Exception {
    Path root = Files.createDirectories(dir.resolve("root"));
    Files.writeString(root.resolve("file"), content);
    Process tar = new ProcessBuilder("tar", "-C", root.toString(), "-cf", "-", "file").start();
    byte[] bytes = tar.getInputStream().readAllBytes();
    assertThat(tar.waitFor()).isZero();
    return bytes;
  }

  @Test
  void aPolicysImagesAreFetchedAndNamedByTheirDigests() throws Exception {
    try (TestRegistry registry = new TestRegistry()) {
      Digest first = registry.put("swe/tools", "1", layer("one"));
      PodmanService podman = PodmanService.trusting(registry.place());
      Map<String, String> environment = Map.of("CONTAINER_HOST", "unix://" + podman.socket());
      String file = policy(registry.place()).toString();
      String before = Files.readString(Path.of(file));
      Run warned = Run.of("policy", "check", file);
      assertThat(warned.status()).as(warned.err()).isZero();
      assertThat(warned.out().lines().filter(line -> line.contains("writ image pin"))).hasSize(18);

      Run missing = Run.in(environment, "image", "pin", file);
      assertThat(missing.err()).contains("SBX-035", registry.place() + "/swe/tools:1 is not here");
      assertThat(Files.readString(Path.of(file))).isEqualTo(before);

      Run pulled = Run.in(environment, "image", "pull", file);
      assertThat(pulled.status()).as(pulled.err()).isZero();
      assertThat(pulled.out()).contains(registry.place() + "/swe/tools@" + first);
      Run pinned = Run.in(environment, "image", "pin", file);
      assertThat(pinned.status()).as(pinned.err()).isZero();
      String image = registry.place() + "/swe/tools@" + first;
      assertThat(Files.readString(Path.of(file)))
          .isEqualTo(before.replace(registry.place() + "/swe/tools:1", "\"" + image + "\""));
      assertThat(Run.of("policy", "check", file).out()).doesNotContain("writ image pin");

      // The tag is moved; the policy's image stays what it was.
      registry.put("swe/tools", "1", layer("two"));
      assertThat(Run.in(environment, "image", "pull", file).out()).contains(image);
      Run again = Run.in(environment, "--json", "image", "pin", file);
      assertThat(again.out()).isEqualToIgnoringWhitespace("{\"pinned\":{}}");
    }
  }

  @Test
  void aPolicyIsReplacedAsAWholeBehindItsLinkAndKeepsItsMode() throws Exception {
    try (TestRegistry registry = new TestRegistry()) {
      Digest digest = registry.put("swe/tools", "1", layer("one"));
      Path layout = dir.resolve("layout");
      registry.layOut(layout);
      Path policy = policy(registry.place());
      Files.setPosixFilePermissions(policy, PosixFilePermissions.fromString("rw-r-----"));
      Path link = Files.createSymbolicLink(dir.resolve("current.yaml"), policy.getFileName());
      try (InputStream reader = Files.newInputStream(policy)) {
        Run pinned = Run.of("image", "pin", link.toString(), "--layout", layout.toString());
        assertThat(pinned.status()).as(pinned.err()).isZero();
        assertThat(new String(reader.readAllBytes(), StandardCharsets.UTF_8))
            .as("who had it open has the old one whole")
            .doesNotContain(digest.toString());
      }
      assertThat(link).isSymbolicLink();
      assertThat(Files.readString(policy)).contains("/swe/tools@" + digest);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(policy)))
          .isEqualTo("rw-r-----");
      assertThat(Run.of("image", "pin", "-").err()).contains("CLI-001", "--out");
    }
  }

  @Test
  void aLayoutOnDiskSaysWhatATagNames() throws Exception {
    try (TestRegistry registry = new TestRegistry()) {
      Digest digest = registry.put("swe/tools", "1", layer("one"));
      Path layout = dir.resolve("layout");
      registry.layOut(layout);
      String file = policy(registry.place()).toString();
      String out = dir.resolve("pinned.yaml").toString();
      Run pinned = Run.of("image", "pin", file, "--layout", layout.toString(), "--out", out);
      assertThat(pinned.status()).as(pinned.err()).isZero();
      assertThat(Files.readString(Path.of(out))).contains("/swe/tools@" + digest);
      String escaped =
          Files.readString(Path.of(file)).replaceFirst("npm: (.*)swe/", "npm: \"$1swe\\\\x2f");
      escaped = escaped.replaceFirst("(x2ftools:1)", "$1\"");
      Files.writeString(Path.of(file), escaped);
      Run unusual = Run.of("image", "pin", file, "--layout", layout.toString(), "--out", out);
      assertThat(unusual.err()).as("not as it is written in the file").contains("CLI-021");
      Files.writeString(layout.resolve("blobs/sha256").resolve(digest.hex()), "other");
      Run forged = Run.of("image", "pin", file, "--layout", layout.toString(), "--out", out);
      assertThat(forged.status()).isEqualTo(ExitCode.UNAVAILABLE.status());
      assertThat(forged.err()).contains("SBX-035");
    }
  }
}

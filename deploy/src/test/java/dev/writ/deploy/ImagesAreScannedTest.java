package dev.writ.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The scan that {@code ./check images} puts every image through, on small file systems. */
class ImagesAreScannedTest {
  private static final String TAR =
      "tar -C root --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf root.tar .";

  @TempDir private Path dir;

  private record Ended(int status, List<String> lines) {}

  private Ended run(List<String> command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).directory(dir.toFile()).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ended(process.waitFor(), said.lines().toList());
  }

  /** Scans a file system that this script makes in the folder {@code root}. */
  private Ended scan(String script, String... allowed) throws IOException, InterruptedException {
    Ended made = run(List.of("bash", "-euc", "umask 022; mkdir -p root/usr/bin; " + script));
    assertThat(made.status()).as(made.lines().toString()).isZero();
    List<String> command =
        new ArrayList<>(
            List.of(Project.deploy().resolve("images/scan").toString(), dir + "/root.tar"));
    command.addAll(Arrays.asList(allowed));
    return run(command);
  }

  @Test
  void eachOfTheseIsFound() throws IOException, InterruptedException {
    String key = "-----BEGIN OPENSSH " + "PRIVATE KEY-----";
    Ended found =
        scan(
            """
            cd root
            touch usr/bin/ping usr/bin/apt-get usr/bin/bash usr/bin/su usr/bin/gcc-12 usr/bin/curl
            mkdir -p etc shared sticky tmp var/cache .ssh opt/tool/bin "etc/two words"
            chmod 777 shared && chmod 1777 sticky tmp
            chmod 755 usr/bin/* && ln -s /opt/tool/bin/javac usr/bin/jc && ln -s ../../opt/tool/busybox usr/bin/ash
            touch opt/tool/bin/javac opt/tool/wget "etc/two words/a.key" && chmod 755 opt/tool/bin/javac
            echo '%s' > etc/note
            touch .ssh/known etc/server.key var/cache/ldconfig
            echo 'compiled in %s/target' > usr/lib
            chmod 4755 usr/bin/ping
            cd ..
            """
                    .formatted(key, Project.deploy().getParent())
                + TAR);

    assertThat(found.status()).isEqualTo(1);
    assertThat(found.lines())
        .containsExactly(
            "build-path usr/lib",
            "cache var/cache/ldconfig",
            "compiler opt/tool/bin/javac",
            "compiler usr/bin/gcc-12",
            "download usr/bin/curl",
            "key .ssh/",
            "key .ssh/known",
            "key etc/note",
            "key etc/server.key",
            "key etc/two words/a.key",
            "package-manager usr/bin/apt-get",
            "setuid usr/bin/ping",
            "shell usr/bin/ash",
            "shell usr/bin/bash",
            "superuser usr/bin/su",
            "world-writable shared/",
            "world-writable sticky/");
  }

  @Test
  void ownersAndTimesAreFound() throws IOException, InterruptedException {
    Ended found =
        scan(
            """
            touch -d @1 root/usr/bin/one
            touch -d @2 root/usr/bin/two
            tar -C root --owner=1000 --group=0 --numeric-owner -cf root.tar ./usr/bin/one ./usr/bin/two
            """);

    assertThat(found.status()).isEqualTo(1);
    assertThat(found.lines())
        .containsExactly("owner usr/bin/one", "owner usr/bin/two", "time several");
  }

  @Test
  void whatAnImageMayHaveIsNotFound() throws IOException, InterruptedException {
    Ended found = scan("install /dev/null root/usr/bin/sh; " + TAR, "sh");

    assertThat(found.lines()).isEmpty();
    assertThat(found.status()).isZero();
  }

  @Test
  void everyDigestOfARuntimeIsADigest() {
    List<String> lines = Project.read("images/digests.txt").lines().toList();

    assertThat(lines)
        .extracting(line -> line.split(" ")[0])
        .containsExactly("runtime-java", "runtime-node", "runtime-perl", "runtime-python", "redis");
    assertThat(lines).allMatch(line -> line.matches("[a-z-]+ sha256:[0-9a-f]{64}"));
  }

  @Test
  void everyPackageOfALockHasAVersionAndADigest() throws IOException {
    try (var locks = Files.list(Project.deploy().resolve("images/locks"))) {
      for (Path lock : locks.toList()) {
        assertThat(Files.readAllLines(lock))
            .as(lock.toString())
            .isNotEmpty()
            .allMatch(line -> line.matches("[a-z0-9.+-]+ [^ ]+ [0-9a-f]{64}"));
      }
    }
  }
}

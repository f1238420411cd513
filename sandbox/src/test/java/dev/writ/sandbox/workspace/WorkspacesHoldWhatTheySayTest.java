package dev.writ.sandbox.workspace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.host.Mounts;
import dev.writ.sandbox.testing.TestEngines;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class WorkspacesHoldWhatTheySayTest {
  private static final Instant NOW = Instant.parse("2026-01-02T03:04:05.000Z");

  private TestEngines engines;

  @BeforeEach
  void open() {
    engines = TestEngines.open();
  }

  @AfterEach
  void close() {
    engines.close();
  }

  private static WorkspaceSpec spec(String run, WorkspaceStorage storage, long bytes) {
    return new WorkspaceSpec("tenant", run, storage, bytes, NOW, NOW.plusSeconds(60));
  }

  private Workspace workspace(String run) {
    return engines.engines().workspaces().open(spec(run, WorkspaceStorage.MEMORY, 8 << 20));
  }

  private Ended shell(Workspace workspace, String line) {
    SandboxSpec spec = SandboxSpec.of(TestEngines.newId(), Profile.named("default")).in(workspace);
    try (Sandbox sandbox = engines.named("bubblewrap").create(spec)) {
      return sandbox.exec(Command.of("/bin/sh", "-c", line));
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void noMoreThanAHostAndATenantMayHave(@TempDir Path place) {
    Workspaces all = new Workspaces(place.resolve("w"), true, new WorkspaceBounds(3, 2));
    all.open(spec("a", WorkspaceStorage.MEMORY, 1 << 20));
    all.open(spec("b", WorkspaceStorage.MEMORY, 1 << 20));
    assertThatThrownBy(() -> all.open(spec("c", WorkspaceStorage.MEMORY, 1 << 20)))
        .hasMessageContaining("SBX-048")
        .hasMessageContaining("2 of 3 exist on this host, 2 of 2 of this tenant");
    all.open(of("other", "a"));
    assertThatThrownBy(() -> all.open(of("third", "a"))).hasMessageContaining("SBX-048");
    all.open(spec("a", WorkspaceStorage.MEMORY, 1 << 20)); // which is there
    all.wipe("tenant", "a", "test", NOW);
    all.open(of("third", "a"));
    all.close();
  }

  /** As where a data directory was removed and made again: its runs may have the same names. */
  @Test
  void whatAnotherInstallationLeftIsRemoved(@TempDir Path place) throws IOException {
    Path root = place.resolve("w");
    Workspaces first = new Workspaces(root, true, WorkspaceBounds.STANDARD);
    first.open(spec("a", WorkspaceStorage.DISK, 1 << 20));
    first.belongTo("writ-1"); // whose they are was not said so far
    first.close();
    assertThat(Workspaces.areOfAnother(root, "writ-1")).isFalse();
    assertThat(Workspaces.areOfAnother(root, "writ-2")).isTrue();
    Workspaces same = new Workspaces(root, true, WorkspaceBounds.STANDARD);
    same.belongTo("writ-1");
    assertThat(same.list()).hasSize(1);
    same.close();
    Workspaces other = new Workspaces(root, true, WorkspaceBounds.STANDARD);
    other.belongTo("writ-2");
    assertThat(other.list()).isEmpty();
    other.close();
    assertThat(Workspaces.areOfAnother(root, "writ-2")).isFalse();
    assertThat(Workspaces.areOfAnother(root, "writ-1")).isTrue();
  }

  @Test
  void noMoreThanTheHostHasIsPromised(@TempDir Path place) throws IOException {
    Workspaces all = new Workspaces(place.resolve("w"), true, WorkspaceBounds.STANDARD);
    for (WorkspaceStorage storage : List.of(WorkspaceStorage.MEMORY, WorkspaceStorage.DISK)) {
      all.open(spec("small-" + storage, storage, 16 << 20));
      assertThatThrownBy(() -> all.open(spec("large", storage, Long.MAX_VALUE)))
          .hasMessageContaining("SBX-049")
          .hasMessageContaining("16777216 of");
      assertThat(all.find("tenant", "large")).isEmpty();
    }
    all.close();
  }

  /** A call that is late must not mount what nobody unmounts. */
  @Test
  void noneIsOpenedAfterTheyWereClosed(@TempDir Path place) {
    Path root = place.resolve("w");
    Workspaces all = new Workspaces(root, true, WorkspaceBounds.STANDARD);
    all.open(of("tenant", "a"));
    assertThat(Mounts.below(root)).hasSize(1);
    all.close();
    for (String run : List.of("a", "b")) {
      assertThatThrownBy(() -> all.open(of("tenant", run))).hasMessageStartingWith("SBX-007");
    }
    assertThat(Mounts.below(root)).isEmpty();
  }

  private static WorkspaceSpec of(String tenant, String run) {
    return new WorkspaceSpec(
        tenant, run, WorkspaceStorage.MEMORY, 1 << 20, NOW, NOW.plusSeconds(60));
  }

  @ParameterizedTest
  @EnumSource(
      value = WorkspaceStorage.class,
      names = {"MEMORY", "DISK"})
  void aWorkspaceLastsForItsRunAndHoldsItsSize(WorkspaceStorage storage) {
    Workspaces all = engines.engines().workspaces();
    Workspace workspace = all.open(spec("r", storage, 16 << 20));
    assertThat(shell(workspace, "echo 1 >a; mkdir -p d/e; echo 2 >d/e/f").succeeded()).isTrue();
    Digest before = workspace.treeDigest();
    assertThat(all.open(spec("r", storage, 1 << 20))).isSameAs(workspace);
    assertThat(all.find("tenant", "r")).containsSame(workspace);
    assertThat(all.find("other", "r")).isEmpty();
    assertThat(shell(workspace, "cat a d/e/f").stdout().bytes()).isEqualTo(bytes("1\n2\n"));
    assertThat(workspace.treeDigest()).isEqualTo(before);
    Ended full = shell(workspace, "head -c 100000000 /dev/zero >fill");
    assertThat(full.reason()).isEqualTo(EndReason.DISK_LIMIT);
    assertThat(workspace.treeDigest()).isNotEqualTo(before);
    assertThat(all.wipe("tenant", "r", "run-closed", NOW))
        .isEqualTo(new Wiped("tenant", "r", "run-closed", NOW));
    assertThat(all.wiped()).containsExactly(new Wiped("tenant", "r", "run-closed", NOW));
    assertThat(all.list()).isEmpty();
    assertThatThrownBy(() -> all.wipe("tenant", "r", "again", NOW)).hasMessageContaining("SBX-041");
    assertThatThrownBy(() -> shell(workspace, "true")).hasMessageContaining("SBX-042");
    assertThat(all.open(spec("r", storage, 16 << 20)).files(TreeLimits.STANDARD)).isEmpty();
  }

  @Test
  void theirTimeEndsUnlessTheyAreInUse() {
    Workspaces all = engines.engines().workspaces();
    Workspace used = workspace("used");
    workspace("old");
    assertThat(all.wipeExpired(NOW.plusSeconds(59))).isEmpty();
    SandboxSpec spec = SandboxSpec.of(TestEngines.newId(), Profile.named("default")).in(used);
    try (Sandbox sandbox = engines.named("bubblewrap").create(spec)) {
      assertThat(all.wipeExpired(NOW.plusSeconds(60)))
          .extracting(Wiped::run)
          .containsExactly("old");
      assertThatThrownBy(() ->
              engines
                  .named("runc")
                  .create(SandboxSpec.of(TestEngines.newId(), Profile.named("default")).in(used)))
          .hasMessageContaining("SBX-042");
      assertThatThrownBy(() -> all.wipe("tenant", "used", "x", NOW))
          .hasMessageContaining("SBX-042");
      assertThat(sandbox.exec(Command.of("true")).succeeded()).isTrue();
    }
    assertThat(all.wipeExpired(NOW.plusSeconds(60))).extracting(Wiped::run).containsExactly("used");
    for (String bad : List.of("", "a\nb", "x".repeat(300))) {
      assertThatThrownBy(() -> workspace(bad)).hasMessageContaining("SBX-040");
    }
  }

  @Test
  void theTreeDigestIsOfNamesKindsModesAndContentAlone() throws Exception {
    Workspace one = workspace("one");
    Workspace two = workspace("two");
    assertThat(
            shell(one, "echo x >b; mkdir a; echo y >a/c; ln -s ../b a/l; chmod 750 a; chmod 1755 b")
                .succeeded())
        .isTrue();
    assertThat(
            shell(
                    two,
                    "mkdir -m 750 a; touch -d 2001-01-01 b; echo x >b; chmod 1755 b; ln -s ../b"
                        + " a/l; echo y >a/c")
                .succeeded())
        .isTrue();
    assertThat(one.treeDigest()).isEqualTo(two.treeDigest());
    // By hand, as spec/sandbox.md says it.
    String records =
        "d 750 - a\0"
            + "f 644 "
            + Digest.sha256(bytes("y\n")).hex()
            + " a/c\0"
            + "l 777 "
            + Digest.sha256(bytes("../b")).hex()
            + " a/l\0"
            + "f 1755 "
            + Digest.sha256(bytes("x\n")).hex()
            + " b\0";
    assertThat(one.treeDigest()).isEqualTo(Digest.sha256(bytes(records)));
    assertThat(workspace("empty").treeDigest()).isEqualTo(Digest.sha256());
    Digest last = one.treeDigest();
    for (String change :
        List.of(
            "chmod 755 a",
            "echo z >>b",
            "mv b b2",
            "rm a/l; ln -s ../x a/l",
            "mkdir e",
            "mkfifo p",
            "touch \"$(printf '\\377')\"",
            "rmdir e")) {
      assertThat(shell(one, change).succeeded()).isTrue();
      assertThat(one.treeDigest()).as(change).isNotEqualTo(last);
      last = one.treeDigest();
    }
    assertThat(shell(one, "chown 65534:65534 b2; touch -d 2002-02-02 b2").succeeded()).isTrue();
    assertThat(one.treeDigest()).isEqualTo(last);
  }

  @Test
  void noPathLeadsOutAndNothingButFilesIsRead() throws Exception {
    Workspace workspace = workspace("r");
    Path canary = engines.directory().resolve("canary");
    Files.writeString(canary, "host", StandardCharsets.US_ASCII);
    String up =
        "ln -s "
            + canary
            + " file; ln -s / root; ln -s .. up; ln -s real inside; mkdir real; echo in >real/f;"
            + " mkfifo fifo; ln -s loop loop; python3 -c \"import socket;"
            + " socket.socket(socket.AF_UNIX).bind('sock')\"";
    assertThat(shell(workspace, up).succeeded()).isTrue();
    assertThat(workspace.read("real/f", 10)).isEqualTo(bytes("in\n"));
    for (String path : List.of("file", "root/etc/passwd", "up/up", "inside/f", "loop")) {
      assertThatThrownBy(() -> workspace.read(path, 10)).as(path).hasMessageContaining("SBX-043");
    }
    for (String path :
        List.of(
            "/etc/passwd",
            "../x",
            "real/../../x",
            "",
            "real//f",
            "./real/f",
            "real/",
            "a\0b",
            "x".repeat(256))) {
      assertThatThrownBy(() -> workspace.read(path, 10)).as(path).hasMessageContaining("SBX-043");
      assertThatThrownBy(() -> workspace.write(path, bytes("x"), false))
          .as(path)
          .hasMessageContaining("SBX-043");
    }
    for (String path : List.of("fifo", "sock", "real", "real/f/g")) {
      assertThatThrownBy(() -> workspace.read(path, 10)).as(path).hasMessageContaining("SBX-045");
    }
    assertThatThrownBy(() -> workspace.read("none", 10)).hasMessageContaining("SBX-044");
    assertThatThrownBy(() -> workspace.read("none/x", 10)).hasMessageContaining("SBX-044");
    assertThatThrownBy(() -> workspace.read("real/f", 2)).hasMessageContaining("SBX-046");
    for (String path : List.of("root/tmp/x", "up/x", "inside/x")) {
      assertThatThrownBy(() -> workspace.write(path, bytes("x"), false))
          .as(path)
          .hasMessageContaining("SBX-043");
    }
    // A link in the last place is replaced, and what it named is as it was.
    workspace.write("file", bytes("mine"), false);
    assertThat(workspace.read("file", 10)).isEqualTo(bytes("mine"));
    assertThat(Files.readString(canary, StandardCharsets.US_ASCII)).isEqualTo("host");
    workspace.write("é/中", bytes("x"), true);
    assertThat(shell(workspace, "cat é/中 && [ -x é/中 ] && [ -O é/中 ] && rm é/中").succeeded())
        .isTrue();
    assertThat(workspace.files(TreeLimits.STANDARD)).containsExactly("file", "real/f");
  }

  @Test
  void whatIsTooMuchIsRefusedAndStillWiped() {
    Workspace workspace = workspace("r");
    assertThat(
            shell(workspace, "for i in $(seq 1 80); do mkdir d; cd d; done; echo x >f").succeeded())
        .isTrue();
    assertThatThrownBy(workspace::treeDigest).hasMessageContaining("SBX-046");
    assertThatThrownBy(() -> workspace.treeDigest(new TreeLimits(10, 1 << 20, 200)))
        .hasMessageContaining("SBX-046");
    assertThat(workspace.treeDigest(new TreeLimits(100, 1 << 20, 200))).isNotNull();
    assertThatThrownBy(() -> workspace.treeDigest(new TreeLimits(100, 1, 200)))
        .hasMessageContaining("SBX-046");
    assertThat(engines.engines().workspaces().wipe("tenant", "r", "x", NOW)).isNotNull();
  }

  /** Each file is small enough for a command, and together they are more than there can be. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "for i in 1 2 3; do truncate -s 3M f$i; done",
        "head -c 3M /dev/zero >f1; ln f1 f2; ln f1 f3"
      })
  void filesThatTakeNoRoomTakeNoTime(String line) {
    Workspace workspace = workspace("r");
    assertThat(shell(workspace, "head -c 7M /dev/zero >full").succeeded()).isTrue();
    assertThat(workspace.treeDigest()).as("what there can be").isNotNull();
    assertThat(shell(workspace, "rm full; " + line).succeeded()).isTrue();
    assertThatThrownBy(workspace::treeDigest)
        .hasMessageContaining("SBX-046")
        .hasMessageContaining("more than 8388608 bytes");
    assertThat(workspace.treeDigest(TreeLimits.STANDARD)).isNotNull();
  }

  @Test
  void anArchiveOfATreeMakesTheSameTree() throws Exception {
    Workspace one = workspace("one");
    String longName = "n".repeat(200);
    assertThat(
            shell(
                    one,
                    "echo x >a; mkdir -p d/"
                        + longName
                        + "; echo y >d/"
                        + longName
                        + "/"
                        + longName
                        + "; ln -s ../a d/l; ln -s "
                        + longName
                        + "/"
                        + longName
                        + " d/ll; head -c 1000 /dev/urandom >r; : >empty; chmod 755 a")
                .succeeded())
        .isTrue();
    ByteArrayOutputStream tar = new ByteArrayOutputStream();
    one.exportTar(tar, TreeLimits.STANDARD);
    Workspace two = workspace("two");
    two.importTar(new ByteArrayInputStream(tar.toByteArray()), TreeLimits.STANDARD);
    assertThat(two.treeDigest()).isEqualTo(one.treeDigest());
    ByteArrayOutputStream again = new ByteArrayOutputStream();
    two.exportTar(again, TreeLimits.STANDARD);
    assertThat(again.toByteArray()).isEqualTo(tar.toByteArray());
    // The host's tar reads it, and writes what we read.
    workspace("three").write("t.tar", tar.toByteArray(), false);
    Workspace three = workspace("three");
    assertThat(
            shell(
                    three,
                    "mkdir x && tar -C x -xf t.tar && tar -C x --format=pax -cf t2.tar . && tar -C"
                        + " x --format=ustar -cf t3.tar a empty d/l")
                .succeeded())
        .isTrue();
    Workspace four = workspace("four");
    four.importTar(new ByteArrayInputStream(three.read("t3.tar", 1 << 20)), TreeLimits.STANDARD);
    assertThat(four.files(TreeLimits.STANDARD)).containsExactly("a", "empty");
    assertThatThrownBy(() ->
            two.importTar(
                new ByteArrayInputStream(tar.toByteArray()), new TreeLimits(2, 1 << 20, 9)))
        .hasMessageContaining("SBX-046");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "m('/etc/x')",
        "m('../x')",
        "m('a/../../x')",
        "m('l', type=tarfile.SYMTYPE, linkname='/etc')",
        "m('l', type=tarfile.SYMTYPE, linkname='../x')",
        "m('a/l', type=tarfile.SYMTYPE, linkname='../../x')",
        "m('l', type=tarfile.SYMTYPE, linkname='d'); m('l/x')",
        "m('h', type=tarfile.LNKTYPE, linkname='a')",
        "m('c', type=tarfile.CHRTYPE)",
        "m('b', type=tarfile.BLKTYPE)",
        "m('p', type=tarfile.FIFOTYPE)",
        "m('')",
        "m('.')",
        "m('a//b')",
        "m('s', type=tarfile.GNUTYPE_SPARSE)",
        "m('x' * 300)",
        "m('a'); m('a/b')",
        "m('l', type=tarfile.SYMTYPE, linkname='')"
      })
  void anArchiveThatCouldReachOutIsRefused(String members) {
    Workspace workspace = workspace("r");
    String program =
        "import tarfile, io, sys\\nt = tarfile.open('t.tar', 'w', format=tarfile.PAX_FORMAT)\\ndef"
            + " m(name, **k):\\n"
            + "    i = tarfile.TarInfo(name)\\n"
            + "    [setattr(i, a, b) for a, b in k.items()]\\n"
            + "    t.addfile(i)\\n"
            + "%s\\nt.close()\\n";
    Workspace maker = workspace("maker");
    maker.write("p.py", bytes(program.replace("\\n", "\n").replace("%s", members)), false);
    Ended made = shell(maker, "python3 p.py");
    assertThat(made.succeeded())
        .as(new String(made.stderr().bytes(), StandardCharsets.UTF_8))
        .isTrue();
    byte[] tar = maker.read("t.tar", 1 << 20);
    assertThatThrownBy(
            () -> workspace.importTar(new ByteArrayInputStream(tar), TreeLimits.STANDARD))
        .hasMessageMatching("(?s)(SBX-043|SBX-044|SBX-045|SBX-047).*");
  }

  @Test
  void aDamagedArchiveIsRefusedOrReadAndNothingElse() throws IOException {
    Workspace one = workspace("one");
    one.write("a/b", bytes("content"), false);
    one.write("c", new byte[700], true);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    one.exportTar(out, TreeLimits.STANDARD);
    byte[] tar = out.toByteArray();
    Workspace two = workspace("two");
    for (int i = 0; i < tar.length; i += 37) {
      byte[] bent = tar.clone();
      bent[i] ^= 0x41;
      read(two, bent);
      read(two, Arrays.copyOf(tar, i));
    }
    assertThat(two.files(TreeLimits.STANDARD)).isNotEmpty();
  }

  private static void read(Workspace workspace, byte[] tar) {
    try {
      workspace.importTar(new ByteArrayInputStream(tar), TreeLimits.STANDARD);
    } catch (WritException e) {
      assertThat(e.code().code()).startsWith("SBX-04");
    }
  }

  @Test
  void aWorkspaceGoesFromOneUserIdToAnotherWithAllItsFiles() {
    Workspace workspace = workspace("r");
    assertThat(
            shell(workspace, "echo x >a; mkdir d; echo y >d/b; chmod 700 d; ln -s /etc/passwd l")
                .succeeded())
        .isTrue();
    long first = workspace.owner();
    // Somebody else takes the user id that it had.
    SandboxSpec other = SandboxSpec.of(TestEngines.newId(), Profile.named("default"));
    try (Sandbox sandbox = engines.named("bubblewrap").create(other)) {
      assertThat(sandbox.workspace().owner()).isEqualTo(first);
      assertThat(
              shell(workspace, "echo more >>a && rm d/b && rmdir d && rm l && cat a")
                  .stdout()
                  .bytes())
          .isEqualTo(bytes("x\nmore\n"));
      assertThat(workspace.owner()).isNotEqualTo(first);
    }
  }
}

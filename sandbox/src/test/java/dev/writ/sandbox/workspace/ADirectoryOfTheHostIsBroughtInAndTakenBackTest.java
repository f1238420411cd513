package dev.writ.sandbox.workspace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.workspace.HostDirectory.Brought;
import dev.writ.sandbox.workspace.HostDirectory.Changes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Seed 002's workspace mount: what the command sees is the directory, and the other way round. */
class ADirectoryOfTheHostIsBroughtInAndTakenBackTest {
  private Path root;
  private Path inside;
  private Workspace workspace;
  private Path repo;

  @BeforeEach
  void make() throws IOException {
    root = Files.createTempDirectory("root");
    inside = Files.createTempDirectory("inside");
    workspace = new Workspace(inside, -1);
    repo = Files.createDirectory(root.resolve("repo"));
    Files.createDirectories(repo.resolve("src/empty"));
    Files.writeString(repo.resolve("src/a.py"), "a");
    Files.writeString(repo.resolve("run.sh"), "#!/bin/sh\n");
    Files.setPosixFilePermissions(
        repo.resolve("run.sh"), PosixFilePermissions.fromString("rwxr-x---"));
    Files.createSymbolicLink(repo.resolve("latest"), Path.of("src/a.py"));
    Files.createSymbolicLink(repo.resolve("python"), Path.of("/usr/bin/python3"));
  }

  /** JUnit's own directories warn of each link that leads out. */
  @AfterEach
  void remove() {
    Trees.remove(root);
    Trees.remove(inside);
  }

  private Brought bring(String relative) {
    return HostDirectory.below(root, relative).bring(workspace, TreeLimits.STANDARD);
  }

  private Changes takeBack(Brought brought) {
    return HostDirectory.below(root, "repo").takeBack(workspace, brought);
  }

  private static List<String> tree(Path top) throws IOException {
    try (Stream<Path> all = Files.walk(top)) {
      return all.filter(path -> !path.equals(top))
          .map(path -> top.relativize(path) + " " + mode(path))
          .sorted()
          .toList();
    }
  }

  private static String mode(Path path) {
    try {
      return PosixFilePermissions.toString(
          Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void theWorkspaceBecomesTheDirectoryWhateverItWas() throws IOException {
    Files.writeString(inside.resolve("left-by-another"), "x");
    Files.createDirectories(inside.resolve("run.sh/was/a/directory"));
    bring("repo");
    assertThat(tree(inside)).isEqualTo(tree(repo));
    assertThat(workspace.treeDigest()).isEqualTo(new Workspace(repo, -1).treeDigest());
    assertThat(Files.readSymbolicLink(inside.resolve("python"))).hasToString("/usr/bin/python3");
  }

  @Test
  void whatTheCommandChangedIsTakenBackAndNothingElse() throws IOException {
    Brought brought = bring("repo");
    Files.writeString(inside.resolve("src/a.py"), "changed");
    Files.delete(inside.resolve("run.sh"));
    Files.createDirectories(inside.resolve("test-results/x"));
    Files.writeString(inside.resolve("test-results/x/log"), "log");
    Files.delete(inside.resolve("src/empty"));
    Files.createSymbolicLink(inside.resolve("test-results/up"), Path.of("../src"));
    // Meanwhile somebody works in the directory.
    Files.writeString(repo.resolve("notes"), "mine");
    Files.writeString(repo.resolve("latest.txt"), "mine");
    Changes changes = takeBack(brought);
    assertThat(changes).isEqualTo(new Changes(5, 2));
    assertThat(repo.resolve("src/a.py")).hasContent("changed");
    assertThat(repo.resolve("test-results/up/a.py")).hasContent("changed");
    assertThat(repo.resolve("test-results/x/log")).hasContent("log");
    assertThat(repo.resolve("run.sh")).doesNotExist();
    assertThat(repo.resolve("src/empty")).doesNotExist();
    assertThat(repo.resolve("notes")).hasContent("mine");
    assertThat(repo.resolve("latest.txt")).hasContent("mine");
    assertThat(takeBack(brought)).as("again, as after a crash").isEqualTo(changes);
  }

  /** What is held open is worked in, whatever its name leads to meanwhile. */
  @Test
  void whoSwapsTheDirectoryForALinkLeadsNothingOutOfIt() throws IOException {
    Path moved = root.resolve("moved");
    Path elsewhere = Files.createDirectory(root.resolve("elsewhere"));
    Files.createSymbolicLink(elsewhere.resolve("latest"), Path.of("/secret"));
    try (OpenTree tree = OpenTree.at(root, List.of(Path.of("repo")))) {
      Files.move(repo, moved);
      Files.createSymbolicLink(repo, elsewhere);
      tree.makeDirectory("src/made");
      tree.makeLink("src/link", Path.of("a.py"));
      tree.makeTop(Path.of("top"));
      assertThat(tree.has(Path.of("top"))).isTrue();
      assertThat(tree.read(TreeLimits.STANDARD).items().get("latest").target())
          .contains(Path.of("src/a.py"));
      Files.writeString(elsewhere.resolve(OpenTree.PART), "of somebody else");
      tree.sweep();
    }
    assertThat(moved.resolve("src/made")).isEmptyDirectory();
    assertThat(moved.resolve("top")).isEmptyDirectory();
    assertThat(moved.resolve("src/link")).hasContent("a");
    assertThat(elsewhere.resolve(OpenTree.PART)).hasContent("of somebody else");
    assertThat(tree(elsewhere)).hasSize(2);
  }

  /** Others rename directories and links to and fro while the command's changes are copied back. */
  @Test
  void aRaceOfSwapsNeverReachesOutside() throws Exception {
    Path elsewhere = Files.createDirectory(root.resolve("elsewhere"));
    Path aside = root.resolve("aside");
    Brought brought = bring("repo");
    for (int i = 0; i < 50; i++) {
      Files.createDirectories(inside.resolve("src/d" + i));
      Files.createSymbolicLink(inside.resolve("src/d" + i + "/l"), Path.of("../a.py"));
    }
    AtomicBoolean over = new AtomicBoolean();
    Thread swaps =
        Thread.ofPlatform()
            .start(() -> {
              while (!over.get()) {
                try {
                  Files.move(repo.resolve("src"), aside);
                  Files.createSymbolicLink(repo.resolve("src"), elsewhere);
                  Files.delete(repo.resolve("src"));
                  Files.move(aside, repo.resolve("src"));
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              }
            });
    try {
      takeBack(brought);
    } catch (WritException e) {
      assertThat(e.code()).isEqualTo(SandboxError.HOST); // found swapped: not all is copied
    } finally {
      over.set(true);
      swaps.join();
    }
    assertThat(tree(elsewhere)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/etc", "../..", "src/../../x", "python/.."})
  void aLinkThatLeadsOutTakesNothingBack(String target) throws IOException {
    Brought brought = bring("repo");
    Files.writeString(inside.resolve("src/a.py"), "changed");
    Files.createSymbolicLink(inside.resolve("way-out"), Path.of(target));
    assertThatThrownBy(() -> takeBack(brought))
        .isInstanceOf(WritException.class)
        .hasMessageStartingWith("SBX-043");
    assertThat(repo.resolve("src/a.py")).hasContent("a");
  }

  @Test
  void aDirectoryIsFoundThroughLinksThatStayBelowTheRootAlone() throws IOException {
    Files.createSymbolicLink(root.resolve("current"), Path.of("repo/src"));
    Files.createSymbolicLink(root.resolve("out"), Path.of("/etc"));
    Files.createSymbolicLink(root.resolve("up"), Path.of(".."));
    assertThat(HostDirectory.below(root, "current").path())
        .isEqualTo(root.toRealPath().resolve("repo/src"));
    for (String out : List.of("out", "out/new", "up", "../x")) {
      assertThatThrownBy(() -> HostDirectory.below(root, out)).hasMessageStartingWith("SBX-043");
    }
    assertThatThrownBy(() -> HostDirectory.below(root, "repo/run.sh"))
        .hasMessageStartingWith("SBX-045");
    bring("new/one");
    assertThat(root.resolve("new/one")).isEmptyDirectory();
    assertThat(inside).isEmptyDirectory();
  }

  /** A process that was killed while it made a directory leaves one of the name of a part. */
  @Test
  void whatAnInterruptedMakingLeftKeepsNoNewDirectoryOut() throws IOException {
    Files.createDirectory(root.resolve(".writ-part"));
    bring("new");
    assertThat(root.resolve("new")).isEmptyDirectory();
    assertThat(root.resolve(".writ-part")).doesNotExist();
  }

  @Test
  void manyMayMakeDirectoriesOfOneParentAtOnce() throws Exception {
    List<Callable<Brought>> all = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      String name = "together/" + i;
      Workspace own = new Workspace(Files.createDirectory(inside.resolve("w" + i)), -1);
      all.add(() -> HostDirectory.below(root, name).bring(own, TreeLimits.STANDARD));
    }
    try (ExecutorService threads = Executors.newFixedThreadPool(16)) {
      for (Future<Brought> one : threads.invokeAll(all)) {
        one.get();
      }
    }
    assertThat(root.resolve("together").toFile().list()).hasSize(64);
  }

  /** Between finding a directory and opening it, somebody may replace it by a link. */
  @Test
  void aDirectoryThatBecameALinkIsNotFollowed() throws IOException {
    Files.createDirectories(root.resolve("elsewhere"));
    HostDirectory directory = HostDirectory.below(root, "repo/src");
    Brought brought = directory.bring(workspace, TreeLimits.STANDARD);
    Files.writeString(inside.resolve("new"), "x");
    Files.move(repo, root.resolve("moved"));
    Files.createDirectory(repo);
    Files.createSymbolicLink(repo.resolve("src"), root.resolve("elsewhere"));
    assertThatThrownBy(() -> directory.takeBack(workspace, brought))
        .hasMessageStartingWith("SBX-007");
    assertThat(root.resolve("elsewhere")).isEmptyDirectory();
  }

  @Test
  void whatAnInterruptedWriteLeftIsNoPartOfTheDirectory() throws IOException {
    Files.writeString(repo.resolve(".writ-part"), "half");
    Files.createDirectories(inside.resolve(".writ-part/of/a/command"));
    bring("repo");
    assertThat(repo.resolve(".writ-part")).doesNotExist();
    assertThat(inside.resolve(".writ-part")).doesNotExist();
    assertThatThrownBy(
            () -> HostDirectory.below(root, "repo").bring(workspace, new TreeLimits(3, 100, 8)))
        .hasMessageStartingWith("SBX-046");
  }
}

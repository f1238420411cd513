package dev.writ.sandbox.workspace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.sandbox.host.Trees;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A server that is killed while it copies a directory of the host back. */
class ACopyBackThatIsKilledLeavesWholeFilesTest {
  private static final int FILES = 400;
  private static final String OLD = "o".repeat(64 << 10);
  private static final String NEW = "n".repeat(64 << 10);

  private Path root;
  private Path inside;

  @BeforeEach
  void make() throws IOException {
    root = Files.createTempDirectory("root");
    inside = Files.createTempDirectory("inside");
    write(Files.createDirectory(root.resolve("repo")), OLD);
  }

  @AfterEach
  void remove() {
    Trees.remove(root);
    Trees.remove(inside);
  }

  private static void write(Path directory, String text) throws IOException {
    for (int i = 0; i < FILES; i++) {
      Files.writeString(directory.resolve("f" + i), text);
    }
  }

  /** The server: brings in, has each file changed, and takes back. */
  public static void main(String[] args) throws IOException {
    HostDirectory directory = HostDirectory.below(Path.of(args[0]), "repo");
    Workspace workspace = new Workspace(Path.of(args[1]), -1);
    HostDirectory.Brought brought = directory.bring(workspace, TreeLimits.STANDARD);
    write(Path.of(args[1]), NEW);
    System.out.println("goes");
    directory.takeBack(workspace, brought);
  }

  private long changed() throws IOException {
    long changed = 0;
    for (int i = 0; i < FILES; i++) {
      changed += Files.readString(root.resolve("repo/f" + i)).equals(NEW) ? 1 : 0;
    }
    return changed;
  }

  @Test
  void eachFileIsTheOldOrTheNewOneAndTheNextCallSweeps() throws Exception {
    Process server =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--class-path",
                System.getProperty("java.class.path"),
                ACopyBackThatIsKilledLeavesWholeFilesTest.class.getName(),
                root.toString(),
                inside.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).isEqualTo("goes");
      while (server.isAlive() && !Files.readString(root.resolve("repo/f0")).equals(NEW)) {
        Thread.onSpinWait();
      }
    } finally {
      server.destroyForcibly().waitFor();
    }
    for (int i = 0; i < FILES; i++) {
      assertThat(Files.readString(root.resolve("repo/f" + i))).as("f" + i).isIn(OLD, NEW);
    }
    assertThat(changed()).isPositive();

    Workspace next = new Workspace(inside, -1);
    HostDirectory.below(root, "repo").bring(next, TreeLimits.STANDARD);
    assertThat(root.resolve("repo").resolve(OpenTree.PART)).doesNotExist();
    assertThat(next.treeDigest()).isEqualTo(new Workspace(root.resolve("repo"), -1).treeDigest());
  }
}

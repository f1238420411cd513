package dev.writ.canonicalize.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Temporary directories of a process that ends in each way, while it writes into them. */
class ATemporaryDirectoryEndsWithItsProcessTest {
  @TempDir Path dir;

  /**
   * Makes two and a file, says so, and then writes into one of them until its standard input ends.
   */
  static final class Writer {
    private Writer() {}

    public static void main(String[] args) throws IOException {
      TemporaryDirectory busy =
          TemporaryDirectory.create("busy", () -> System.out.println("told before"));
      TemporaryDirectory other = TemporaryDirectory.in(Path.of(args[0]), ".other");
      Files.writeString(Files.createDirectories(other.path().resolve("a/b")).resolve("c"), "c");
      Path file = TemporaryFiles.create("file-", ".bin");
      Path later = TemporaryFiles.create("file-", ".bin");
      Files.delete(later);
      Files.writeString(file, "f");
      Thread writing = new Thread(() -> write(busy.path()));
      writing.setDaemon(true);
      writing.start();
      System.out.println("ready");
      if (System.in.read() < 0) {
        throw new IOException("ended by a failure, and nothing closed");
      }
      System.exit(7);
    }

    private static void write(Path path) {
      for (int i = 0; ; i++) {
        try {
          Path made = Files.createDirectory(path.resolve("d" + i));
          Files.writeString(made.resolve("f"), "f");
        } catch (IOException e) {
          // It is being removed meanwhile.
        }
      }
    }
  }

  private Process writer() throws IOException {
    Files.createDirectories(dir.resolve("tmp"));
    Files.createDirectories(dir.resolve("place"));
    // Where this runs in the background of a shell it ignores SIGINT, and so would every child.
    return new ProcessBuilder(
            "env",
            "--default-signal=INT,TERM,HUP",
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Djava.io.tmpdir=" + dir.resolve("tmp"),
            "-cp",
            System.getProperty("java.class.path"),
            Writer.class.getName(),
            dir.resolve("place").toString())
        .redirectError(dir.resolve("err").toFile())
        .start();
  }

  private List<String> left() throws IOException {
    try (Stream<Path> tmp = Files.list(dir.resolve("tmp"));
        Stream<Path> place = Files.list(dir.resolve("place"))) {
      return Stream.concat(tmp, place).map(path -> path.getFileName().toString()).toList();
    }
  }

  private static void signal(Process process, String signal) throws Exception {
    new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();
  }

  @ParameterizedTest
  @CsvSource({"INT, 130", "TERM, 143", "HUP, 129"})
  void theyAreRemovedAtASignal(String signal, int status) throws Exception {
    Process process = writer();
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).isEqualTo("ready");
      assertThat(left()).hasSize(3);
      signal(process, signal);
      assertThat(process.waitFor()).isEqualTo(status);
      assertThat(out.lines()).containsExactly("told before");
    } finally {
      process.destroyForcibly();
    }
    assertThat(left()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", ""})
  void theyAreRemovedAtTheEndOfTheProgramThoughNobodyClosedThem(String input) throws Exception {
    Process process = writer();
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).isEqualTo("ready");
      process.outputWriter().append(input).close();
      assertThat(process.waitFor()).isEqualTo(input.isEmpty() ? 1 : 7);
    } finally {
      process.destroyForcibly();
    }
    assertThat(left()).isEmpty();
  }

  /** Hosts clear their temporary directories of what is old. */
  @Test
  void aFileIsMadeAlsoWhereItsDirectoryWasCleared() throws Exception {
    Path first = TemporaryFiles.create("first-", ".bin");
    Files.delete(first);
    Files.delete(first.getParent());
    Path second = TemporaryFiles.create("second-", ".bin");
    assertThat(second).isEmptyFile();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(second.getParent())))
        .isEqualTo("rwx------");
    Files.delete(second);
  }

  /** The limit of it: nothing of the process runs then. */
  @Test
  void theyStayWhereItIsKilled() throws Exception {
    Process process = writer();
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).isEqualTo("ready");
    } finally {
      process.destroyForcibly().waitFor();
    }
    assertThat(left()).hasSize(3);
  }

  @Test
  void oneThatIsClosedIsGoneAndOneThatWasRenamedStaysUnderItsNewName() throws Exception {
    TemporaryDirectory closed = TemporaryDirectory.in(dir, "closed");
    Files.writeString(closed.path().resolve("a"), "a");
    assertThat(Files.getPosixFilePermissions(closed.path())).hasSize(3);
    closed.close();
    assertThat(closed.path()).doesNotExist();
    closed.close();
    try (TemporaryDirectory renamed = TemporaryDirectory.in(dir, "renamed")) {
      Files.move(renamed.path(), dir.resolve("kept"));
    }
    assertThat(dir.resolve("kept")).isDirectory();
  }
}

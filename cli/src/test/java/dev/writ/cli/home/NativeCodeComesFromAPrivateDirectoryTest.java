package dev.writ.cli.home;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.ledger.Ledger;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a process maps of native code comes from the JDK, the system, or its private directory. */
class NativeCodeComesFromAPrivateDirectoryTest {
  private static final String ROCKSDB = "librocksdbjnijni-linux64.so";
  private static final String CORRETTO = "libamazonCorrettoCryptoProvider.so";
  private static final List<String> SYSTEM = List.of("/usr/lib", "/lib");

  @TempDir Path dir;
  private Path home;
  private Path temporary;
  private Path mark;

  /** Loads both native libraries, and prints what is mapped. */
  static final class Loads {
    public static void main(String[] args) throws IOException {
      SignatureEngines.use(SignatureEngines.fastest());
      Ledger.loadLibrary();
      System.out.println("engine " + SignatureEngines.current().description());
      try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
        maps.filter(line -> line.contains(".so"))
            .map(line -> line.substring(line.indexOf('/')))
            .distinct()
            .forEach(System.out::println);
      }
    }
  }

  @BeforeEach
  void places() throws IOException {
    home = Files.createDirectory(dir.resolve("home"));
    temporary = Files.createDirectory(dir.resolve("tmp"));
    mark = dir.resolve("loaded");
  }

  private Process start(String... options) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:+UseSerialGC");
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-Duser.home=" + home);
    command.add("-Djava.io.tmpdir=" + temporary);
    command.addAll(List.of(options));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Loads.class.getName()));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().remove("XDG_CACHE_HOME");
    builder.environment().put("ROCKSDB_SHAREDLIB_DIR", temporary.toString());
    return builder.start();
  }

  /** The libraries that a process which ended well had mapped. */
  private List<String> mapped(Process process) throws Exception {
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(text).isZero();
    assertThat(text).contains("engine Amazon Corretto Crypto Provider");
    List<String> paths = text.lines().filter(line -> line.startsWith("/")).toList();
    assertThat(paths).anyMatch(path -> path.contains("rocksdbjni"));
    assertThat(paths).anyMatch(path -> path.contains(CORRETTO));
    return paths;
  }

  private Path cache() {
    return home.resolve(".cache/writ/native");
  }

  private void assertAllFrom(Path place, List<String> paths) {
    assertThat(paths)
        .allMatch(path ->
            path.startsWith(place + "/")
                || path.startsWith(System.getProperty("java.home"))
                || SYSTEM.stream().anyMatch(path::startsWith));
    assertThat(mark).doesNotExist();
  }

  private static List<String> names(Path place) throws IOException {
    try (Stream<Path> files = Files.list(place)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  /** A library that says when it is loaded. */
  private Path hostile(Path file) throws Exception {
    Path source = dir.resolve("hostile.c");
    Files.writeString(
        source,
        "#include <fcntl.h>\n__attribute__((constructor)) static void f(void)"
            + "{open(\""
            + mark
            + "\",O_CREAT,0600);}\n");
    Process gcc =
        new ProcessBuilder("gcc", "-shared", "-fPIC", "-o", file.toString(), source.toString())
            .inheritIO()
            .start();
    assertThat(gcc.waitFor()).isZero();
    return file;
  }

  @Test
  void bothComeFromTheCacheOfTheUserAndOneCopyStays() throws Exception {
    assertAllFrom(cache(), mapped(start()));
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(cache())))
        .isEqualTo("rwx------");
    assertThat(names(cache())).containsExactly(ROCKSDB, "lock");
    assertThat(names(temporary)).noneMatch(name -> name.contains("rocksdb"));
    FileTime written = Files.getLastModifiedTime(cache().resolve(ROCKSDB));

    assertAllFrom(cache(), mapped(start()));
    assertThat(Files.getLastModifiedTime(cache().resolve(ROCKSDB))).isEqualTo(written);
    assertThat(names(cache())).containsExactly(ROCKSDB, "lock");
  }

  /** So the launcher starts it: neither library is unpacked at a start after the first. */
  @Test
  void aPlaceOnTheLibraryPathKeepsBoth() throws Exception {
    Path named = dir.resolve("named");
    String[] options = {"-Dwrit.native=" + named, "-Djava.library.path=" + named};
    assertAllFrom(named, mapped(start(options)));
    assertThat(names(named)).containsExactly(CORRETTO, ROCKSDB, "lock");
    FileTime written = Files.getLastModifiedTime(named.resolve(CORRETTO));
    assertAllFrom(named, mapped(start(options)));
    assertThat(Files.getLastModifiedTime(named.resolve(CORRETTO))).isEqualTo(written);
    assertThat(home).isEmptyDirectory();
  }

  @Test
  void whatLiesWhereOthersMayWriteIsNotLoaded() throws Exception {
    for (String name : List.of("librocksdbjni-linux64.so", "librocksdbjni.so", ROCKSDB)) {
      hostile(temporary.resolve(name));
    }
    Path open = Files.createDirectory(dir.resolve("open"));
    hostile(open.resolve(ROCKSDB));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertAllFrom(cache(), mapped(start("-Dwrit.native=" + open)));

    Path below = Files.createDirectory(open.resolve("below"));
    hostile(below.resolve(ROCKSDB));
    assertAllFrom(cache(), mapped(start("-Dwrit.native=" + below)));

    Path link =
        Files.createSymbolicLink(dir.resolve("link"), Files.createDirectory(dir.resolve("x")));
    assertAllFrom(cache(), mapped(start("-Dwrit.native=" + link)));
  }

  @Test
  void aFileOfOtherBytesLinksOrModeIsUnpackedAnew() throws Exception {
    assertAllFrom(cache(), mapped(start()));
    Path file = cache().resolve(ROCKSDB);
    byte[] good = Files.readAllBytes(file);

    hostile(file);
    assertAllFrom(cache(), mapped(start()));
    assertThat(Files.readAllBytes(file)).isEqualTo(good);

    byte[] damaged = good.clone();
    damaged[good.length / 2] ^= 1;
    Files.write(file, damaged);
    assertAllFrom(cache(), mapped(start()));
    assertThat(Files.readAllBytes(file)).isEqualTo(good);

    Path other = hostile(dir.resolve("other.so"));
    Files.delete(file);
    Files.createSymbolicLink(file, other);
    assertAllFrom(cache(), mapped(start()));
    assertThat(Files.isSymbolicLink(file)).isFalse();

    Files.createLink(dir.resolve("second name"), file);
    assertAllFrom(cache(), mapped(start()));
    assertThat(Files.getAttribute(file, "unix:nlink")).isEqualTo(1);

    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
    assertAllFrom(cache(), mapped(start()));
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
  }

  @Test
  void processesThatStartTogetherMakeOneCopy() throws Exception {
    List<Process> processes = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      processes.add(start());
    }
    for (Process process : processes) {
      assertAllFrom(cache(), mapped(process));
    }
    assertThat(names(cache())).containsExactly(ROCKSDB, "lock");
  }

  /**
   * Killed as soon as anything of the copy is there; what that leaves is gone at the next start.
   */
  @Test
  void killedProcessesLeaveNothingThatPilesUp() throws Exception {
    for (int i = 0; i < 5; i++) {
      Files.deleteIfExists(cache().resolve(ROCKSDB));
      Process process = start();
      while (process.isAlive() && !Files.exists(cache().resolve(ROCKSDB + ".new"))) {
        Thread.onSpinWait();
      }
      process.destroyForcibly();
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    }
    Files.createDirectories(
        cache().resolve("amazonCorrettoCryptoProviderNativeLibraries.0123456789abcdef"));
    assertAllFrom(cache(), mapped(start()));
    assertThat(names(cache())).containsExactly(ROCKSDB, "lock");
    assertThat(names(temporary)).noneMatch(name -> name.endsWith(".so"));
  }
}

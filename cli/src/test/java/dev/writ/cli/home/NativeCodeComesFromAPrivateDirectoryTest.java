package dev.writ.cli.home;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.canonicalize.disk.NativeLibraries;
import dev.writ.ledger.Ledger;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDB;

/** What a process maps of native code comes from the JDK, the system, or its private directory. */
class NativeCodeComesFromAPrivateDirectoryTest {
  /** In its jar, and as its loader looks for it. */
  private static final String PACKED = "librocksdbjni-linux64.so";

  private static final String ROCKSDB = "librocksdbjnijni-linux64.so";
  private static final String CORRETTO = "libamazonCorrettoCryptoProvider.so";
  private static final int PROCESSES = Integer.getInteger("writ.processes", 2);
  private static final List<String> SYSTEM = List.of("/usr/lib", "/lib");

  @TempDir Path dir;
  private Path home;
  private Path temporary;
  private Path mark;

  /**
   * Prepares RocksDB's library in each of the directories that are named to it as {@code
   * writ.native}, and prints which place was taken instead, and the digest of what a loader finds
   * there. Then loads both native libraries in the first, and prints what is mapped.
   */
  static final class Loads {
    public static void main(String[] args) throws IOException {
      for (String named : args) {
        System.setProperty(NativeLibraries.PROPERTY, named);
        NativeLibraries.<IOException>load(
            RocksDB.class,
            PACKED,
            ROCKSDB,
            directory ->
                System.out.println(
                    "prepared "
                        + directory
                        + " "
                        + Digest.sha256(Files.readAllBytes(directory.resolve(ROCKSDB)))));
      }
      if (args.length > 0) {
        System.setProperty(NativeLibraries.PROPERTY, args[0]);
      }
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
    return start(List.of(options), List.of());
  }

  private Process start(List<String> options, List<Path> named) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:+UseSerialGC");
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-Duser.home=" + home);
    command.add("-Djava.io.tmpdir=" + temporary);
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Loads.class.getName()));
    named.forEach(place -> command.add(place.toString()));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().remove("XDG_CACHE_HOME");
    builder.environment().put("ROCKSDB_SHAREDLIB_DIR", temporary.toString());
    return builder.start();
  }

  /** The libraries that a process which ended well had mapped. */
  private static List<String> mapped(Process process) throws Exception {
    return mapped(said(process));
  }

  private static String said(Process process) throws Exception {
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(text).isZero();
    return text;
  }

  private static List<String> mapped(String text) {
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
    for (String name : List.of(PACKED, "librocksdbjni.so", ROCKSDB)) {
      hostile(temporary.resolve(name));
    }
    Path open = Files.createDirectory(dir.resolve("open"));
    hostile(open.resolve(ROCKSDB));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    Path below = Files.createDirectory(open.resolve("below"));
    hostile(below.resolve(ROCKSDB));
    Path link =
        Files.createSymbolicLink(dir.resolve("link"), Files.createDirectory(dir.resolve("x")));

    String said = said(start(List.of(), List.of(open, below, link)));
    assertThat(said.lines().filter(line -> line.startsWith("prepared ")))
        .containsExactlyElementsOf(
            Collections.nCopies(3, "prepared " + cache() + " " + Digest.sha256(good())));
    assertAllFrom(cache(), mapped(said));
  }

  /** What RocksDB's jar has. */
  private static byte[] good() throws IOException {
    try (InputStream in = RocksDB.class.getClassLoader().getResourceAsStream(PACKED)) {
      return in.readAllBytes();
    }
  }

  private Path privately(String name) throws IOException {
    return Files.createDirectory(
        dir.resolve(name),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  @Test
  void aFileOfOtherBytesLinksOrModeIsUnpackedAnew() throws Exception {
    byte[] good = good();
    Path other = hostile(dir.resolve("other.so"));
    Path hostile = privately("hostile");
    Files.copy(other, hostile.resolve(ROCKSDB));
    Path damaged = privately("damaged");
    byte[] flipped = good.clone();
    flipped[good.length / 2] ^= 1;
    Files.write(damaged.resolve(ROCKSDB), flipped);
    Path linked = privately("linked");
    Files.createSymbolicLink(linked.resolve(ROCKSDB), other);
    Path twice = privately("twice");
    Files.write(twice.resolve(ROCKSDB), good);
    Files.createLink(dir.resolve("second name"), twice.resolve(ROCKSDB));
    Path writable = privately("writable");
    Files.write(writable.resolve(ROCKSDB), good);
    Files.setPosixFilePermissions(
        writable.resolve(ROCKSDB), PosixFilePermissions.fromString("rw-rw-rw-"));

    List<Path> places = List.of(hostile, damaged, linked, twice, writable);
    String said = said(start(List.of(), places));
    assertThat(said.lines().filter(line -> line.startsWith("prepared ")))
        .containsExactlyElementsOf(
            places.stream().map(at -> "prepared " + at + " " + Digest.sha256(good)).toList());
    assertAllFrom(hostile, mapped(said));
    for (Path place : places) {
      Path file = place.resolve(ROCKSDB);
      assertThat(Files.isSymbolicLink(file)).as(file.toString()).isFalse();
      assertThat(Files.getAttribute(file, "unix:nlink")).as(file.toString()).isEqualTo(1);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .as(file.toString())
          .isEqualTo("rw-------");
    }
  }

  @Test
  void processesThatStartTogetherMakeOneCopy() throws Exception {
    List<Process> processes = new ArrayList<>();
    for (int i = 0; i < PROCESSES; i++) {
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
    for (int i = 0; i < PROCESSES; i++) {
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

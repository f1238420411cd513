package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.opening;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.disk.DirectoryOwner;
import dev.writ.ledger.disk.Inode;
import dev.writ.ledger.disk.WatchedName;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.fsck.Fsck;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * With two real processes: the first writer, and that of the test, which tries to become the
 * second.
 */
class TheWritersLockCannotBeTakenAwayTest {
  @TempDir Path home;

  /** Opens the ledger, says so, and commits one run for each line that it reads. */
  static final class Writer {
    public static void main(String[] args) throws IOException {
      LedgerConfig config = config(Path.of(args[0]));
      if (args.length > 1) {
        config =
            new LedgerConfig(
                Path.of(args[1]),
                config.anchor(),
                config.origin(),
                config.logKey(),
                config.clock());
      }
      try (Ledger ledger = Ledger.open(config)) {
        say("open");
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String run = in.readLine(); run != null; run = in.readLine()) {
          try {
            ledger.append(opening(run)).await();
            say("committed " + run);
          } catch (WritException e) {
            say(e.getMessage());
          }
        }
      } catch (WritException e) {
        say(e.getMessage());
      }
    }

    private static void say(String line) {
      System.out.println(line);
      System.out.flush();
    }
  }

  @BeforeEach
  void create() {
    Ledger.create(config(home)).close();
  }

  private static Child start(String... args) throws IOException {
    return Child.start(Child.command(List.of("-Xmx128m"), Writer.class, args));
  }

  private static String commit(Child writer, String run) throws IOException {
    OutputStream in = writer.process.getOutputStream();
    in.write((run + "\n").getBytes(StandardCharsets.UTF_8));
    in.flush();
    return writer.out.readLine();
  }

  /** Something done to the files of an open ledger. */
  private interface Tampering {
    void with(Path home) throws Exception;
  }

  private static final Map<String, Tampering> TAMPERINGS = new TreeMap<>();

  static {
    TAMPERINGS.put("LOCK deleted", home -> Files.delete(home.resolve("data/db/LOCK")));
    TAMPERINGS.put(
        "LOCK renamed",
        home -> Files.move(home.resolve("data/db/LOCK"), home.resolve("data/db/LOCK.old")));
    TAMPERINGS.put(
        "LOCK replaced",
        home -> {
          Path other = Files.createFile(home.resolve("other"));
          Files.move(other, home.resolve("data/db/LOCK"), StandardCopyOption.REPLACE_EXISTING);
        });
    TAMPERINGS.put("our lock file deleted", home -> Files.delete(home.resolve("anchor.json.lock")));
    TAMPERINGS.put(
        "our lock file replaced",
        home -> {
          Path other = Files.createFile(home.resolve("other"));
          Files.move(other, home.resolve("anchor.json.lock"), StandardCopyOption.REPLACE_EXISTING);
        });
    TAMPERINGS.put(
        "the database moved and put back as a copy",
        home -> {
          Files.move(home.resolve("data/db"), home.resolve("data/old"));
          copy(home.resolve("data/old"), home.resolve("data/db"));
        });
    TAMPERINGS.put(
        "the directory moved away and linked to",
        home -> {
          Files.move(home.resolve("data"), home.resolve("moved"));
          Files.createSymbolicLink(home.resolve("data"), home.resolve("moved"));
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/proc", "/proc/self/status", "/dev/null", "/dev/shm", "."})
  void both_ways_of_looking_see_the_same(String path) throws IOException {
    Path at = home.resolve(path);
    Inode inode = Inode.of(at).orElseThrow();
    WatchedName.Statx statx = new WatchedName.Statx(at);
    assertThat(statx.leadsTo(inode)).isTrue();
    assertThat(statx.leadsTo(new Inode(inode.device(), inode.number() + 1))).isFalse();
    assertThat(statx.leadsTo(new Inode(inode.device() + 1, inode.number()))).isFalse();
    assertThat(new WatchedName.Statx(home.resolve("nowhere")).leadsTo(inode)).isFalse();
  }

  static Stream<String> tamperings() {
    return TAMPERINGS.keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("tamperings")
  void a_second_writer_is_refused_and_the_first_one_stops(String tampering) throws Exception {
    isFoundAfter(1, tampering);
  }

  /** A name that was looked at often is looked at in another way. */
  @ParameterizedTest
  @MethodSource("tamperings")
  void it_is_the_same_for_a_writer_of_many_commits(String tampering) throws Exception {
    isFoundAfter(WatchedName.LOOKS_BEFORE_LINKING, tampering);
  }

  private void isFoundAfter(int commits, String tampering) throws Exception {
    // A link to the same directory takes nothing away from who has locked that directory.
    boolean isSame = tampering.contains("linked");
    Ledger first = Ledger.open(config(home));
    for (int i = 0; i < commits; i++) {
      first.append(opening("before " + i)).await();
    }
    TAMPERINGS.get(tampering).with(home);
    Refused.with(LedgerError.LOCKED, () -> Ledger.open(config(home)));
    if (isSame) {
      first.append(opening("behind")).await();
      first.close();
    } else {
      assertThatThrownBy(() -> first.append(opening("behind")).await())
          .hasMessageContaining("LED-071");
      Refused.with(LedgerError.FAILED, () -> first.append(opening("again")));
      assertThatThrownBy(first::close).hasMessageContaining("LED-071");
    }
    try (Ledger next = Ledger.open(config(home))) {
      next.append(opening("later")).await();
    }
    assertThat(Fsck.check(Fsck.Options.of(home.resolve("data"))).problems()).isEmpty();
  }

  @Test
  void no_file_that_is_deleted_lets_another_process_in() throws Exception {
    try (Child first = start(home.toString())) {
      assertThat(first.out.readLine()).isEqualTo("open");
      assertThat(commit(first, "before")).isEqualTo("committed before");
      Files.delete(home.resolve("data/db/LOCK"));
      Files.delete(home.resolve("anchor.json.lock"));
      Refused.with(LedgerError.LOCKED, () -> Ledger.open(config(home)));
      assertThat(commit(first, "behind")).contains("LED-071");
    }
  }

  @Test
  void a_directory_that_was_moved_and_copied_back_stops_the_first_writer() throws Exception {
    try (Child first = start(home.toString())) {
      assertThat(first.out.readLine()).isEqualTo("open");
      Files.move(home.resolve("data"), home.resolve("moved"));
      copy(home.resolve("moved"), home.resolve("data"));
      Refused.with(LedgerError.LOCKED, () -> Ledger.open(config(home))); // the anchor is locked
      assertThat(commit(first, "behind")).contains("LED-071");
    }
  }

  @Test
  void root_does_not_write_into_the_ledger_of_another_user() throws Exception {
    Path data = home.resolve("data");
    DirectoryOwner.require(data, 1);
    int own = (int) Files.getAttribute(data, "unix:uid");
    Assumptions.assumeTrue(own == 0, "only root gives a directory away");
    DirectoryOwner.require(data, 0);
    Files.setAttribute(data, "unix:uid", 65534);
    assertThatThrownBy(() -> Ledger.open(config(home)))
        .hasMessageStartingWith("LED-004 ")
        .hasMessageContaining("who could not open what root writes there");
  }

  /** RocksDB removes files that it does not know by their names: here they are another ledger's. */
  @Test
  void the_files_of_another_ledger_at_its_place_stay() throws Exception {
    Ledger first = Ledger.open(config(home));
    first.append(opening("before")).await();
    Files.move(home.resolve("data"), home.resolve("moved"));
    copy(home.resolve("moved"), home.resolve("data"));
    Path db = home.resolve("data/db");
    // What a ledger that was put back there writes: tables and logs that the first one never made.
    Files.writeString(db.resolve("000001.sst"), "a table");
    Files.writeString(db.resolve("000002.log"), "a log");
    Map<String, Long> there = sizes(db);
    assertThatThrownBy(() -> first.append(opening("behind")).await())
        .hasMessageContaining("LED-071");
    assertThatThrownBy(first::close).hasMessageContaining("LED-071");
    assertThat(sizes(db)).isEqualTo(there);
  }

  private static Map<String, Long> sizes(Path folder) throws IOException {
    Map<String, Long> sizes = new TreeMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        sizes.put(file.getFileName().toString(), Files.size(file));
      }
    }
    return sizes;
  }

  @Test
  void the_same_directory_by_a_link_is_the_same_ledger() throws Exception {
    Files.createSymbolicLink(home.resolve("link"), home.resolve("data"));
    try (Child first = start(home.toString())) {
      assertThat(first.out.readLine()).isEqualTo("open");
      LedgerConfig own = config(home);
      Refused.with(
          LedgerError.LOCKED,
          () ->
              Ledger.open(
                  new LedgerConfig(
                      home.resolve("link"),
                      own.anchor(),
                      own.origin(),
                      own.logKey(),
                      own.clock())));
      assertThat(commit(first, "behind")).isEqualTo("committed behind");
    }
  }

  @Test
  void the_same_directory_mounted_twice_is_the_same_ledger() throws Exception {
    Path mount = Files.createDirectory(home.resolve("mount"));
    try (Child first = start(home.toString())) {
      assertThat(first.out.readLine()).isEqualTo("open");
      List<String> second =
          Child.command(List.of("-Xmx128m"), Writer.class, home.toString(), mount.toString());
      try (Child mounted =
          Child.start(
              Namespace.command(
                  "mount --bind \"$1\" \"$1/../mount\"",
                  home.resolve("data").toString(),
                  second))) {
        assertThat(mounted.out.readLine()).startsWith("LED-003");
      }
      assertThat(commit(first, "behind")).isEqualTo("committed behind");
    }
  }

  /** A copy with another anchor is another ledger, which nothing here can tell; see log.md. */
  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path path : all.sorted().toList()) {
        Files.copy(path, to.resolve(from.relativize(path)), StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
    DurableFiles.restrict(to);
  }
}

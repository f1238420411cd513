package dev.writ.embed.home;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.Disk;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.SystemState;
import dev.writ.ledger.LedgerView;
import dev.writ.tools.registry.BuiltinTools;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** spec/keys.md, "Where a private key is": moving, and what may go wrong meanwhile. */
class KeysAreMovedWithoutLossTest {
  private static final List<String> PEOPLES =
      List.of("agent", "approver", "operator", "policy-owner");
  private static final List<String> SERVERS = List.of("executor", "guardian", "log", "surface-mcp");
  private static final Home.Names NAMES = new Home.Names("local", "agent", "approver");

  @TempDir Path dir;

  private final SecureRandom random = new SecureRandom();

  /** The key ids that the home began with, by name. */
  private final Map<String, String> kids = new TreeMap<>();

  private Home home;
  private Path folder;

  /** A disk that fails at the operation of a number and at every one after it, as if cut off. */
  private static final class CutOff implements Disk {
    private final int at;
    private int count;

    CutOff(int at) {
      this.at = at;
    }

    private void step(Path file) throws IOException {
      if (count++ >= at) {
        throw new IOException("cut off at " + file.getFileName());
      }
    }

    @Override
    public FileChannel open(
        Path file, Set<java.nio.file.StandardOpenOption> options, FileAttribute<?>... attributes)
        throws IOException {
      step(file);
      return Disk.super.open(file, options, attributes);
    }

    @Override
    public void write(FileChannel channel, ByteBuffer content, Path file) throws IOException {
      step(file);
      Disk.super.write(channel, content, file);
    }

    @Override
    public void sync(FileChannel channel, Path file) throws IOException {
      step(file);
      Disk.super.sync(channel, file);
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
      step(to);
      Disk.super.rename(from, to);
    }
  }

  @BeforeEach
  void make() {
    home = new Home(dir.resolve("home"), () -> null);
    folder = dir.resolve("keys apart");
    new HomeMaker(home, NAMES, KeySource.made(Optional.empty()), InstantSource.system(), random)
        .withSurfaceKey("surface-mcp", "mcp")
        .make(StarterPolicy.text(NAMES, BuiltinTools.manifests()));
    home.keyNames().forEach(name -> kids.put(name, home.key(name).kid()));
  }

  private Trust trust() {
    try (LedgerView view = OpenHome.read(home)) {
      return SystemState.read(view).trust();
    }
  }

  private MovedKeys move(DurableFiles disk, String... names) {
    return MovedKeys.move(home, folder, trust(), List.of(names), disk);
  }

  private void requireEachFound() {
    kids.forEach((name, kid) -> assertThat(home.key(name).kid()).as(name).isEqualTo(kid));
  }

  private static List<String> in(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private static List<String> files(List<String> names) {
    return names.stream().map(name -> name + ".pem").toList();
  }

  @Test
  void the_home_keeps_what_its_server_signs_with() throws IOException {
    MovedKeys moved = move(DurableFiles.REAL);
    assertThat(moved.moved()).isEqualTo(PEOPLES);
    assertThat(moved.stayed()).containsExactly("surface-mcp (role surface)");
    assertThat(in(folder)).isEqualTo(files(PEOPLES));
    assertThat(in(home.keys())).isEqualTo(files(SERVERS));
    for (String name : PEOPLES) {
      assertThat(
              PosixFilePermissions.toString(
                  Files.getPosixFilePermissions(folder.resolve(name + ".pem"))))
          .isEqualTo("rw-------");
    }
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
        .isEqualTo("rwx------");
    requireEachFound();
  }

  @Test
  void at_whatever_operation_it_is_cut_off_no_key_is_lost_and_a_second_call_completes_it()
      throws IOException {
    CutOff counting = new CutOff(Integer.MAX_VALUE);
    move(new DurableFiles(counting));
    assertThat(counting.count).isGreaterThan(12);
    for (int at = 0; at < counting.count; at++) {
      HomeMaker.remove(home.dir());
      HomeMaker.remove(home.anchor());
      HomeMaker.remove(folder);
      kids.clear();
      make();
      DurableFiles failing = new DurableFiles(new CutOff(at));
      assertThatThrownBy(() -> move(failing))
          .as("cut off at %s", at)
          .isInstanceOf(WritException.class);
      requireEachFound();
      move(DurableFiles.REAL);
      requireEachFound();
      assertThat(in(home.keys())).as("cut off at %s", at).isEqualTo(files(SERVERS));
      assertThat(in(folder)).as("cut off at %s", at).isEqualTo(files(PEOPLES));
    }
  }

  @Test
  void what_a_killed_process_leaves_is_completed() throws IOException {
    // Copied and not yet looked for there, with a draft of the file that was being written.
    Files.createDirectory(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.copy(home.keyFile("operator"), folder.resolve("operator.pem"));
    Files.writeString(folder.resolve(".policy-owner.pem.7.new"), "-----BEGIN PRIV");
    requireEachFound();
    move(DurableFiles.REAL);
    requireEachFound();
    assertThat(in(folder)).containsAll(files(PEOPLES));
    // Looked for there, and only some removed.
    Files.copy(folder.resolve("approver.pem"), home.keyFile("approver"));
    assertThat(move(DurableFiles.REAL).moved()).containsExactly("approver");
    assertThat(in(home.keys())).isEqualTo(files(SERVERS));
    requireEachFound();
  }

  @Test
  void another_key_of_the_name_refuses_all_and_moves_nothing() throws IOException {
    Files.createDirectory(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    KeyFiles.write(
        folder.resolve("policy-owner.pem"), SigningKey.generateEd25519(random), null, random);
    byte[] theirs = Files.readAllBytes(folder.resolve("policy-owner.pem"));
    assertThatThrownBy(() -> move(DurableFiles.REAL)).hasMessageContaining("CAN-071");
    assertThat(in(folder)).containsExactly("policy-owner.pem");
    assertThat(folder.resolve("policy-owner.pem")).hasBinaryContent(theirs);
    requireEachFound();
  }

  @Test
  void a_folder_in_the_home_or_that_others_may_write_to_is_refused() throws IOException {
    folder = home.dir().resolve("keys/apart");
    assertThatThrownBy(() -> move(DurableFiles.REAL)).hasMessageContaining("CLI-025");
    folder = dir.resolve("link");
    Files.createSymbolicLink(folder, home.keys());
    assertThatThrownBy(() -> move(DurableFiles.REAL)).hasMessageContaining("CLI-025");
    folder = dir.resolve("shared");
    Files.createDirectory(folder);
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwx---"));
    assertThatThrownBy(() -> move(DurableFiles.REAL)).hasMessageContaining("CLI-025");
    assertThat(in(folder)).isEmpty();
    requireEachFound();
  }

  @Test
  void a_key_that_others_may_read_is_not_carried_on() throws IOException {
    Files.setPosixFilePermissions(
        home.keyFile("operator"), PosixFilePermissions.fromString("rw-r--r--"));
    assertThatThrownBy(() -> move(DurableFiles.REAL)).hasMessageContaining("CAN-072");
    assertThat(folder).doesNotExist();
  }

  @Test
  void names_are_moved_alone_and_those_of_the_server_are_not() throws IOException {
    assertThat(move(DurableFiles.REAL, "approver").moved()).containsExactly("approver");
    for (String name : SERVERS) {
      assertThatThrownBy(() -> move(DurableFiles.REAL, name)).hasMessageContaining("CLI-026");
    }
    assertThatThrownBy(() -> move(DurableFiles.REAL, "nobody")).hasMessageContaining("CLI-024");
    // Said twice, it is done once.
    assertThat(move(DurableFiles.REAL, "approver").moved()).isEmpty();
    requireEachFound();
  }

  @Test
  void a_file_that_was_never_enrolled_stays_and_is_named() throws IOException {
    KeyFiles.write(home.keyFile("spare"), SigningKey.generateEd25519(random), null, random);
    assertThat(move(DurableFiles.REAL).stayed())
        .containsExactly("spare (never enrolled)", "surface-mcp (role surface)");
    assertThat(home.keyFile("spare")).exists();
  }

  @Test
  void a_folder_of_ones_own_goes_before_the_one_in_the_settings_and_the_kernels_keys_in_neither()
      throws IOException {
    move(DurableFiles.REAL);
    Path own = Files.createDirectory(dir.resolve("own"));
    for (String name : List.of("operator", "guardian")) {
      KeyFiles.write(own.resolve(name + ".pem"), SigningKey.generateEd25519(random), null, random);
    }
    Home with = new Home(home.dir(), _ -> null, Map.of(), List.of(own));
    assertThat(with.key("operator").kid()).isNotEqualTo(kids.get("operator"));
    assertThat(with.key("guardian").kid()).isEqualTo(kids.get("guardian"));
    assertThatThrownBy(() -> with.key("approver"))
        .hasMessageContaining("CLI-024")
        .hasMessageContaining(own.toString())
        .hasMessageContaining("WRIT_KEYS");
    assertThat(with.key(folder.resolve("approver.pem").toString()).kid())
        .isEqualTo(kids.get("approver"));
  }
}

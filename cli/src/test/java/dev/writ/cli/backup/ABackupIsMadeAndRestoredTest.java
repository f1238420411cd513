package dev.writ.cli.backup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.cli.Run;
import dev.writ.cli.base.ExitCode;
import dev.writ.embed.Writ;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ backup} and {@code writ restore} from the shell. */
class ABackupIsMadeAndRestoredTest {
  @TempDir Path dir;

  private BackedUpHome home;

  @BeforeEach
  void init() throws Exception {
    home = new BackedUpHome(dir);
    home.effect(1);
  }

  private static long objects(Path folder) throws Exception {
    try (Stream<Path> files = Files.walk(folder.resolve("objects"))) {
      return files.filter(Files::isRegularFile).count();
    }
  }

  private Run on(Path at, String... args) {
    String[] all = new String[args.length + 2];
    all[0] = "--home";
    all[1] = at.toString();
    System.arraycopy(args, 0, all, 2, args.length);
    return Run.of(all);
  }

  private static LedgerView ledger(Path at) {
    return Ledger.openReadOnly(at.resolve("ledger"));
  }

  @Test
  void noneIsMadeInAFolderThatIsWritsOwn() throws Exception {
    Path link = Files.createSymbolicLink(dir.resolve("link"), home.home().resolve("ledger"));
    for (Path to :
        List.of(
            home.home().resolve("ledger/b"),
            home.home().resolve("backup.new"),
            link,
            link.resolve("new/b"))) {
      home.refused("BAK-002", "backup", "--to", to.toString(), "--recipient", home.recipient);
    }
    assertThat(home.home().resolve("ledger/b")).doesNotExist();
    assertThat(home.home().resolve("ledger/new")).doesNotExist();
  }

  @Test
  void it_comes_back_whole_as_the_next_incarnation() throws Exception {
    assertThat(home.backup()).startsWith("backup 1: ");
    home.effect(2);
    assertThat(home.backup()).startsWith("backup 2: ").contains("  log key writ-");
    assertThat(home.ok("backup", "list", home.folder().toString()).lines().skip(2)).hasSize(2);
    assertThat(home.ok("backup", "verify", home.folder().toString()))
        .contains("all files are as stated", "not verified: the ledger");
    String identity = home.identity.toString();
    for (String at : new String[] {"1", "2"}) {
      assertThat(
              home.ok(
                  "backup", "verify", home.folder().toString(), "--identity", identity, "--at", at))
          .startsWith("backup " + at + ": sound, ");
    }
    assertThat(home.ok(home.restore()))
        .contains("restored backup 2 to ", "in service as incarnation 2");
    try (LedgerView before = ledger(home.home());
        LedgerView after = ledger(home.restored())) {
      assertThat(after.incarnation()).isEqualTo(2);
      assertThat(after.treeSize()).as("and its own event").isEqualTo(before.treeSize() + 1);
      assertThat(after.root(before.treeSize())).isEqualTo(before.root());
    }
    for (String file : new String[] {"keys/log.pem", "policy.yaml", "trust.jwks", "writ.json"}) {
      assertThat(home.restored().resolve(file)).hasSameBinaryContentAs(home.home().resolve(file));
    }
    assertThat(Files.getPosixFilePermissions(home.restored().resolve("keys/log.pem"))).hasSize(2);
    assertThat(dir.resolve("restored.restoring")).doesNotExist();
    Run goesOn = on(home.restored(), "run", "js", "--param", "source=3*7");
    assertThat(goesOn.status()).as(goesOn.err()).isZero();
    assertThat(on(home.restored(), "fsck").out()).contains("sound");
    assertThat(on(home.restored(), "audit").status()).isZero();
  }

  @Test
  void the_doctor_has_nothing_to_say_of_one_that_was_restored() {
    home.backup();
    home.ok(home.restore());
    assertThat(home.restored().resolve("tools")).isEmptyDirectory();
    assertThat(on(home.restored(), "doctor").out())
        .contains("nothing is left of a crash")
        .doesNotContain("is missing");
  }

  @Test
  void a_further_one_writes_only_what_is_new() throws Exception {
    home.backup();
    long before = objects(home.folder());
    assertThat(home.backup()).contains("  new     ");
    // The manifest, CURRENT, and the rows that were in write-ahead logs; no table of before.
    assertThat(objects(home.folder()) - before).isLessThan(before);
    assertThat(home.home().resolve(HomeFile.SCRATCH)).doesNotExist();
  }

  @Test
  void what_the_anchor_saw_since_is_a_loss_that_is_accepted_or_not() throws Exception {
    home.backup();
    home.effect(2);
    Files.copy(dir.resolve("home.anchor"), dir.resolve("restored.anchor"));
    Run refused = Run.of(home.restore());
    assertThat(refused.err()).startsWith("writ: BAK-015 ").contains(" are lost");
    assertThat(refused.status()).isEqualTo(1);
    assertThat(home.restored()).doesNotExist();
    assertThat(home.ok(home.restore("--accept-loss"))).contains("incarnation 2");
  }

  @Test
  void it_does_not_come_to_lie_where_a_writer_has_lost_its_home() throws Exception {
    home.backup();
    home.ok(home.restore());
    try (Writ _ = Writ.open(home.restored())) {
      Files.move(home.restored(), dir.resolve("moved"));
      Run refused = Run.of(home.restore("--accept-loss"));
      assertThat(refused.err()).startsWith("writ: LED-003 ").contains("restored.anchor.lock");
      assertThat(home.restored()).doesNotExist();
      assertThat(dir.resolve("restored.restoring")).doesNotExist();
      Files.move(dir.resolve("moved"), home.restored());
    }
    assertThat(on(home.restored(), "fsck").out()).contains("sound");
  }

  @Test
  void one_that_is_refused_leaves_nothing_beside_its_place() {
    home.backup();
    Run refused = Run.of(home.restore("--log-key", "writ-x+00000000+AAAA"));
    assertThat(refused.status()).as(refused.err()).isNotZero();
    Run without =
        Run.of("--home", home.restored().toString(), "restore", "--from", home.folder().toString());
    assertThat(without.status()).as(without.err()).isNotZero();
    assertThat(dir.resolve("restored.anchor.lock")).doesNotExist();
    assertThat(home.restored()).doesNotExist();
  }

  @Test
  void an_earlier_one_of_an_installation_that_was_restored_counts_on() throws Exception {
    home.backup();
    Files.copy(dir.resolve("home.anchor"), dir.resolve("restored.anchor"));
    assertThat(home.ok(home.restore())).contains("incarnation 2");
    // The restored one is lost, too; its anchor has seen incarnation 2.
    on(home.restored(), "checkpoint");
    DurableFiles.deleteTree(home.restored());
    home.refused("BAK-015", home.restore());
    assertThat(home.ok(home.restore("--accept-loss"))).contains("incarnation 3");
  }

  @Test
  void nothing_is_written_over() throws Exception {
    home.backup();
    Files.createDirectories(home.restored().resolve("something"));
    home.refused("CLI-011", home.restore());
    assertThat(home.restored().resolve("something")).isDirectory();
    home.refused("BAK-001", home.restore("--at", "7"));
    home.refused("BAK-001", "backup", "list", dir.resolve("home").toString());
  }

  @Test
  void a_list_shows_the_others_where_one_is_damaged() throws Exception {
    home.backup();
    home.backup();
    Files.writeString(home.folder().resolve("backups/000002.note"), "nothing");
    Run list = home.writ("backup", "list", home.folder().toString());
    assertThat(list.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(list.out().lines().skip(2)).singleElement().asString().contains(" 1  ");
    assertThat(list.err()).startsWith("backup 2: BAK-010 ");
    home.ok(home.restore("--at", "1"));
  }

  @Test
  void a_link_is_no_place_for_a_home() throws Exception {
    home.backup();
    Path real = Files.createDirectory(dir.resolve("real"));
    Files.createSymbolicLink(home.restored(), real);
    home.refused("CLI-011", home.restore());
    assertThat(home.restored()).isSymbolicLink();
  }

  @Test
  void a_folder_that_no_restore_made_is_left_alone() throws Exception {
    home.backup();
    Path others = Files.createDirectories(dir.resolve("restored.restoring")).resolve("mine");
    Files.writeString(others, "mine");
    home.refused("CLI-011", home.restore());
    assertThat(others).hasContent("mine");
  }

  @Test
  void backups_in_the_home_are_in_no_backup() throws Exception {
    String inside = home.home().resolve("backups").toString();
    home.ok("backup", "--to", inside, "--recipient", home.recipient);
    home.ok("backup", "--to", inside);
    home.backup();
    home.ok(home.restore());
    assertThat(home.restored().resolve("backups")).doesNotExist();
  }

  @Test
  void private_keys_leave_in_clear_never() throws Exception {
    home.refused("BAK-005", "backup", "--to", home.folder().toString());
    assertThat(home.folder()).doesNotExist();
    String out = home.ok("backup", "--to", home.folder().toString(), "--without-secrets");
    assertThat(out).contains("  without keys/log.pem", "  without keys/operator.pem");
    try (Stream<Path> files = Files.walk(home.folder())) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
            .as(file.toString())
            .doesNotContain(secretOf(home.home().resolve("keys/log.pem")));
      }
    }
    String[] plain = {
      "restore", "--from", home.folder().toString(), "--home", home.restored().toString()
    };
    home.refused("BAK-016", plain);
    assertThat(home.restored()).doesNotExist();
    assertThat(
            home.ok(
                "restore",
                "--from",
                home.folder().toString(),
                "--home",
                home.restored().toString(),
                "--keys",
                home.home().resolve("keys").toString()))
        .contains("in service as incarnation 2");
    assertThat(on(home.restored(), "run", "js", "--param", "source=1").status()).isZero();
  }

  private static String secretOf(Path pem) throws Exception {
    return Files.readAllLines(pem).get(1);
  }

  @Test
  void a_folder_is_of_one_installation_and_of_its_latest_copy() throws Exception {
    Path copy = dir.resolve("copy");
    home.backup();
    home.effect(2);
    assertThat(home.ok(home.restore())).contains("incarnation 2");
    Files.move(home.restored(), copy);
    Files.move(dir.resolve("restored.anchor"), dir.resolve("copy.anchor"));
    home.backup(); // backup 2, incarnation 1
    assertThat(on(copy, "backup", "--to", home.folder().toString()).out()).startsWith("backup 3: ");
    Run older = home.writ("backup", "--to", home.folder().toString());
    assertThat(older.err()).startsWith("writ: BAK-003 ");
    BackedUpHome other = new BackedUpHome(Files.createDirectory(dir.resolve("other")));
    other.refused(
        "BAK-002", "backup", "--to", home.folder().toString(), "--recipient", other.recipient);
    home.refused(
        "BAK-007", "backup", "--to", home.folder().toString(), "--recipient", other.recipient);
    home.refused("BAK-002", "backup", "--to", dir.toString(), "--recipient", home.recipient);
    home.refused(
        "BAK-006", "backup", "--to", dir.resolve("new").toString(), "--recipient", "ssh-ed25519 A");
    assertThat(dir.resolve("new")).doesNotExist();
  }

  @Test
  void a_recipient_that_somebody_wrote_into_the_folder_gets_nothing() throws Exception {
    home.backup();
    BackedUpHome other = new BackedUpHome(Files.createDirectory(dir.resolve("other")));
    Path settings = home.folder().resolve(BackupFolder.SETTINGS);
    String ours = Files.readString(settings);
    Files.writeString(settings, ours.replace(home.recipient, other.recipient));
    home.refused("BAK-007", "backup", "--to", home.folder().toString());
    Files.writeString(settings, ours.replace("\"" + home.recipient + "\"", ""));
    home.refused("BAK-005", "backup", "--to", home.folder().toString());
    Files.writeString(settings, ours);
    assertThat(home.ok("backup", "--to", home.folder().toString())).startsWith("backup 2: ");
  }

  @Test
  void keys_under_a_passphrase_are_in_every_backup() throws Exception {
    Map<String, String> environment = Map.of("WRIT_PASSPHRASE", "correct horse");
    String at = dir.resolve("locked").toString();
    assertThat(Run.in(environment, "--home", at, "init").status()).isZero();
    String folder = home.folder().toString();
    Run backup = Run.in(environment, "--home", at, "backup", "--to", folder);
    assertThat(backup.status()).as(backup.err()).isZero();
    assertThat(backup.out()).doesNotContain("without");
    String[] restore = {"restore", "--from", folder, "--home", home.restored().toString()};
    assertThat(Run.of(restore).err()).startsWith("writ: CAN-077 ");
    assertThat(home.restored()).doesNotExist();
    Run restored = Run.in(environment, restore);
    assertThat(restored.status()).as(restored.err()).isZero();
    assertThat(home.restored().resolve("keys/operator.pem")).exists();
  }

  @Test
  void the_latest_stay_when_it_is_pruned() throws Exception {
    for (int i = 2; i < 5; i++) {
      home.backup();
      home.effect(i);
    }
    long before = objects(home.folder());
    assertThat(home.ok("backup", "prune", home.folder().toString(), "--keep", "1"))
        .startsWith("removed 2 backups and ");
    assertThat(objects(home.folder())).isLessThan(before);
    assertThat(
            home.ok(
                "backup",
                "verify",
                home.folder().toString(),
                "--identity",
                home.identity.toString()))
        .startsWith("backup 3: sound");
    home.refused("BAK-001", home.restore("--at", "1"));
    assertThat(home.ok(home.restore())).contains("restored backup 3");
  }
}

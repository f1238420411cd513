package dev.writ.cli.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.cli.OwnProcess;
import dev.writ.cli.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes that end at any operation, and disks that are full from any on. */
class AKilledBackupLeavesTheEarlierOnesTest {
  private static final long SEED = 4711;

  /** Operations from the renaming of the whole on: its folder is synced, the anchor is written. */
  private static final int FROM_RENAMING = 7;

  @TempDir Path dir;

  private BackedUpHome home;

  @BeforeEach
  void init() throws Exception {
    home = new BackedUpHome(dir);
    home.effect(1);
    home.backup();
    home.effect(2);
  }

  private void killed(String what, String part, int at, Path target, String key) throws Exception {
    List<String> command = new ArrayList<>(OwnProcess.writ());
    command.removeLast();
    // It is killed, and leaves there what it had.
    command.add(1, "-Djava.io.tmpdir=" + Files.createDirectories(dir.resolve("tmp")));
    command.addAll(
        List.of(
            KilledBackup.class.getName(),
            what,
            part,
            Integer.toString(at),
            target.toString(),
            home.folder().toString(),
            key));
    int status =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(dir.resolve("log").toFile())
            .start()
            .waitFor();
    assertThat(status)
        .as(part + " " + at + ": " + Files.readString(dir.resolve("log")))
        .isEqualTo(KilledBackup.KILLED);
  }

  private void verified(int number) {
    assertThat(
            home.ok(
                "backup",
                "verify",
                home.folder().toString(),
                "--identity",
                home.identity.toString(),
                "--at",
                Integer.toString(number)))
        .startsWith("backup " + number + ": sound");
  }

  /** Where a backup ends: while an object, a list or the note is written, and when it is named. */
  private record Point(String part, int at) {}

  @Test
  void a_backup_that_is_killed_at_any_point() throws Exception {
    // Of each file: opened, written, synced, renamed. There are some twenty new objects.
    SplittableRandom random = new SplittableRandom(SEED);
    List<Point> points =
        List.of(
            new Point("/new/", random.nextInt(20)),
            new Point("/new/", random.nextInt(40)),
            new Point(".files", random.nextInt(4)),
            new Point(".objects", 3),
            new Point(".note", 1),
            new Point(".note", 3));
    int latest = 1;
    for (Point point : points) {
      home.effect(latest);
      killed("backup", point.part(), point.at(), home.home(), home.recipient);
      BackupFolder folder = BackupFolder.existing(home.folder());
      assertThat(folder.numbers().last()).isEqualTo(latest);
      verified(latest);
      assertThat(home.backup()).startsWith("backup " + ++latest + ": ");
      assertThat(home.home().resolve(HomeFile.SCRATCH)).doesNotExist();
    }
    verified(latest);
    assertThat(home.ok(home.restore())).contains("restored backup " + latest);
  }

  @Test
  void a_restore_that_is_killed_at_any_point() throws Exception {
    InterruptedDisk counting = InterruptedDisk.none();
    KilledBackup.restore(dir.resolve("counted"), home.folder(), home.identity, counting.files());
    SplittableRandom random = new SplittableRandom(SEED);
    int last = counting.count() - FROM_RENAMING;
    for (int at : List.of(random.nextInt(last), random.nextInt(last), last)) {
      Path target = dir.resolve("restored-" + at);
      killed("restore", "", at, target, home.identity.toString());
      assertThat(target).doesNotExist();
      Run again =
          Run.of(
              "restore",
              "--from",
              home.folder().toString(),
              "--identity",
              home.identity.toString(),
              "--home",
              target.toString());
      assertThat(again.status()).as(again.err()).isZero();
      assertThat(target.resolveSibling(target.getFileName() + ".restoring")).doesNotExist();
      Run works = Run.of("--home", target.toString(), "run", "js", "--param", "source=1");
      assertThat(works.status()).as(works.err()).isZero();
    }
  }

  @Test
  void a_restore_that_is_killed_before_it_writes_the_anchor_does_not_open() throws Exception {
    InterruptedDisk counting = InterruptedDisk.none();
    KilledBackup.restore(dir.resolve("counted"), home.folder(), home.identity, counting.files());
    String target = home.restored().toString();
    killed("restore", "", counting.count() - 3, home.restored(), home.identity.toString());
    String[] run = {"--home", target, "run", "js", "--param", "source=1"};
    assertThat(Run.of(run).err()).startsWith("writ: LED-010 ");
    assertThat(Run.of("--home", target, "fsck", "--restored").status()).isZero();
    assertThat(Run.of(run).status()).isZero();
  }

  @Test
  void a_disk_that_is_full_at_any_file() {
    for (String part : List.of("/new/", ".files", ".objects", ".note")) {
      for (int at : List.of(0, 1, 2)) {
        assertThatThrownBy(() ->
                KilledBackup.backup(
                    home.home(),
                    home.folder(),
                    home.recipient,
                    InterruptedDisk.full(part, at).files()))
            .hasMessageStartingWith("CLI-003 ")
            .hasMessageContaining("No space left");
        assertThat(home.home().resolve(HomeFile.SCRATCH)).doesNotExist();
        assertThat(home.folder().resolve("new")).isEmptyDirectory();
      }
    }
    verified(1);
    assertThat(home.backup()).startsWith("backup 2: ");
    verified(2);
  }

  @Test
  void a_disk_that_is_full_while_a_home_is_put_back() throws Exception {
    InterruptedDisk counting = InterruptedDisk.none();
    KilledBackup.restore(dir.resolve("counted"), home.folder(), home.identity, counting.files());
    for (int at = 0; at <= counting.count() - FROM_RENAMING; at += counting.count() / 6) {
      int operation = at;
      assertThatThrownBy(() ->
              KilledBackup.restore(
                  home.restored(),
                  home.folder(),
                  home.identity,
                  InterruptedDisk.full("", operation).files()))
          .hasMessageStartingWith("CLI-003 ");
      assertThat(home.restored()).doesNotExist();
      assertThat(dir.resolve("restored.restoring")).doesNotExist();
    }
    assertThat(home.ok(home.restore())).contains("restored backup 1");
  }
}

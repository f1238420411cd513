package dev.writ.cli.backup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.cli.Run;
import dev.writ.cli.base.ExitCode;
import dev.writ.ledger.note.Checkpoint;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever file of a backup is changed, cut off or missing: it is named, and nothing comes back.
 */
class ADamagedBackupIsRefusedTest {
  @TempDir Path dir;

  private BackedUpHome home;

  @BeforeEach
  void init() throws Exception {
    home = new BackedUpHome(dir);
    home.effect(1);
    home.backup();
  }

  private List<Path> files() throws Exception {
    try (Stream<Path> files = Files.walk(home.folder())) {
      return files
          .filter(Files::isRegularFile)
          .filter(file -> !file.endsWith(BackupWriter.LOCK) && !file.endsWith("writ-backup.json"))
          .sorted()
          .toList();
    }
  }

  private Run verify(String... more) {
    List<String> all =
        Stream.concat(Stream.of("backup", "verify", home.folder().toString()), Stream.of(more))
            .toList();
    return home.writ(all.toArray(String[]::new));
  }

  private void refused(Path file, String... codes) {
    for (Run run :
        List.of(verify(), verify("--identity", home.identity.toString()), Run.of(home.restore()))) {
      assertThat(run.err())
          .as(file.toString())
          .matches("(?s)writ: (" + String.join("|", codes) + ") .*");
      assertThat(run.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
      assertThat(home.restored()).doesNotExist();
      assertThat(dir.resolve("restored.restoring")).doesNotExist();
      assertThat(dir.resolve("restored.anchor")).doesNotExist();
    }
  }

  @Test
  void any_byte_any_length_any_file() throws Exception {
    assertThat(files()).hasSizeGreaterThan(8);
    for (Path file : files()) {
      byte[] whole = Files.readAllBytes(file);
      byte[] changed = whole.clone();
      changed[whole.length / 2] ^= 1;
      Files.write(file, changed);
      refused(file, "BAK-010", "BAK-012");
      Files.delete(file);
      // A backup without its note is none.
      refused(file, file.toString().endsWith(".note") ? "BAK-001" : "BAK-011");
      Files.write(file, whole);
    }
    assertThat(verify().status()).isZero();
  }

  @Test
  void another_identity_and_none() throws Exception {
    BackedUpHome other = new BackedUpHome(Files.createDirectory(dir.resolve("other")));
    Run wrong = verify("--identity", other.identity.toString());
    assertThat(wrong.err()).startsWith("writ: BAK-013 ");
    assertThat(wrong.err() + wrong.out())
        .doesNotContain(Files.readString(other.identity).strip().substring(16));
    home.refused(
        "BAK-013",
        "restore",
        "--from",
        home.folder().toString(),
        "--home",
        home.restored().toString());
    Path nonsense = Files.writeString(dir.resolve("nonsense"), "AGE-SECRET-KEY-1NONSENSE\n");
    Run malformed = verify("--identity", nonsense.toString());
    assertThat(malformed.err()).startsWith("writ: BAK-006 ").doesNotContain("NONSENSE");
    assertThat(home.restored()).doesNotExist();
  }

  @Test
  void a_note_of_somebody_else_is_not_believed_where_the_key_is_pinned() throws Exception {
    BackupFolder folder = BackupFolder.existing(home.folder());
    BackupNote note = folder.note(1, Optional.empty());
    BackedUpHome other = new BackedUpHome(Files.createDirectory(dir.resolve("other")));
    other.backup();
    String pin = note.key().toString();
    assertThat(verify("--log-key", pin).status()).isZero();
    Run replaced = home.writ("backup", "verify", other.folder().toString(), "--log-key", pin);
    assertThat(replaced.err()).startsWith("writ: BAK-012 ");
    home.refused(
        "BAK-012",
        "restore",
        "--from",
        other.folder().toString(),
        "--home",
        home.restored().toString(),
        "--identity",
        other.identity.toString(),
        "--log-key",
        pin);
    assertThat(home.restored()).doesNotExist();
  }

  @Test
  void a_note_is_no_checkpoint() throws Exception {
    byte[] note = Files.readAllBytes(BackupFolder.existing(home.folder()).note(1));
    try {
      Checkpoint.parse(note);
    } catch (WritException e) {
      assertThat(e.code().code()).isEqualTo("LED-051");
      return;
    }
    throw new AssertionError("a note was read as a checkpoint");
  }

  @Test
  void a_list_that_leads_out_of_the_home_is_refused() {
    for (String path : List.of("../anchor", "/etc/x", "a/../../b", "", "a//b", "./a")) {
      String line = "{\"content\":\"\",\"path\":\"" + path + "\"}";
      try {
        BackedUpFile.parse(line.getBytes(StandardCharsets.UTF_8));
      } catch (IllegalArgumentException e) {
        continue;
      }
      throw new AssertionError("taken: " + path);
    }
    assertThat(
            BackedUpFile.parse(
                    BackedUpFile.large("ledger/db/1.sst", Digest.sha256(), true).toLine())
                .isExecutable())
        .isTrue();
  }
}

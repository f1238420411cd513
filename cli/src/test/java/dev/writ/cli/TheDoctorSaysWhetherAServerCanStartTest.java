package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What keeps a server from its start is bad, with the server's code: spec/doctor.md. */
class TheDoctorSaysWhetherAServerCanStartTest {
  @TempDir Path dir;
  private Path data;
  private OneHome home;

  /** What this machine lacks, whatever the home has. */
  private TreeMap<String, String> ofTheMachine;

  @BeforeEach
  void init() {
    data = dir.resolve("data");
    home = new OneHome(data, Map.of("HOME", dir.toString(), "SHELL", "/bin/dash"));
    home.done("init");
    ofTheMachine = found("bad");
    assertThat(found("ok")).containsKeys("server", "clock", "files");
  }

  /** The findings of one state, by what they are about. */
  private TreeMap<String, String> found(String state) {
    JsonValue.Obj health =
        (JsonValue.Obj)
            Jcs.parse(home.writ("--json", "doctor").out().strip().getBytes(StandardCharsets.UTF_8));
    TreeMap<String, String> found = new TreeMap<>();
    for (JsonValue item : ((JsonValue.Arr) health.get("findings")).items()) {
      JsonValue.Obj finding = (JsonValue.Obj) item;
      if (finding.get("state").equals(JsonValue.of(state))) {
        found.merge(text(finding, "what"), text(finding, "found"), (a, b) -> a + "\n" + b);
      }
    }
    return found;
  }

  private static String text(JsonValue.Obj finding, String member) {
    return ((JsonValue.Str) finding.get(member)).value();
  }

  private void isBad(String what, String... words) {
    TreeMap<String, String> bad = found("bad");
    ofTheMachine.keySet().forEach(bad::remove);
    assertThat(bad).containsOnlyKeys(what);
    assertThat(bad.get(what)).contains(words);
    Run told = home.writ("doctor");
    assertThat(told.status()).isEqualTo(6);
    assertThat(told.out()).contains("Writ cannot run here").doesNotContain("Writ can run here");
    assertThat(found("ok")).doesNotContainKey("server");
  }

  private void isGoodAgain() {
    assertThat(found("bad")).isEqualTo(ofTheMachine);
    assertThat(found("ok")).containsKey("server");
  }

  @Test
  void keysOfTheKernelThatAreMissingOrExposed() throws IOException {
    for (String key : List.of("guardian", "executor", "log")) {
      Path file = data.resolve("keys").resolve(key + ".pem");
      Path away = Files.move(file, dir.resolve(key));
      isBad("key " + key, "CAN-070", file.toString());
      Files.move(away, file);
    }
    isGoodAgain();
    Path guardian = data.resolve("keys/guardian.pem");
    Files.setPosixFilePermissions(guardian, PosixFilePermissions.fromString("rw-r--r--"));
    TreeMap<String, String> bad = found("bad");
    assertThat(bad.get("files")).contains("CAN-072", guardian.toString());
    assertThat(home.writ("doctor").status()).isEqualTo(6);
    home.done("doctor", "--fix", "--yes");
    isGoodAgain();
  }

  @Test
  void keysOfTheKernelThatAreNotInForce() throws IOException {
    for (String key : List.of("guardian", "executor", "log")) {
      Path file = data.resolve("keys").resolve(key + ".pem");
      Path away = Files.move(file, dir.resolve(key));
      Files.copy(data.resolve("keys/operator.pem"), file);
      isBad("key " + key, "EXE-912");
      boolean isNoted = home.writ("fsck").err().contains("note: log key EXE-912");
      assertThat(isNoted).isEqualTo(key.equals("log"));
      Files.move(away, file, StandardCopyOption.REPLACE_EXISTING);
    }
    isGoodAgain();
  }

  /** Each file is sound, and they do not belong together. */
  @Test
  void anAnchorOrALedgerOfAnotherInstallation() throws IOException {
    Path others = dir.resolve("other");
    OneHome other = new OneHome(others, home.environment());
    other.done("init");
    Path anchor = dir.resolve("data.anchor");
    Path early = Files.copy(anchor, dir.resolve("early"));
    Path ledger = Files.move(data.resolve("ledger"), dir.resolve("moved"));
    Files.move(others.resolve("ledger"), data.resolve("ledger"));
    isBad("ledger", "LED-009");
    Files.copy(dir.resolve("other.anchor"), anchor, StandardCopyOption.REPLACE_EXISTING);
    isBad("ledger", "LED-009");
    Run fsck = home.writ("fsck");
    assertThat(fsck.status()).isEqualTo(4);
    assertThat(fsck.out()).contains("origin: the ledger is ", ", the data directory's ");

    Files.move(data.resolve("ledger"), others.resolve("ledger"));
    Files.move(ledger, data.resolve("ledger"));
    isBad("anchor", "LED-013");
    Files.copy(early, anchor, StandardCopyOption.REPLACE_EXISTING);
    isGoodAgain();

    String text = Files.readString(anchor);
    Files.writeString(anchor, text.replaceFirst("\"tree_size\":[0-9]+", "\"tree_size\":900"));
    isBad("anchor", "LED-011", "900 events");
  }

  @Test
  void theAnchorTheConfigurationAndTheDatabase() throws IOException {
    Path anchor = dir.resolve("data.anchor");
    Path away = Files.move(anchor, dir.resolve("away"));
    isBad("anchor", "LED-010", anchor.toString());
    Files.move(away, anchor);

    Path file = data.resolve("gateway.yaml");
    byte[] before = Files.readAllBytes(file);
    Files.writeString(file, "unknown_key: 1\n", StandardOpenOption.APPEND);
    isBad("configuration", "GWY-002", "unknown_key");
    Files.write(file, before);

    Path database = data.resolve("ledger/database");
    Files.writeString(database, "postgresql://writ@127.0.0.1:1/writ?cell=none\n");
    isBad("ledger", "PGS-00");
    assertThat(found("warn")).as("once is enough").doesNotContainKeys("clock", "keys", "policy");
    Files.delete(database);
    isGoodAgain();
  }

  @Test
  void aBrokenFileOfSettingsIsNamedByEachCommandAndAloneIsBlamed() throws IOException {
    Path settings = data.resolve("writ.json");
    String whole = Files.readString(settings);
    Files.writeString(settings, whole.substring(0, 30));
    isBad("home", "CLI-002", settings.toString(), "put it back from a backup");
    assertThat(found("warn").values()).noneMatch(found -> found.contains("CAN-011"));
    for (List<String> command :
        List.of(
            List.of("key", "list"),
            List.of("log"),
            List.of("run", "js", "--param", "source=1"),
            List.of("config", "check"),
            List.of("serve", "--port", "0"))) {
      Run run = home.writ(command.toArray(String[]::new));
      assertThat(run.err())
          .as(command.toString())
          .contains("CLI-002", settings.toString(), "put it back from a backup");
      assertThat(run.status()).isEqualTo(4);
    }
    Files.delete(settings);
    isBad("home", "CLI-002", settings.toString(), "is missing: put it back from a backup");
    Files.writeString(settings, whole);
    isGoodAgain();
  }
}

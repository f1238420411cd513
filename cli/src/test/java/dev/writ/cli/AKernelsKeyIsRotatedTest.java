package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.ExitCode;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code writ key rotate}: beside a server, without one, and where the key was lost. */
class AKernelsKeyIsRotatedTest {
  private final TreeMap<String, String> environment =
      new TreeMap<>(Map.of("WRIT_SANDBOX_ENGINE", "none"));

  @TempDir Path dir;

  private Run writ(String... arguments) {
    return new OneHome(home(), environment).writ(arguments);
  }

  private Run done(String... arguments) {
    return new OneHome(home(), environment).done(arguments);
  }

  private Path home() {
    return dir.resolve("home");
  }

  private static String key(Run rotated) {
    JsonValue.Obj json =
        (JsonValue.Obj) Jcs.parse(rotated.out().strip().getBytes(StandardCharsets.UTF_8));
    return ((JsonValue.Str) json.get("key")).value();
  }

  /** A run with effects before and after, closed, verified under the pins of the home. */
  private void requireSound() {
    done("run", "js", "--param", "source=6*7");
    done("close", "main");
    String file = dir.resolve("main.writ").toString();
    done("export", "main", "-o", file);
    done("verify", file, "--trust", home().resolve("trust.jwks").toString());
    assertThat(done("fsck").out()).doesNotContain("PROBLEM");
    done("audit");
  }

  @ParameterizedTest
  @ValueSource(strings = {"guardian", "executor", "log"})
  void each_key_is_exchanged_and_what_the_one_before_signed_verifies(String role) throws Exception {
    done("init");
    done("run", "js", "--param", "source=1");
    done("checkpoint");
    String before = Files.readString(home().resolve("keys/" + role + ".pem"));
    String kid = key(done("key", "rotate", role, "--overlap", "0", "--json"));
    assertThat(Files.readString(home().resolve("keys/" + role + ".pem"))).isNotEqualTo(before);
    assertThat(home().resolve("keys/" + role + ".next.pem")).doesNotExist();
    assertThat(Files.readString(home().resolve("trust.jwks"))).contains(kid);
    requireSound();
  }

  private interface Work {
    void run() throws Exception;
  }

  /** Works while a server has the home open, in the environment as it is when it starts. */
  private void whileServed(Work work) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            OwnProcess.writ("--home", home().toString(), "serve", "--json", "--port", "0"));
    builder.environment().putAll(environment);
    Process server = builder.redirectError(dir.resolve("log").toFile()).start();
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).as(Files.readString(dir.resolve("log"))).contains("\"url\"");
      work.run();
    } finally {
      server.destroy();
      server.waitFor();
    }
  }

  @Test
  void a_server_goes_on_with_the_next_key() throws Exception {
    environment.put("WRIT_PASSPHRASE", "a passphrase of the test");
    done("init");
    whileServed(() -> {
      Run rotated = done("key", "rotate", "guardian");
      assertThat(rotated.out()).startsWith("guardian signs with ").contains("still believed");
      String old = rotated.out().strip().replaceAll("(?s).* ", "");
      done("key", "revoke", old);
      assertThat(done("run", "js", "--param", "source=6*7").out()).contains("42");
    });
    requireSound();
  }

  @Test
  void a_key_that_the_server_cannot_read_waits_and_no_change_is_told_as_refused() throws Exception {
    done("init");
    Path waits = home().resolve("keys/guardian.next.pem");
    whileServed(() -> {
      environment.put("WRIT_PASSPHRASE", "a passphrase that the server does not have");
      Run rotated = done("key", "rotate", "guardian", "--overlap", "0");
      assertThat(rotated.out()).contains("is enrolled and waits in " + waits, "still believed");
      environment.remove("WRIT_PASSPHRASE");
      // Its enrolment is in the log, so its file is the only copy of a key that is believed.
      done("key", "new", "bob");
      assertThat(home().resolve("keys/bob.pem")).exists();
      assertThat(done("key", "list").out()).contains("bob");
      assertThat(done("run", "js", "--param", "source=6*7").out()).contains("42");
    });
    assertThat(done("run", "js", "--param", "source=6*8").out()).contains("48");
    assertThat(writ("doctor").out()).contains("key guardian that waits").contains("CAN-077");
    whileServed(() -> assertThat(waits).exists());
    assertThat(Files.readString(dir.resolve("log")))
        .contains("\"code\":\"CAN-077\"", "\"event\":\"key-waits\"", waits.toString());
    environment.put("WRIT_PASSPHRASE", "a passphrase that the server does not have");
    done("run", "js", "--param", "source=6*9");
    assertThat(waits).doesNotExist();
    requireSound();
  }

  @Test
  void keys_that_are_made_at_once_are_all_in_the_file_for_verifiers() throws Exception {
    done("init");
    whileServed(() -> {
      try (ExecutorService operators = Executors.newFixedThreadPool(4)) {
        List<Future<Run>> made = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
          String name = "new-" + i;
          made.add(operators.submit(() -> done("key", "new", name)));
        }
        for (Future<Run> each : made) {
          assertThat(each.get().status()).isZero();
        }
      }
      assertThat(Files.readString(home().resolve("trust.jwks")))
          .isEqualTo(done("key", "list", "--json").out().strip());
    });
  }

  @Test
  void a_waiting_key_that_nobody_enrolled_keeps_no_kernel_from_starting() throws Exception {
    done("init");
    Path waits = home().resolve("keys/executor.next.pem");
    Files.writeString(waits, "half of a ");
    assertThat(done("run", "js", "--param", "source=6*7").out()).contains("42");
    done("key", "new", "bob");
    assertThat(waits).exists();
    assertThat(writ("key", "rotate", "executor").err()).startsWith("writ: CAN-074 ");
  }

  @Test
  void no_key_of_somebody_else_has_the_name_of_one_that_waits() {
    done("init");
    assertThat(writ("key", "new", "guardian.next").err()).startsWith("writ: CLI-013 ");
    assertThat(home().resolve("keys/guardian.next.pem")).doesNotExist();
    assertThat(done("key", "rotate", "guardian").out()).startsWith("guardian signs with ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"guardian", "executor", "log"})
  void a_lost_key_is_replaced(String role) throws Exception {
    done("init");
    done("run", "js", "--param", "source=1");
    Files.delete(home().resolve("keys/" + role + ".pem"));
    assertThat(writ("run", "js", "--param", "source=2").err()).startsWith("writ: CAN-070 ");
    done("key", "rotate", role, "--overlap", "0");
    assertThat(home().resolve("keys/" + role + ".pem")).exists();
    requireSound();
  }

  @Test
  void what_a_crash_before_the_enrolment_left_is_taken_up() throws Exception {
    done("init");
    done("key", "rotate", "log");
    // As a crash leaves it: a key that waits and is not enrolled.
    done("init", "--home", dir.resolve("other").toString());
    Path waits = home().resolve("keys/executor.next.pem");
    Files.copy(dir.resolve("other/keys/executor.pem"), waits);
    done("run", "js", "--param", "source=1");
    assertThat(waits).exists();
    byte[] key = Files.readAllBytes(waits);
    done("key", "rotate", "executor", "--overlap", "0");
    assertThat(home().resolve("keys/executor.pem")).hasBinaryContent(key);
    requireSound();
  }

  @Test
  void a_change_of_keys_that_does_not_fit_says_what_to_do() {
    done("init");
    done("key", "new", "bob");
    done("key", "revoke", "bob");
    assertThat(writ("key", "revoke", "bob").err())
        .startsWith("writ: CAN-055 ")
        .contains("Where it was to be revoked, that is done.");
    assertThat(writ("key", "new", "eve", "--tenant", "writ").err())
        .startsWith("writ: EXE-004 ")
        .contains("tenant writ", "Of an operator's statement");
    assertThat(home().resolve("keys/eve.pem")).doesNotExist();
  }

  @Test
  void the_last_operators_key_is_not_revoked_by_mistake() {
    done("init");
    String before = done("key", "list", "--json").out();
    Run last = writ("key", "revoke", "operator");
    assertThat(last.err()).startsWith("writ: CLI-115 ").contains("--last");
    assertThat(last.status()).isEqualTo(ExitCode.REFUSED.status());
    assertThat(done("key", "list", "--json").out()).isEqualTo(before);
    done("key", "new", "tenants", "--role", "operator", "--tenant", "acme"); // can enrol nobody
    assertThat(writ("key", "revoke", "operator").err()).startsWith("writ: CLI-115 ");
    done("key", "new", "second", "--role", "operator");
    done("key", "revoke", "operator");
    assertThat(writ("key", "revoke", "second", "--operator", "second").err()).contains("CLI-115");
    done("key", "revoke", "second", "--operator", "second", "--last");
    assertThat(writ("key", "new", "bob", "--operator", "second").err()).contains("CAN-055");
  }

  @Test
  void no_other_role_is_the_kernels() {
    done("init");
    for (String role : List.of("operator", "agent", "Guardian", "")) {
      assertThat(writ("key", "rotate", role).err()).startsWith("writ: CLI-001 ");
    }
    assertThat(done("key", "list").out()).hasLineCount(9);
  }
}

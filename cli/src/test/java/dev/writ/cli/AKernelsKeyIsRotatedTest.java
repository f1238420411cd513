package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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

  @Test
  void a_server_goes_on_with_the_next_key() throws Exception {
    environment.put("WRIT_PASSPHRASE", "a passphrase of the test");
    done("init");
    ProcessBuilder builder =
        new ProcessBuilder(
            OwnProcess.writ("--home", home().toString(), "serve", "--json", "--port", "0"));
    builder.environment().putAll(environment);
    Process server = builder.redirectError(dir.resolve("log").toFile()).start();
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).as(Files.readString(dir.resolve("log"))).contains("\"url\"");
      Run rotated = done("key", "rotate", "guardian");
      assertThat(rotated.out()).startsWith("guardian signs with ").contains("still believed");
      String old = rotated.out().strip().replaceAll("(?s).* ", "");
      done("key", "revoke", old);
      assertThat(done("run", "js", "--param", "source=6*7").out()).contains("42");
    } finally {
      server.destroy();
      server.waitFor();
    }
    requireSound();
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
  void no_other_role_is_the_kernels() {
    done("init");
    for (String role : List.of("operator", "agent", "Guardian", "")) {
      assertThat(writ("key", "rotate", role).err()).startsWith("writ: CLI-001 ");
    }
    assertThat(done("key", "list").out()).hasLineCount(9);
  }
}

package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import dev.writ.cli.rules.Project;
import dev.writ.sandbox.host.Owners;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A host that lacks something: a user without root, to whom no cgroups were delegated. Nothing is
 * put in the place of what is missing.
 */
class AHostsShortfallIsAcceptedByPolicyTest {
  private static final String LACKING =
      "[distinct-uid, memory-limit, pids-limit, cpu-limit, measured, disk-limit, tmp-noexec]";

  /** One of its own: what other tests run as nobody may be limited. */
  private static final long USER = 2_147_000_001L;

  private Path folder;
  private Path home;
  private UnprivilegedShell shell;

  @BeforeEach
  void start() throws IOException {
    folder = Files.createTempDirectory(Path.of("/tmp"), "host");
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
    Path own = Files.createDirectory(folder.resolve("own"));
    Owners.give(own, USER);
    home = own.resolve("home");
    shell = new UnprivilegedShell(folder, USER);
    assertThat(writ("init").status()).isZero();
  }

  @AfterEach
  void clean() {
    shell.close();
    Trees.remove(folder);
  }

  private Run writ(String... args) throws IOException {
    return shell.run(
        Map.of(
            "WRIT_HOME",
            home.toString(),
            "WRIT_SANDBOX_DIR",
            home.resolveSibling("s").toString(),
            "CONTAINER_HOST",
            "unix:///nowhere"),
        args);
  }

  private Run exec(String line) throws IOException {
    return writ(
        "run", "exec", "--json", "--param", "shell=" + line, "--param-json", "commands=[\"sh\"]");
  }

  /** The next version of the policy, with another section {@code sandbox} or none. */
  private void activate(String section) throws IOException {
    Path file = home.resolve("policy.yaml");
    String text = Files.readString(file).replaceAll("\nsandbox:.*", "");
    int version = Integer.parseInt(text.replaceAll("(?s).*\nversion: ([0-9]+)\n.*", "$1"));
    Path next = folder.resolve("policy.yaml");
    Files.writeString(
        next,
        text.replace("\nversion: " + version + "\n", "\nversion: " + (version + 1) + "\n")
            + "\n"
            + section);
    Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rw-r--r--"));
    Run activated = writ("policy", "activate", next.toString());
    assertThat(activated.status()).as(activated.err()).isZero();
    Files.copy(next, file, StandardCopyOption.REPLACE_EXISTING);
  }

  @Test
  void whatIsMissingIsRefusedUntilPolicyNamesAllOfItAndThenStandsInTheObservations()
      throws IOException {
    String wanted = "sandbox: { waived: " + LACKING + " }";
    Run refused = exec("echo $((6*7))");
    assertThat(refused.status()).isEqualTo(ExitCode.UNAVAILABLE.status());
    assertThat(refused.out() + refused.err())
        .contains("SBX-003", "bubblewrap does not hold " + LACKING, wanted);

    activate("sandbox: { waived: [memory-limit] }\n");
    Run other = exec("echo $((6*7))");
    assertThat(other.status()).isEqualTo(ExitCode.UNAVAILABLE.status());
    assertThat(other.out() + other.err())
        .contains("SBX-003", LACKING.replace("memory-limit, ", ""), wanted);

    activate(wanted + "\n");
    Run run = exec("echo $((6*7)); id -u; grep Seccomp: /proc/self/status");
    assertThat(run.status()).as(run.out() + run.err()).isZero();
    assertThat(run.out()).contains("42\\n65534\\nSeccomp:\\t2\\n");
    String receipt = run.out().replaceAll("(?s).*\"receipt_id\":\"(sha256:[0-9a-f]{64})\".*", "$1");
    Run said = writ("output", "--observations", receipt);
    assertThat(said.out())
        .as("what nobody measured is charged as the ceiling")
        .contains("\"metrics\":{\"cpu_ms\":10000,")
        .contains("\"shortfalls\":" + LACKING.replaceAll("([a-z-]+)", "\"$1\"").replace(" ", ""));
    assertThat(writ("doctor").out().replaceAll("\\s+", " "))
        .contains(
            "the policy in force accepts a host without",
            "bubblewrap here runs without " + LACKING.substring(1, LACKING.length() - 1));

    Run code =
        writ("run", "code_reproducible", "--param", "language=python", "--param", "code=6*7");
    assertThat(code.status()).as(code.out() + code.err()).isZero();
    activate("");
    assertThat(exec("true").status()).isEqualTo(ExitCode.UNAVAILABLE.status());
    // What the policy of then accepted, its replay accepts.
    assertThat(writ("close", "main").status()).isZero();
    String file = home.resolveSibling("main.writ").toString();
    assertThat(writ("export", "main", "-o", file).status()).isZero();
    Run live = writ("replay", file, "--live", "--trust", home.resolve("trust.jwks").toString());
    assertThat(live.out())
        .as(live.err())
        .startsWith("COMPLETE")
        .contains("1 effects: their tool ran again");
    Process second =
        new ProcessBuilder(
                "node",
                Project.root()
                    .resolve("verify/src/main/resources/dev/writ/verify/bundle/verify.mjs")
                    .toString(),
                file,
                "--trust",
                home.resolve("trust.jwks").toString())
            .redirectErrorStream(true)
            .start();
    String words = new String(second.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(second.onExit().join().exitValue()).as(words).isZero();
  }
}

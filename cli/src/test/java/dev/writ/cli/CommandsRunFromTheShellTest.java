package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.cli.base.ExitCode;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** exec, its grants and its secrets as a user of the command line meets them. */
class CommandsRunFromTheShellTest {
  private static final String VALUE = "correct-horse-battery-staple";

  @TempDir private Path folder;
  private Path home;
  private Path sandboxes;

  @BeforeEach
  void init() throws IOException {
    home = folder.resolve("home");
    sandboxes = Files.createTempDirectory(Path.of("/tmp"), "cmd");
    sandboxes.toFile().setExecutable(true, false);
    assertThat(writ("", "init").status()).isZero();
  }

  @AfterEach
  void clean() {
    Trees.remove(sandboxes);
  }

  private Run writ(String input, String... args) {
    String[] all = new String[args.length + 2];
    all[0] = "--home";
    all[1] = home.toString();
    System.arraycopy(args, 0, all, 2, args.length);
    return Run.on(
        input,
        "",
        Map.of("WRIT_SANDBOX_DIR", sandboxes + "/s", "WORKSPACE_ROOT", folder.toString()),
        Commands.ALL,
        all);
  }

  private Run exec(String line, String commands, String... more) {
    Stream<String> all =
        Stream.concat(
            Stream.of(
                "run",
                "exec",
                "--json",
                "--param",
                "shell=" + line,
                "--param-json",
                "commands=" + commands),
            Stream.of(more));
    return writ("", all.toArray(String[]::new));
  }

  @Test
  void aCommandRunsWhereTheRoleHasItAndTheShellFindsNoOther() {
    Run run = exec("echo $((6*7)); git --version", "[\"sh\"]");
    assertThat(run.status()).as(run.err() + run.out()).isZero();
    assertThat(run.out()).contains("\"stdout\":\"42\\n\"").contains("\"exit_code\":127");
    assertThat(exec("git --version", "[\"git\",\"sh\"]").out()).contains("git version");
    Run denied = exec("true", "[\"bash\"]");
    assertThat(denied.status()).isEqualTo(ExitCode.REFUSED.status());
    assertThat(denied.out() + denied.err()).contains("GRD-413");
  }

  @Test
  void theWholeWorkspaceOfARunIsAnArtifactOnRequest() {
    assertThat(exec("mkdir -p a/empty; echo one > a/file; ln -s file a/link", "[\"sh\"]").status())
        .isZero();
    Run whole =
        writ(
            "",
            "run",
            "exec",
            "--json",
            "--param-json",
            "argv=[\"true\"]",
            "--param-json",
            "commands=[]",
            "--param-json",
            "artifacts=[\"./\"]");
    assertThat(whole.status()).as(whole.err() + whole.out()).isZero();
    String receipt = whole.out().replaceAll("(?s).*\"receipt_id\":\"([^\"]*)\".*", "$1");
    Run tar = writ("", "output", receipt, "--artifact", "workspace.tar");
    assertThat(tar.out()).startsWith("a\0").contains("a/empty\0", "a/file\0", "a/link\0", "one\n");
    assertThat(whole.out())
        .contains(
            "\"name\":\"workspace.tar\"",
            Digest.sha256(tar.out().getBytes(StandardCharsets.UTF_8)).toString());
  }

  /** What others do in the directory between two commands keeps no bundle from verifying. */
  @Test
  void commandsInADirectoryOfTheHostAreReceiptedAuditedAndReplayed() throws IOException {
    Path repo = Files.createDirectory(folder.resolve("repo"));
    Files.writeString(repo.resolve("count"), "1\n");
    for (String after : List.of("1\n2\n", "other\n2\n")) {
      Run run = exec("cat count; echo 2 >> count", "[\"sh\"]", "--param", "mount=repo");
      assertThat(run.status()).as(run.err() + run.out()).isZero();
      assertThat(repo.resolve("count")).hasContent(after);
      Files.writeString(repo.resolve("count"), "other\n");
    }
    assertThat(writ("", "close", "main").status()).isZero();
    Run audit = writ("", "audit");
    assertThat(audit.status()).as(audit.err() + audit.out()).isZero();
    String bundle = folder.resolve("main.writ").toString();
    String trust = home.resolve("trust.jwks").toString();
    assertThat(writ("", "export", "main", "-o", bundle).status()).isZero();
    Run verified = writ("", "verify", bundle, "--trust", trust);
    assertThat(verified.status()).as(verified.err() + verified.out()).isZero();
    Run replayed = writ("", "replay", bundle, "--trust", trust, "--live");
    assertThat(replayed.status()).as(replayed.err() + replayed.out()).isZero();
    assertThat(repo.resolve("count")).as("no replay works in it").hasContent("other\n");
  }

  /** Everything that is left after a run is searched: it is nowhere but where it was put. */
  @Test
  void aSecretIsFoundNowhereAfterItsCall() throws IOException {
    assertThat(writ(VALUE + "\n", "secret", "put", "token").status()).isZero();
    Run ungranted = exec("true", "[\"sh\"]", "--param-json", "secrets=[\"token\"]");
    assertThat(ungranted.out() + ungranted.err()).contains("GRD-102");
    grant();
    assertThat(writ("", "secret", "list", "--json").out()).contains("\"granted\":true");
    Run other = exec("true", "[\"sh\"]", "--param-json", "secrets=[\"other\"]");
    assertThat(other.out() + other.err()).contains("GRD-412");
    String encoded =
        Base64.getEncoder().encodeToString(VALUE.getBytes(StandardCharsets.UTF_8)).substring(0, 32);
    Run run =
        exec(
            "cat /run/secrets/token; base64 -w0 < /run/secrets/token; env;"
                + " tr '\\0' '\\n' < /proc/self/environ >&2; cat /run/secrets/token >&2;"
                + " cat /run/secrets/token > copy; wc -c < /run/secrets/token",
            "[\"sh\"]",
            "--param-json",
            "secrets=[\"token\"]",
            "--param-json",
            "artifacts=[\"copy\"]");
    assertThat(run.status()).as(run.err() + run.out()).isZero();
    assertThat(run.out())
        .contains("[secret]", "28\\n")
        .doesNotContain(VALUE)
        .doesNotContain(encoded);
    assertThat(run.err()).doesNotContain(VALUE);
    assertThat(writ("", "receipts").out() + writ("", "close", "main").out()).doesNotContain(VALUE);
    List<Path> places = List.of(home, folder.resolve("home.anchor"));
    int searched = 0;
    for (Path place : places) {
      try (Stream<Path> files = Files.walk(place)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          if (!file.equals(home.resolve("secrets/token"))) {
            String bytes = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
            assertThat(bytes).as(file.toString()).doesNotContain(VALUE).doesNotContain(encoded);
            searched++;
          }
        }
      }
    }
    assertThat(searched).isGreaterThan(10);
    assertThat(
            new String(
                Files.readAllBytes(Path.of("/proc/self/environ")), StandardCharsets.ISO_8859_1))
        .doesNotContain(VALUE);
    assertThat(writ("", "audit").status()).isZero();
    assertThat(writ("", "fsck", "--second-opinion").status()).isZero();
  }

  /** As an operator would: one rule less, a grant, the next version. */
  private void grant() throws IOException {
    Path policy = home.resolve("policy.yaml");
    String text =
        Files.readString(policy)
                .replace("\nversion: 1\n", "\nversion: 2\n")
                .replace("cel: \"!has(params.secrets)\"", "cel: \"true\"")
            + "\nsecrets:\n  - { name: token, match: { tenant: "
            + tenant()
            + ", role: analyst, tool: exec } }\n";
    Files.writeString(policy, text);
    Run activated = writ("", "policy", "activate", policy.toString());
    assertThat(activated.status()).as(activated.err()).isZero();
  }

  private String tenant() throws IOException {
    String line =
        Files.readAllLines(home.resolve("policy.yaml")).stream()
            .filter(l -> l.contains("{ tenant: "))
            .findFirst()
            .orElseThrow();
    return line.substring(line.indexOf("tenant: ") + 8, line.indexOf(','));
  }
}

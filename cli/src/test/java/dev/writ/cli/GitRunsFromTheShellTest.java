package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.testing.TestTls;
import dev.writ.tools.git.GitServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Git from the command line, through all stages: the password is in one file and nowhere else. */
class GitRunsFromTheShellTest {
  private static final String HOST = "localhost";

  @TempDir private Path dir;
  private Path sandboxes;
  private GitServer server;

  @BeforeEach
  void open() throws IOException {
    sandboxes = Files.createTempDirectory(Path.of("/tmp"), "cli");
    Files.setPosixFilePermissions(sandboxes, PosixFilePermissions.fromString("rwx--x--x"));
    TestTls tls = TestTls.forNames(HOST);
    Files.write(dir.resolve("ca.pem"), tls.authority());
    Path root = Files.createDirectory(dir.resolve("server"));
    server = GitServer.open(root, tls, HOST);
    GitServer.git(root, "init", "--quiet", "--initial-branch=main", "work");
    GitServer.git(root.resolve("work"), "commit", "--quiet", "--allow-empty", "--message=first");
    server.make("app.git");
    GitServer.git(root.resolve("work"), "push", "--quiet", "../app.git", "main");
    assertThat(writ("init").status()).isZero();
  }

  @AfterEach
  void close() {
    server.close();
    Trees.remove(sandboxes);
  }

  private Run writ(String... args) {
    return piped("", args);
  }

  private Run piped(String input, String... args) {
    TreeMap<String, String> environment = new TreeMap<>();
    environment.put("WRIT_HOME", dir.resolve("home").toString());
    environment.put("WRIT_SANDBOX_DIR", sandboxes.resolve("s").toString());
    environment.put("WRIT_EGRESS_CA", dir.resolve("ca.pem").toString());
    environment.put("WRIT_EGRESS_PRIVATE", "other.test:1," + HOST + ":" + server.port());
    return Run.on(input, "", environment, Commands.ALL, args);
  }

  private Run git(String operation, String... params) {
    Stream<String> all = Stream.of(params).flatMap(p -> Stream.of("--param", p));
    return writ(
        Stream.concat(Stream.of("run", "git_cli/" + operation, "--json"), all)
            .toArray(String[]::new));
  }

  private void allow() throws IOException {
    Path policy = dir.resolve("home/policy.yaml");
    String text = Files.readString(policy);
    String tenant = text.replaceFirst("(?s).*tenant: ([^,]+),.*", "$1");
    Files.writeString(
        policy,
        text.replace("\nversion: 1\n", "\nversion: 2\n")
                .replace("    network: []", "    network: [\"" + HOST + ":" + server.port() + "\"]")
            + "\nsecrets:\n  - { name: robot, match: { tenant: "
            + tenant
            + ", tool: git_cli } }\n");
    Run activated = writ("policy", "activate", policy.toString());
    assertThat(activated.status()).as(activated.out() + activated.err()).isZero();
    assertThat(piped(server.secret(), "secret", "put", "robot").status()).isZero();
  }

  @Test
  void aCommitGoesToTheServerAndThePasswordNowhere() throws IOException {
    String url = "url=" + server.url("app.git");
    Run refused = git("clone", url, "path=app");
    assertThat(refused.status()).isNotZero();
    assertThat(refused.out()).contains("GRD-410");
    allow();
    Run cloned = git("clone", url, "path=app", "credential=robot");
    assertThat(cloned.status()).as(cloned.out() + cloned.err()).isZero();
    assertThat(cloned.out()).contains("\"branch\":\"main\"");
    Run wrote =
        writ(
            "run",
            "code_interpreter",
            "--param",
            "language=python",
            "--param",
            "code=open('app/f', 'w').write('1')");
    assertThat(wrote.status()).as(wrote.out() + wrote.err()).isZero();
    Run committed = git("commit", "path=app", "message=second");
    assertThat(committed.status()).as(committed.out() + committed.err()).isZero();
    Run pushed = git("push", url, "path=app", "ref=main", "credential=robot");
    assertThat(pushed.status()).as(pushed.out() + pushed.err()).isZero();
    String there = GitServer.git(server.directory("app.git"), "rev-parse", "main");
    assertThat(committed.out()).contains("\"commit\":\"" + there + "\"");
    // Another's secret, or one that does not exist, is not this agent's to name.
    assertThat(git("clone", url, "path=b", "credential=other").out()).contains("GRD-412");
    Run forced = git("push", url, "path=app", "ref=main", "expect=" + there);
    assertThat(forced.status()).isNotZero();

    assertThat(writ("close", "main").status()).isZero();
    String file = dir.resolve("main.writ").toString();
    assertThat(writ("export", "main", "-o", file).status()).isZero();
    Run replayed = writ("replay", file, "--trust", dir.resolve("home/trust.jwks").toString());
    assertThat(replayed.out()).startsWith("COMPLETE");
    assertThat(replayed.status()).isZero();
    requireNowhere();
  }

  @Test
  void authoritiesAndPlacesThatCannotBeReadAreSaidAtOnce() throws IOException {
    Path ca = dir.resolve("ca.pem");
    Files.writeString(ca, "no certificate");
    assertThat(git("init", "path=x").err()).contains("\"code\":\"SBX-031\"");
    Files.delete(ca);
    assertThat(git("init", "path=x").err()).contains("\"code\":\"CLI-002\"");
  }

  /** In every form, in every file: of the home, of the sandboxes, of the exported run. */
  private void requireNowhere() throws IOException {
    String whole = GitServer.USER + ":" + GitServer.PASSWORD;
    String base64 = Base64.getEncoder().encodeToString(whole.getBytes(StandardCharsets.UTF_8));
    int files = 0;
    for (Path root : new Path[] {dir.resolve("home"), sandboxes, dir.resolve("main.writ")}) {
      try (Stream<Path> all = Files.walk(root)) {
        for (Path path : all.filter(p -> p.toFile().isFile()).toList()) {
          if (path.endsWith("secrets/robot") || path.toFile().length() > 64 << 20) {
            continue; // the one place where it is; and images, which are mounted beside
          }
          files++;
          String text = new String(Files.readAllBytes(path), StandardCharsets.ISO_8859_1);
          assertThat(text.contains("tok3n-of-the-robot") || text.contains(base64))
              .as(path.toString())
              .isFalse();
        }
      }
    }
    assertThat(files).isGreaterThan(10);
  }
}

package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The way of a tool through its governance, as people go it: each command tells the next one. */
class AToolIsGovernedTest {
  private static final String GOVERNANCE =
      """
      governance:
        tools: ["word-*"]
        approvals: { tool-reviewer: 2 }
        approvers: { ada: [tool-reviewer], ben: [tool-reviewer] }
        ceiling: { languages: [python], workspace: false, network: [], spawn: false, resource_class: small }
        libraries: []
      """;

  @TempDir Path dir;
  private Path sandboxes;
  private Path project;

  @BeforeEach
  void init() throws IOException {
    sandboxes = Files.createTempDirectory(Path.of("/tmp"), "cli");
    Files.setPosixFilePermissions(sandboxes, PosixFilePermissions.fromString("rwx--x--x"));
    project = dir.resolve("word-stats");
    done("init");
    done("key", "new", "publisher", "--role", "publisher");
    done("key", "new", "ada", "--role", "approver", "--installation");
    done("key", "new", "ben", "--role", "approver", "--installation");
    done("tool", "new", "python", project.toString());
    Path policy = dir.resolve("home/policy.yaml");
    edit(policy, "web_browser, word-count]", "web_browser, word-count, word-stats]");
    Files.writeString(
        policy,
        "  - effect: { tool: word-stats }\n    require:\n      cel: \"size(params.text) < 1000\"\n"
            + GOVERNANCE,
        StandardOpenOption.APPEND);
    done("policy", "activate", policy.toString());
  }

  @AfterEach
  void remove() {
    Trees.remove(sandboxes);
  }

  private Run writ(String... args) {
    TreeMap<String, String> environment = new TreeMap<>();
    environment.put("WRIT_HOME", dir.resolve("home").toString());
    environment.put("WRIT_SANDBOX_DIR", sandboxes.resolve("s").toString());
    return Run.on("", "", environment, Commands.ALL, args);
  }

  private Run done(String... args) {
    Run run = writ(args);
    assertThat(run.status()).as(run.out() + run.err()).isZero();
    return run;
  }

  private void refused(String code, String... args) {
    Run run = writ(args);
    assertThat(run.status()).as(run.out()).isNotZero();
    assertThat(run.err()).contains(code).doesNotContain("\tat ");
  }

  private static void edit(Path path, String from, String to) throws IOException {
    String text = Files.readString(path);
    assertThat(text).contains(from);
    Files.writeString(path, text.replace(from, to));
  }

  private Path packed(String version) throws IOException {
    edit(project.resolve("tool.manifest"), "version: 1.0.0", "version: " + version);
    Path file = dir.resolve("word-stats-" + version + ".tool");
    done("tool", "package", project.toString(), "--out", file.toString());
    done("tool", "sign", file.toString());
    edit(project.resolve("tool.manifest"), "version: " + version, "version: 1.0.0");
    return file;
  }

  private Run run() {
    return writ("run", "word-stats", "--param", "text=one two", "--json");
  }

  @Test
  void fromASubmissionToARevocationAndItsReplay() throws IOException {
    Path first = packed("1.0.0");
    assertThat(done("tool", "submit", first.toString()).err())
        .contains("next: writ tool approve word-stats 1.0.0 --as APPROVER, 2 as tool-reviewer");
    assertThat(done("tool", "review", "word-stats").out())
        .contains(
            "word-stats 1.0.0, draft, published by publisher", "network     none", "src/tool.py");
    assertThat(run().err() + run().out()).contains("GRD-416");
    refused("EXE-917", "tool", "stage", "word-stats", "1.0.0", "active");
    refused("CAN-053", "tool", "approve", "word-stats", "1.0.0", "--as", "operator", "--role", "x");
    done("tool", "approve", "word-stats", "1.0.0", "--as", "ada");
    refused("EXE-914", "tool", "approve", "word-stats", "1.0.0", "--as", "ada");
    assertThat(done("tool", "approve", "word-stats", "1.0.0", "--as", "ben").err())
        .contains("next: writ tool stage word-stats 1.0.0 canary");
    done("tool", "stage", "word-stats", "1.0.0", "canary", "--tenants", "default,other");
    refused("CLI-001", "tool", "stage", "word-stats", "1.0.0", "active", "--percent", "3");
    done("tool", "stage", "word-stats", "1.0.0", "active");
    assertThat(run().out()).contains("\"words\":2");
    // A second version beside it is reviewed against the first, and is not the default as a draft.
    edit(project.resolve("src/tool.py"), "text.count", "0 + text.count");
    done("tool", "submit", packed("1.1.0").toString());
    assertThat(done("tool", "review", "word-stats").out())
        .contains("beside version 1.0.0, which is active", "file src/tool.py: changed");
    assertThat(run().out()).contains("\"version\":\"1.0.0\"");
    done("tool", "reject", "word-stats", "1.1.0", "--as", "ben");
    assertThat(done("tool", "revoke", "word-stats", "1.0.0").err()).doesNotContain("warning");
    Run mistyped = done("--json", "tool", "revoke", "word-stat", "1.0.0");
    assertThat(mistyped.out())
        .contains("\"kind\":\"tool.revoked\"", "nobody submitted word-stat 1.0.0");
    refused("GRD-416", "run", "word-stats@1.0.0", "--param", "text=one two");
    // None is a default now.
    refused("CLI-016", "run", "word-stats", "--param", "text=one two");
    assertThat(writ("run", "word-stats", "--param", "text=one two").err())
        .contains("1.0.0 (revoked), 1.1.0 (draft)");
    assertThat(done("tool", "status").out()).contains("revoked", "mend the package");
    Path bundle = dir.resolve("run.writ");
    done("close", "main");
    done("export", "main", "-o", bundle.toString());
    assertThat(
            done("verify", bundle.toString(), "--trust", dir.resolve("home/trust.jwks").toString())
                .out())
        .contains("changes of the system run");
    assertThat(writ("replay", bundle.toString()).out()).contains("COMPLETE");
    done("audit");
  }

  /** spec/tool-governance.md, Imported APIs and MCP servers, 1. */
  @Test
  void anApiThatWasImportedGoesTheSameWay() throws IOException {
    Path policy = dir.resolve("home/policy.yaml");
    edit(policy, "tools: [\"word-*\"]", "tools: [petstore, \"word-*\"]");
    done("policy", "activate", policy.toString());
    Path root = Path.of(System.getProperty("writ.root", ".."));
    Path petstore = dir.resolve("petstore");
    Path file = dir.resolve("petstore-1.0.0.tool");
    String document = root.resolve("examples/openapi/petstore.yaml").toString();
    done("tool", "import", document, "-o", petstore.toString());
    done("tool", "package", petstore.toString(), "--out", file.toString());
    done("tool", "sign", file.toString());

    Run above = writ("tool", "submit", file.toString());
    assertThat(above.status()).isEqualTo(ExitCode.REFUSED.status());
    assertThat(above.out())
        .contains("language http", "network petstore.example:443", "petstore_token");

    edit(policy, "languages: [python]", "languages: [http, python]");
    edit(
        policy,
        "network: [], spawn: false,",
        "network: [\"petstore.example:443\"], spawn: false, secrets: [petstore_token],");
    edit(policy, "resource_class: small }", "resource_class: large }");
    done("policy", "activate", policy.toString());
    assertThat(done("tool", "submit", file.toString()).err())
        .contains("tool approve petstore 1.0.0");
    assertThat(done("tool", "review", "petstore").out()).contains("petstore.example:443");
    done("tool", "approve", "petstore", "1.0.0", "--as", "ada");
    done("tool", "approve", "petstore", "1.0.0", "--as", "ben");
    done("tool", "stage", "petstore", "1.0.0", "active");
    assertThat(done("tool", "status").out()).contains("petstore", "active");
  }

  @Test
  void whatIsAboveThePolicyIsFoundAndCannotBeApproved() throws IOException {
    edit(project.resolve("tool.manifest"), "network: []", "network: [\"example.org:443\"]");
    edit(project.resolve("tool.manifest"), "resource_class: small", "resource_class: medium");
    Path library = project.resolve("vendor/markdown.py");
    Files.createDirectories(library.getParent());
    Files.writeString(library, "x = 1\n");
    String locked =
        done("tool", "lock", project.toString(), "--dependency", "markdown@3.5=vendor/markdown.py")
            .out();
    assertThat(locked).matches("markdown 3\\.5 \\(named\\), 1 file, sha256:[0-9a-f]{64}\\n");
    String digest = locked.strip().substring(locked.indexOf("sha256:"));
    Path file = packed("1.0.0");
    Run submit = writ("tool", "submit", file.toString());
    assertThat(submit.status()).isEqualTo(ExitCode.REFUSED.status());
    assertThat(submit.out())
        .contains("TOL-217 tool.manifest: network example.org:443", "resource_class medium")
        .contains("TOL-221 tool.lock: markdown 3.5 " + digest);
    assertThat(submit.err()).contains("next: mend the package and submit it again");
    refused("EXE-917", "tool", "approve", "word-stats", "1.0.0", "--as", "ada");
    assertThat(dir.resolve("home/tools/word-stats")).doesNotExist();
    Path policy = dir.resolve("home/policy.yaml");
    edit(
        policy,
        "libraries: []",
        "libraries: [ { name: markdown, version: \"3.5\", digest: \"" + digest + "\" } ]");
    done("policy", "activate", policy.toString());
    // Mended it is another package, and the same version may be submitted again.
    edit(project.resolve("tool.manifest"), "network: [\"example.org:443\"]", "network: []");
    edit(project.resolve("tool.manifest"), "resource_class: medium", "resource_class: small");
    Files.delete(file);
    done("tool", "submit", packed("1.0.0").toString());
    done("tool", "approve", "word-stats", "1.0.0", "--as", "ada");
  }

  @Test
  void runtimesAreApprovedAndWithdrawn() {
    assertThat(done("runtime", "approve", "python", "3.13.5").err()).contains("next: ");
    refused("EXE-914", "runtime", "approve", "python", "3.13.5");
    assertThat(done("runtime", "withdraw", "python", "3.13.5", "--json").out())
        .isEqualTo(
            "{\"detail\":{\"language\":\"python\",\"version\":\"3.13.5\"},"
                + "\"kind\":\"runtime.withdrawn\",\"warnings\":[]}\n");
    assertThat(done("runtime", "approve", "pyhton", "3.13.5").err())
        .contains("no tool can be of the language pyhton");
    assertThat(done("tool", "status").out()).contains("runtime python 3.13.5: withdrawn");
  }
}

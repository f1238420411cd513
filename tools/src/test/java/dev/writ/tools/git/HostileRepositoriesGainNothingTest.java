package dev.writ.tools.git;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.workspace.TreeLimits;
import dev.writ.tools.Call;
import dev.writ.tools.process.ProcessHost;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Repositories that other tools and other people wrote. The evil program is a static binary in the
 * workspace, which leaves a file there when anything runs it: a script could not run anyway.
 */
class HostileRepositoriesGainNothingTest {
  private static final String ENGINE = "bubblewrap";
  private static final List<String> ENGINES = List.of("bubblewrap", "runc");
  private static GitLab lab;
  private static byte[] evil;

  @BeforeAll
  static void open(@TempDir Path directory) throws Exception {
    lab = new GitLab();
    Path source =
        Files.writeString(
            directory.resolve("evil.c"),
            "#include <fcntl.h>\nint main() { open(\"/workspace/PWNED\", O_CREAT, 0600);"
                + " return 0; }\n");
    Path program = directory.resolve("evil");
    Process gcc =
        new ProcessBuilder("gcc", "-static", "-o", program.toString(), source.toString())
            .inheritIO()
            .start();
    assertThat(gcc.waitFor()).isZero();
    evil = Files.readAllBytes(program);
  }

  @AfterAll
  static void close() {
    lab.close();
  }

  @AfterEach
  void clear() {
    lab.clear();
  }

  private static void assertHeld(String engine) {
    assertThat(Files.exists(lab.file(engine, "PWNED"))).as("the evil program ran").isFalse();
  }

  private static DriverOutcome status() {
    return lab.call(ENGINE, "status", "path", "r").run();
  }

  /** A repository with one commit, and the program beside it. */
  private static void make(String engine) {
    Path root = lab.workspace(engine).directory();
    GitServer.git(root, "init", "--quiet", "--template=", "--initial-branch=main", "r");
    lab.write(engine, "r/f", "1\n");
    GitServer.git(root.resolve("r"), "add", "f");
    GitServer.git(root.resolve("r"), "commit", "--quiet", "--message=1");
    lab.workspace(engine).write("evil", evil, true);
    lab.giveAway(engine);
  }

  @ParameterizedTest
  @MethodSource("engines")
  void theEvilProgramWorksWhereItRuns(String engine) {
    make(engine);
    ProcessHost host = lab.hosts(engine).host();
    try (Sandbox sandbox =
        host.engine()
            .create(
                SandboxSpec.of("control", Profile.named("default")).in(lab.workspace(engine)))) {
      assertThat(sandbox.exec(Command.of("/workspace/evil")).succeeded()).isTrue();
    }
    assertThat(Files.exists(lab.file(engine, "PWNED"))).isTrue();
  }

  /** Each a section and a key that runs a program, leads elsewhere, or changes what git does. */
  private static final String KEYS =
      """
      core.fsmonitor core.hooksPath core.sshCommand core.editor core.pager core.askPass core.gitProxy
      core.alternateRefsCommand core.attributesFile core.excludesFile core.worktree core.notesRef
      core.sparseCheckout core.splitIndex core.fsmonitorHookVersion core.protectNTFS core.trustctime
      include.path includeIf.x.path filter.x.clean filter.x.smudge filter.x.process filter.x.required
      diff.external diff.x.command diff.x.textconv merge.x.driver merge.tool mergetool.x.cmd
      difftool.x.cmd gpg.program gpg.x.program gpg.ssh.defaultKeyCommand commit.gpgSign
      commit.template user.signingKey tag.gpgSign push.gpgSign log.showSignature alias.status
      alias.x uploadpack.packObjectsHook remote.x.uploadpack remote.x.receivepack remote.x.vcs
      remote.x.proxy remote.x.pushurl remote.x.mirror remote.x.promisor remote.x.partialclonefilter
      credential.helper credential.x.helper http.proxy http.cookieFile http.extraHeader http.sslVerify
      http.x.extraHeader url.x.insteadOf url.x.pushInsteadOf protocol.ext.allow protocol.allow
      sequence.editor interactive.diffFilter pager.log sendemail.x submodule.x.update
      submodule.x.url submodule.recurse trailer.x.command trailer.x.cmd gc.auto maintenance.x
      extensions.worktreeConfig extensions.partialClone extensions.relativeWorktrees safe.directory
      init.templateDir receive.denyCurrentBranch transfer.credentialsInUrl branch.x.description
      branch.x.mergeOptions pull.rebase rerere.enabled i18n.commitEncoding status.x man.viewer
      """;

  static Stream<String> keys() {
    return Stream.of(KEYS.split("\\s+"));
  }

  @ParameterizedTest
  @MethodSource("keys")
  void aKeyThatGitDoesNotWriteItselfIsRefused(String key) {
    String[] parts = key.split("\\.");
    String head = parts.length == 2 ? parts[0] : parts[0] + " \"" + parts[1] + "\"";
    String text = "[" + head + "]\n\t" + parts[parts.length - 1] + " = evil\n";
    assertThat(refused(text)).contains("TOL-075").contains(parts[0].toLowerCase(Locale.ROOT) + ".");
  }

  private static String refused(String config) {
    try {
      LocalConfig.require(config.getBytes(StandardCharsets.UTF_8));
      return "";
    } catch (WritException e) {
      return e.getMessage();
    }
  }

  /** What git's own reader understands, and this one does not have to. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "[core] fsmonitor = x\n",
        "[core]fsmonitor=x\n",
        "[CORE]\n\tfsMONITOR = x\n",
        "[core]\n\tbare = false ; comment\n",
        "; comment\n[core]\n",
        "[core]\n\tbare = fal\\\nse\n",
        "[core]\n\tbare\n",
        "[core]\r\n\tbare = false\r\n",
        "\ufeff[core]\n\tbare = false\n",
        "[core.x]\n\tbare = false\n",
        "[remote \"a\\\"b\"]\n\tfetch = +refs/heads/*:refs/remotes/a/*\n",
        "[remote \"https://git.test/x\"]\n\turl = https://git.test/y\n",
        "[remote \"-x\"]\n\turl = https://git.test/y\n",
        "[remote \"origin\"]\n\turl = ext::sh -c evil\n",
        "[remote \"origin\"]\n\turl = /workspace/other\n",
        "[remote \"origin\"]\n\turl = git@git.test:x\n",
        "[remote \"origin\"]\n\turl = https://u:p@git.test/x\n",
        "[remote \"origin\"]\n\tfetch = +refs/*:refs/*\n",
        "[remote \"origin\"]\n\tfetch = +refs/heads/*:refs/heads/*\n",
        "[core]\n\trepositoryformatversion = 2\n",
        "[core]\n\tbare = true\n",
        "[core]\n\tfilemode = maybe\n",
        "[core \"x\"]\n\tfilemode = true\n",
        "\tbare = false\n",
        "[core]\n\tbare = false\u0000\n[core]\n\tfsmonitor = x\n",
        "[core]\n\tbare =  false\n",
        "[user]\n\tname = \"a\n\temail = b\"\n",
        "[branch \"x\"]\n\tmerge = refs/heads/x\n\trebase = interactive\n",
      })
  void aConfigurationInAnotherFormIsRefused(String config) {
    assertThat(refused(config)).contains("TOL-075").doesNotContain("evil");
  }

  @Test
  void whatGitWritesItselfMayStand() throws IOException {
    lab.run(ENGINE, "init", "path", "r");
    assertThat(refused(Files.readString(lab.file(ENGINE, "r/.git/config")))).isEmpty();
    assertThat(
            refused(
                "[core]\n"
                    + "\trepositoryformatversion = 1\n"
                    + "\tfilemode = true\n"
                    + "[extensions]\n"
                    + "\tobjectformat = sha256\n"
                    + "[remote \"origin\"]\n"
                    + "\turl = https://git.test/a/b.git\n"
                    + "\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
                    + "[branch \"fix#1\"]\n"
                    + "\tremote = origin\n"
                    + "\tmerge = \"refs/heads/fix#1\"\n"
                    + "[user]\n"
                    + "\tname = A B\n"))
        .isEmpty();
  }

  @Test
  void whatIsRefusedIsNamedSoThatItCanBeTakenAway() throws Exception {
    assertThat(refused("[filter \"lfs\"]\n\tclean = git-lfs clean\n"))
        .contains("the key filter.lfs.clean is");
    assertThat(status().message()).contains("SBX-044", "init and clone make a repository");
    make(ENGINE);
    Files.move(lab.file(ENGINE, "r/.git"), lab.file(ENGINE, "elsewhere"));
    Files.writeString(lab.file(ENGINE, "r/.git"), "gitdir: ../elsewhere\n");
    assertThat(status().message()).contains("SBX-045", "a worktree or a submodule is not taken");
  }

  /** Prepared by a shell in the workspace, as another tool of the run would. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "TOL-075 printf '[core]\\n\\tfsmonitor = /workspace/evil\\n' >> r/.git/config",
        "SBX-045 mv r/.git elsewhere; ln -s ../elsewhere r/.git",
        "SBX-045 mv r/.git elsewhere; echo 'gitdir: ../elsewhere' > r/.git",
        "SBX-043 mv r other; ln -s other r",
        "TOL-074 mv r/.git/config config; ln -s ../../config r/.git/config",
        "TOL-074 mv r/.git/objects objects; ln -s ../../objects r/.git/objects",
        "TOL-074 rm r/.git/HEAD; ln -s /etc/passwd r/.git/HEAD",
        "TOL-074 mkfifo r/.git/index.lock",
        "TOL-074 echo /workspace/other > r/.git/objects/info/alternates",
        "TOL-074 echo http://x/ > r/.git/objects/info/http-alternates",
        "TOL-074 echo ../other > r/.git/commondir",
        "TOL-074 printf '[core]\\n' > r/.git/config.worktree",
        "TOL-074 mkdir -p r/.git/worktrees/x",
        "TOL-074 mkdir -p r/.git/modules/x",
        "TOL-074 mkdir -p r/.git/refs/replace",
        "TOL-074 mkdir r/.git/info; echo x > r/.git/info/grafts",
        "TOL-074 mkdir -p r/sub/.git",
        "TOL-074 mkdir r/sub; echo 'gitdir: ../other' > r/sub/.git",
        "SBX-044 rm -r r/.git; git init --quiet --bare --initial-branch=main r",
        "SBX-044 rm r/.git/config",
      })
  void aRepositoryThatLeadsElsewhereIsRefused(String line) throws Exception {
    make(ENGINE);
    Path root = lab.workspace(ENGINE).directory();
    String[] parts = line.split(" ", 2);
    ProcessBuilder shell = new ProcessBuilder("/bin/sh", "-c", parts[1]);
    shell.environment().put("GIT_CONFIG_GLOBAL", "/dev/null");
    assertThat(shell.directory(root.toFile()).inheritIO().start().waitFor()).isZero();
    DriverOutcome outcome = status();
    assertThat(outcome.reason()).as(Call.show(outcome)).isEqualTo("refused");
    assertThat(outcome.message()).contains(parts[0]);
    assertHeld(ENGINE);
  }

  @ParameterizedTest
  @MethodSource("engines")
  void hooksAndAttributesOfARepositoryDoNotRun(String engine) throws IOException {
    make(engine);
    Path git = lab.file(engine, "r/.git");
    for (String hook :
        List.of(
            "applypatch-msg",
            "commit-msg",
            "fsmonitor-watchman",
            "post-applypatch",
            "post-checkout",
            "post-commit",
            "post-index-change",
            "post-merge",
            "post-rewrite",
            "post-update",
            "pre-applypatch",
            "pre-auto-gc",
            "pre-commit",
            "pre-merge-commit",
            "pre-push",
            "pre-rebase",
            "prepare-commit-msg",
            "proc-receive",
            "push-to-checkout",
            "reference-transaction",
            "sendemail-validate",
            "update")) {
      lab.workspace(engine).write("r/.git/hooks/" + hook, evil, true);
    }
    lab.write(engine, "r/.git/info/attributes", "* filter=evil diff=evil merge=evil\n");
    lab.write(engine, "r/.gitattributes", "* filter=lfs diff=evil textconv=evil ident\n");
    // Programs beside it, by the names that git would look for.
    for (String name : List.of("sh", "git-remote-ext", "git-lfs", "pager", "editor", "ssh")) {
      lab.workspace(engine).write("r/" + name, evil, true);
    }
    lab.run(engine, "commit", "path", "r", "message", "2");
    lab.run(engine, "checkout", "path", "r", "create", "other", "ref", "HEAD~1");
    lab.run(engine, "checkout", "path", "r", "ref", "main");
    lab.write(engine, "r/f", "changed\n");
    lab.run(engine, "diff", "path", "r");
    lab.run(engine, "status", "path", "r");
    lab.run(engine, "log", "path", "r");
    lab.server().make("public/hooked-" + engine + ".git");
    String url = lab.server().url("public/hooked-" + engine + ".git");
    lab.run(engine, "push", "path", "r", "url", url, "ref", "main", "credential", "robot");
    lab.run(engine, "fetch", "path", "r", "url", url);
    assertThat(Files.exists(git.resolve("hooks/pre-commit"))).isTrue();
    assertHeld(engine);
  }

  /**
   * A commit of the server's past that names the server's newest as its parent: git believes it,
   * and takes a branch from before for one that is ahead.
   */
  @Test
  void aForgedHistoryMovesNoBranchBack() throws IOException {
    String name = "public/forged.git";
    Path directory = lab.server().make(name);
    for (String text : List.of("1", "2", "3")) {
      lab.commitOnServer(name, "f", text);
    }
    String url = lab.server().url(name);
    lab.run(ENGINE, "init", "path", "r");
    lab.run(ENGINE, "fetch", "path", "r", "url", url);
    lab.run(ENGINE, "checkout", "path", "r", "create", "main", "ref", "origin/main~2");
    lab.write(ENGINE, "r/f", "mine");
    lab.run(ENGINE, "commit", "path", "r", "message", "mine");
    Path repository = lab.file(ENGINE, "r");
    String newest = GitServer.git(repository, "rev-parse", "origin/main");
    forgeParent(repository, GitServer.git(repository, "rev-parse", "main~1"), newest);
    lab.giveAway(ENGINE);
    // Git believes it, or this would throw.
    GitServer.git(repository, "merge-base", "--is-ancestor", "origin/main", "main");
    Object[] push = {"path", "r", "url", url, "ref", "main", "credential", "robot"};
    DriverOutcome outcome = lab.call(ENGINE, "push", push).run();
    assertThat(outcome.reason()).as(Call.show(outcome)).isEqualTo("push-rejected");
    assertThat(GitServer.git(directory, "rev-parse", "main")).isEqualTo(newest);
    // Who says what is lost may.
    lab.run(ENGINE, "push", Stream.concat(Stream.of(push), Stream.of("expect", newest)).toArray());
    assertThat(GitServer.git(directory, "rev-list", "--count", "main")).isEqualTo("2");
  }

  /** Puts a commit with another parent into the place of a loose one. */
  private static void forgeParent(Path repository, String commit, String parent)
      throws IOException {
    unpack(repository);
    String[] text = GitServer.git(repository, "cat-file", "commit", commit).split("\n", 2);
    String forged = text[0] + "\nparent " + parent + "\n" + text[1] + "\n";
    Path file =
        repository
            .resolve(".git/objects")
            .resolve(commit.substring(0, 2))
            .resolve(commit.substring(2));
    Files.delete(file);
    try (OutputStream out = new DeflaterOutputStream(Files.newOutputStream(file))) {
      out.write(("commit " + forged.length() + "\0" + forged).getBytes(StandardCharsets.UTF_8));
    }
  }

  private static void unpack(Path repository) throws IOException {
    List<byte[]> packs = new ArrayList<>();
    try (Stream<Path> all = Files.list(repository.resolve(".git/objects/pack"))) {
      for (Path one : all.toList()) {
        if (one.toString().endsWith(".pack")) {
          packs.add(Files.readAllBytes(one));
        }
        Files.delete(one);
      }
    }
    for (byte[] pack : packs) {
      GitServer.git(repository, pack, "unpack-objects", "-q");
    }
  }

  static List<String> engines() {
    return ENGINES;
  }

  @ParameterizedTest
  @MethodSource("engines")
  void whatAServerHandsOutIsDataAndNothingElse(String engine) throws IOException {
    String name = "public/evil-" + engine + ".git";
    Path repository = lab.server().make(name);
    lab.commitOnServer(
        name,
        ".gitattributes",
        "* filter=evil diff=evil merge=evil working-tree-encoding=UTF-8\n",
        ".gitmodules",
        "[submodule \"x\"]\n\tpath = x\n\turl = https://git.test/x\n\tupdate = checkout\n"
            + "\tignore = none\n",
        ".gitconfig",
        "[core]\n\tfsmonitor = evil\n",
        ".mailmap",
        "Somebody Else <else@where.test> <m@evil.test>\n",
        "hooks/post-checkout",
        "#!/bin/sh\n",
        // A bare repository within, as data.
        "nested/HEAD",
        "ref: refs/heads/main\n",
        "nested/config",
        "[core]\n\tbare = true\n\tfsmonitor = /workspace/evil\n",
        "nested/objects/x",
        "",
        "nested/refs/x",
        "");
    GitServer.git(repository, "update-ref", "refs/heads/--upload-pack=evil", "main");
    GitServer.git(repository, "update-ref", "refs/heads/a;b$(evil)|`evil`", "main");
    GitServer.git(repository, "update-ref", "refs/tags/-x", "main");
    Path work = lab.server().directory("work-public-evil-" + engine + ".git");
    Files.createSymbolicLink(work.resolve("link"), Path.of("/etc/passwd"));
    Files.createSymbolicLink(work.resolve("dirlink"), Path.of(".git/hooks"));
    GitServer.git(work, "update-index", "--add", "--cacheinfo", "160000," + "1".repeat(40) + ",x");
    GitServer.git(work, "add", "link", "dirlink");
    GitServer.git(work, "commit", "--quiet", "--message=links");
    GitServer.git(work, "push", "--quiet", "origin", "HEAD:refs/heads/main");
    String url = lab.server().url(name);
    lab.run(engine, "clone", "url", url, "path", "r");
    lab.workspace(engine).write("evil", evil, true);
    assertThat(lab.file(engine, "r/x")).isEmptyDirectory();
    lab.run(engine, "status", "path", "r");
    assertThat(new String(Jcs.write(lab.run(engine, "log", "path", "r")), StandardCharsets.UTF_8))
        .contains("\"name\":\"Mallory\"")
        .doesNotContain("Somebody");
    // The place named is the repository, never one that lies within.
    DriverOutcome inner = lab.call(engine, "status", "path", "r/nested").run();
    assertThat(inner.message()).contains("SBX-044");
    lab.write(engine, "r/new", "x");
    lab.run(engine, "commit", "path", "r", "message", "mine");
    lab.run(engine, "fetch", "path", "r", "url", url);
    assertHeld(engine);
  }

  /** Trees that no git would write: each entry a mode and a name, with the same content. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "100644 .git",
        "100644 .GIT",
        "100644 .git ",
        "100644 git~1",
        "100644 .g\u200cit",
        "100644 ..",
        "100644 .",
        "100644 a/b",
        "100644 ../../escaped",
        "120000 .gitmodules",
        "40000 .git",
        "40000 .Git",
        "40000 ..",
      })
  void treesWithNamesOfGitsOwnAreRefused(String entry) throws IOException {
    String name =
        "public/tree-" + HexFormat.of().formatHex(entry.getBytes(StandardCharsets.UTF_8)) + ".git";
    Path repository = lab.server().make(name);
    byte[] config = "[core]\n\tfsmonitor = /workspace/evil\n".getBytes(StandardCharsets.UTF_8);
    String blob = GitServer.git(repository, config, "hash-object", "-w", "--stdin");
    String inner = tree(repository, "100644 config", blob);
    String tree = tree(repository, entry, entry.startsWith("4") ? inner : blob);
    String commit = GitServer.git(repository, "commit-tree", "-m", "x", tree);
    GitServer.git(repository, "update-ref", "refs/heads/main", commit);
    DriverOutcome outcome =
        lab.call(ENGINE, "clone", "url", lab.server().url(name), "path", "r").run();
    assertThat(outcome.end()).as(Call.show(outcome)).isEqualTo(DriverOutcome.End.FAILED);
    assertThat(outcome.reason()).isEqualTo("git-failed");
    assertThat(lab.workspace(ENGINE).files(TreeLimits.STANDARD))
        .noneMatch(f -> f.endsWith("escaped"));
  }

  private static String tree(Path repository, String entry, String id) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes(entry.getBytes(StandardCharsets.UTF_8));
    bytes.write(0);
    bytes.writeBytes(HexFormat.of().parseHex(id));
    return GitServer.git(
        repository,
        bytes.toByteArray(),
        "hash-object",
        "-t",
        "tree",
        "-w",
        "--literally",
        "--stdin");
  }

  @Test
  void aTreeThatIsTooDeepIsRefused() {
    lab.server().make("public/deep.git");
    lab.commitOnServer("public/deep.git", "d/".repeat(100) + "f", "deep");
    DriverOutcome outcome =
        lab.call(ENGINE, "clone", "url", lab.server().url("public/deep.git"), "path", "r").run();
    assertThat(outcome.message()).contains("SBX-046");
    assertThat(outcome.reason()).isEqualTo("refused");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ext::sh -c evil",
        "ext::https://git.test/x",
        "file:///workspace/r",
        "/workspace/r",
        "../r",
        "ssh://git.test/x",
        "git@git.test:x",
        "git://git.test/x",
        "fd::7",
        "http://git.test/x",
        "ftp://git.test/x",
        "HTTPS://git.test/x",
        "transport::https://git.test/x",
        "--upload-pack=evil",
        "-uevil",
        "https://u:p@git.test/x",
        "https://git.test",
        "https://git.test/",
        "https://git.test/x/",
        "https://git.test//x",
        "https://git.test/../x",
        "https://git.test/x/./y",
        "https://git.test/%2e%2e/x",
        "https://git.test/x?service=y",
        "https://git.test/x#y",
        "https://git.test/x y",
        "https://git.test/x\ny",
        "https://git.test\\@evil.test/x",
        "https://git.test:0/x",
        "https://git.test:99999/x",
        "https://[::1]/x",
        "https://git.test./x",
        "https:///x",
        "",
      })
  void urlsOfOtherKindsAreRefused(String url) {
    DriverOutcome outcome = lab.call(ENGINE, "clone", "url", url, "path", "r").run();
    assertThat(outcome.reason()).isEqualTo("refused");
    assertThat(outcome.message()).contains("TOL-070");
    assertThat(lab.server().requests()).noneMatch(r -> r.contains("/x"));
  }

  private static final List<String> REVISIONS =
      List.of(
          "-x",
          "--upload-pack=evil",
          "--output=/workspace/PWNED",
          "-",
          "",
          "a b",
          "a..b",
          "a:b",
          ":/x",
          "a^{/x}",
          "@{-1}",
          "@",
          "a@{1}",
          "HEAD@{now}",
          "/a",
          "a/",
          "a//b",
          ".a",
          "a/.b",
          "a.lock",
          "a/b.LOCK",
          "a.",
          "a\\b",
          "a*",
          "a?",
          "a[b",
          "a\nb",
          "a\u0000b",
          "a\u007f",
          "\u00e4",
          "~1",
          "^1",
          "a~b",
          "a^b");

  @Test
  void revisionsThatMeanMoreThanANameAreRefused() {
    make(ENGINE);
    for (String ref : REVISIONS) {
      assertThatThrownBy(() -> Revisions.name(ref)).as(ref).hasMessageContaining("TOL-071");
      assertThatThrownBy(() -> Revisions.commit(ref)).as(ref).hasMessageContaining("TOL-071");
      assertThatThrownBy(() -> Revisions.full(ref)).as(ref).hasMessageContaining("TOL-071");
    }
    for (String[] at :
        new String[][] {
          {"checkout", "ref"},
          {"checkout", "create"},
          {"diff", "from"},
          {"diff", "to"},
          {"log", "ref"}
        }) {
      DriverOutcome outcome =
          lab.call(ENGINE, at[0], "path", "r", at[1], "--output=/workspace/PWNED").run();
      assertThat(outcome.message()).as(at[0]).contains("TOL-071");
    }
    assertHeld(ENGINE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/",
        "/etc",
        "..",
        "../x",
        "a/../b",
        "a/./b",
        "a//b",
        "a/",
        "./a",
        ".git",
        "a/.git",
        "a/.GIT/hooks",
        "r/.git/hooks",
        "git~1",
        "a\\b",
        "a\u0000b",
        "a\nb",
      })
  void placesOutsideOfTheWorkspaceOrInGitsOwnAreRefused(String path) {
    DriverOutcome outcome = lab.call(ENGINE, "init", "path", path).run();
    assertThat(outcome.reason()).isEqualTo("refused");
    assertThat(outcome.message()).contains("TOL-072");
  }

  @Test
  void aNewRepositoryIsNotPutBehindALink() throws IOException {
    make(ENGINE);
    Files.createSymbolicLink(lab.file(ENGINE, "away"), Path.of("/tmp"));
    Files.createSymbolicLink(lab.file(ENGINE, "r/in"), Path.of(".git/hooks"));
    for (String path : List.of("away", "away/x", "r/in/x", "evil", "evil/x")) {
      DriverOutcome outcome = lab.call(ENGINE, "init", "path", path).run();
      assertThat(outcome.message()).as(path).contains("TOL-074");
    }
    DriverOutcome there =
        lab.call(ENGINE, "clone", "url", lab.server().url("public/x.git"), "path", "r").run();
    assertThat(there.reason()).isEqualTo("git-failed");
  }

  @Test
  void personsThatGitWouldChangeAreRefused() {
    for (String name :
        List.of("", " x", "x ", "a<b", "a>b", "a\nb", "a\u0000b", ".x", "x.", "'x'", "\ud800x")) {
      assertThatThrownBy(() -> new Person(name, "e@f")).hasMessageContaining("TOL-073");
      assertThatThrownBy(() -> new Person("n", name)).hasMessageContaining("TOL-073");
    }
    make(ENGINE);
    lab.write(ENGINE, "r/f", "2");
    JsonValue.Obj author = JsonValue.object().put("name", "x>").put("email", "e").build();
    DriverOutcome outcome =
        lab.call(ENGINE, "commit", "path", "r", "message", "m", "author", author).run();
    assertThat(outcome.message()).contains("TOL-073");
    DriverOutcome blank = lab.call(ENGINE, "commit", "path", "r", "message", " \n").run();
    assertThat(blank.message()).contains("TOL-073");
  }

  @Test
  void withoutGitTheToolIsRefusedBeforeAnythingRuns() {
    GitDriver driver = new GitDriver(lab.hosts(ENGINE).host(), "git-that-is-not-there");
    assertThatThrownBy(() -> driver.prepare(GitLab.MANIFEST, "log", file -> new byte[0]))
        .hasMessageContaining("TOL-077")
        .hasMessageContaining("apt-get install git");
    assertThatThrownBy(() ->
            new GitDriver(lab.hosts(ENGINE).host())
                .prepare(GitLab.MANIFEST, "gc", file -> new byte[0]))
        .hasMessageContaining("TOL-002");
  }
}

package dev.writ.tools.git;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.tools.Call;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Clone, change, commit, push: before git's own server, with a password that nobody inside sees.
 */
class GitWorksOnTheRunsWorkspaceTest {
  private static final String ENGINE = "bubblewrap";
  private static GitLab lab;

  @BeforeAll
  static void open() {
    lab = new GitLab();
    lab.server().make("team/app.git");
    lab.commitOnServer("team/app.git", "README", "hello\n", "src/a.txt", "one\n");
    lab.server().make("public/open.git");
    lab.commitOnServer("public/open.git", "README", "open\n");
  }

  @AfterAll
  static void close() {
    lab.close();
  }

  @AfterEach
  void clear() {
    lab.server().onRequest(() -> {});
    lab.clear();
  }

  private static String url() {
    return lab.server().url("team/app.git");
  }

  private static JsonValue.Obj person(String name, String email) {
    return JsonValue.object().put("name", name).put("email", email).build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"bubblewrap", "runc"})
  void whatIsClonedChangedAndPushedIsOnTheServerAndTheTokenIsNowhere(String engine)
      throws IOException {
    Queue<String> leaks = new ConcurrentLinkedQueue<>();
    lab.server().onRequest(() -> leaks.addAll(whereTheTokenIs(engine)));
    String branch = "work-" + engine;
    List<DriverOutcome> outcomes = new ArrayList<>();
    outcomes.add(run(engine, "clone", "url", url(), "path", "app", "credential", "robot"));
    JsonValue.Obj cloned = GitLab.output("clone", outcomes.getFirst());
    assertThat(GitLab.text(cloned, "branch")).isEqualTo("main");
    String first = GitLab.text(cloned, "commit");
    assertThat(first).isEqualTo(serverHas("refs/heads/main"));
    outcomes.add(run(engine, "checkout", "path", "app", "create", branch));
    lab.write(engine, "app/src/a.txt", "two\n");
    lab.write(engine, "app/new.txt", "new\n");
    outcomes.add(run(engine, "status", "path", "app"));
    outcomes.add(run(engine, "diff", "path", "app"));
    outcomes.add(
        run(
            engine,
            "commit",
            "path",
            "app",
            "message",
            "A change",
            "author",
            person("Ada", "a@b.test")));
    JsonValue.Obj committed = GitLab.output("commit", outcomes.getLast());
    outcomes.add(
        run(engine, "push", "path", "app", "url", url(), "ref", branch, "credential", "robot"));
    outcomes.add(run(engine, "log", "path", "app", "max", 1));

    String commit = GitLab.text(committed, "commit");
    assertThat(GitLab.text(committed, "branch")).isEqualTo(branch);
    assertThat(serverHas("refs/heads/" + branch)).isEqualTo(commit);
    assertThat(json(GitLab.output("status", outcomes.get(2)).get("entries")))
        .isEqualTo(
            "[{\"index\":\".\",\"path\":\"src/a.txt\",\"worktree\":\"M\"},"
                + "{\"index\":\"?\",\"path\":\"new.txt\",\"worktree\":\"?\"}]");
    JsonValue.Obj diff = GitLab.output("diff", outcomes.get(3));
    assertThat(GitLab.text(diff, "diff")).contains("--- a/src/a.txt\n+++ b/src/a.txt\n", "+two\n");
    assertThat(json(diff.get("files")))
        .isEqualTo("[{\"added\":1,\"deleted\":1,\"path\":\"src/a.txt\",\"status\":\"M\"}]");
    assertThat(json(committed.get("files")))
        .isEqualTo(
            "[{\"added\":1,\"deleted\":0,\"path\":\"new.txt\",\"status\":\"A\"},"
                + "{\"added\":1,\"deleted\":1,\"path\":\"src/a.txt\",\"status\":\"M\"}]");
    String who = "{\"email\":\"a@b.test\",\"name\":\"Ada\",\"time\":\"2026-01-02T03:04:05Z\"}";
    assertThat(json(GitLab.output("log", outcomes.getLast()).get("entries")))
        .isEqualTo(
            "[{\"author\":"
                + who
                + ",\"commit\":\""
                + commit
                + "\",\"committer\":"
                + who
                + ",\"message\":\"A change\\n\",\"parents\":[\""
                + first
                + "\"]}]");
    assertThat(json(GitLab.output("push", outcomes.get(5)).get("updates")))
        .isEqualTo(
            "[{\"flag\":\"*\",\"from\":\"refs/heads/B\",\"summary\":\"[new branch]\",\"to\":\"refs/heads/B\"}]"
                .replace("B", branch));

    assertThat(leaks).isEmpty();
    assertThat(whereTheTokenIs(engine)).isEmpty();
    for (DriverOutcome outcome : outcomes) {
      assertThat(Call.show(outcome)).doesNotContain("tok3n-of-the-robot").doesNotContain(base64());
    }
    assertThat(Files.readString(lab.file(engine, "app/.git/config")))
        .contains("url = " + url() + "\n")
        .doesNotContain("http://");
    String seen = json(outcomes.getFirst().observations());
    assertThat(seen)
        .contains(
            "\"http\":{\"brokered\":true,\"method\":\"GET\",\"path\":\"/team/app.git/info/refs\",\"status\":200}")
        .contains(
            "\"http\":{\"brokered\":true,\"method\":\"POST\",\"path\":\"/team/app.git/git-upload-pack\",\"status\":200}")
        .contains("\"programs\":{\"git\":{\"digest\":\"sha256:")
        .contains("\"engine\":\"" + engine)
        .doesNotContain("service=");
  }

  private static DriverOutcome run(String engine, String operation, Object... params) {
    DriverOutcome outcome = lab.call(engine, operation, params).run();
    assertThat(outcome.end()).as(Call.show(outcome)).isEqualTo(DriverOutcome.End.SUCCEEDED);
    return outcome;
  }

  private static String json(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }

  private static String serverHas(String ref) {
    return GitServer.git(lab.server().directory("team/app.git"), "rev-parse", ref);
  }

  private static String base64() {
    return Base64.getEncoder()
        .encodeToString(
            (GitServer.USER + ":" + GitServer.PASSWORD).getBytes(StandardCharsets.UTF_8));
  }

  /** Arguments and variables of every process of this machine, and every file of the sandboxes. */
  private static List<String> whereTheTokenIs(String engine) {
    List<Path> places = new ArrayList<>();
    try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
      processes
          .filter(p -> p.getFileName().toString().matches("[0-9]+"))
          .forEach(p -> places.addAll(List.of(p.resolve("cmdline"), p.resolve("environ"))));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Path state = lab.hosts(engine).settings().stateDirectory();
    try (Stream<Path> files = Files.walk(state)) {
      // Images of file systems are left out: what is in them is mounted beside them.
      files.filter(f -> f.toFile().isFile() && f.toFile().length() < 8 << 20).forEach(places::add);
    } catch (IOException | UncheckedIOException e) {
      // what goes away meanwhile holds nothing any more
    }
    assertThat(places.size()).isGreaterThan(20);
    List<String> found = new ArrayList<>();
    for (Path place : places) {
      try {
        String text = new String(Files.readAllBytes(place), StandardCharsets.ISO_8859_1);
        if (text.contains("tok3n-of-the-robot") || text.contains(base64())) {
          found.add(place.toString());
        }
      } catch (IOException e) {
        // gone
      }
    }
    return found;
  }

  @Test
  void onlyTheRequestsOfTheProtocolForThatRepositoryAreSent() {
    int before = lab.server().requests().size();
    run(ENGINE, "clone", "url", url(), "path", "r", "credential", "robot");
    run(
        ENGINE,
        "push",
        "path",
        "r",
        "url",
        url(),
        "ref",
        "main",
        "to",
        "same",
        "credential",
        "robot");
    List<String> requests = lab.server().requests();
    assertThat(requests.subList(before, requests.size()))
        .containsExactly(
            "GET /team/app.git/info/refs?service=git-upload-pack",
            "POST /team/app.git/git-upload-pack",
            "POST /team/app.git/git-upload-pack",
            "GET /team/app.git/info/refs?service=git-receive-pack", // what it would do
            "GET /team/app.git/info/refs?service=git-receive-pack",
            "POST /team/app.git/git-receive-pack");
  }

  @ParameterizedTest
  @CsvSource({
    "wrong, authentication-failed, git ended with 128",
    "elsewhere, refused, TOL-076 a credential cannot be used for this call: it is for another host",
    "plain, refused, TOL-076 a credential cannot be used for this call: it is not https",
    "unknown, refused, TOL-076 a credential cannot be used for this call: this call was granted"
        + " none",
    "'', authentication-failed, git ended with 128",
  })
  void aCredentialThatDoesNotOpenItFailsTheCall(String name, String reason, String message) {
    Call call =
        name.isEmpty()
            ? lab.call(ENGINE, "clone", "url", url(), "path", "c")
            : lab.call(ENGINE, "clone", "url", url(), "path", "c", "credential", name);
    DriverOutcome outcome = call.run();
    assertThat(outcome.reason()).as(Call.show(outcome)).isEqualTo(reason);
    assertThat(outcome.end()).isEqualTo(DriverOutcome.End.FAILED);
    assertThat(outcome.message()).contains(message);
    assertThat(Call.show(outcome)).doesNotContain("n-of-the-robot");
  }

  @Test
  void whatIsOpenToAllNeedsNoCredential() {
    JsonValue.Obj cloned =
        lab.run(
            ENGINE, "clone", "url", lab.server().url("public/open.git"), "path", "o", "depth", 1);
    assertThat(cloned.get("commit")).isNotEqualTo(JsonValue.NULL);
  }

  @Test
  void equalCallsMakeEqualCommits() {
    List<String> commits = new ArrayList<>();
    for (String path : List.of("one", "two")) {
      lab.run(ENGINE, "init", "path", path);
      lab.write(ENGINE, path + "/f", "text");
      lab.write(ENGINE, path + "/left out", "text");
      JsonValue.Obj committed =
          lab.run(
              ENGINE,
              "commit",
              "path",
              path,
              "message",
              "# not a comment\n\n  as written \n",
              "paths",
              JsonValue.of(List.of(JsonValue.of("f"))));
      commits.add(GitLab.text(committed, "commit"));
      assertThat(json(lab.run(ENGINE, "log", "path", path).get("entries")))
          .contains("\"message\":\"# not a comment\\n\\n  as written \\n\"")
          .contains("\"name\":\"agent-1\"");
    }
    assertThat(commits.get(0)).isEqualTo(commits.get(1));
    assertThat(commits.get(0)).isEqualTo("0ed17550d8d073792df8e378df46a876e45f04eb");
    DriverOutcome again = lab.call(ENGINE, "commit", "path", "one", "message", "x").run();
    assertThat(again.end()).isEqualTo(DriverOutcome.End.SUCCEEDED);
    DriverOutcome nothing = lab.call(ENGINE, "commit", "path", "one", "message", "x").run();
    assertThat(nothing.reason()).isEqualTo("nothing-to-commit");
    assertThat(nothing.end()).isEqualTo(DriverOutcome.End.FAILED);
    assertThat(GitLab.output("commit", nothing).get("exit_code")).isEqualTo(JsonValue.of(1));
  }

  @Test
  void aPushThatWouldTakeSomethingAwayIsRejectedUnlessItSaysWhat() {
    run(ENGINE, "clone", "url", url(), "path", "a", "credential", "robot");
    run(ENGINE, "checkout", "path", "a", "create", "shared");
    Object[] push = {"path", "a", "url", url(), "ref", "shared", "credential", "robot"};
    run(ENGINE, "push", push);
    String old = serverHas("refs/heads/shared");
    lab.write(ENGINE, "a/f", "theirs");
    run(ENGINE, "commit", "path", "a", "message", "theirs");
    run(ENGINE, "push", push);
    String theirs = serverHas("refs/heads/shared");
    run(ENGINE, "checkout", "path", "a", "create", "mine", "ref", "HEAD~1");
    lab.write(ENGINE, "a/f", "mine");
    run(ENGINE, "commit", "path", "a", "message", "mine");
    Object[] mine = {
      "path", "a", "url", url(), "ref", "mine", "to", "shared", "credential", "robot"
    };
    DriverOutcome rejected = lab.call(ENGINE, "push", mine).run();
    assertThat(rejected.reason()).isEqualTo("push-rejected");
    assertThat(json(GitLab.output("push", rejected).get("updates"))).contains("\"flag\":\"!\"");
    DriverOutcome stale =
        lab.call(ENGINE, "push", Stream.concat(Stream.of(mine), Stream.of("expect", old)).toArray())
            .run();
    assertThat(stale.reason()).isEqualTo("push-rejected");
    assertThat(serverHas("refs/heads/shared")).isEqualTo(theirs);
    run(ENGINE, "push", Stream.concat(Stream.of(mine), Stream.of("expect", theirs)).toArray());
    assertThat(serverHas("refs/heads/shared")).isNotEqualTo(theirs);
  }

  @Test
  void whatOthersPushedIsFetchedAndPulled() {
    lab.server().make("public/busy.git");
    lab.commitOnServer("public/busy.git", "f", "1");
    String url = lab.server().url("public/busy.git");
    lab.run(ENGINE, "clone", "url", url, "path", "b");
    lab.commitOnServer("public/busy.git", "f", "2");
    JsonValue.Obj fetched = lab.run(ENGINE, "fetch", "path", "b", "url", url, "ref", "main");
    JsonValue.Obj log = lab.run(ENGINE, "log", "path", "b", "ref", "origin/main");
    assertThat(json(log.get("entries"))).contains(GitLab.text(fetched, "commit"));
    assertThat(lab.run(ENGINE, "status", "path", "b").get("commit"))
        .isNotEqualTo(fetched.get("commit"));
    JsonValue.Obj pulled = lab.run(ENGINE, "pull", "path", "b", "url", url, "ref", "main");
    assertThat(pulled.get("commit")).isEqualTo(fetched.get("commit"));
    JsonValue.Obj at = lab.run(ENGINE, "checkout", "path", "b", "ref", "HEAD~1");
    assertThat(at.get("branch")).isEqualTo(JsonValue.NULL);
    assertThat(
            json(lab.run(ENGINE, "diff", "path", "b", "from", "HEAD", "to", "main").get("files")))
        .isEqualTo("[{\"added\":1,\"deleted\":1,\"path\":\"f\",\"status\":\"M\"}]");
    DriverOutcome missing = lab.call(ENGINE, "checkout", "path", "b", "ref", "no-such").run();
    assertThat(missing.reason()).isEqualTo("git-failed");
    assertThat(missing.message()).contains("git ended with 128: fatal: ", "no-such");
  }

  @Test
  void whatIsLargeIsStreamedAndWhatIsShownIsCut() throws IOException {
    lab.run(ENGINE, "init", "path", "big");
    byte[] noise = new byte[4 << 20];
    new Random(5).nextBytes(noise);
    lab.workspace(ENGINE).write("big/noise", noise, false);
    lab.write(ENGINE, "big/many\u00e9 \"q\"\tt", "line\n".repeat(40_000));
    lab.run(ENGINE, "commit", "path", "big", "message", "large");
    lab.server().make("public/large.git");
    String url = lab.server().url("public/large.git");
    // More than git's buffer for one request, so it is sent in chunks.
    lab.run(ENGINE, "push", "path", "big", "url", url, "ref", "main", "credential", "robot");
    lab.run(ENGINE, "clone", "url", url, "path", "back");
    assertThat(Files.readAllBytes(lab.file(ENGINE, "back/noise"))).isEqualTo(noise);
    lab.write(ENGINE, "big/many\u00e9 \"q\"\tt", "line\n".repeat(30_000) + "\u0001".repeat(90_000));
    lab.write(ENGINE, "big/noise", "text");
    DriverOutcome outcome = lab.call(ENGINE, "diff", "path", "big").outputBytes(200_000).run();
    JsonValue.Obj diff = GitLab.output("diff", outcome);
    assertThat(outcome.output().orElseThrow().bytes().length).isLessThanOrEqualTo(200_000);
    assertThat(diff.get("diff_truncated")).isEqualTo(JsonValue.TRUE);
    assertThat(GitLab.text(diff, "diff")).startsWith("diff --git ");
    assertThat(json(diff.get("files")))
        .isEqualTo(
            "[{\"added\":1,\"deleted\":10000,\"path\":\"many\u00e9"
                + " \\\"q\\\"\\tt\",\"status\":\"M\"},"
                + "{\"added\":null,\"deleted\":null,\"path\":\"noise\",\"status\":\"M\"}]");
    DriverOutcome flood = lab.call(ENGINE, "diff", "path", "big").outputBytes(3_000).run();
    assertThat(flood.reason()).isEqualTo("output-limit");
    assertThat(GitLab.text(GitLab.output("diff", flood), "diff")).startsWith("diff --git ");
  }
}

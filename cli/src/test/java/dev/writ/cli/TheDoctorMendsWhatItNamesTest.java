package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ doctor --fix} (spec/doctor.md). */
class TheDoctorMendsWhatItNamesTest {
  private static final Instant LONG_AGO = Instant.now().minus(Duration.ofDays(2));

  @TempDir Path dir;
  private Path data;
  private OneHome home;

  @BeforeEach
  void init() {
    data = dir.resolve("data");
    home = new OneHome(data, Map.of("HOME", dir.toString(), "SHELL", "/bin/dash"));
    home.done("init");
    Run.withInput("correct-horse", "--home", data.toString(), "secret", "put", "npm");
  }

  private static void mode(Path path, String permissions) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
  }

  private static void age(Path path) throws IOException {
    Files.setLastModifiedTime(path, FileTime.from(LONG_AGO));
  }

  /** Modes, owners and digests of everything in the folder of the test. */
  private TreeMap<String, String> all() throws IOException {
    TreeMap<String, String> all = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(dir)) {
      for (Path path : paths.toList()) {
        PosixFileAttributes found =
            Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        String content = found.isRegularFile() ? Arrays.toString(Files.readAllBytes(path)) : "";
        all.put(
            dir.relativize(path).toString(),
            PosixFilePermissions.toString(found.permissions()) + found.owner() + content);
      }
    }
    return all;
  }

  private static List<String> changed(Map<String, String> before, Map<String, String> after) {
    return Stream.concat(before.keySet().stream(), after.keySet().stream())
        .distinct()
        .filter(path -> !Objects.equals(before.get(path), after.get(path)))
        .sorted()
        .toList();
  }

  private static List<String> does(Run run) {
    JsonValue.Obj plan =
        (JsonValue.Obj) Jcs.parse(run.out().strip().getBytes(StandardCharsets.UTF_8));
    return ((JsonValue.Arr) plan.get("steps"))
        .items().stream()
            .map(step -> ((JsonValue.Str) ((JsonValue.Obj) step).get("does")).value())
            .toList();
  }

  private static byte[] serving(long pid) {
    return ("{\"pid\":" + pid + ",\"token\":\"t0k3n\",\"url\":\"http://127.0.0.1:1\"}")
        .getBytes(StandardCharsets.UTF_8);
  }

  private static long ended() throws Exception {
    Process process = new ProcessBuilder("true").start();
    process.waitFor();
    return process.pid();
  }

  @Test
  void everythingThatIsNamedIsMendedAndNothingElse() throws Exception {
    mode(data.resolve("keys"), "rwxr-xr-x");
    mode(data.resolve("keys/guardian.pem"), "rw-r--r--");
    mode(data.resolve("secrets"), "rwxr-x---");
    mode(data.resolve("secrets/npm"), "rw-rw----");
    mode(data.resolve("gateway.yaml"), "rw-rw-rw-");
    mode(data.resolve("policy.yaml"), "rw-rw-rw-");
    Files.delete(data.resolve("tools"));
    Files.write(data.resolve("serving.json"), serving(ended()));
    mode(data.resolve("serving.json"), "rw-------");
    Path draft = Files.createFile(data.resolve("keys/.guardian.pem.417.new"));
    age(draft);
    Path young = Files.createFile(data.resolve(".policy.yaml.new"));
    Path partial = Files.createDirectories(dir.resolve("data.partial/keys"));
    Files.writeString(partial.resolve("log.pem"), "half of a key");
    age(partial.resolve("log.pem"));
    age(partial);
    age(partial.getParent());
    TreeMap<String, String> before = all();

    Run told = home.writ("doctor");
    assertThat(told.out().replaceAll("\\s+", " "))
        .contains("guardian.pem can be read by others", " doctor --fix");
    Run plan = home.writ("doctor", "--fix", "--json");
    assertThat(plan.status()).as("something is to be done").isEqualTo(1);
    assertThat(all()).as("and nothing was").isEqualTo(before);
    assertThat(does(plan))
        .containsExactlyInAnyOrder(
            "chmod 700 " + data.resolve("keys"),
            "chmod 600 " + data.resolve("keys/guardian.pem"),
            "chmod 700 " + data.resolve("secrets"),
            "chmod 600 " + data.resolve("secrets/npm"),
            "chmod 644 " + data.resolve("gateway.yaml"),
            "mkdir -m 700 " + data.resolve("tools"),
            "rm " + data.resolve("serving.json"),
            "rm " + draft,
            "rm -r " + dir.resolve("data.partial"));

    Run done = home.done("doctor", "--fix", "--yes");
    assertThat(done.out()).contains("done  chmod 700 " + data.resolve("keys"));
    TreeMap<String, String> after = all();
    assertThat(changed(before, after))
        .containsExactly(
            "data.partial",
            "data.partial/keys",
            "data.partial/keys/log.pem",
            "data/gateway.yaml",
            "data/keys",
            "data/keys/.guardian.pem.417.new",
            "data/keys/guardian.pem",
            "data/secrets",
            "data/secrets/npm",
            "data/serving.json",
            "data/tools");
    assertThat(young).exists();
    assertThat(Files.readString(data.resolve("secrets/npm"))).isEqualTo("correct-horse");

    Run again = home.done("doctor", "--fix", "--yes");
    assertThat(again.out()).contains("There is nothing that doctor can mend.");
    assertThat(all()).isEqualTo(after);
    home.done("run", "js", "--param", "source='6*7'");
  }

  /** Wherever it is killed: its anchor is not what the next one is refused for. */
  @Test
  void anInitThatWasKilledIsRemovedAndInNobodysWay() throws Exception {
    Path other = dir.resolve("other");
    Path parts = dir.resolve("other.partial");
    Path anchor = dir.resolve("other.anchor");
    Process init =
        new ProcessBuilder(OwnProcess.writ("--home", other.toString(), "init"))
            .redirectErrorStream(true)
            .redirectOutput(dir.resolve("said").toFile())
            .start();
    try {
      Await.until(() ->
          Files.exists(dir.resolve("other.partial.anchor"))
              || Files.exists(anchor)
              || !init.isAlive());
    } finally {
      init.destroyForcibly().waitFor();
    }
    if (Files.exists(other)) {
      return; // it was faster
    }
    assertThat(Files.exists(anchor) && Files.notExists(parts.resolve("writ.json")))
        .as("the anchor has its name before the home is whole")
        .isFalse();
    try (Stream<Path> left = Files.walk(dir)) {
      for (Path path : left.filter(p -> p.startsWith(parts)).toList()) {
        age(path);
      }
    }
    for (String left : List.of("other.partial.anchor", "other.partial.anchor.1.lock")) {
      Path file = dir.resolve(left);
      if (Files.notExists(file)) {
        Files.createFile(file);
      }
      age(file);
    }
    if (Files.notExists(anchor)) { // killed in the moment in which everything gets its name
      Files.copy(dir.resolve("other.partial.anchor"), anchor);
    }
    age(anchor);
    OneHome next = new OneHome(other, Map.of("HOME", dir.toString(), "SHELL", "/bin/dash"));
    next.done("doctor", "--fix", "--yes");
    try (Stream<Path> left = Files.list(dir)) {
      assertThat(left.map(path -> path.getFileName().toString()))
          .noneMatch(name -> name.startsWith("other.partial.anchor"));
    }
    assertThat(parts).doesNotExist();
    assertThat(anchor).doesNotExist();
    // Of one whose folder was removed by hand.
    Files.createFile(dir.resolve("other.partial.anchor"));
    Files.createFile(anchor);
    next.done("init");
    next.done("fsck");
    assertThat(dir.resolve("other.partial.anchor")).doesNotExist();
  }

  /** Whoever may put files there must not decide what somebody else's mend changes. */
  @Test
  void noLinkIsFollowed() throws IOException {
    Path victim = Files.writeString(dir.resolve("victim"), "of somebody else");
    mode(victim, "rw-rw-rw-");
    age(victim);
    Files.createSymbolicLink(data.resolve("keys/.x.new"), victim);
    Files.createSymbolicLink(data.resolve("secrets/link"), victim);
    Files.delete(data.resolve("gateway.yaml"));
    Files.createSymbolicLink(data.resolve("gateway.yaml"), victim);
    TreeMap<String, String> before = all();
    assertThat(home.done("doctor", "--fix", "--yes").out())
        .contains("nothing that doctor can mend");
    assertThat(all()).isEqualTo(before);
  }

  @Test
  void whatIsInUseStays() throws IOException {
    Files.write(data.resolve("serving.json"), serving(ProcessHandle.current().pid()));
    mode(data.resolve("serving.json"), "rw-------");
    Path partial = Files.createDirectories(dir.resolve("data.partial"));
    Files.writeString(partial.resolve("log.pem"), "a key that is being made");
    age(partial);
    TreeMap<String, String> before = all();
    home.done("doctor", "--fix", "--yes");
    assertThat(all()).isEqualTo(before);
  }

  /** A person may keep keys among other things: those are no business of the doctor's. */
  @Test
  void inAnotherFolderOfKeysOnlyKeysAreLookedAt() throws IOException {
    Path own = Files.createDirectory(dir.resolve("ann"));
    mode(own, "rwxr-xr-x");
    Path other = Files.writeString(own.resolve(".bashrc.new"), "of another program");
    age(other);
    Path draft = Files.createFile(own.resolve(".alice.pem.417.new"));
    age(draft);
    Path key = Files.copy(data.resolve("keys/agent.pem"), own.resolve("alice.pem"));
    mode(key, "rw-r--r--");
    OneHome ann =
        new OneHome(
            data,
            Map.of("HOME", dir.toString(), "SHELL", "/bin/dash", "WRIT_KEYS", own.toString()));
    assertThat(does(ann.writ("doctor", "--fix", "--json")))
        .containsExactlyInAnyOrder("rm " + draft, "chmod 600 " + key);
  }

  /** Of a release that wrote it in two steps, and was killed between them. */
  @Test
  void aServersFileThatIsNotWholeIsRemoved() throws IOException {
    Path serving = Files.createFile(data.resolve("serving.json"));
    mode(serving, "rw-------");
    home.done("doctor", "--fix", "--yes");
    assertThat(serving).doesNotExist();
  }

  /** Names of files are what others chose. */
  @Test
  void aNameSteersNoTerminal() throws IOException {
    Path draft = Files.createFile(data.resolve("keys/.\u001b[2Jx.new"));
    age(draft);
    assertThat(home.writ("doctor", "--fix").out()).doesNotContain("\u001b").contains("would  rm ");
    home.done("doctor", "--fix", "--yes");
    assertThat(draft).doesNotExist();
  }

  @Test
  void whatCannotBeDoneIsSaidAndTheRestIsDone() throws IOException {
    mode(data.resolve("keys"), "rwxr-xr-x");
    Path inTheWay = Files.createFile(dir.resolve(".local"));
    OneHome shell = new OneHome(data, Map.of("HOME", dir.toString(), "SHELL", "/bin/bash"));
    assumeTrue(!Files.exists(Path.of("/usr/share/bash-completion/completions/writ")));
    Run run = shell.writ("doctor", "--fix", "--yes");
    assertThat(run.status()).isEqualTo(6);
    assertThat(run.out())
        .contains("not done  write " + dir.resolve(".local/share"))
        .contains("done  chmod 700 " + data.resolve("keys"));
    Files.delete(inTheWay);
    shell.done("doctor", "--fix", "--yes");
    assertThat(dir.resolve(".local/share/bash-completion/completions/writ"))
        .content()
        .contains("complete -F");
    assertThat(shell.done("doctor", "--fix").out()).contains("nothing that doctor can mend");
  }

  /** Root runs a command by mistake, and the server's user cannot read what it wrote. */
  @Test
  void whatRootWroteIsGivenBackByRoot() throws IOException {
    assumeTrue(System.getProperty("user.name").equals("root"));
    PosixFileAttributeView secret =
        Files.getFileAttributeView(data.resolve("secrets/npm"), PosixFileAttributeView.class);
    var own = secret.readAttributes();
    secret.setOwner(
        dir.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));
    assertThat(does(home.writ("doctor", "--fix", "--json")))
        .containsExactly(
            "chown -h "
                + own.owner().getName()
                + ":"
                + own.group().getName()
                + " "
                + data.resolve("secrets/npm"));
    home.done("doctor", "--fix", "--yes");
    assertThat(secret.readAttributes().owner()).isEqualTo(own.owner());

    secret.setOwner(
        dir.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));
    Files.createLink(dir.resolve("elsewhere"), data.resolve("secrets/npm"));
    assertThat(does(home.writ("doctor", "--fix", "--json")))
        .as("a file that has another name may be somebody's who did not mean to give it away")
        .isEmpty();
  }

  /** The anchor is replaced at each write, and so becomes root's where root writes. */
  @Test
  void anAnchorOfAnotherUserIsNamedWithTheCommandForItAndTheLog() throws IOException {
    assumeTrue(System.getProperty("user.name").equals("root"));
    Path anchor = data.resolveSibling(data.getFileName() + ".anchor");
    Files.setOwner(
        anchor,
        dir.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));
    String own = Files.getOwner(data).getName();
    assertThat(home.writ("doctor").out())
        .contains(anchor + " does not belong to " + own)
        .contains(
            "sudo chown -hR " + own + ":" + own + " " + data.resolve("ledger") + " " + anchor);
  }

  @Test
  void yesAloneMeansNothing() {
    assertThat(home.writ("doctor", "--yes").status()).isEqualTo(2);
  }
}

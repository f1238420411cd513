package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.ExitCode;
import dev.writ.fixture.Await;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.s3.S3Server;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ archive}, and the commands that read archived runs. */
class ClosedRunsAreArchivedFromTheShellTest {
  private static final String ALLOWED = "\nretention: { rules: [], archive_after_s: 0 }\n";
  private static final String SEALED =
      "\nretention: { rules: [], archive_after_s: 0, sealed: { contents: [outputs], by: subject }"
          + " }\n";

  /** What the script gives is in no parameter. */
  private static final String CONTENT = "nobody-".repeat(9);

  @TempDir Path dir;
  private Path archive;

  private Run writ(String... arguments) {
    return new OneHome(dir.resolve("home")).writ(arguments);
  }

  private String done(String... arguments) {
    Run run = writ(arguments);
    assertThat(run.status())
        .as(String.join(" ", arguments) + "\n" + run.err() + run.out())
        .isZero();
    return run.out();
  }

  private void refused(ExitCode status, String code, String... arguments) {
    Run run = writ(arguments);
    assertThat(run.out() + run.err()).as(String.join(" ", arguments)).contains(code);
    assertThat(run.status()).as(run.err()).isEqualTo(status.status());
  }

  private JsonValue.Obj json(String... arguments) {
    List<String> all = new ArrayList<>(List.of("--json"));
    all.addAll(List.of(arguments));
    String out = done(all.toArray(String[]::new));
    return (JsonValue.Obj) Jcs.parse(out.strip().getBytes(StandardCharsets.UTF_8));
  }

  private static String text(JsonValue.Obj object, String member) {
    return ((JsonValue.Str) object.get(member)).value();
  }

  private static JsonValue.Obj first(JsonValue.Obj object, String member) {
    return (JsonValue.Obj) ((JsonValue.Arr) object.get(member)).items().getFirst();
  }

  private String effect(String run) {
    return text(
        json("run", "js", "--run", run, "--param", "source='nobody-'.repeat(9)"), "receipt_id");
  }

  private void activate(String more) throws Exception {
    Path file = dir.resolve("home/policy.yaml");
    Files.writeString(file, Files.readString(file).split("\nretention:")[0] + more);
    done("policy", "activate", file.toString());
  }

  private List<Path> filesWithTheContent(Path below) throws Exception {
    List<Path> found = new ArrayList<>();
    try (Stream<Path> all = Files.walk(below)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        if (new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(CONTENT)) {
          found.add(file);
        }
      }
    }
    return found;
  }

  private boolean isInTheLedger() {
    try (LedgerView ledger = Ledger.openReadOnly(dir.resolve("home/ledger"))) {
      return ledger.hasBlob(
          Digest.sha256(("\"" + CONTENT + "\"").getBytes(StandardCharsets.UTF_8)));
    }
  }

  @BeforeEach
  void init() throws Exception {
    done("init", "--tenant", "acme");
    archive = Files.createDirectory(dir.resolve("archive"));
  }

  private String archived(String run) {
    return text(first(json("archive", "run", run), "archived"), "bundle");
  }

  private Path file(String bundle) {
    String hex = Digest.parse(bundle).hex();
    return archive.resolve("bundles").resolve(hex.substring(0, 2)).resolve(hex + ".writ");
  }

  @Test
  void a_closed_run_is_archived_and_is_listed_read_verified_and_replayed_from_there()
      throws Exception {
    activate(ALLOWED);
    String receipt = effect("main");
    String kept = effect("other");
    String observations = done("output", receipt, "--observations");
    refused(ExitCode.REFUSED, "EXE-941", "archive", "run", "main", "--to", archive.toString());
    done("close", "main");
    Path before = dir.resolve("before.writ");
    done("export", "main", "-o", before.toString());
    done("close", "other");
    JsonValue.Obj moved = json("archive", "run", "--older-than", "0s");
    assertThat(((JsonValue.Arr) moved.get("archived")).items()).hasSize(2);
    assertThat(isInTheLedger()).isFalse();
    assertThat(filesWithTheContent(dir.resolve("home"))).isEmpty();
    String bundle = text(first(moved, "archived"), "bundle");
    assertThat(Files.readAllBytes(file(bundle))).isEqualTo(Files.readAllBytes(before));
    assertThat(done("runs")).containsPattern("acme/main +archived");
    assertThat(text(first(json("runs"), "runs"), "bundle")).isEqualTo(bundle);
    assertThat(done("output", receipt)).isEqualTo("\"" + CONTENT + "\"");
    assertThat(done("output", kept)).isEqualTo("\"" + CONTENT + "\"");
    assertThat(done("output", receipt, "--observations")).isEqualTo(observations);
    assertThat(writ("show", receipt).err()).contains("are archived: bundle " + bundle);
    String pins = dir.resolve("home/trust.jwks").toString();
    assertThat(done("verify", "main", "--trust", pins)).contains("verified: the run is closed");
    assertThat(done("replay", "main", "--trust", pins)).contains("COMPLETE  main");
    assertThat(done("diff", "main", before.toString())).contains("0 of them differ");
    Path page = dir.resolve("page.html");
    assertThat(done("report", "main", "--trust", pins, "-o", page.toString())).contains("pinned");
    Path month = dir.resolve("month.html");
    assertThat(done("report", "--from", "1d", "--trust", pins, "-o", month.toString()))
        .contains("of 2 runs");
    Path after = dir.resolve("after.writ");
    done("export", "main", "-o", after.toString());
    assertThat(Files.readAllBytes(after)).isEqualTo(Files.readAllBytes(before));
    Path left = dir.resolve("left.writ");
    done("export", "main", "--latest", "-o", left.toString());
    assertThat(done("verify", left.toString(), "--trust", pins))
        .contains("contents: moved to the archive, into the bundle " + bundle);
    assertThat(done("audit")).contains("contents: moved to the archive as policy allows, in 2 ");
    done("fsck");
    assertThat(done("archive", "list")).containsPattern("acme/main +" + bundle + " +–");
    assertThat(done("archive", "verify")).contains("2 of 2 archived runs are sound");
    assertThat(done("archive", "run", "main", "other")).contains("moved 0 contents");
    assertThat(writ("doctor").out()).containsPattern("note +archive +file://.* is a folder");
  }

  @Test
  void what_others_use_stays_until_the_last_of_them_is_archived() throws Exception {
    activate(ALLOWED);
    String receipt = effect("main");
    effect("other");
    // Observations have times: in two runs they may be the same, and then all is shared (EXE-946).
    done("run", "js", "--run", "main", "--param", "source='of this run alone'");
    done("close", "main");
    done("archive", "run", "main", "--to", archive.toString());
    assertThat(isInTheLedger()).isTrue();
    assertThat(done("audit")).contains("contents: moved to the archive");
    done("close", "other");
    assertThat(archived("other")).startsWith("sha256:");
    assertThat(isInTheLedger()).isFalse();
    assertThat(done("output", receipt)).isEqualTo("\"" + CONTENT + "\"");
    done("audit");
  }

  @Test
  void what_two_bundles_have_is_read_from_the_one_that_is_there() throws Exception {
    activate(ALLOWED);
    String receipt = effect("main");
    effect("other");
    done("close", "main");
    done("close", "other");
    done("archive", "run", "main", "other", "--to", archive.toString());
    assertThat(isInTheLedger()).isFalse();
    String output = done("output", receipt);
    List<Path> bundles = filesWithTheContent(archive);
    assertThat(bundles).hasSize(2);
    for (Path bundle : bundles) {
      byte[] whole = Files.readAllBytes(bundle);
      Files.delete(bundle);
      assertThat(done("output", receipt)).as("without " + bundle).isEqualTo(output);
      Files.write(bundle, Arrays.copyOf(whole, whole.length / 2));
      assertThat(done("output", receipt)).as("with half of " + bundle).isEqualTo(output);
      Files.write(bundle, whole);
    }
    for (Path bundle : bundles) {
      Files.delete(bundle);
    }
    refused(ExitCode.BROKEN_INPUT, "EXE-947", "output", receipt);
  }

  @Test
  void a_run_of_which_others_use_every_content_stays_and_loses_nothing() throws Exception {
    activate(ALLOWED);
    String receipt = effect("main");
    String observations = done("output", receipt, "--observations");
    done("close", "main");
    effect("other");
    String same =
        text(
            json("run", "js", "--run", "other", "--param", "source=(" + observations + ")"),
            "receipt_id");
    assertThat(done("output", same))
        .as("a content like main's observations")
        .isEqualTo(observations);
    Run kept = writ("archive", "run", "main", "--to", archive.toString());
    assertThat(kept.status()).as(kept.err()).isEqualTo(ExitCode.REFUSED.status());
    assertThat(kept.out() + kept.err()).contains("acme/main", "EXE-946");
    assertThat(isInTheLedger()).isTrue();
    assertThat(((JsonValue.Arr) json("archive", "list").get("runs")).items()).isEmpty();
    assertThat(writ("runs").out()).doesNotContain("archived");
    assertThat(done("output", receipt)).isEqualTo("\"" + CONTENT + "\"");
    assertThat(done("output", receipt, "--observations")).isEqualTo(observations);
    assertThat(filesWithTheContent(archive)).as("its bundle is there already").hasSize(1);
    done("audit");
    done("fsck");
    done("close", "other");
    JsonValue.Obj moved = json("archive", "run", "main", "other");
    assertThat(((JsonValue.Arr) moved.get("archived")).items()).hasSize(2);
    assertThat(isInTheLedger()).isFalse();
    assertThat(done("output", receipt)).isEqualTo("\"" + CONTENT + "\"");
    assertThat(done("output", receipt, "--observations")).isEqualTo(observations);
    assertThat(done("archive", "verify")).contains("2 of 2 archived runs are sound");
    done("audit");
    done("fsck");
  }

  @Test
  void a_bundle_that_is_changed_cut_swapped_or_missing_is_told_and_can_be_put_back()
      throws Exception {
    activate(ALLOWED);
    String receipt = effect("main");
    done("run", "js", "--run", "other", "--param", "source='another'");
    done("close", "main");
    done("close", "other");
    done("archive", "run", "main", "--to", archive.toString());
    String bundle = text(first(json("runs"), "runs"), "bundle");
    Path other = file(archived("other"));
    Path file = file(bundle);
    byte[] whole = Files.readAllBytes(file);
    byte[] changed = whole.clone();
    int at = new String(whole, StandardCharsets.ISO_8859_1).indexOf(CONTENT);
    changed[at] ^= 1;
    Files.write(file, changed);
    refused(ExitCode.BROKEN_INPUT, "EXE-948", "archive", "verify", "main");
    for (byte[] bytes :
        List.of(changed, Files.readAllBytes(other), Arrays.copyOf(whole, whole.length / 2))) {
      Files.write(file, bytes);
      refused(ExitCode.BROKEN_INPUT, "EXE-948", "output", receipt);
      refused(ExitCode.BROKEN_INPUT, "EXE-948", "verify", "main");
      refused(
          ExitCode.BROKEN_INPUT, "EXE-948", "export", "main", "-o", dir.resolve("x").toString());
      refused(ExitCode.BROKEN_INPUT, "EXE-948", "archive", "run", "main");
      assertThat(Files.readAllBytes(file)).as("never replaced").isEqualTo(bytes);
    }
    Files.delete(file);
    refused(ExitCode.BROKEN_INPUT, "EXE-947", "output", receipt);
    refused(ExitCode.BROKEN_INPUT, "EXE-947", "verify", "main");
    assertThat(done("archive", "list")).containsPattern("acme/main +" + bundle + " +missing");
    done("fsck");
    done("audit");
    Files.write(file, whole);
    assertThat(done("archive", "verify")).contains("2 of 2 archived runs are sound");
    assertThat(done("output", receipt)).isEqualTo("\"" + CONTENT + "\"");
    Files.move(archive, dir.resolve("moved"));
    Files.createDirectory(archive); // where it was mounted
    refused(ExitCode.UNAVAILABLE, "LED-093", "output", receipt);
    refused(ExitCode.UNAVAILABLE, "LED-093", "archive", "list");
    assertThat(writ("doctor").out()).containsPattern("bad +archive +LED-093");
    refused(ExitCode.UNAVAILABLE, "LED-093", "archive", "run", "main", "--to", archive.toString());
    Files.delete(dir.resolve("home/archive.address"));
    refused(ExitCode.REFUSED, "EXE-944", "output", receipt);
    assertThat(writ("output", receipt).err())
        .containsPattern(
            "archive of closed runs: sha256:\\w+ at \\S+Z, into the bundle sha256:\\w+")
        .doesNotContain("Z moved");
    assertThat(writ("output", receipt).err()).contains(bundle);
  }

  @Test
  void policy_holds_and_sealed_contents_keep_a_run_where_it_is() throws Exception {
    effect("main");
    done("close", "main");
    Path other = Files.createDirectory(dir.resolve("other"));
    refused(ExitCode.REFUSED, "EXE-940", "archive", "run", "main", "--to", other.toString());
    assertThat(other).as("no archive is begun in vain").isEmptyDirectory();
    activate("\nretention: { rules: [], archive_after_s: 3600 }\n");
    refused(ExitCode.REFUSED, "EXE-941", "archive", "run", "main", "--to", archive.toString());
    refused(ExitCode.REFUSED, "EXE-941", "archive", "run", "main");
    activate(ALLOWED);
    done("hold", "place", "case 7", "acme", "--run", "main");
    refused(ExitCode.REFUSED, "EXE-942", "archive", "run", "main");
    done("hold", "release", "case 7");
    activate(SEALED);
    done("run", "js", "--run", "sealed", "--param", "source='another'");
    done("close", "sealed");
    refused(ExitCode.REFUSED, "EXE-943", "archive", "run", "sealed");
    assertThat(filesWithTheContent(archive)).isEmpty();
    activate(ALLOWED);
    Run both = writ("archive", "run", "--older-than", "0s");
    assertThat(both.status()).isEqualTo(ExitCode.REFUSED.status());
    assertThat(both.out()).contains("archived acme/main: ", "not archived acme/sealed: EXE-943");
    done("hold", "place", "case 8", "acme");
    assertThat(done("archive", "list")).contains("held: do not remove it");
    done("audit");
  }

  @Test
  void an_erasure_names_the_bundles_that_it_does_not_reach() throws Exception {
    activate(ALLOWED);
    String receipt = effect("main");
    done("close", "main");
    done("archive", "run", "main", "--to", archive.toString());
    String bundle = text(first(json("runs"), "runs"), "bundle");
    assertThat(done("erase", "acme", "--run", "main"))
        .containsSubsequence(
            "not erased: the archive has contents of it in the bundle " + bundle, "carried out at")
        .doesNotContain("covers nothing");
    refused(ExitCode.REFUSED, "EXE-949", "output", receipt);
    assertThat(done("archive", "list")).contains("erased: remove it");
    Files.delete(file(bundle));
    assertThat(done("archive", "list")).contains("missing").doesNotContain("remove it");
    refused(ExitCode.REFUSED, "EXE-949", "output", receipt);
    done("audit");
  }

  /** A run that stays has left its bundle in the archive, and so has one that was interrupted. */
  @Test
  void an_erasure_names_a_bundle_that_no_statement_names() throws Exception {
    activate(ALLOWED);
    String observations = done("output", effect("main"), "--observations");
    done("close", "main");
    effect("other");
    done("run", "js", "--run", "other", "--param", "source=(" + observations + ")");
    refused(ExitCode.REFUSED, "EXE-946", "archive", "run", "main", "--to", archive.toString());
    List<Path> left = filesWithTheContent(archive);
    assertThat(left).hasSize(1);
    String bundle = "sha256:" + left.getFirst().getFileName().toString().replace(".writ", "");
    assertThat(done("erase", "acme", "--subject", "agent"))
        .containsSubsequence("perhaps not erased", bundle, "carried out at");
    JsonValue.Obj again = json("erase", "acme", "--run", "main");
    assertThat(again.get("unnamed").toString()).contains(bundle);
    Files.delete(left.getFirst());
    assertThat(done("erase", "acme", "--run", "main")).doesNotContain("perhaps not erased");
    Files.delete(archive.resolve("writ-archive"));
    assertThat(done("erase", "acme", "--run", "main")).contains("the archive cannot be looked at");
  }

  /** A page has its bundles in base64, at any of three alignments. */
  private static boolean isInPage(Path page) throws Exception {
    String text = Files.readString(page, StandardCharsets.ISO_8859_1);
    return Stream.of(0, 1, 2)
        .map(from -> CONTENT.substring(from, from + 30).getBytes(StandardCharsets.UTF_8))
        .anyMatch(part -> text.contains(Base64.getEncoder().encodeToString(part)));
  }

  @Test
  void contents_that_were_erased_are_in_no_bundle_that_a_name_gives() throws Exception {
    activate(ALLOWED);
    String receipt = effect("main");
    done("run", "js", "--run", "other", "--param", "source='another'");
    done("close", "main");
    done("close", "other");
    done("archive", "run", "--older-than", "0s", "--to", archive.toString());
    String bundle = text(first(json("runs"), "runs"), "bundle");
    Path whole = dir.resolve("whole.writ");
    done("export", "main", "-o", whole.toString());
    assertThat(Files.readAllBytes(whole)).isEqualTo(Files.readAllBytes(file(bundle)));
    assertThat(filesWithTheContent(whole)).hasSize(1);
    Path before = dir.resolve("before.html");
    done("report", "main", "-o", before.toString());
    assertThat(isInPage(before)).isTrue();
    String order = text(json("erase", "acme", "--run", "main"), "order");
    String pins = dir.resolve("home/trust.jwks").toString();
    for (boolean isThere : new boolean[] {true, false}) {
      if (!isThere) {
        Files.delete(file(bundle));
      }
      Path left = dir.resolve(isThere + ".writ");
      Run export = writ("export", "main", "-o", left.toString());
      assertThat(export.status()).as(export.err()).isZero();
      assertThat(export.err()).contains(order, "remove the bundle " + bundle);
      assertThat(filesWithTheContent(left)).isEmpty();
      assertThat(done("verify", left.toString(), "--trust", pins))
          .contains("contents: moved to the archive, into the bundle " + bundle);
      assertThat(done("verify", "main", "--trust", pins)).contains("moved to the archive");
      assertThat(done("replay", "main", "--trust", pins)).doesNotContain(CONTENT);
      assertThat(done("diff", "main", whole.toString())).doesNotContain(CONTENT);
      Path page = dir.resolve(isThere + ".html");
      Run report = writ("report", "main", "--trust", pins, "-o", page.toString());
      assertThat(report.err()).contains(order);
      Path month = dir.resolve(isThere + "-month.html");
      assertThat(writ("report", "--from", "1d", "-o", month.toString()).err()).contains(order);
      assertThat(isInPage(page) || isInPage(month)).isFalse();
    }
    refused(ExitCode.REFUSED, "EXE-949", "output", receipt);
    Run other = writ("export", "other", "-o", dir.resolve("other.writ").toString());
    assertThat(other.err()).as("no order covers it").doesNotContain("order");
    assertThat(Files.readAllBytes(dir.resolve("other.writ")))
        .isEqualTo(Files.readAllBytes(file(archived("other"))));
  }

  @Test
  void an_order_before_a_run_says_nothing_about_its_bundle() throws Exception {
    activate(ALLOWED);
    String first = effect("first");
    done(
        "erase",
        "acme",
        "--subject",
        done("--json", "show", first).split("\"subject\":\"")[1].split("\"")[0]);
    refused(ExitCode.REFUSED, "EXE-960", "output", first);
    effect("main");
    done("run", "js", "--run", "main", "--param", "source='of this run alone'");
    done("close", "main");
    String bundle =
        text(
            first(json("archive", "run", "main", "--to", archive.toString()), "archived"),
            "bundle");
    assertThat(done("archive", "list")).doesNotContain("erased");
    Path whole = dir.resolve("whole.writ");
    done("export", "main", "-o", whole.toString());
    assertThat(Files.readAllBytes(whole)).isEqualTo(Files.readAllBytes(file(bundle)));
  }

  @Test
  void a_bucket_that_locks_nothing_is_refused_where_a_lock_is_asked_for() throws Exception {
    assertThat(writ("doctor").out()).doesNotContain(" archive ");
    activate(ALLOWED);
    String receipt = effect("main");
    done("close", "main");
    String bucket = S3Server.shared().newAddress().toString();
    String locked = bucket + "&lock=compliance&lock_days=1";
    refused(ExitCode.UNAVAILABLE, "OBJ-013", "archive", "run", "main", "--to", locked);
    assertThat(isInTheLedger()).isTrue();
    assertThat(dir.resolve("home/archive.address")).doesNotExist();
    Files.writeString(dir.resolve("home/archive.address"), locked + "\n");
    refused(ExitCode.UNAVAILABLE, "OBJ-013", "archive", "run", "main");
    assertThat(writ("doctor").out()).containsPattern("bad +archive +OBJ-013");
    assertThat(isInTheLedger()).isTrue();
    Files.writeString(dir.resolve("home/archive.address"), bucket + "\n");
    done("archive", "run", "main");
    assertThat(writ("doctor").out()).containsPattern("note +archive +s3://.* has no object lock");
    assertThat(done("output", receipt)).isEqualTo("\"" + CONTENT + "\"");
  }

  @Test
  void what_is_not_understood_is_refused_and_changes_nothing() throws Exception {
    activate(ALLOWED);
    effect("main");
    done("close", "main");
    refused(ExitCode.USAGE, "CLI-001", "archive");
    refused(ExitCode.USAGE, "CLI-001", "archive", "run");
    refused(ExitCode.USAGE, "CLI-001", "archive", "run", "main", "--older-than", "1d");
    refused(ExitCode.UNAVAILABLE, "CLI-112", "archive", "run", "main");
    refused(ExitCode.UNAVAILABLE, "CLI-112", "archive", "list");
    String nowhere = dir.resolve("nowhere").toString();
    refused(ExitCode.UNAVAILABLE, "LED-093", "archive", "run", "main", "--to", nowhere);
    refused(ExitCode.UNAVAILABLE, "LED-092", "archive", "run", "main", "--to", "ftp://a/b");
    done("archive", "run", "main", "--to", archive.toString());
    Path second = Files.createDirectory(dir.resolve("second"));
    refused(ExitCode.UNAVAILABLE, "CLI-113", "archive", "run", "main", "--to", second.toString());
    refused(ExitCode.REFUSED, "EXE-945", "archive", "verify", "another");
    refused(ExitCode.BROKEN_INPUT, "RPL-050", "archive", "run", "another");
    refused(ExitCode.BROKEN_INPUT, "CLI-002", "verify", "another");
  }

  @Test
  void a_server_archives_by_itself_what_policy_lets_it() throws Exception {
    activate(ALLOWED.replace("rules: []", "every_s: 60, rules: []"));
    String receipt = effect("main");
    done("close", "main");
    done("archive", "run", "main", "--to", archive.toString());
    String others = effect("other");
    done("run", "js", "--run", "other", "--param", "source='another'");
    done("close", "other");
    done("run", "js", "--run", "held", "--param", "source='a third'");
    done("close", "held");
    done("hold", "place", "case 7", "acme", "--run", "held");
    done("run", "js", "--run", "open", "--param", "source='a fourth'");
    Process server =
        new ProcessBuilder(
                OwnProcess.writ(
                    "--home", dir.resolve("home").toString(), "serve", "--json", "--port", "0"))
            .redirectOutput(dir.resolve("out").toFile())
            .start();
    try (BufferedReader log = server.errorReader(StandardCharsets.UTF_8)) {
      String line = log.readLine();
      while (!line.contains("\"runs-archived\"")) {
        line = log.readLine();
        assertThat(line).as("it ended").isNotNull();
      }
      assertThat(line).contains("1 runs, ", "; 0 runs cannot be archived");
    } finally {
      server.destroy();
    }
    assertThat(server.waitFor()).isEqualTo(143);
    assertThat(done("runs")).containsPattern("acme/other +archived");
    assertThat(((JsonValue.Arr) json("archive", "list").get("runs")).items()).hasSize(2);
    assertThat(done("output", receipt)).isEqualTo("\"" + CONTENT + "\"");
    assertThat(done("output", others)).isEqualTo("\"" + CONTENT + "\"");
    assertThat(isInTheLedger()).isFalse();
    done("audit");
    done("fsck");
  }

  @Test
  void beside_a_server_which_gives_the_contents_from_the_archive() throws Exception {
    activate(ALLOWED);
    String receipt = effect("main");
    done("close", "main");
    Process server =
        new ProcessBuilder(
                OwnProcess.writ(
                    "--home", dir.resolve("home").toString(), "serve", "--json", "--port", "0"))
            .redirectOutput(dir.resolve("out").toFile())
            .start();
    try (BufferedReader log = server.errorReader(StandardCharsets.UTF_8)) {
      for (String line = log.readLine(); !line.contains("\"listening\""); line = log.readLine()) {
        assertThat(line).isNotNull();
      }
      Await.until(
          () -> Files.size(dir.resolve("out")) != 0); // what it prints comes when commands find it
      assertThat(done("archive", "run", "main", "--to", archive.toString()))
          .contains("archived acme/main: bundle sha256:", "by 1 signed statements");
      refused(ExitCode.REFUSED, "EXE-945", "archive", "verify", "another");
      refused(ExitCode.BROKEN_INPUT, "RPL-050", "archive", "run", "another");
      assertThat(done("output", receipt)).isEqualTo("\"" + CONTENT + "\"");
      assertThat(done("runs")).containsPattern("acme/main +archived");
    } finally {
      server.destroy();
    }
    assertThat(server.waitFor()).isEqualTo(143);
    done("audit");
  }
}

package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an auditor types, and what comes of it. */
class ARunIsReplayedAndComparedTest {
  @TempDir Path dir;

  private String bundle(String name, String... sources) {
    String home = dir.resolve(name).toString();
    String file = dir.resolve(name + ".writ").toString();
    assertThat(Run.of("--home", home, "init").status()).isZero();
    for (String source : sources) {
      Run.of("--home", home, "run", "js", "--param", "source=" + source);
    }
    assertThat(Run.of("--home", home, "close", "main").status()).isZero();
    assertThat(Run.of("--home", home, "export", "main", "-o", file).status()).isZero();
    return file;
  }

  @Test
  void a_run_comes_out_the_same_recorded_and_live() throws Exception {
    String file =
        bundle(
            "one",
            "6*7",
            "crypto.getRandomValues(new Uint8Array(4)).join()",
            "throw new Error('no')");
    Run recorded = Run.of("replay", file);
    assertThat(recorded.status())
        .as("it reproduces, and nobody says whose it is" + recorded.out() + recorded.err())
        .isEqualTo(ExitCode.INTEGRITY_ONLY.status());
    assertThat(recorded.out())
        .contains(
            "COMPLETE  " + file,
            "run hash",
            "3 effects: through all eight stages",
            "signer not pinned");
    Run live =
        Run.of("replay", file, "--live", "--trust", dir.resolve("one/trust.jwks").toString());
    assertThat(live.status()).as(live.out()).isZero();
    assertThat(live.out()).contains("3 effects: their tool ran again").doesNotContain("not pinned");

    Run json = Run.of("--json", "replay", file);
    assertThat(json.out()).contains("\"state\":\"COMPLETE\"", "\"pinned\":false");
  }

  @Test
  void several_at_once_end_with_the_worst_and_in_xml() throws Exception {
    String good = bundle("one", "6*7");
    Path broken = dir.resolve("broken.writ");
    byte[] bytes = Files.readAllBytes(Path.of(good));
    bytes[bytes.length / 2] ^= 1;
    Files.write(broken, bytes);
    Path xml = dir.resolve("report.xml");
    Run both = Run.of("replay", good, broken.toString(), "--junit", xml.toString());
    assertThat(both.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(both.out()).contains("COMPLETE  ", "INVALID  ");
    assertThat(Files.readString(xml))
        .startsWith(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                + "<testsuites tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"0\">")
        .contains("<error type=\"");
    var parsed =
        javax.xml.parsers.DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(xml.toFile());
    assertThat(parsed.getElementsByTagName("testcase").getLength()).isEqualTo(2);
    Path other = Files.writeString(dir.resolve("no keys.jwks"), "no JSON");
    assertThat(Run.of("verify", good, "--trust", other.toString()).err())
        .startsWith("writ: CAN-003 ")
        .contains(other + " (--trust): at byte ");
    // Nothing is written over a file, such as a bundle that was named in the wrong place.
    Run over = Run.of("replay", good, "--junit", broken.toString());
    assertThat(over.err()).startsWith("writ: CLI-023 ");
    assertThat(broken).hasBinaryContent(bytes);

    Run foreign = Run.of("replay", good, "--trust", dir.resolve("other").toString());
    assertThat(foreign.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(Run.of("replay", dir.resolve("absent.writ").toString()).status())
        .isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(Run.of("replay").status()).isEqualTo(2);
  }

  @Test
  void another_policy_says_which_decisions_change_and_why() throws Exception {
    String file = bundle("one", "6*7", "1+1");
    String policy = Files.readString(dir.resolve("one/policy.yaml"));
    Path same = Files.writeString(dir.resolve("same.yaml"), policy);
    Run none = Run.of("replay", file, "--against", same.toString());
    assertThat(none.status()).as(none.out() + none.err()).isZero();
    assertThat(none.out()).contains("2 decisions, 0 would change, 0 unknown");
    String home = dir.resolve("one").toString();
    Run named = Run.of("--home", home, "replay", "main", "--against", same.toString());
    assertThat(named.status()).as("a run of the data directory: " + named.err()).isZero();
    assertThat(named.out()).contains("2 decisions, 0 would change, 0 unknown");

    Path strict =
        Files.writeString(
            dir.resolve("strict.yaml"),
            policy.replaceFirst(
                "requirements:[^\n]*\n",
                "requirements:\n"
                    + "  - { effect: { tool: js }, require: { cel: 'params.source == \"6*7\"' }"
                    + " }\n"));
    Path changes = dir.resolve("changes.xml");
    Run changed =
        Run.of("replay", file, "--against", strict.toString(), "--junit", changes.toString());
    assertThat(Files.readString(changes))
        .contains("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\"")
        .contains("type=\"GRD-102\" message=\"ALLOW, now DENY GRD-102\"");
    assertThat(changed.status())
        .as(changed.out() + changed.err())
        .isEqualTo(ExitCode.DIVERGED.status());
    assertThat(changed.out())
        .contains(
            "ALLOW",
            "DENY GRD-102",
            "cel params.source ==",
            "2 decisions, 1 would change, 0 unknown");
    Run json = Run.of("--json", "replay", file, "--against", strict.toString());
    assertThat(json.out()).contains("\"changes\":1", "\"under_policy\":\"DENY\"", "\"tree\":");

    Path counted =
        Files.writeString(
            dir.resolve("counted.yaml"),
            policy.replaceFirst(
                "budgets:[^\n]*\n",
                "budgets:\n"
                    + "  - { name: new-one, scope: subject, unit: calls, limit: 1000, window_s: 60"
                    + " }\n"));
    Path unknowns = dir.resolve("unknowns.xml");
    Run unknown =
        Run.of("replay", file, "--against", counted.toString(), "--junit", unknowns.toString());
    assertThat(Files.readString(unknowns)).contains("failures=\"0\" errors=\"0\" skipped=\"2\"");
    assertThat(unknown.status())
        .as(unknown.out() + unknown.err())
        .isEqualTo(ExitCode.UNAVAILABLE.status());
    assertThat(unknown.out()).contains("UNKNOWN", "2 decisions, 0 would change, 2 unknown");
  }

  @Test
  void two_runs_side_by_side() throws Exception {
    String one = bundle("one", "6*7", "[1,2,3]", "1");
    String other = bundle("other", "6*7", "[1,2,3]", "1");
    Run same = Run.of("diff", one, other);
    assertThat(same.status()).as(same.out()).isZero();
    assertThat(same.out()).contains("3 requests, 0 of them differ");
    assertThat(Run.of("diff", one, other, "--all").status()).isEqualTo(ExitCode.DIVERGED.status());

    String third = bundle("third", "6*7", "[1,5,3]", "1", "2");
    Run parted = Run.of("diff", one, third);
    assertThat(parted.status()).isEqualTo(ExitCode.DIVERGED.status());
    assertThat(parted.out())
        .contains(
            "part here  js",
            "/effect/params/source  a=[1,2,3]  b=[1,5,3]",
            "/receipt/output/digest",
            "-  2,",
            "+  5,",
            "not asked",
            "4 requests, 2 of them differ");
  }
}

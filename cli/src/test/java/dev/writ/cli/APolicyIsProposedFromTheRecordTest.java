package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From observing to a narrow policy, as an operator types it (spec/propose.md). */
class APolicyIsProposedFromTheRecordTest {
  @TempDir Path dir;
  private String home;

  @BeforeEach
  void install() {
    home = file("home");
    writ("init");
  }

  private String file(String name) {
    return dir.resolve(name).toString();
  }

  private Run any(String... words) {
    String[] all = new String[words.length + 2];
    all[0] = "--home";
    all[1] = home;
    System.arraycopy(words, 0, all, 2, words.length);
    return Run.of(all);
  }

  private String writ(String... words) {
    Run run = any(words);
    assertThat(run.status()).as(run.out() + run.err()).isZero();
    return run.out();
  }

  @Test
  void whatWasObservedIsAllowedAndTheRestIsNot() throws Exception {
    writ("policy", "observe", "-o", file("observing.yaml"));
    writ("policy", "activate", file("observing.yaml"));
    for (String source : new String[] {"6*7", "1+1", "[1,2]"}) {
      writ("run", "js", "--param", "source=" + source);
    }
    writ("run", "sql", "--param", "sql=select 1");
    assertThat(writ("policy", "propose", "-o", file("p.yaml"), "--cases", file("c.yaml")))
        .isEqualTo("4 calls of 2 operations; 5 cases hold\n");
    assertThat(writ("policy", "test", file("p.yaml"), file("c.yaml"))).contains("5 good, 0 bad");
    assertThat(writ("policy", "check", file("p.yaml"))).doesNotContain("warning");
    Run bad =
        any("policy", "test", file("observing.yaml"), file("c.yaml"), "--junit", file("c.xml"));
    assertThat(bad.status()).isEqualTo(ExitCode.DIVERGED.status());
    assertThat(Files.readString(dir.resolve("c.xml")))
        .contains("<testsuite name=\"writ policy test\" tests=\"5\" failures=\"1\"")
        .contains("message=\"expected DENY GRD-102, judged ");
    assertThat(
            any("policy", "test", file("p.yaml"), file("c.yaml"), "--junit", file("c.xml")).err())
        .startsWith("writ: CLI-023 ");

    writ("close", "main");
    writ("export", "main", "-o", file("main.writ"));
    assertThat(any("replay", file("main.writ"), "--against", file("p.yaml")).out())
        .contains("4 decisions, 0 would change, 0 unknown");

    writ("policy", "activate", file("p.yaml"));
    assertThat(any("run", "js", "--run", "next", "--param", "source=2*3").status()).isZero();
    Run longer = any("run", "js", "--run", "next", "--param", "source=" + "1+".repeat(20) + "1");
    assertThat(longer.status()).isEqualTo(ExitCode.REFUSED.status());
    assertThat(longer.out() + longer.err()).contains("GRD-102");
    Run other = any("run", "code_interpreter", "--param", "language=python", "--param", "code=1");
    assertThat(other.status()).isEqualTo(ExitCode.REFUSED.status());
  }

  @Test
  void whatWouldBeRefusedIsToldBesideTheResultWhilePolicyObserves() throws Exception {
    writ("policy", "observe", "-o", file("observing.yaml"));
    String text = Files.readString(dir.resolve("observing.yaml"));
    Files.writeString(
        dir.resolve("narrow.yaml"),
        text.replace(
            "requirements:\n",
            "requirements:\n  - effect: { tool: js, operation: eval }\n"
                + "    require: { cel: 'size(params.source) < 3' }\n"));
    writ("policy", "activate", file("narrow.yaml"));
    Run run = any("run", "js", "--param", "source=6*7");
    assertThat(run.status()).isZero();
    assertThat(run.out()).contains("42").doesNotContain("Not enforced");
    assertThat(run.err())
        .contains("ALLOWED")
        .contains(
            "Not enforced, since policy only observes; it would be denied (prg check, GRD-102)")
        .contains("Look at the argument \"source\"");
  }

  @Test
  void aNarrowerPolicySaysWhatItWouldHaveRefused() throws Exception {
    writ("run", "js", "--param", "source=6*7");
    writ("run", "js", "--run", "second", "--param", "source=" + "1+".repeat(30) + "1");
    writ("policy", "propose", "--run", "main", "-o", file("p.yaml"));
    writ("close", "second");
    writ("export", "second", "-o", file("second.writ"));
    Run against = any("replay", file("second.writ"), "--against", file("p.yaml"));
    assertThat(against.out()).contains(": ALLOW, now DENY GRD-102\n    prg: ");
    assertThat(against.status()).isEqualTo(ExitCode.DIVERGED.status());
  }

  @Test
  void nothingIsOverwrittenOrMadeUp() throws Exception {
    Run none = any("policy", "propose");
    assertThat(none.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(none.err()).contains("CLI-038");
    writ("run", "js", "--param", "source=6*7");
    Files.writeString(dir.resolve("p.yaml"), "mine");
    Run there = any("policy", "propose", "-o", file("p.yaml"));
    assertThat(there.err()).contains("CLI-023");
    assertThat(dir.resolve("p.yaml")).hasContent("mine");
    assertThat(any("policy", "propose", "--since", "2999-01-01T00:00:00.000Z").err())
        .contains("CLI-038");
    assertThat(any("policy", "propose", "--since", "yesterday").err()).contains("CAN-023");
    assertThat(writ("policy", "propose"))
        .startsWith("# Made from 1 call of 1 operation, allowed from ");
  }
}

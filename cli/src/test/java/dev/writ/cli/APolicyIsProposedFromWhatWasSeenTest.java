package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Observe, propose, enforce: what was seen goes on, what was not is refused. */
class APolicyIsProposedFromWhatWasSeenTest {
  @TempDir Path dir;

  private Run writ(String... arguments) {
    String[] all = new String[arguments.length + 2];
    System.arraycopy(arguments, 0, all, 0, arguments.length);
    all[arguments.length] = "--home";
    all[arguments.length + 1] = dir.resolve("home").toString();
    return Run.of(all);
  }

  private void activate(Path policy, int status) {
    Run run = writ("policy", "activate", policy.toString());
    assertThat(run.status()).as(run.err()).isEqualTo(status);
  }

  @Test
  void theProposalAllowsTheRecordAndItsCasesHoldItToThat() throws IOException {
    assertThat(writ("init").status()).isZero();
    Path policy = dir.resolve("home/policy.yaml");
    String starter = Files.readString(policy);
    Run nothing = writ("policy", "propose", "-o", dir.resolve("none.yaml").toString());
    assertThat(nothing.err()).contains("CLI-038");
    Files.writeString(
        policy,
        starter
            .replace("writ_policy: 1\n", "writ_policy: 1\nmode: observe\n")
            .replace("size(params.source) <= 20000", "size(params.source) <= 4"));
    activate(policy, 0);

    for (String source : new String[] {"6*7", "6*8", "1+1+1+1", "6*7"}) {
      Run seen = writ("run", "js", "--param", "source=" + source);
      assertThat(seen.status()).as(seen.err()).isZero();
    }
    Run shown = writ("receipts", "--json");
    assertThat(shown.status()).isZero();

    Path proposed = dir.resolve("proposed.yaml");
    Path cases = dir.resolve("proposed.cases.yaml");
    Run propose = writ("policy", "propose", "-o", proposed.toString(), "--cases", cases.toString());
    assertThat(propose.status()).as(propose.out() + propose.err()).isZero();
    assertThat(Files.readString(proposed))
        .contains("js/eval", "size(params[\\\"source\\\"]) <= 7", "calls-a-day")
        .doesNotContain("mode:", "sql");
    Run again = writ("policy", "propose", "-o", proposed.toString(), "--cases", cases.toString());
    assertThat(again.status()).as("a file that is there is not overwritten").isNotZero();
    assertThat(writ("policy", "test", proposed.toString(), cases.toString()).status()).isZero();
    Run loose = writ("policy", "test", policy.toString(), cases.toString());
    assertThat(loose.status())
        .as("the cases hold a looser policy, too: " + loose.out())
        .isEqualTo(3);

    activate(proposed, 0);
    assertThat(writ("run", "js", "--param", "source=6*7").status()).isZero();
    Run unseen = writ("run", "js", "--param", "source=12345678");
    assertThat(unseen.status()).isNotZero();
    assertThat(unseen.out() + unseen.err()).contains("GRD-102");
    Run other = writ("run", "word-count");
    assertThat(other.out() + other.err()).contains("GRD-");
    assertThat(writ("audit").status()).isZero();
  }
}

package dev.writ.cli.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Prometheus's own judgement of the rules that are released. */
class EachAlertFiresAndStopsTest {

  @Test
  void promtoolAcceptsTheRulesAndEachTestOfThem() throws Exception {
    String[] check = {"check", "rules", "writ-alerts.yml", "writ-slo.yml"};
    assertThat(OperationsFiles.promtool("", check)).containsSubsequence("SUCCESS: 8", "SUCCESS: 8");
    assertThat(OperationsFiles.promtool("", "check", "config", "prometheus.yml"))
        .contains("prometheus.yml is valid");
    assertThat(OperationsFiles.promtool("", "test", "rules", "writ-test.yml")).contains("SUCCESS");
  }

  /** For each alert: a time at which nothing fires, then one at which it does, then none again. */
  @Test
  void eachAlertHasATestInWhichItFiresAndStops() throws Exception {
    Map<?, ?> file =
        (Map<?, ?>)
            new Load(LoadSettings.builder().build())
                .loadFromString(
                    Files.readString(OperationsFiles.PROMETHEUS.resolve("writ-test.yml")));
    TreeSet<String> proven = new TreeSet<>();
    for (Object test : (List<?>) file.get("tests")) {
      List<?> steps = (List<?>) ((Map<?, ?>) test).get("alert_rule_test");
      boolean fires =
          steps.stream().anyMatch(s -> !((List<?>) ((Map<?, ?>) s).get("exp_alerts")).isEmpty());
      Map<?, ?> last = (Map<?, ?>) steps.getLast();
      if (fires && ((List<?>) last.get("exp_alerts")).isEmpty()) {
        proven.add((String) last.get("alertname"));
      }
    }
    assertThat(proven).isEqualTo(OperationsFiles.alerts());
  }

  /** What reads the expressions for names, on the forms that PromQL has. */
  @Test
  void expressionsAreReadForTheirNames() {
    PromQl read =
        new PromQl(
            "sum by (a, b) (rate(m_total{c=\"x{y}\", d=~'z'}[5m] offset 1h)) / on (e) group_left"
                + " (f) 14.4e1 * count(n:o) without (g) or vector(1) > bool -h");
    assertThat(read.selected.keySet()).containsExactly("h", "m_total", "n:o");
    assertThat(read.selected.get("m_total")).containsExactly("c", "d");
    assertThat(read.grouping).containsExactly("a", "b", "e", "f", "g");
    assertThat(new PromQl("label_replace(max(m{a=\"1\"}) / 2, \"w\", \"cpu\", \"\", \"\")").made)
        .containsExactly("w");
    assertThatThrownBy(() -> new PromQl("{job=\"x\"}")).isInstanceOf(AssertionError.class);
  }
}

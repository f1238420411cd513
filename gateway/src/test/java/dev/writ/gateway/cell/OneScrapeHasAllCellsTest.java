package dev.writ.gateway.cell;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What several cells in one process count is told apart by a label. */
class OneScrapeHasAllCellsTest {
  @Test
  void eachMetricStandsOnceWithTheSamplesOfAllCells() {
    String own =
        """
        # HELP writ_cell_waiting Requests that wait
        # TYPE writ_cell_waiting gauge
        writ_cell_waiting 0.0
        """;
    String of =
        """
        # HELP writ_log_size Events
        # TYPE writ_log_size gauge
        writ_log_size 7.0
        # HELP writ_effects_total Effects
        # TYPE writ_effects_total counter
        writ_effects_total{tool="a b",} 1.0
        # HELP writ_seconds Time
        # TYPE writ_seconds histogram
        writ_seconds_bucket{le="0.1"} 2
        writ_seconds_count{} 2
        """;
    assertThat(CellMetrics.joined(own, new TreeMap<>(Map.of(1, of, 12, of))))
        .isEqualTo(
            """
            # HELP writ_cell_waiting Requests that wait
            # TYPE writ_cell_waiting gauge
            writ_cell_waiting 0.0
            # HELP writ_log_size Events
            # TYPE writ_log_size gauge
            writ_log_size{cell="1"} 7.0
            writ_log_size{cell="12"} 7.0
            # HELP writ_effects_total Effects
            # TYPE writ_effects_total counter
            writ_effects_total{cell="1",tool="a b",} 1.0
            writ_effects_total{cell="12",tool="a b",} 1.0
            # HELP writ_seconds Time
            # TYPE writ_seconds histogram
            writ_seconds_bucket{cell="1",le="0.1"} 2
            writ_seconds_count{cell="1"} 2
            writ_seconds_bucket{cell="12",le="0.1"} 2
            writ_seconds_count{cell="12"} 2
            """);
    assertThat(CellMetrics.joined(own, new TreeMap<>())).isEqualTo(own);
  }
}

package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.testing.TestHome;
import dev.writ.replay.BundleSeam;
import dev.writ.replay.Recording;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EveryKindOfEventReplaysTest {
  @TempDir Path dir;

  @Test
  void of_a_run_with_everything() {
    try (TestHome home = BundleSeam.home(dir)) {
      BundleSeam.fill(home);
      BundleSeam.close(home, "run-1");
      Recording recording = BundleSeam.recording(home, BundleSeam.RUN);
      ReplayResult result =
          new Replay(recording, ReplayOptions.recorded(List.copyOf(home.drivers))).run();
      System.out.println(result);
      assertThat(result.divergences()).isEmpty();
      assertThat(result.state()).isEqualTo(ReplayResult.State.COMPLETE);
      assertThat(result.replayHash()).isEqualTo(result.runHash());
    }
  }
}

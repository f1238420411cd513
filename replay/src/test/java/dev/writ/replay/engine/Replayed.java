package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.TestHome;
import dev.writ.ledger.RunId;
import dev.writ.verify.bundle.Recording;
import dev.writ.verify.bundle.Sample;
import java.util.List;

/** Replays of a test's installation. */
final class Replayed {
  private Replayed() {}

  static ReplayResult of(TestHome home, Recording recording) {
    return new Replay(recording, ReplayOptions.recorded(List.copyOf(home.drivers))).run();
  }

  /** Replays a run, which must come out as it was recorded. */
  static ReplayResult completely(TestHome home, RunId run) {
    return completely(home, Sample.recording(home, run));
  }

  static ReplayResult completely(TestHome home, Recording recording) {
    ReplayResult result = of(home, recording);
    assertThat(result.failure()).isEmpty();
    assertThat(result.divergences().stream().map(Divergence::headline)).isEmpty();
    assertThat(result.state()).isEqualTo(ReplayResult.State.COMPLETE);
    assertThat(result.replayHash()).isPresent().isEqualTo(result.runHash());
    return result;
  }
}

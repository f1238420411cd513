package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.TestHome;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.bundle.Sample;
import java.util.List;

/** Replays of a test's installation. */
final class Replayed {
  private Replayed() {}

  /** As the command line does, which reads ahead; reading on demand must come to the same. */
  static ReplayResult of(TestHome home, RecordedRun recording) {
    ReplayOptions options = ReplayOptions.recorded(List.copyOf(home.drivers));
    ReplayResult result = new Replay(recording, options).run();
    if (recording instanceof Bundle bundle) {
      assertThat(new Replay(bundle.ahead(), options).run().toJson()).isEqualTo(result.toJson());
    }
    return result;
  }

  /** Replays a run, which must come out as it was recorded. */
  static ReplayResult completely(TestHome home, RunId run) {
    return completely(home, Sample.recording(home, run));
  }

  static ReplayResult completely(TestHome home, RecordedRun recording) {
    ReplayResult result = of(home, recording);
    assertThat(result.failure()).isEmpty();
    assertThat(result.divergences().stream().map(Divergence::headline)).isEmpty();
    assertThat(result.state()).isEqualTo(ReplayResult.State.COMPLETE);
    assertThat(result.replayHash()).isPresent().isEqualTo(result.runHash());
    return result;
  }
}

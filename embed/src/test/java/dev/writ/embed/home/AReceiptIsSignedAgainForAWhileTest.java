package dev.writ.embed.home;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.SignerError;
import dev.writ.executor.error.ExecutorError;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AReceiptIsSignedAgainForAWhileTest {
  private final List<Duration> waited = new ArrayList<>();
  private final PatientSigning patience = new PatientSigning(waited::add);

  private static WritException because(ErrorCode code) {
    return new WritException(
        ExecutorError.RECEIPT_FAILED, "for a test", new WritException(code, "for a test"));
  }

  @Test
  void aServiceThatThrottlesIsAskedFourTimesMore() {
    for (int failures = 1; failures <= 4; failures++) {
      assertThat(patience.after(failures, because(SignerError.SERVICE_BUSY))).isTrue();
    }
    assertThat(patience.after(5, because(SignerError.SERVICE_BUSY))).isFalse();
    assertThat(waited).hasSize(4).isSorted();
    assertThat(waited.stream().reduce(Duration.ZERO, Duration::plus))
        .isLessThan(Duration.ofSeconds(15));
  }

  @Test
  void whatDoesNotPassIsNotWaitedFor() {
    assertThat(patience.after(1, because(CanonicalizeError.SIGNER_WRONG))).isFalse();
    assertThat(
            patience.after(
                1,
                new WritException(
                    ExecutorError.RECEIPT_FAILED, "x", new IllegalStateException("no key"))))
        .isFalse();
    assertThat(waited).isEmpty();
  }

  @Test
  void whoIsInterruptedWaitsNoMore() {
    PatientSigning interrupted =
        new PatientSigning(_ -> {
          throw new InterruptedException();
        });
    assertThat(interrupted.after(1, because(SignerError.SERVICE_BUSY))).isFalse();
    assertThat(Thread.interrupted()).isTrue();
  }
}

package dev.writ.console.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.Await;
import dev.writ.gateway.http.auth.Caller;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A bundle may take the whole stack; the jobs of others are worked at all the same. */
class AFailedJobEndsAloneTest {
  private static final InstantSource CLOCK = InstantSource.fixed(Instant.EPOCH);
  private static final Caller CALLER =
      new Caller("bearer", "token", "acme", "alice", List.of("auditor"));

  private final AtomicReference<Throwable> told = new AtomicReference<>();

  private static AuditJob job(String id) {
    return new AuditJob(id, CALLER, AuditKind.VERIFY, List.of("run-1"), Instant.EPOCH);
  }

  private static void fail(AuditJob job) {
    if (job.id().equals("first")) {
      throw new StackOverflowError();
    }
  }

  @Test
  void theNextIsWorkedAt() {
    try (AuditJobs jobs = new AuditJobs(AFailedJobEndsAloneTest::fail, CLOCK, told::set)) {
      AuditJob first = job("first");
      AuditJob second = job("second");
      jobs.add(first);
      jobs.add(second);
      Await.until(() -> second.state().ended());
      assertThat(first.state()).isEqualTo(AuditJob.State.FAILED);
      assertThat(second.state()).isEqualTo(AuditJob.State.DONE);
      assertThat(told.get()).isInstanceOf(StackOverflowError.class);
    }
  }
}

package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.fixture.Forgery;
import dev.writ.gateway.TestGateway;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Signatures of requests that come at the same time may be verified together (spec/envelope.md,
 * rule 12): a forged one among them is refused, and no other suffers.
 */
class ManyRequestsAtOnceAreJudgedAloneTest {
  private static final int MANY = 60;

  /** Of so many requests one is forged. */
  private static final int FORGED = 9;

  @TempDir Path dir;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    gateway = TestGateway.start(dir);
  }

  @AfterEach
  void stop() {
    gateway.close();
    assertThat(gateway.failures).isEmpty();
  }

  private Envelope request(int number) {
    return gateway.home.ask("alice").run("run-" + number).params("{\"n\":" + number + "}").sign();
  }

  /** The first round has no forged request, so that no batch fails. */
  @Test
  void aForgedRequestAmongManyIsRefusedAndTheOthersAreServed() throws Exception {
    int served = 0;
    for (int round = 0; round < 3; round++) {
      List<Envelope> requests = new ArrayList<>();
      List<Integer> expected = new ArrayList<>();
      for (int i = 0; i < MANY; i++) {
        int number = round * MANY + i;
        boolean forged = round > 0 && i % FORGED == 0;
        requests.add(
            forged
                ? Forgery.keepingSignatures(request(number), request(number + 3 * MANY).document())
                : request(number));
        expected.add(forged ? 401 : 200);
        served += forged ? 0 : 1;
      }
      assertThat(atOnce(requests)).isEqualTo(expected);
    }
    assertThat(gateway.home.driver.runs()).hasSize(served);
  }

  private List<Integer> atOnce(List<Envelope> requests) throws Exception {
    CountDownLatch ready = new CountDownLatch(requests.size());
    List<Integer> statuses = new ArrayList<>();
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> replies = new ArrayList<>();
      for (Envelope request : requests) {
        replies.add(
            callers.submit(() -> {
              ready.countDown();
              ready.await();
              return gateway.submit(request).status();
            }));
      }
      for (Future<Integer> reply : replies) {
        statuses.add(reply.get());
      }
    }
    return statuses;
  }
}

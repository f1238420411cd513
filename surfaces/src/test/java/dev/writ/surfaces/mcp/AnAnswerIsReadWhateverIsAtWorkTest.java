package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that all wait for their client do not keep what it answers from being read. */
@Timeout(60)
class AnAnswerIsReadWhateverIsAtWorkTest {
  private static final int CALLS = 200;
  private static final String ANSWER = "{\"jsonrpc\":\"2.0\",\"id\":\"writ-1\",\"result\":{}}";
  private static final String CANCELLED =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}";

  private final CountDownLatch heard = new CountDownLatch(2);
  private final AtomicInteger together = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();

  private Optional<byte[]> answer(byte[] line, McpChannel beside) {
    if (!(McpMessage.parse(line) instanceof McpMessage.Request)) {
      heard.countDown();
      return Optional.empty();
    }
    most.accumulateAndGet(together.incrementAndGet(), Math::max);
    try {
      heard.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    together.decrementAndGet();
    return Optional.of(line);
  }

  @Test
  void allCallsEndByIt() throws Exception {
    StringBuilder input = new StringBuilder();
    for (int i = 0; i < CALLS; i++) {
      input.append("{\"jsonrpc\":\"2.0\",\"id\":").append(i).append(",\"method\":\"m\"}\n");
    }
    input.append(ANSWER).append('\n').append(CANCELLED).append('\n');
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new McpLines(this::answer, out)
        .run(new ByteArrayInputStream(input.toString().getBytes(StandardCharsets.UTF_8)));
    assertThat(out.toString(StandardCharsets.UTF_8).lines()).hasSize(CALLS);
    assertThat(most.get()).as("at one time").isLessThanOrEqualTo(64);
  }
}

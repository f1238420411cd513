package dev.writ.verify.audit;

import static dev.writ.verify.audit.TwoCells.FIRST;
import static dev.writ.verify.audit.TwoCells.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.fixture.Await;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestTools;
import dev.writ.verify.testing.Audited;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The statement that a tenant moves reaches its cell while a request that was found to be in the
 * right place waits for the run's workspace: nothing of it stands behind the statement
 * (spec/cells.md, "Moving").
 */
class AMoveIsStatedWhileWorkWaitsTest {
  @TempDir Path dir;
  private TwoCells cells;

  @BeforeEach
  void start() {
    cells = new TwoCells(dir, TestPolicy.WORKSPACES, TestTools.withWorkspaces());
  }

  @AfterEach
  void stop() {
    cells.close();
  }

  /** What becomes of a request that waits while the statement comes. */
  private String codeOf(Envelope waits) throws Exception {
    TestHome first = cells.home(FIRST);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    first.driver.does("desk", Behaviours.blocks(begun, goOn));
    Thread.ofPlatform().start(() -> first.submit(first.ask("alice").run("a").tool("desk")));
    begun.await();
    CompletableFuture<String> code = new CompletableFuture<>();
    Thread waiting =
        Thread.ofPlatform()
            .start(() -> {
              try {
                code.complete(Refused.code(() -> first.submit(waits)));
              } catch (Throwable e) {
                code.completeExceptionally(e);
              }
            });
    Await.until(() ->
        Stream.of(waiting.getStackTrace())
            .anyMatch(frame -> frame.getMethodName().equals("lockWorkspace")));
    cells.follow(cells.state(FIRST, SECOND));
    goOn.countDown();
    return code.get();
  }

  private void sound() {
    Await.until(() -> cells.goOn(FIRST).departed().contains(TestKeys.TENANT));
    assertThat(cells.goOn(SECOND).arrived()).containsExactly(TestKeys.TENANT);
    for (int cell = 0; cell < 3; cell++) {
      assertThat(Audited.report(cells.home(cell)).problems()).as("cell " + cell).isEmpty();
    }
  }

  @Test
  void itIsNotDispatched() throws Exception {
    TestHome first = cells.home(FIRST);
    assertThat(codeOf(first.ask("alice").run("a").tool("desk").sign())).isEqualTo("EXE-990");
    sound();
  }

  @Test
  void itIsNotDeniedEither() throws Exception {
    TestHome first = cells.home(FIRST);
    assertThat(codeOf(first.ask("alice").run("a").tool("desk").params("{\"forbidden\":1}").sign()))
        .isEqualTo("EXE-990");
    sound();
  }
}

package dev.writ.tools.wasm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.CallContext;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.driver.SandboxObserver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.Call;
import dev.writ.tools.Drivers;
import dev.writ.tools.TestTools;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Guests share a bounded host. */
@Timeout(300)
class GuestPoolTest {
  private static Driver.Prepared prepare(Drivers drivers, String operation) {
    byte[] module = TestTools.resource("wasm/guest.wasm");
    ToolManifest manifest = TestTools.manifest("wasm", module, operation);
    return drivers.byName().get("wasm").prepare(manifest, operation, file -> module);
  }

  @Test
  void closingEndsRunningGuestsAndRefusesNewOnes() throws Exception {
    GuestPool pool = new GuestPool(1, 1L << 30);
    CountDownLatch begun = new CountDownLatch(1);
    Call endless =
        new Call(invocation ->
            pool.run(
                invocation,
                guest -> {
                  begun.countDown();
                  while (true) {
                    Guest.checkInterrupted();
                  }
                }));
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<DriverOutcome> running = callers.submit(endless::run);
      begun.await();
      pool.close();
      assertThat(running.get().end()).isEqualTo(DriverOutcome.End.KILLED);
      assertThat(running.get().reason()).isEqualTo("cancelled");
    }
    assertThatThrownBy(endless::run)
        .isInstanceOf(WritException.class)
        .hasMessageContaining("TOL-005");
  }

  @Test
  void memoryTogetherStaysUnderTheBudget() throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    try (GuestPool pool = new GuestPool(8, 100 << 20);
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Call call =
          new Call(invocation ->
              pool.run(
                  invocation,
                  guest -> {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    Thread.onSpinWait();
                    inside.decrementAndGet();
                    return new DriverOutcome.Output(new byte[0], "text/plain");
                  }))
              .memoryBytes(40 << 20);
      List<Future<DriverOutcome>> futures = new ArrayList<>();
      for (int i = 0; i < 64; i++) {
        futures.add(callers.submit(call::run));
      }
      for (Future<DriverOutcome> future : futures) {
        assertThat(future.get().end()).isEqualTo(DriverOutcome.End.SUCCEEDED);
      }
    }
    assertThat(most.get()).isBetween(1, 2);
  }

  @Test
  void whateverAProgramThrowsIsAnOutcome() {
    try (GuestPool pool = new GuestPool(1, 1L << 30)) {
      Throwable[] thrown = {
        new IllegalStateException("x"),
        new OutOfMemoryError("x"),
        new StackOverflowError(),
        new AssertionError("x"),
        new ArrayIndexOutOfBoundsException(3)
      };
      String[] reasons = {
        "engine-failure", "host-memory", "stack-overflow", "engine-failure", "engine-failure"
      };
      for (int i = 0; i < thrown.length; i++) {
        Throwable t = thrown[i];
        Call call =
            new Call(invocation ->
                pool.run(
                    invocation,
                    guest -> {
                      throw GuestPoolTest.<RuntimeException>sneaky(t);
                    }));
        assertThat(call.run().reason()).isEqualTo(reasons[i]);
      }
    }
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> T sneaky(Throwable t) throws T {
    throw (T) t;
  }

  @Test
  void whatTheStoreThrowsGoesThrough() {
    Driver.Prepared prepared = prepare(TestTools.DRIVERS, "nothing");
    var invocation = new Call(prepared).input("a", "x").invocation();
    var broken =
        new Invocation(
            invocation.scope(),
            invocation.params(),
            invocation.inputs(),
            input -> {
              throw new IllegalStateException("the blob is damaged");
            },
            invocation.seed(),
            invocation.time(),
            invocation.resources(),
            invocation.sandbox(),
            invocation.workspaceBefore(),
            invocation.approved());
    assertThatThrownBy(() -> prepared.run(broken)).hasMessage("the blob is damaged");
  }

  @Test
  void anObserverIsToldOfAGuestsLifeHoweverItEnds() {
    try (GuestPool pool = new GuestPool(1, 1L << 30)) {
      List<GuestPool.Program> programs =
          List.of(
              _ -> new DriverOutcome.Output(new byte[0], "text/plain"),
              _ -> {
                throw new IllegalStateException("x");
              });
      for (GuestPool.Program program : programs) {
        List<String> told = new ArrayList<>();
        new Call(invocation ->
            pool.run(invocation.of(CallContext.NONE.observedBy(into(told))), program))
            .run();
        assertThat(told).containsExactly("created", "executing", "destroyed");
      }
      List<String> told = new ArrayList<>();
      new Call(invocation ->
          pool.run(invocation.of(CallContext.NONE.observedBy(into(told))), programs.getFirst()))
          .memoryBytes(2L << 30)
          .run();
      assertThat(told).as("there is no room for it").isEmpty();
    }
  }

  private static SandboxObserver into(List<String> told) {
    return new SandboxObserver() {
      @Override
      public void created() {
        told.add("created");
      }

      @Override
      public void executing() {
        told.add("executing");
      }

      @Override
      public void destroyed() {
        told.add("destroyed");
      }
    };
  }
}

package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.verify.audit.Audit;
import dev.writ.verify.audit.AuditReport;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A soak; the whole of issue 6 is {@code -Dwrit.soak=100000}. What policy counts within a window is
 * in memory for that long, so the windows here are short.
 */
class MemoryStaysFlatTest {
  private static final int COUNT = Integer.getInteger("writ.soak", 300);
  private static final int CLIENTS = 8;
  private static final int LOOKS = 10;
  private static final long MIB = 1 << 20;

  @TempDir Path dir;
  private final AtomicInteger next = new AtomicInteger();
  private final AtomicInteger unexpected = new AtomicInteger();

  /** Does nothing, and keeps nothing of it. */
  private record Idle(TestDriver driver) implements Driver {
    @Override
    public String name() {
      return driver.name();
    }

    @Override
    public Determinism determinism() {
      return driver.determinism();
    }

    @Override
    public Digest sandboxProfile(String profile) {
      return driver.sandboxProfile(profile);
    }

    @Override
    public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
      return Behaviours.gives("{\"ok\":true}", Behaviours.JSON)::run;
    }
  }

  private WholeGateway start() {
    String policy =
        TestPolicy.YAML
                .replace(
                    "subject: alice, roles: [worker]",
                    "subject: alice, roles: [worker], surfaces: [test]")
                .replace("limit: 100000, window_s: 86400", "limit: 100000000, window_s: 86400")
                .replace(
                    "limit: 1000000000, window_s: 86400", "limit: 100000000000, window_s: 86400")
            + "runs: { idle_max_s: 60 }\n";
    TestHome home = TestHome.create(dir, policy);
    home.enrol(TestKeys.trusted(TestGateway.SURFACE, KeyRole.SURFACE, Optional.of("acme")));
    home.drivers.clear();
    home.drivers.add(new Idle(home.driver));
    WholeGateway server =
        new WholeGateway(
            home,
            "writ_gateway: 1\nlisten: { port: 0 }\ntokens:\n"
                + WholeGateway.token("alices", "alice", ""),
            dir);
    server.forgetLog();
    home.clock.stepping(Duration.ofMillis(4)); // nonces, charges and runs grow old
    return server;
  }

  @Test
  void manyRequestsOfAllKindsLeaveNothingBehindInMemory() throws Exception {
    List<Long> heap = new ArrayList<>();
    List<Long> resident = new ArrayList<>();
    long begin = System.nanoTime();
    try (WholeGateway server = start();
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS)) {
      for (int look = 1; look <= LOOKS; look++) {
        int until = COUNT * look / LOOKS;
        List<Future<?>> working = new ArrayList<>();
        for (int c = 0; c < CLIENTS; c++) {
          working.add(clients.submit(() -> work(server, until)));
        }
        for (Future<?> each : working) {
          each.get();
        }
        heap.add(heapMiB());
        resident.add(residentMiB());
        System.out.println(
            "soak: after "
                + until
                + " requests, MiB: heap "
                + heap.getLast()
                + ", resident "
                + resident.getLast());
      }
      server.gateway.close(); // it would go on closing runs meanwhile
      assertThat(server.home.fsck().problems()).isEmpty();
      try (LedgerView reader = Ledger.openReadOnly(server.home.ledgerConfig().dir())) {
        AuditReport report =
            Audit.check(reader, new Tools(server.home.tools, server.home.drivers), (_, _) -> {});
        assertThat(report.problems()).isEmpty();
      }
    }
    System.out.println(
        "soak: " + COUNT + " requests in " + (System.nanoTime() - begin) / 1_000_000_000 + " s");
    assertThat(unexpected.get()).isZero();
    // Until the first windows have passed it may still grow.
    assertThat(heap.getLast() - heap.get(3)).as("heap %s", heap).isLessThanOrEqualTo(16);
  }

  /** Of ten: six signed effects, one of them not pure, one vouched for, one refused, two reads. */
  private Void work(WholeGateway server, int until) throws Exception {
    for (int i = next.getAndIncrement(); i < until; i = next.getAndIncrement()) {
      String run = "run-" + i / 500 + "-" + i % 8;
      int status =
          switch (i % 10) {
            case 6 -> server.post("alices", "/test/v-" + run + "/calc", "{}").statusCode();
            case 7 -> server.get("nobody-of-that-name", "/v1/runs").statusCode() - 201;
            case 8 -> server.get("alices", "/metrics").statusCode();
            case 9 -> server.get("alices", "/v1/runs/none-" + i).statusCode() - 204;
            default ->
                server
                    .post("/v1/effects", request(server, run, i % 10 == 0 ? "mail" : "calc"))
                    .statusCode();
          };
      if (status != 200) {
        unexpected.incrementAndGet();
      }
    }
    next.decrementAndGet(); // this one is the next look's
    return null;
  }

  private synchronized byte[] request(WholeGateway server, String run, String tool) {
    return server.home.ask("alice").run(run).tool(tool).bytes();
  }

  private static long heapMiB() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / MIB;
  }

  private static long residentMiB() throws Exception {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("VmRSS:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024)
        .findFirst()
        .orElse(0);
  }
}

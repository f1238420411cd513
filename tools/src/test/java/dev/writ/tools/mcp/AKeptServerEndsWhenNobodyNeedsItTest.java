package dev.writ.tools.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.Scope;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.TestHosts;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How many servers are kept, and for how long: real ones, by a clock that the test sets. */
class AKeptServerEndsWhenNobodyNeedsItTest {
  private static final long IDLE_MS = 600_000;

  private static TestHosts hosts;
  private static UpstreamPackage upstream;

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // such a clock may overflow
  private RunningServers servers;

  @BeforeAll
  static void open() throws IOException {
    hosts = TestHosts.open((_, _) -> List.of(), Optional.empty());
    TreeMap<String, byte[]> own = new TreeMap<>();
    try (InputStream in =
        AKeptServerEndsWhenNobodyNeedsItTest.class.getResourceAsStream("server.py")) {
      own.put("server.py", in.readAllBytes());
    }
    ServerSpec spec =
        new ServerSpec(
            List.of("python3", "/tool/server.py"),
            new TreeMap<>(),
            new TreeMap<>(),
            List.of(),
            List.of(),
            60_000);
    PinnedTools tools =
        UpstreamProbe.look(hosts.host(), spec, own, new Scope("acme", "probe", "alice"), List.of())
            .tools();
    upstream = UpstreamPackage.of("calc", "1.0.0", spec, tools, own);
  }

  @AfterAll
  static void close() {
    hosts.close();
  }

  @BeforeEach
  void two() {
    servers =
        new RunningServers(
            hosts::host, new RunningServers.Terms(2, IDLE_MS, Long.MAX_VALUE, nanos::get));
  }

  @AfterEach
  void endAll() {
    servers.close();
  }

  private static ServerPlace run(String run) {
    return new ServerPlace(
        new Scope("acme", run, "alice"), "default", 256L << 20, false, List.of(), List.of(), true);
  }

  private ReadyServer used(String run) throws InterruptedException {
    return servers.work(upstream, run(run), server -> server);
  }

  @Test
  void thoseOfARunThatIsClosedEndAtOnceAndOneThatIsAtWorkWithItsWork() throws Exception {
    ReadyServer first = used("one");
    ReadyServer other = used("two");
    servers.end("globex", "one");
    assertThat(first.isSound()).as("another tenant's run of that name").isTrue();
    servers.end("acme", "one");
    assertThat(first.isSound()).isFalse();
    assertThat(other.isSound()).isTrue();
    servers.work(
        upstream,
        run("two"),
        server -> {
          servers.end("acme", "two");
          assertThat(server.isSound()).as("in the middle of a call").isTrue();
          return server;
        });
    assertThat(other.isSound()).isFalse();
    assertThat(used("two")).isNotSameAs(other);
  }

  @Test
  void oneMoreThanMayRunTakesThePlaceOfTheOneThatWaitedLongest() throws Exception {
    ReadyServer first = used("one");
    nanos.addAndGet(10);
    ReadyServer second = used("two");
    nanos.addAndGet(10);
    assertThat(used("one")).isSameAs(first);
    nanos.addAndGet(10);
    ReadyServer third = used("three");
    assertThat(second.isSound()).isFalse();
    assertThat(first.isSound()).isTrue();
    assertThat(third.isSound()).isTrue();
    assertThat(used("two")).isNotSameAs(second);
  }

  @Test
  void whereAllAreAtWorkOneMoreIsRefusedAndNoneOfThemEnds() throws Exception {
    boolean both =
        servers.work(
            upstream,
            run("one"),
            one ->
                servers.work(
                    upstream,
                    run("two"),
                    two -> {
                      assertThatThrownBy(() -> used("three"))
                          .isInstanceOfSatisfying(
                              WritException.class,
                              e -> assertThat(e.code()).isEqualTo(ToolsError.UPSTREAM_BUSY))
                          .hasMessageContaining("at most 2");
                      assertThat(used("one")).isSameAs(one); // who is there already is served
                      return one.isSound() && two.isSound();
                    }));
    assertThat(both).isTrue();
    assertThat(used("three").isSound()).isTrue();
  }

  @Test
  void oneThatNobodyCalledForSoLongIsEndedAndOneAtWorkIsNot() throws Exception {
    ReadyServer idle = used("one");
    servers.endIdle();
    assertThat(idle.isSound()).isTrue();
    nanos.addAndGet(IDLE_MS * 1_000_000);
    servers.endIdle();
    assertThat(idle.isSound()).as("not longer than that").isTrue();
    ReadyServer busy =
        servers.work(
            upstream,
            run("two"),
            server -> {
              nanos.addAndGet(1);
              servers.endIdle();
              return server;
            });
    assertThat(idle.isSound()).isFalse();
    assertThat(busy.isSound()).isTrue();
    assertThat(used("one")).isNotSameAs(idle);
  }

  @Test
  void afterTheEndNothingIsStarted() throws Exception {
    ReadyServer kept = used("one");
    servers.close();
    assertThat(kept.isSound()).isFalse();
    assertThatThrownBy(() -> used("one"))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(ToolsError.DRIVERS_CLOSED));
  }
}

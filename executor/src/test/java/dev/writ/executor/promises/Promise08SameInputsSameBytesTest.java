package dev.writ.executor.promises;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.fixture.TestSetup;
import dev.writ.guardian.document.Intent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Promise 8: the same inputs give the same bytes: no wall clock, no random source and no unordered
 * iteration reach a signed byte except as recorded inputs.
 */
class Promise08SameInputsSameBytesTest {
  @TempDir Path one;
  @TempDir Path other;
  @TempDir Path third;

  /** Everything that a kernel can do, in an order. */
  private static void live(TestHome home) {
    home.clock.stepping(Duration.ofMillis(7));
    home.submit(home.ask("alice").tool("calc"));
    home.submit(home.ask("bob").tool("mail").run("run-b"));
    home.submit(home.ask("eve").tool("sim"));
    Envelope pay = home.ask("alice").tool("pay").sign();
    home.submit(pay);
    home.approve(pay, "rita");
    home.submit(pay);
    home.driver.does("mail", Behaviours.fails());
    home.submit(home.ask("alice").tool("mail").dropOutput());
    home.submit(home.ask("alice").tool("mail").params("{\"forbidden\":1}"));
    home.restart();
    TestRequest lapsing = home.ask("alice").tool("mail").run("run-3");
    var decided = home.decide(lapsing.sign());
    home.clock.forward(Intent.LIFE_MAX);
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-107");
    home.submit(lapsing);
    home.activate(TestPolicy.YAML);
    home.kernel().closeRun(home.close("acme", "run-b", "bob"));
  }

  private static List<String> bytes(TestHome home) {
    List<String> all = new ArrayList<>();
    home.log()
        .forEach(event -> {
          all.add(new String(event.toBytes(), StandardCharsets.UTF_8));
          home.ledger()
              .document(event.body())
              .ifPresent(d -> all.add(new String(d.toBytes(), StandardCharsets.UTF_8)));
        });
    for (String table :
        List.of(
            "run",
            "request",
            "served",
            "idempotency",
            "receipts",
            "done",
            "held",
            "approval",
            "pending",
            "doubt",
            "account",
            "closed")) {
      home.ledger()
          .scan(
              table,
              "",
              (key, value) -> {
                all.add(table + " " + key + " " + new String(value, StandardCharsets.ISO_8859_1));
                return true;
              });
    }
    all.add(home.kernel().checkpoint().root().toString());
    return all;
  }

  @Test
  void two_kernels_with_the_same_clock_and_random_give_the_same_ledger() {
    try (TestHome a = TestHome.create(one);
        TestHome b = TestHome.create(other)) {
      live(a);
      live(b);
      assertThat(bytes(b)).zipSatisfy(bytes(a), (x, y) -> assertThat(x).isEqualTo(y));
      assertThat(b.ledger().root()).isEqualTo(a.ledger().root());
      assertThat(b.kernel().checkpoint().root()).isEqualTo(a.kernel().checkpoint().root());
    }
  }

  @Test
  void another_random_source_changes_the_seeds_and_another_clock_the_times() {
    try (TestHome a = TestHome.create(one);
        TestHome b = TestSetup.in(other).seed(2).found();
        TestHome c = TestHome.create(third)) {
      TestRequest request = a.ask("alice");
      a.submit(request);
      b.submit(request);
      c.clock.forward(Duration.ofMillis(1));
      c.submit(request);
      assertThat(b.ledger().root()).isNotEqualTo(a.ledger().root());
      assertThat(c.ledger().root()).isNotEqualTo(a.ledger().root());
      assertThat(b.kinds("acme", "run-1")).isEqualTo(a.kinds("acme", "run-1"));
    }
  }
}

package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestWorkspaces;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.Forgers;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What receipts say of workspaces, forged by who holds the executor's key, and all else made to
 * fit: the audit of the ledger and both verifiers of bundles find it.
 */
class BothVerifiersHoldWorkspacesTest {
  private static final SecondOpinion OPINION = new SecondOpinion();
  private static final String EMPTY = RunWorkspaces.EMPTY.toString();

  @TempDir Path dir;

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  private static Digest receipt(TestHome home, Predicate<Receipt> which) {
    return home.log().stream()
        .filter(e -> e.kind().equals(EventKind.RECEIPT_SIGNED))
        .map(Event::body)
        .filter(id -> which.test(Receipt.read(home.document(id).document())))
        .findFirst()
        .orElseThrow();
  }

  private static Predicate<Receipt> of(String tool) {
    return receipt -> receipt.tool().name().equals(tool);
  }

  private static UnaryOperator<JsonValue.Obj> set(String... members) {
    return document -> {
      TreeMap<String, JsonValue> all = new TreeMap<>(document.members());
      for (int i = 0; i < members.length; i += 2) {
        if (members[i + 1] == null) {
          all.remove(members[i]);
        } else {
          all.put(members[i], JsonValue.of(members[i + 1]));
        }
      }
      return new JsonValue.Obj(all);
    };
  }

  /** The first thing that a verifier finds wrong with the forged run; the audit finds it too. */
  private String found(
      TestHome home, TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes, boolean tools) {
    LedgerConfig config = Forgers.place(home, dir);
    Forgers.rewrite(home.ledger(), changes, config);
    return OPINION.found(home, config, new BundleExport.Options(true, tools, Optional.empty()));
  }

  private String found(TestHome home, Digest document, UnaryOperator<JsonValue.Obj> change) {
    TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes = new TreeMap<>();
    changes.put(document, change);
    return found(home, changes, true);
  }

  @Test
  void one_member_of_a_receipt_forged() {
    try (TestHome home = Workshop.home(dir.resolve("home"))) {
      Workshop.fill(home);
      Sample.close(home, "run-1");
      Digest desk = receipt(home, of("desk"));
      String other = TestWorkspaces.digest("other").toString();
      assertThat(found(home, desk, set())).isEqualTo("nothing");
      assertThat(found(home, receipt(home, of("lathe")), set("workspace_before", other)))
          .startsWith("EXE-953")
          .contains("/workspace_before");
      assertThat(found(home, desk, set("workspace_after", null)))
          .startsWith("EXE-953")
          .contains("/workspace_after is there: recorded false, recomputed true");
      assertThat(found(home, desk, set("workspace_before", null)))
          .startsWith("EXE-953")
          .contains("/workspace_before is there: recorded false, recomputed true");
      assertThat(found(home, desk, set("workspace_before", null, "workspace_after", null)))
          .startsWith("EXE-953");
      assertThat(found(home, desk, set("code", "EXE-402"))).startsWith("EXE-953");
      Digest mail = receipt(home, of("mail"));
      assertThat(found(home, mail, set("workspace_before", EMPTY, "workspace_after", EMPTY)))
          .startsWith("EXE-953")
          .contains("/workspace_before is there: recorded true, recomputed false");
      assertThat(found(home, mail, set("workspace_after", EMPTY))).startsWith("EXE-953");
      Digest doubt = receipt(home, r -> r.status() == Status.IN_DOUBT);
      assertThat(found(home, doubt, set("workspace_after", EMPTY))).startsWith("EXE-953");
    }
  }

  /** Who says that the tree could not be measured went on in a workspace in quarantine. */
  @Test
  void an_effect_in_a_workspace_in_quarantine() {
    try (TestHome home = Workshop.home(dir.resolve("home"))) {
      Workshop.fill(home);
      Sample.close(home, "run-1");
      Digest broken =
          receipt(
              home, r -> r.code().filter(ExecutorError.DRIVER_FAILED.code()::equals).isPresent());
      assertThat(found(home, broken, set("workspace_after", null, "code", "EXE-402")))
          .startsWith("EXE-954")
          .contains("its workspace was in quarantine by receipt");
    }
  }

  /** Of tools whose manifests are left out, so that nothing tells whether they use a workspace. */
  @Test
  void two_effects_that_were_in_it_at_once() throws InterruptedException {
    try (TestHome home = Workshop.home(dir.resolve("home"))) {
      CountDownLatch begun = new CountDownLatch(2);
      CountDownLatch goOn = new CountDownLatch(1);
      home.driver.does("mail", Behaviours.blocks(begun, goOn));
      home.driver.does("sim", Behaviours.blocks(begun, goOn));
      Thread one = Thread.ofPlatform().start(() -> home.submit(Workshop.ask(home, "mail")));
      Thread two = Thread.ofPlatform().start(() -> home.submit(Workshop.ask(home, "sim")));
      begun.await();
      goOn.countDown();
      one.join();
      two.join();
      Sample.close(home, "run-1");
      TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes = new TreeMap<>();
      for (String tool : List.of("mail", "sim")) {
        changes.put(
            receipt(home, of(tool)), set("workspace_before", EMPTY, "workspace_after", EMPTY));
      }
      assertThat(found(home, changes, false))
          .startsWith("EXE-954")
          .contains("its workspace was not free before event");
    }
  }

  @Test
  void a_tree_that_somebody_changed_or_emptied_in_between_is_told() {
    try (TestHome home = Workshop.home(dir.resolve("home"))) {
      home.submit(Workshop.ask(home, "desk"));
      home.workspaces.append("acme", "run-1", "by hand");
      home.submit(Workshop.ask(home, "desk"));
      home.workspaces.wipe("acme", "run-1", "expired", TestHome.START);
      home.submit(Workshop.ask(home, "desk"));
      Sample.close(home, "run-1");
      BundleVerifier.Verified verified = OPINION.pinned(Sample.export(home));
      assertThat(verified.notVerified())
          .anyMatch(line -> line.startsWith("1 effects: found their workspace other than"))
          .anyMatch(line -> line.startsWith("1 effects: found their workspace empty"));
    }
  }

  @Test
  void a_run_that_could_not_be_measured_and_one_that_is_open() {
    try (TestHome home = Workshop.home(dir.resolve("home"))) {
      home.submit(Workshop.ask(home, "desk"));
      Workshop.unmeasured(home, new WritException(LedgerError.DISK_FULL, "for a test"));
      home.kernel().checkpoint();
      assertThat(OPINION.pinned(Sample.export(home)).pinned()).isTrue();
      Sample.close(home, "run-1");
      assertThat(OPINION.pinned(Sample.export(home)).pinned()).isTrue();
    }
  }
}

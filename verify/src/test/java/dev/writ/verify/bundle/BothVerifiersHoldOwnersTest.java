package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.LedgerConfig;
import dev.writ.verify.audit.Forgers;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whose a run is: the audit and both verifiers hold it against the run's first request, also where
 * the guardian's key is in the wrong hands and all else was made to fit.
 */
class BothVerifiersHoldOwnersTest {
  private static final SecondOpinion OPINION = new SecondOpinion();

  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void open() {
    home = SharedRun.home(dir.resolve("home"));
  }

  @AfterEach
  void close() {
    home.close();
  }

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  private static UnaryOperator<JsonValue.Obj> in(
      String object, UnaryOperator<JsonValue.Obj> change) {
    return document -> {
      TreeMap<String, JsonValue> all = new TreeMap<>(document.members());
      all.put(object, change.apply((JsonValue.Obj) all.get(object)));
      return new JsonValue.Obj(all);
    };
  }

  private static UnaryOperator<JsonValue.Obj> set(String member, Optional<JsonValue> value) {
    return document -> {
      TreeMap<String, JsonValue> all = new TreeMap<>(document.members());
      all.remove(member);
      value.ifPresent(v -> all.put(member, v));
      return new JsonValue.Obj(all);
    };
  }

  /** What the verifiers find wrong where one document was forged; the audit finds it too. */
  private String found(Digest document, UnaryOperator<JsonValue.Obj> change) {
    TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes = new TreeMap<>();
    changes.put(document, change);
    LedgerConfig config = Forgers.place(home, dir);
    Forgers.rewrite(home.ledger(), changes, config);
    return OPINION.found(home, config, BundleExport.Options.WHOLE);
  }

  private Digest nth(String kind, int n) {
    return home.events(TestKeys.TENANT, "run-1").stream()
        .filter(event -> event.kind().equals(kind))
        .toList()
        .get(n)
        .body();
  }

  @Test
  void what_a_shared_run_records_is_verified() {
    SharedRun.taken(home);
    home.kernel().checkpoint();
    Digest alices = nth(EventKind.DECISION_MADE, 0);
    Digest bobs = nth(EventKind.DECISION_MADE, 1);
    assertThat(found(bobs, UnaryOperator.identity())).isEqualTo("nothing");
    assertThat(found(bobs, in("inputs", set("owner", Optional.of(JsonValue.of("bob"))))))
        .startsWith("EXE-956")
        .contains("/inputs/owner");
    assertThat(found(bobs, in("inputs", set("owner", Optional.empty()))))
        .startsWith("EXE-956"); // one before it has it
    assertThat(found(alices, in("inputs", set("owner", Optional.empty()))))
        .isEqualTo("nothing"); // as a decision of older days
    Digest asked = nth(EventKind.REQUEST_RECEIVED, 1);
    JsonValue narrow = JsonValue.of(List.<JsonValue>of(JsonValue.of("worker")));
    assertThat(found(asked, in("origin", set("roles", Optional.of(narrow)))))
        .startsWith("EXE-956"); // so it was not bob's to use
    assertThat(found(asked, in("origin", set("run", Optional.of(JsonValue.of("case-7"))))))
        .startsWith("EXE-956"); // nor one that was refused elsewhere
  }

  @Test
  void what_is_refused_is_not_in_the_run_and_what_waited_is_denied_in_it() {
    SharedRun.refused(home);
    home.kernel().checkpoint();
    assertThat(found(nth(EventKind.DECISION_MADE, 0), UnaryOperator.identity()))
        .isEqualTo("nothing");
  }
}

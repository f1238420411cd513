package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Intent;
import dev.writ.ledger.event.RunId;
import dev.writ.replay.engine.Divergence.Field;
import dev.writ.replay.engine.RunDiff.Pair;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.bundle.Sample;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Requests of two runs are paired by what they ask for; what came of each pair is compared. */
class TwoRunsAreComparedTest extends ASampleHome {
  private RecordedRun run(String name) {
    return Sample.recording(home, new RunId("acme", name));
  }

  private List<Pair> diff(String one, String other) {
    return RunDiff.of(run(one), run(other), false);
  }

  private void asks(String run, String tool, String params) {
    home.submit(home.ask("alice").run(run).tool(tool).params(params));
  }

  private static List<String> pointers(Pair pair) {
    return pair.fields().stream().map(Field::pointer).toList();
  }

  @Test
  void the_same_effects_with_the_same_results_are_the_same_though_every_id_differs() {
    home.driver.does("calc", Behaviours.gives("{\"ok\":true}", Behaviours.JSON));
    for (String run : List.of("one", "two")) {
      asks(run, "calc", "{\"n\":1}");
      asks(run, "mail", "{\"forbidden\":1}");
      var late = home.decide(home.ask("alice").run(run).tool("sim").sign());
      home.clock.forward(Intent.LIFE_MAX);
      assertThat(Refused.code(() -> home.execute(late, "alice"))).isEqualTo("EXE-107");
    }
    assertThat(diff("one", "two")).hasSize(3).allMatch(Pair::isSame);
    List<Pair> all = RunDiff.of(run("one"), run("two"), true);
    assertThat(all).noneMatch(Pair::isSame);
    assertThat(pointers(all.getFirst())).contains("/decisions/0/request", "/receipt/prng_seed");
    assertThat(pointers(all.getLast())).contains("/refusals/0/refused_at");
  }

  @Test
  void an_effect_that_only_one_of_them_asked_for_has_no_partner() {
    asks("one", "calc", "{\"n\":1}");
    asks("one", "sim", "{\"n\":2}");
    asks("two", "mail", "{\"n\":3}");
    asks("two", "calc", "{\"n\":1}");
    List<Pair> pairs = diff("one", "two");
    assertThat(
            pairs.stream()
                .map(p -> p.effect() + " " + p.seqA().isPresent() + " " + p.seqB().isPresent()))
        .containsExactly(
            "mail 1.0.0 do false true", "calc 1.0.0 do true true", "sim 1.0.0 do true false");
    assertThat(pairs.getFirst().isSame()).isFalse();
    assertThat(pairs.getFirst().fields().getFirst().recorded()).isEqualTo("nothing");
    assertThat(pairs.getLast().isSame()).isFalse();
    assertThat(pairs.getLast().fields().getFirst().replayed()).isEqualTo("nothing");
    JsonValue.Obj json = pairs.getLast().toJson();
    assertThat(json.members()).containsKey("seq_a").doesNotContainKeys("seq_b", "diff");
  }

  /** In order: of two calls of one tool the first is compared with the first. */
  @Test
  void the_same_tool_asked_for_something_else_is_a_pair() {
    asks("one", "calc", "{\"n\":1}");
    asks("one", "calc", "{\"n\":2}");
    asks("two", "calc", "{\"n\":3}");
    asks("two", "calc", "{\"n\":4}");
    List<Pair> pairs = diff("one", "two");
    assertThat(pairs).hasSize(2);
    assertThat(pairs.getFirst().fields()).contains(new Field("/effect/params/n", "1", "3"));
    assertThat(pairs.getFirst().diff().orElseThrow()).contains("-    \"n\": 1", "+    \"n\": 3");
    assertThat(pairs.getLast().fields()).contains(new Field("/effect/params/n", "2", "4"));
  }

  @Test
  void a_denial_beside_an_effect_and_a_failure_beside_a_success() {
    asks("one", "mail", "{}");
    home.driver.does("calc", Behaviours.gives("{\"ok\":true}", Behaviours.JSON));
    asks("one", "calc", "{}");
    home.activate(TestPolicy.YAML.replace("!has(params.forbidden)", "has(params.forbidden)"));
    asks("two", "mail", "{}");
    home.driver.does(
        "calc", _ -> DriverOutcome.failed(DriverOutcome.End.FAILED, "exit-1", "", Behaviours.USED));
    asks("two", "calc", "{}");
    List<Pair> pairs = diff("one", "two");
    assertThat(pairs.getFirst().fields())
        .contains(new Field("/decisions/0/verdict", "ALLOW", "DENY"));
    assertThat(pairs.getFirst().diff()).as("one has no output").isEmpty();
    assertThat(pairs.getLast().fields())
        .contains(
            new Field("/receipt/status", "succeeded", "failed"),
            new Field("/receipt/reason", "ok", "exit-1"));
    assertThat(pairs.getLast().diff()).as("one has no output").isEmpty();
    assertThat(diff("two", "one").getLast().diff()).as("nor the other way round").isEmpty();
  }

  /** A tool's output in another form than it says: the raw one is what there is to be compared. */
  @Test
  void raw_output_that_was_refused_is_compared_too() {
    home.driver.does("calc", Behaviours.gives("{\"ok\":1}", Behaviours.JSON));
    asks("one", "calc", "{}");
    home.driver.does("calc", Behaviours.gives("{\"ok\":2}", Behaviours.JSON));
    asks("two", "calc", "{}");
    Pair pair = diff("one", "two").getFirst();
    assertThat(pointers(pair)).contains("/receipt/raw_output/digest");
    assertThat(pair.diff().orElseThrow()).contains("-  \"ok\": 1", "+  \"ok\": 2");
    assertThat(Jcs.write(pair.toJson())).asString(StandardCharsets.UTF_8).contains("\"diff\":");
  }

  /** Left out of one bundle, or deleted by rule: that they differ is known, not how. */
  @Test
  void contents_that_are_not_in_a_bundle_differ_without_being_shown() {
    asks("one", "calc", "{\"n\":1}");
    asks("two", "calc", "{\"n\":2}");
    RecordedRun one = run("one");
    RecordedRun two = run("two");
    RecordedRun without = Sample.recording(home, new RunId("acme", "two"), false, true);
    RecordedRun oneWithout = Sample.recording(home, new RunId("acme", "one"), false, true);
    assertThat(RunDiff.of(one, two, false).getFirst().diff()).isPresent();
    for (Pair pair :
        List.of(
            RunDiff.of(one, without, false).getFirst(),
            RunDiff.of(oneWithout, two, false).getFirst())) {
      assertThat(pointers(pair)).contains("/receipt/output/digest");
      assertThat(pair.diff()).isEmpty();
    }
  }
}

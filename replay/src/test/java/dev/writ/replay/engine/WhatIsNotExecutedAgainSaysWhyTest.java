package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.event.Event;
import dev.writ.replay.engine.ReplayResult.State;
import dev.writ.verify.bundle.BundleManifest;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.bundle.Sample;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Parts of a bundle may be left out, deleted by rule, or need what this host does not have. A
 * replay then takes as little as it must from the record, and lists it; nothing can hide there that
 * could have been computed.
 */
class WhatIsNotExecutedAgainSaysWhyTest extends ASampleHome {
  /** A recording in which one content is not there any more. */
  private record Without(RecordedRun from, Digest gone) implements RecordedRun {
    @Override
    public BundleManifest manifest() {
      return from.manifest();
    }

    @Override
    public void events(Visitor visitor) {
      from.events(visitor);
    }

    @Override
    public Optional<Envelope> document(Digest id) {
      return from.document(id);
    }

    @Override
    public Optional<byte[]> blob(Digest digest) {
      return digest.equals(gone) ? Optional.empty() : from.blob(digest);
    }

    @Override
    public Optional<ToolManifest> tool(ToolRef tool) {
      return from.tool(tool);
    }

    @Override
    public Driver.PackageContent files(ToolManifest manifest) {
      return from.files(manifest);
    }
  }

  /** The driver of the tests, which does not promise that a tool gives the same again. */
  private static final class Unreliable implements Driver {
    private final TestDriver driver = new TestDriver();

    @Override
    public String name() {
      return driver.name();
    }

    @Override
    public Determinism determinism() {
      return Determinism.RECORDED;
    }

    @Override
    public Digest sandboxProfile(String profile) {
      return driver.sandboxProfile(profile);
    }

    @Override
    public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
      throw new AssertionError("it runs again");
    }
  }

  private ReplayResult live(RecordedRun recording, List<Driver> drivers) {
    int ran = home.driver.runs().size();
    ReplayResult result = new Replay(recording, ReplayOptions.recorded(drivers).withLive()).run();
    assertThat(result.failure()).isEmpty();
    assertThat(result.state()).isEqualTo(State.COMPLETE);
    assertThat(home.driver.runs()).as("a tool ran again").hasSize(ran);
    return result;
  }

  private static List<Event> events(RecordedRun recording, String kind) {
    List<Event> found = new ArrayList<>();
    recording.events((journal, _, event) -> {
      if (journal == RecordedRun.Journal.RUN && event.kind().equals(kind)) {
        found.add(event);
      }
    });
    return found;
  }

  private Digest put(String content) {
    byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
    return home.kernel()
        .contents()
        .put(TestKeys.TENANT, new ByteArrayInputStream(bytes), "text/plain")
        .digest();
  }

  // Live.

  @Test
  void a_recorded_tool_and_what_a_ceiling_of_the_host_ended() {
    home.submit(home.ask("alice").tool("mail"));
    for (DriverOutcome.End end : List.of(DriverOutcome.End.TIMED_OUT, DriverOutcome.End.KILLED)) {
      home.driver.does("calc", Behaviours.ends(end, "ceiling"));
      home.submit(home.ask("alice"));
    }
    assertThat(live(Sample.recording(home, Sample.RUN), List.copyOf(home.drivers)).neither())
        .containsExactly(
            "2 effects: ended by a ceiling of the host, which another host need not reach",
            "1 effects: their tool is recorded: it cannot be run again");
  }

  @Test
  void a_host_without_the_driver_or_with_one_that_promises_less() {
    home.submit(home.ask("alice"));
    RecordedRun recording = Sample.recording(home, Sample.RUN);
    assertThat(live(recording, List.of()).neither())
        .contains("1 effects: their tool's driver is not here");
    assertThat(live(recording, List.of(new Unreliable())).neither())
        .contains("1 effects: their tool's driver is recorded: it cannot be run again");
  }

  @Test
  void an_input_that_is_gone_and_a_package_that_is_damaged() {
    Digest input = put("some input");
    home.submit(home.ask("alice").input("a.txt", input, 10));
    RecordedRun recording = Sample.recording(home, Sample.RUN);
    assertThat(live(new Without(recording, input), List.copyOf(home.drivers)).neither())
        .containsExactly("1 effects: an input is not in the bundle");
    home.tools.corrupt("other code".getBytes(StandardCharsets.UTF_8));
    assertThat(live(Forged.withFiles(recording, home.tools), List.copyOf(home.drivers)).neither())
        .containsExactly("1 effects: their tool could not be made ready again, EXE-308");
  }

  // Contents.

  /** The receipt still holds, and is made again from its own digests. */
  @Test
  void an_effect_of_which_one_content_was_deleted() {
    home.driver.does(
        "calc",
        i ->
            new DriverOutcome(
                DriverOutcome.End.SUCCEEDED,
                "ok",
                "",
                Behaviours.echo(i).output(),
                List.of(new DriverOutcome.Artifact("a.bin", new byte[] {1, 2, 3}, "image/png")),
                Behaviours.USED,
                JsonValue.object().build()));
    var receipt = home.submit(home.ask("alice")).served().orElseThrow().receipt();
    RecordedRun recording = Sample.recording(home, Sample.RUN);
    for (Digest gone :
        List.of(
            receipt.output().orElseThrow().digest(),
            receipt.observations().orElseThrow(),
            receipt.artifacts().getFirst().content().digest())) {
      ReplayResult result = Replayed.completely(home, new Without(recording, gone));
      assertThat(result.neither())
          .containsExactly(
              "1 effects: only the receipt was made again, their output is not in the bundle");
      assertThat(result.reexecuted()).noneMatch(line -> line.contains("effects"));
    }
  }

  // Tools.

  @Test
  void without_manifests_what_needs_none_is_done_again() {
    home.submit(home.ask("alice").tool("mail").params("{\"forbidden\":1}"));
    home.submit(
        home.ask("alice").resources(new Resources(1, 1, 1L << 40, 1))); // over every ceiling
    home.submit(home.ask("alice").operation("unknown"));
    var late = home.decide(home.ask("alice").sign());
    home.clock.forward(Intent.LIFE_MAX);
    assertThat(Refused.code(() -> home.execute(late, "alice"))).isEqualTo("EXE-107");
    var prohibited = home.decide(home.ask("alice").tool("sim").sign());
    home.prohibit("sim", "1.0.0");
    assertThat(Refused.code(() -> home.execute(prohibited, "alice"))).isEqualTo("EXE-303");
    ReplayResult result =
        Replayed.completely(home, Sample.recording(home, Sample.RUN, true, false));
    assertThat(result.reexecuted())
        .contains("1 refusals: by the same stage with the same code")
        .anyMatch(line -> line.endsWith(" decisions: admitted and judged by all four checks"));
    assertThat(result.neither())
        .contains("1 refusals: the manifest of their tool is not in the bundle")
        .anyMatch(
            line -> line.endsWith("decisions: the manifest of their tool is not in the bundle"));
  }

  /** The requirement denied it, for which no manifest is needed. */
  @Test
  void a_forged_denial_does_not_hide_behind_a_missing_manifest() {
    home.submit(home.ask("alice").tool("mail").params("{\"forbidden\":1}"));
    RecordedRun toolless = Sample.recording(home, Sample.RUN, true, false);
    Event decision = events(toolless, EventKind.DECISION_MADE).getFirst();
    TreeMap<String, String> forgeries = new TreeMap<>();
    forgeries.put("code", "GRD-199");
    forgeries.put("verdict", "ESCALATE");
    forgeries.forEach((member, value) -> {
      ReplayResult result =
          Replayed.of(
              home,
              Forged.document(
                  toolless, decision.seq(), d -> Forged.with(d, member, JsonValue.of(value))));
      assertThat(result.state()).as(member).isEqualTo(State.DIVERGED);
      assertThat(result.divergences().getFirst().fields().getFirst().pointer())
          .isEqualTo("/body/" + member);
    });
  }

  // Refusals of earlier releases.

  private static Forged without(RecordedRun recording, Event refusal, Optional<String> found) {
    return Forged.document(
        recording,
        refusal.seq(),
        d -> {
          TreeMap<String, JsonValue> members = new TreeMap<>(d.members());
          assertThat(members.remove("observed")).isNotNull();
          found.ifPresent(text -> members.put("found", JsonValue.of(text)));
          return new JsonValue.Obj(members);
        });
  }

  @Test
  void a_snapshot_that_only_the_message_of_a_refusal_has() {
    var decided = home.decide(home.ask("alice").sign());
    home.activate(TestPolicy.YAML);
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-201");
    RecordedRun recording = Sample.recording(home, Sample.RUN);
    Event refused = events(recording, EventKind.EFFECT_REFUSED).getFirst();
    Replayed.completely(home, without(recording, refused, Optional.empty()));
    for (String cut : List.of("decided under", "decided under x, now sha256:12")) {
      ReplayResult result = Replayed.of(home, without(recording, refused, Optional.of(cut)));
      assertThat(result.state()).as(cut).isEqualTo(State.DIVERGED);
      assertThat(result.divergences().getFirst().headline())
          .startsWith("RPL-002 ")
          .contains("the effect is dispatched");
    }
  }

  @Test
  void an_input_that_only_the_message_of_a_refusal_has() {
    Digest input = put("some input");
    home.submit(home.ask("alice").input("a.txt", input, 10));
    Digest absent = Digest.sha256(new byte[] {7});
    assertThat(Refused.code(() -> home.submit(home.ask("alice").input("b.txt", absent, 1))))
        .isEqualTo("EXE-306");
    assertThat(Refused.code(() -> home.submit(home.ask("alice").input("c.txt", input, 11))))
        .isEqualTo("EXE-306");
    RecordedRun recording = Sample.recording(home, Sample.RUN);
    List<Event> refusals = events(recording, EventKind.EFFECT_REFUSED);
    Replayed.completely(home, without(recording, refusals.getFirst(), Optional.empty()));
    // Of another size than what the bundle has: no message is needed for that.
    Replayed.completely(home, without(recording, refusals.getLast(), Optional.of("cut")));
    // Whether the tenant had it is in no bundle; what the stage refused with is taken as recorded.
    Replayed.completely(home, without(recording, refusals.getFirst(), Optional.of("cut")));
  }

  // Twice.

  /** A forger lets an effect be dispatched, or refused, after it was served. */
  @Test
  void what_was_served_is_neither_dispatched_nor_refused_again() {
    home.submit(home.ask("alice").tool("mail"));
    var late = home.decide(home.ask("alice").tool("sim").sign());
    home.clock.forward(Intent.LIFE_MAX);
    assertThat(Refused.code(() -> home.execute(late, "alice"))).isEqualTo("EXE-107");
    RecordedRun recording = Sample.recording(home, Sample.RUN);
    Event dispatched = events(recording, EventKind.EFFECT_DISPATCHED).getFirst();
    Event receipt = events(recording, EventKind.RECEIPT_SIGNED).getFirst();
    ReplayResult twice =
        Replayed.of(home, Forged.event(recording, receipt.seq(), e -> List.of(e, dispatched)));
    assertThat(twice.divergences().getFirst().headline())
        .startsWith("RPL-002 diverged at event " + (receipt.seq() + 1) + " (effect.dispatched)")
        .contains("served before");

    Event refused = events(recording, EventKind.EFFECT_REFUSED).getFirst();
    JsonValue.Obj served =
        (JsonValue.Obj) recording.document(receipt.body()).orElseThrow().document();
    ReplayResult after =
        Replayed.of(
            home,
            Forged.document(
                recording,
                refused.seq(),
                d ->
                    Forged.with(
                        Forged.with(
                            Forged.with(d, "intent", served.get("intent")),
                            "decision",
                            served.get("decision")),
                        "request",
                        served.get("request"))));
    assertThat(after.divergences().getFirst().headline())
        .startsWith("RPL-002 diverged at event " + refused.seq() + " (effect.refused)")
        .contains("done without it");
  }
}

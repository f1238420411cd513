package dev.writ.conform.world;

import static dev.writ.conform.world.TrustVectors.place;
import static dev.writ.conform.world.TrustVectors.saying;
import static dev.writ.conform.world.TrustVectors.set;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.executor.journal.EventKind;
import dev.writ.verify.bundle.RecordedRun.Journal;
import dev.writ.verify.bundle.Remade;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The part of golden-vectors/bundle on whose word an approval is when it arrives, before anything
 * is judged by it; on what an effect builds; and on when it ended.
 */
final class WordVectors {
  private static final String BINDING = "EXE-953";

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    WordVectors vectors = new WordVectors();
    vectors.approvals();
    vectors.consumed();
    vectors.ends();
    return vectors.made;
  }

  private void add(
      String name, String about, String wanted, byte[] bundle, Consumer<Remade> change) {
    Remade remade = ShortRuns.remade(bundle);
    change.accept(remade);
    made.add(Made.bundle("word-" + name, about, wanted, Made.inline(remade.toBytes())));
  }

  /** The run ends with an approval, so that no judgement says anything of it. */
  private void approvals() {
    approval("waits", "an approval is the last that came", "ok", word -> word);
    approval(
        "of-another-effect",
        "an approval that came last is of another effect than its request asks for",
        BINDING,
        set("effect", Digest.sha256().toString()));
    approval(
        "by-somebody-else",
        "an approval that came last says that somebody else approved than who signed it",
        BINDING,
        set("approver", "roy"));
  }

  private void approval(
      String name, String about, String wanted, UnaryOperator<JsonValue.Obj> change) {
    add(
        name,
        about,
        wanted,
        ShortRuns.APPROVED.get(),
        remade -> {
          int at = place(remade, EventKind.APPROVAL_RECEIVED, saying("reject"));
          remade.steps.subList(at + 1, remade.steps.size()).clear();
          remade.change(remade.steps.get(at).body, change);
        });
  }

  private void consumed() {
    add(
        "consumed-of-no-event",
        "an effect consumes a receipt that says to be of its own run, which has no event for it",
        "EXE-954 or RPL-023", // it is no event of the run, or one of another run that is missing
        ShortRuns.CONSUMING.get(),
        remade -> {
          int at = 0;
          while (remade.steps.get(at).journal != Journal.CONSUMED) {
            at++;
          }
          remade.change(remade.steps.remove(at).body, set("run", "run-1"));
        });
  }

  /** In a run in which time went back once, before the effect began. */
  private void ends() {
    ended("ends-when-it-begins", "an effect after a correction of the clock ends at once", "ok", 0);
    ended(
        "ends-before-it-begins",
        "an effect that began after a correction of the clock ends a millisecond before it began",
        BINDING,
        1);
  }

  private void ended(String name, String about, String wanted, long before) {
    add(
        name,
        about,
        wanted,
        BundleVectors.corrected(),
        remade -> {
          int request = place(remade, EventKind.REQUEST_RECEIVED, saying("n-3"));
          int at = request;
          while (!remade.steps.get(at).kind.equals(EventKind.EFFECT_DISPATCHED)) {
            at++;
          }
          Instant began = remade.steps.get(at).at.plusMillis(10);
          Instant ended = began.minusMillis(before);
          remade.steps.get(at).at = began;
          remade.steps.get(at + 1).at = ended;
          remade.steps.get(at + 2).at = ended;
          remade.change(
              remade.steps.get(at + 2).body,
              set("started_at", Timestamps.format(began))
                      .andThen(set("finished_at", Timestamps.format(ended)))
                  ::apply);
        });
  }
}

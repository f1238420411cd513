package dev.writ.conform.world;

import static dev.writ.conform.world.Made.inline;
import static dev.writ.conform.world.TrustVectors.body;
import static dev.writ.conform.world.TrustVectors.set;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.verify.bundle.Remade;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * The part of golden-vectors/bundle on what a refusal says of what its stage met: {@code observed}
 * in spec/execution.md, rule 9.
 */
final class RefusalVectors {
  private final byte[] run = OtherRuns.refused();
  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    RefusalVectors vectors = new RefusalVectors();
    vectors.add("refusal-observed", "the input that may not be read is named", "ok", o -> o);
    vectors.add(
        "refusal-without-observed",
        "a refusal from before there was the field: its message says it",
        "ok",
        without("observed"));
    vectors.add(
        "refusal-observed-nothing",
        "the field is there and has no member",
        "EXE-952",
        set("observed", JsonValue.object().build()));
    vectors.add(
        "refusal-observed-two",
        "two things were met in place of one",
        "EXE-952",
        set(
            "observed",
            JsonValue.object().put("input", "a.txt").put("snapshot", Digest.sha256()).build()));
    vectors.add(
        "refusal-observed-unknown",
        "a member that nobody knows",
        "EXE-952",
        set("observed", JsonValue.object().put("weather", "fine").build()));
    vectors.add(
        "refusal-of-no-stage",
        "it names a stage that refuses nothing",
        "CAN-023 or EXE-952",
        set("stage", "dispatch"));
    vectors.add(
        "refusal-of-somebody-else",
        "it names another subject than its request",
        "EXE-953",
        set("subject", "bob"));
    return vectors.made;
  }

  private static UnaryOperator<JsonValue.Obj> without(String member) {
    return object -> {
      TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
      members.remove(member);
      return new JsonValue.Obj(members);
    };
  }

  /** The run with its refusal changed and signed anew. */
  private void add(String name, String about, String wanted, UnaryOperator<JsonValue.Obj> change) {
    Remade remade = FullRun.remade(run);
    remade.change(body(remade, EventKind.EFFECT_REFUSED), change);
    made.add(Made.bundle(name, about, wanted, inline(remade.toBytes())));
  }
}

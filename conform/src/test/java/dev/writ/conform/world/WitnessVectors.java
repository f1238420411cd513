package dev.writ.conform.world;

import static dev.writ.conform.world.Made.inline;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.SignedNote;
import dev.writ.ledger.note.WitnessKey;
import dev.writ.verify.bundle.Unpacked;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * The part of golden-vectors/bundle on who saw the log of a bundle (spec/witness.md): the bundles
 * are those of {@link LogKeyVectors}, with checkpoints that witnesses cosigned.
 */
final class WitnessVectors {
  private static final String ENTRY = "log/checkpoint.txt";
  private static final String TWO_LOGS = "two-logs.writ";
  private static final Instant AT = Plot.START.plusSeconds(60);
  private static final WitnessKey ONE = witness("one");
  private static final WitnessKey TWO = witness("two");

  private final List<Made> made = new ArrayList<>();
  private final byte[] bundle = LogKeyVectors.files().get("bundle/" + TWO_LOGS);
  private final Checkpoint own = Checkpoint.parse(Unpacked.entries(bundle).get(ENTRY));

  private WitnessVectors() {}

  static List<Made> all() {
    WitnessVectors vectors = new WitnessVectors();
    vectors.kept();
    vectors.quorum();
    vectors.covered();
    return vectors.made;
  }

  private static SigningKey key(String name) {
    return TestKeys.key("witness-" + name);
  }

  private static WitnessKey witness(String name) {
    return new WitnessKey(name + ".example/w", key(name).verifyingKey());
  }

  /** Cosigns under the name of one witness with the key of another, or its own. */
  private static SignedNote.Signature line(Checkpoint checkpoint, WitnessKey as, String by) {
    return Cosignature.sign(checkpoint, as.name(), key(by), AT);
  }

  private static Checkpoint cosigned(Checkpoint checkpoint) {
    return checkpoint.with(List.of(line(checkpoint, ONE, "one")));
  }

  private void add(String name, String about, String wanted, ObjectBuilder input) {
    made.add(Made.bundle(name, about, wanted, input));
  }

  private static ObjectBuilder asking(ObjectBuilder input, WitnessKey... witnesses) {
    return input.putList("witnesses", List.of(witnesses), key -> JsonValue.of(key.toString()));
  }

  private static ObjectBuilder shown(String file, Checkpoint kept, WitnessKey... witnesses) {
    return asking(
        JsonValue.object()
            .put("bundle_file", file)
            .put("checkpoint", new String(kept.toBytes(), StandardCharsets.UTF_8)),
        witnesses);
  }

  private ObjectBuilder within(Checkpoint checkpoint, WitnessKey... witnesses) {
    TreeMap<String, byte[]> entries = Unpacked.entries(bundle);
    entries.put(ENTRY, checkpoint.toBytes());
    return asking(inline(Unpacked.pack(entries)), witnesses);
  }

  private void kept() {
    add(
        "witness-saw",
        "the witness cosigned the kept checkpoint",
        "ok",
        shown(TWO_LOGS, cosigned(own), ONE));
    add(
        "witness-saw-the-bundles",
        "without a kept checkpoint, the bundle's is the one",
        "ok",
        within(cosigned(own), ONE));
    add(
        "witness-saw-another-line",
        "the bundle's checkpoint is cosigned, and the kept one not",
        "RPL-085",
        within(cosigned(own), ONE)
            .put("checkpoint", new String(own.toBytes(), StandardCharsets.UTF_8)));
    add(
        "witness-not-asked",
        "a cosignature that nobody asks for is not looked at",
        "ok",
        shown(TWO_LOGS, own.with(List.of(spoiled()))));
    add("witness-none", "the witness cosigned nothing", "RPL-085", shown(TWO_LOGS, own, ONE));
    add(
        "witness-of-its-name",
        "another key cosigned under the name of the witness",
        "RPL-085",
        shown(TWO_LOGS, own.with(List.of(line(own, ONE, "two"))), ONE));
    add(
        "witness-spoiled",
        "the cosignature does not verify",
        "LED-052",
        shown(TWO_LOGS, own.with(List.of(spoiled())), ONE));
    add(
        "witness-without-the-log",
        "the witness cosigned what the log's key did not sign",
        "RPL-040",
        shown(TWO_LOGS, cosigned(own.signedBy(List.of())), ONE));
    add(
        "witness-of-a-fork",
        "the witness cosigned another root of this size",
        "RPL-042",
        shown(
            TWO_LOGS,
            cosigned(
                Checkpoint.sign(own.origin(), own.size(), Digest.sha256(), TestKeys.key("log"))),
            ONE));
    add(
        "witness-key-of-a-log",
        "the key that is asked for is in the form of a log's key",
        "LED-055",
        JsonValue.object()
            .put("bundle_file", TWO_LOGS)
            .putList(
                "witnesses",
                List.of(new NoteKey(ONE.name(), ONE.key())),
                key -> JsonValue.of(key.toString())));
  }

  private SignedNote.Signature spoiled() {
    SignedNote.Signature good = line(own, ONE, "one");
    byte[] bytes = good.idAndBytes();
    bytes[20] ^= 1;
    return new SignedNote.Signature(good.name(), bytes);
  }

  private void quorum() {
    add(
        "witnesses-both",
        "both witnesses cosigned",
        "ok",
        shown(TWO_LOGS, cosigned(own).with(List.of(line(own, TWO, "two"))), ONE, TWO));
    add(
        "witnesses-one-of-two",
        "one of two witnesses cosigned, and both are asked for",
        "RPL-085",
        shown(TWO_LOGS, cosigned(own), ONE, TWO));
    add(
        "witnesses-one-is-enough",
        "one of two witnesses cosigned, and one is enough",
        "ok",
        shown(TWO_LOGS, cosigned(own), TWO, ONE).put("quorum", 1));
    add(
        "witnesses-fewer-than-asked",
        "no quorum is met by more than all",
        "RPL-085",
        shown(TWO_LOGS, cosigned(own), ONE).put("quorum", 2));
    WitnessKey again = new WitnessKey("again.example/w", ONE.key());
    Checkpoint twice = cosigned(own).with(List.of(line(own, again, "one")));
    add(
        "witnesses-of-one-key",
        "one key under two names is one witness",
        "ok",
        shown(TWO_LOGS, twice, ONE, again));
    add(
        "witnesses-of-one-key-are-not-two",
        "one key under two names makes no quorum of two",
        "RPL-085",
        shown(TWO_LOGS, twice, ONE, again).put("quorum", 2));
  }

  private void covered() {
    Checkpoint earlier = cosigned(LogKeyVectors.kept("earlier"));
    Checkpoint later = cosigned(LogKeyVectors.kept("later"));
    add(
        "witness-later",
        "the witness saw a larger log that is shown to continue this one",
        "ok",
        shown("consistent-with-later.writ", later, ONE));
    add(
        "witness-earlier",
        "the witness saw only the beginning of this log",
        "RPL-085",
        shown("consistent-with-earlier.writ", earlier, ONE));
    add(
        "witness-later-without-a-proof",
        "nothing shows that what the witness saw continues this log",
        "RPL-085",
        shown(TWO_LOGS, later, ONE));
  }
}

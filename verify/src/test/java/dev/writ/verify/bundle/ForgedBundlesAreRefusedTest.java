package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.fixture.Forgery;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Receipt;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.SignedNote;
import dev.writ.verify.error.AuditError;
import dev.writ.verify.error.BundleError;
import dev.writ.verify.testing.Refusal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** First the five chains that a competitor's verifier lets pass, then what else a forger can do. */
class ForgedBundlesAreRefusedTest {
  private static final SecondOpinion OPINION = new SecondOpinion();

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  private static byte[] whole;
  private static byte[] small;

  @BeforeAll
  static void take(@TempDir Path dir) {
    small = Sample.small(dir.resolve("small"));
    try (TestHome home = Sample.home(dir.resolve("whole"))) {
      Sample.fill(home);
      Sample.close(home, "run-1");
      whole = Sample.export(home);
    }
  }

  private static void refused(ErrorCode code, byte[] forged) {
    Refusal.of(code, () -> OPINION.pinned(forged));
    Refusal.of(code, () -> OPINION.verify(forged, BundleVerifier.Options.UNPINNED));
  }

  private static UnaryOperator<TreeMap<String, byte[]>> documents(UnaryOperator<Envelope> change) {
    return entries -> {
      entries.replaceAll((name, bytes) ->
          name.startsWith(BundleEntryNames.DOCUMENTS)
              ? change.apply(Envelope.parse(bytes)).toBytes()
              : bytes);
      return entries;
    };
  }

  @Test
  void anEmptyChain() {
    refused(
        BundleError.RUN_EMPTY,
        Sample.forge(whole, Sample.lines(BundleEntryNames.RUN, _ -> List.of())));
    refused(
        BundleError.RUN_EMPTY,
        Sample.forge(whole, Sample.lines(BundleEntryNames.SYSTEM, _ -> List.of())));
  }

  @Test
  void aTailCutOff() {
    byte[] cut =
        Sample.forge(
            whole, Sample.lines(BundleEntryNames.RUN, lines -> lines.subList(0, lines.size() - 1)));
    refused(BundleError.RUN_CUT, cut);
  }

  @Test
  void aTailCutOffAndCalledOpenIsAtMostAnOpenRun() {
    UnaryOperator<TreeMap<String, byte[]>> cut =
        entries -> {
          Reproof.withoutLast(entries, RecordedRun.Journal.RUN);
          return entries;
        };
    UnaryOperator<BundleManifest> open =
        m ->
            new BundleManifest(
                m.run(), m.origin(), m.incarnation(), m.size(), false, m.blobs(), m.tools());
    // The closing's documents give it away, though the events alone would not.
    refused(BundleError.ENTRY_UNUSED, Sample.forge(small, cut, open));
    UnaryOperator<TreeMap<String, byte[]>> cutWhole =
        entries -> {
          cut.apply(entries)
              .values()
              .removeIf(
                  bytes -> new String(bytes, StandardCharsets.UTF_8).contains("vnd.writ.run-clos"));
          return entries;
        };
    byte[] tidy = Sample.forge(small, cutWhole, open);
    BundleVerifier.Verified seen = OPINION.pinned(tidy);
    assertThat(seen.manifest().closed()).isFalse();
    assertThat(seen.notVerified()).anyMatch(line -> line.startsWith("the end of the run"));
    Refusal.of(
        BundleError.RUN_OPEN,
        () ->
            OPINION.verify(
                tidy,
                new BundleVerifier.Options(Optional.of(Sample.pins()), Optional.empty(), true)));
  }

  @Test
  void anOutcomeForgedUnderTheOldSignatureAndName() {
    refused(
        BundleError.ENTRY_DIGEST,
        Sample.forge(
            whole,
            documents(envelope ->
                envelope.payloadType().equals(Receipt.TYPE)
                    ? Forgery.keepingSignatures(
                        envelope, Forgery.with(envelope, "reason", JsonValue.of("forged")))
                    : envelope)));
  }

  /** With the executor's key, and everything named by digest made to fit. */
  @Test
  void anOutcomeForgedAndMadeToFit() {
    refused(
        BundleError.EVENT_PROOF,
        Sample.forge(
            small,
            entries -> {
              String name =
                  entries.entrySet().stream()
                      .filter(e ->
                          e.getKey().startsWith(BundleEntryNames.DOCUMENTS)
                              && Envelope.parse(e.getValue()).payloadType().equals(Receipt.TYPE))
                      .findFirst()
                      .orElseThrow()
                      .getKey();
              Envelope old = Envelope.parse(entries.remove(name));
              Envelope forged =
                  Forgery.signedBy(
                      old, Forgery.with(old, "reason", JsonValue.of("forged")), "executor");
              entries.put(BundleEntryNames.document(forged.id()), forged.toBytes());
              return rechained(entries, old.id(), forged.id());
            }));
  }

  private static TreeMap<String, byte[]> rechained(
      TreeMap<String, byte[]> entries, Digest before, Digest after) {
    return Sample.lines(
            BundleEntryNames.RUN,
            lines -> {
              List<String> again = new ArrayList<>();
              Event head = null;
              for (String line : lines) {
                Event e = Event.parse(line.getBytes(StandardCharsets.UTF_8));
                Digest body = e.body().equals(before) ? after : e.body();
                head =
                    head == null
                        ? Event.first(e.tenant(), e.run(), e.kind(), body, e.at(), e.prngSeed())
                        : head.next(e.kind(), body, e.at(), e.prngSeed());
                again.add(new String(head.toBytes(), StandardCharsets.UTF_8));
              }
              return again;
            })
        .apply(entries);
  }

  @Test
  void signaturesStripped() {
    refused(
        CanonicalizeError.FIELD_VALUE,
        Sample.forge(
            whole,
            entries -> {
              entries.replaceAll((name, bytes) ->
                  name.startsWith(BundleEntryNames.DOCUMENTS)
                      ? Jcs.write(withoutSignatures((JsonValue.Obj) Jcs.parse(bytes)))
                      : bytes);
              return entries;
            }));
  }

  private static JsonValue.Obj withoutSignatures(JsonValue.Obj envelope) {
    TreeMap<String, JsonValue> members = new TreeMap<>(envelope.members());
    members.put("signatures", JsonValue.of(List.of()));
    return new JsonValue.Obj(members);
  }

  @Test
  void everythingSignedAgainByAnotherKey() {
    refused(
        CanonicalizeError.KEY_UNKNOWN,
        Sample.forge(whole, documents(envelope -> Forgery.signedBy(envelope, "mallory"))));
    refused(
        AuditError.SIGNATURE,
        Sample.forge(
            whole,
            documents(envelope ->
                envelope.payloadType().equals(Receipt.TYPE)
                    ? Forgery.signedBy(envelope, "mallory")
                    : envelope)));
  }

  @Test
  void anotherRoleOfTheSameInstallationSignsAReceipt() {
    WritException refusal =
        Refusal.of(
            AuditError.SIGNATURE,
            () ->
                OPINION.pinned(
                    Sample.forge(
                        small,
                        documents(envelope ->
                            envelope.payloadType().equals(Receipt.TYPE)
                                ? Forgery.signedBy(envelope, "guardian")
                                : envelope))));
    assertThat(refusal.found()).contains(CanonicalizeError.KEY_ROLE.code());
  }

  @Test
  void aWholeOtherInstallationIsWellFormedButNotPinned() {
    Trust foreign =
        Trust.of(
            List.of(
                TestKeys.trusted("other-operator", KeyRole.OPERATOR, Optional.empty()),
                TestKeys.trusted("log", KeyRole.LOG, Optional.empty())));
    Refusal.of(
        BundleError.NOT_PINNED,
        () -> OPINION.verify(small, BundleVerifier.Options.pinned(foreign)));
    Trust noLog =
        Trust.of(List.of(TestKeys.trusted("operator", KeyRole.OPERATOR, Optional.empty())));
    Refusal.of(
        BundleError.NOT_PINNED, () -> OPINION.verify(small, BundleVerifier.Options.pinned(noLog)));
    Trust asAgent =
        Trust.of(
            List.of(
                TestKeys.trusted("operator", KeyRole.AGENT, Optional.of("acme")),
                TestKeys.trusted("log", KeyRole.LOG, Optional.empty())));
    Refusal.of(
        BundleError.NOT_PINNED,
        () -> OPINION.verify(small, BundleVerifier.Options.pinned(asAgent)));
    BundleVerifier.Verified unpinned = OPINION.verify(small, BundleVerifier.Options.UNPINNED);
    assertThat(unpinned.pinned()).isFalse();
    assertThat(unpinned.notVerified()).anyMatch(line -> line.contains("signer not pinned"));
  }

  @Test
  void eventsDroppedDoubledSwappedOrGraftedFromAnotherRun(@TempDir Path dir) {
    refused(
        BundleError.EVENT_CHAIN,
        Sample.forge(
            whole,
            Sample.lines(
                BundleEntryNames.RUN,
                lines -> {
                  lines.remove(3);
                  return lines;
                })));
    refused(
        BundleError.EVENT_CHAIN,
        Sample.forge(
            whole,
            Sample.lines(
                BundleEntryNames.RUN,
                lines -> {
                  lines.add(3, lines.get(3));
                  return lines;
                })));
    refused(
        BundleError.EVENT_CHAIN,
        Sample.forge(
            whole,
            Sample.lines(
                BundleEntryNames.RUN,
                lines -> {
                  Collections.swap(lines, 3, 4);
                  return lines;
                })));
    String grafted =
        new String(Packed.read(small).get(BundleEntryNames.RUN), StandardCharsets.UTF_8)
            .lines()
            .toList()
            .get(3);
    refused(
        BundleError.EVENT_CHAIN,
        Sample.forge(
            whole,
            Sample.lines(
                BundleEntryNames.RUN,
                lines -> {
                  lines.set(3, grafted);
                  return lines;
                })));
    refused(
        BundleError.EVENT_CHAIN,
        Sample.forge(
            whole,
            Sample.lines(
                BundleEntryNames.SYSTEM,
                lines -> {
                  lines.remove(2);
                  return lines;
                })));
    refused(
        BundleError.EVENT_PROOF,
        Sample.forge(
            whole,
            Sample.lines(BundleEntryNames.SYSTEM, lines -> lines.subList(0, lines.size() - 1))));
  }

  @Test
  void aLineThatIsNoEvent() {
    refused(
        BundleError.EVENT_FORM,
        Sample.forge(
            small,
            Sample.lines(
                BundleEntryNames.RUN,
                lines -> {
                  lines.set(1, " " + lines.get(1));
                  return lines;
                })));
  }

  @Test
  void anEntryRemovedOrAdded() {
    for (String prefix :
        List.of(BundleEntryNames.DOCUMENTS, BundleEntryNames.BLOBS, BundleEntryNames.TOOLS)) {
      String first = new TreeMap<>(Packed.read(whole)).ceilingKey(prefix);
      refused(
          BundleError.ENTRY_MISSING,
          Sample.forge(
              whole,
              entries -> {
                entries.remove(first);
                return entries;
              }));
    }
    byte[] extra = "extra".getBytes(StandardCharsets.UTF_8);
    refused(
        BundleError.ENTRY_UNUSED,
        Sample.forge(
            whole,
            entries -> {
              entries.put(BundleEntryNames.blob(Digest.sha256(extra)), extra);
              return entries;
            }));
    Envelope unused =
        Envelope.sign("application/json", JsonValue.object().build(), TestKeys.key("executor"));
    refused(
        BundleError.ENTRY_UNUSED,
        Sample.forge(
            whole,
            entries -> {
              entries.put(BundleEntryNames.document(unused.id()), unused.toBytes());
              return entries;
            }));
    refused(
        BundleError.ENTRY_UNUSED,
        Sample.forge(
            whole,
            entries -> {
              entries.put("readme.txt", extra);
              return entries;
            }));
    refused(
        BundleError.ENTRY_MISSING,
        Sample.forge(
            whole,
            entries -> {
              Reproof.withoutLast(entries, RecordedRun.Journal.CONSUMED);
              return entries;
            }));
  }

  /** With lines that nobody defined, which C2SP allows, the note has so many bytes. */
  private static byte[] noteOf(int bytes) {
    Checkpoint real = Checkpoint.parse(Packed.read(small).get(BundleEntryNames.CHECKPOINT));
    String text = new String(real.toBytes(), StandardCharsets.UTF_8).split("\n\n", 2)[0] + "\n";
    int signature =
        SignedNote.sign(text, real.origin(), TestKeys.key("log")).toBytes().length
            - text.getBytes(StandardCharsets.UTF_8).length;
    String line = "x".repeat(bytes - signature - text.length() - 1) + "\n";
    byte[] note = SignedNote.sign(text + line, real.origin(), TestKeys.key("log")).toBytes();
    assertThat(note).hasSize(bytes);
    return Sample.forge(
        small,
        entries -> {
          entries.put(BundleEntryNames.CHECKPOINT, note);
          return entries;
        });
  }

  @Test
  void aCheckpointOfTheGreatestSizeAndOneThatIsLarger() {
    assertThat(OPINION.pinned(noteOf(256 * 1024)).pinned()).isTrue();
    refused(BundleError.ARCHIVE_BOUNDS, noteOf(256 * 1024 + 1));
  }

  @Test
  void aCheckpointOfAnotherKeyAnotherTrustFileAndFalseStatements() {
    Checkpoint real = Checkpoint.parse(Packed.read(small).get(BundleEntryNames.CHECKPOINT));
    refused(
        BundleError.CHECKPOINT_KEY,
        Sample.forge(
            small,
            entries -> {
              entries.put(
                  BundleEntryNames.CHECKPOINT,
                  Checkpoint.sign(real.origin(), real.size(), real.root(), TestKeys.key("mallory"))
                      .toBytes());
              return entries;
            }));
    refused(
        BundleError.STATED,
        Sample.forge(
            small,
            entries -> {
              entries.put(BundleEntryNames.TRUST, Jcs.write(Sample.pins().toJson()));
              return entries;
            }));
    refused(
        BundleError.STATED,
        Sample.forge(
            small,
            e -> e,
            m ->
                new BundleManifest(
                    m.run(), "other/log", m.incarnation(), m.size(), true, true, true)));
    refused(
        AuditError.SYSTEM,
        Sample.forge(
            small,
            e -> e,
            m -> new BundleManifest(m.run(), m.origin(), 2, m.size(), true, true, true)));
    refused(
        BundleError.EVENT_CHAIN,
        Sample.forge(
            small,
            e -> e,
            m -> new BundleManifest(Sample.OTHER, m.origin(), 1, m.size(), true, true, true)));
  }

  @Test
  void aDocumentOfAFutureVersion() {
    refused(
        AuditError.DOCUMENT,
        Sample.forge(
            whole,
            documents(envelope ->
                envelope.payloadType().equals(Receipt.TYPE)
                    ? Envelope.signBytes(
                        Receipt.TYPE + ";v=2", envelope.payload(), TestKeys.key("executor"))
                    : envelope)));
  }

  @Test
  void aFileOfAToolThatIsAnotherOrMissing() {
    String file =
        Packed.read(whole).keySet().stream()
            .filter(name -> name.contains("/files/"))
            .findFirst()
            .orElseThrow();
    refused(
        BundleError.ENTRY_DIGEST,
        Sample.forge(
            whole,
            entries -> {
              entries.put(file, "another tool's".getBytes(StandardCharsets.UTF_8));
              return entries;
            }));
    refused(
        BundleError.ENTRY_MISSING,
        Sample.forge(
            whole,
            entries -> {
              entries.remove(file);
              return entries;
            }));
    refused(
        BundleError.ENTRY_UNUSED,
        Sample.forge(
            whole,
            entries -> {
              entries.put(file + "x", new byte[0]);
              return entries;
            }));
  }

  @Test
  void aFileThatCannotBeReadAndOneThatIsCutWhileItIsRead(@TempDir Path dir) throws Exception {
    Refusal.of(BundleError.STORAGE, () -> Bundle.open(dir.resolve("none.writ")));
    Path file = Files.write(dir.resolve("cut.writ"), whole);
    try (Bundle bundle = Bundle.open(file)) {
      Files.write(file, Arrays.copyOf(whole, whole.length / 2));
      Refusal.of(
          BundleError.ARCHIVE_TRUNCATED,
          () -> BundleVerifier.verify(bundle, BundleVerifier.Options.UNPINNED, _ -> {}));
    }
  }

  @Test
  void aLedgerWhoseLogKeyIsNotEnrolled(@TempDir Path dir) {
    try (TestHome home = TestHome.create(dir, TestPolicy.YAML)) {
      home.submit(home.ask("alice"));
      home.kernel().checkpoint();
      refused(BundleError.CHECKPOINT_KEY, Sample.export(home));
    }
  }
}

package dev.writ.conform.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.Ours;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.adapter.AdapterAnswer;
import dev.writ.conform.mutant.Golden;
import dev.writ.conform.run.ConformanceReport.Verdict;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.merkle.NodeSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Implementations that share no code with this one: the JavaScript verifier, in profile L1 and on
 * bundles, and the Python example. They pass the vectors, and JavaScript says the same to random
 * questions; {@code -Dwrit.seed=N} repeats them.
 */
class OtherImplementationsTest {
  private static final Vectors VECTORS = Vectors.load(Golden.ROOT);
  private static final Path TOP = Golden.ROOT.resolveSibling(".");

  /** How the second implementation is started; README starts it so too. */
  private static final String JAVASCRIPT =
      "node '%1$s/conform/src/main/resources/dev/writ/conform/adapter.mjs'"
          + " '%1$s/verify/src/main/resources/dev/writ/verify/bundle/verify.mjs' ";

  private static ProcessImplementation javaScript(String engine) {
    return new ProcessImplementation(
        String.format(JAVASCRIPT, TOP) + engine, Duration.ofSeconds(60));
  }

  /** The same, which verifies a signature once, however many bundles have it. */
  private static ProcessImplementation remembering() {
    return new ProcessImplementation(
        String.format(JAVASCRIPT, TOP)
            .replace(
                "node ",
                "node --import '"
                    + TOP
                    + "/conform/src/test/resources/dev/writ/conform/mutant/remember.mjs' "),
        Duration.ofSeconds(60));
  }

  private static ConformanceReport run(
      Implementation implementation, ConformanceProfile profile, String... suites) {
    return Runner.run(
        VECTORS, new Runner.Selection(profile, List.of(suites)), implementation, _ -> {});
  }

  private static List<String> failures(ConformanceReport report) {
    return report.results().stream()
        .filter(r -> r.verdict() == Verdict.FAILED)
        .map(r -> r.vector().name() + ": " + r.detail())
        .toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "own"})
  void theSecondImplementationConformsInL1WithEitherOfItsEngines(String engine) throws IOException {
    try (Implementation second = javaScript(engine)) {
      ConformanceReport report = run(second, ConformanceProfile.L1);
      ReportFile.write("javascript-L1" + engine, report);
      assertThat(failures(report)).isEmpty();
      assertThat(report.conforms()).isTrue();
    }
  }

  @Test
  void theSecondImplementationVerifiesBundles() throws IOException {
    try (Implementation second = remembering()) {
      ConformanceReport bundles = run(second, ConformanceProfile.L3, "bundle");
      ReportFile.write("javascript-bundle", bundles);
      assertThat(failures(bundles)).isEmpty();
      assertThat(bundles.conforms()).isTrue();
      ConformanceReport runs = run(second, ConformanceProfile.L3, "runs", "adversarial");
      assertThat(failures(runs)).isEmpty();
      // What it does not have it says, and that is no pass.
      assertThat(runs.conforms()).isFalse();
      assertThat(runs.results().stream().filter(r -> r.verdict() == Verdict.UNSUPPORTED))
          .extracting(r -> r.vector().op())
          .containsOnly("bundle.replay", "executor.run", "receipt.chain");
    }
  }

  /** The second verifier says that it does not judge again (spec/bundle.md): here it shows. */
  @Test
  void whatOnlyJudgingAgainFindsTheSecondImplementationAccepts() {
    List<Vector> judged =
        VECTORS.all().stream().filter(v -> v.name().startsWith("runs/judged-")).toList();
    assertThat(judged).isNotEmpty();
    try (Implementation second = remembering()) {
      for (Vector vector : judged) {
        assertThat(vector.op()).isEqualTo("bundle.replay");
        assertThat(second.ask("bundle.verify", vector.input()))
            .as(vector.name())
            .isInstanceOf(AdapterAnswer.Output.class);
      }
    }
  }

  @Test
  void theExampleOfThePageConformsInSixtyLines() throws IOException {
    Path example = Golden.ROOT.resolve("example/adapter.py");
    assertThat(Files.readAllLines(example)).hasSizeLessThanOrEqualTo(60);
    try (Implementation python =
        new ProcessImplementation("python3 '" + example + "'", Duration.ofSeconds(60))) {
      ConformanceReport report = run(python, ConformanceProfile.L1, "canonicalize");
      assertThat(failures(report)).isEmpty();
      assertThat(report.conforms()).isTrue();
      ConformanceReport digests = run(python, ConformanceProfile.L1, "digest");
      assertThat(failures(digests)).isEmpty();
      assertThat(digests.count(Verdict.PASSED)).isEqualTo(4);
      assertThat(digests.count(Verdict.UNSUPPORTED)).isEqualTo(9);
    }
  }

  // ---- differential

  private record Asked(String op, JsonValue.Obj input) {}

  @Test
  void bothSayTheSameToRandomQuestions() {
    long seed = Long.getLong("writ.seed", System.nanoTime());
    int rounds = Integer.getInteger("writ.rounds", 1_500);
    System.out.println("writ.seed=" + seed);
    Random random = new Random(seed);
    Adapter first = new Adapter(Ours.OPERATIONS);
    try (Implementation second = javaScript("")) {
      int refused = 0;
      for (int i = 0; i < rounds; i++) {
        Asked asked = question(random);
        String ours = said(asked.op(), first.ask(asked.op(), asked.input()));
        String theirs = said(asked.op(), second.ask(asked.op(), asked.input()));
        assertThat(theirs)
            .as("writ.seed=%d, question %d: %s %s", seed, i, asked.op(), text(asked.input()))
            .isEqualTo(ours);
        refused += ours.startsWith("refused") ? 1 : 0;
      }
      // Neither all nonsense nor all well-formed.
      assertThat(refused).isBetween(rounds / 10, rounds * 9 / 10);
    }
  }

  private static String said(String op, AdapterAnswer answer) {
    return switch (answer) {
      case AdapterAnswer.Output(JsonValue.Obj output) -> text(output);
      // A damaged envelope has several things wrong with its form, and which is told is open.
      case AdapterAnswer.Refused(String code, String _) ->
          "refused with "
              + (op.equals("dsse.verify") && code.matches("CAN-0[0-2][0-9]") ? "its form" : code);
    };
  }

  private static String text(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }

  private static Asked question(Random random) {
    return switch (random.nextInt(8)) {
      case 0, 1, 2, 3 ->
          new Asked(
              "canonicalize",
              JsonValue.object().put("json_b64", b64(damaged(json(random, 0), random))).build());
      case 4 -> signature(random);
      case 5 -> envelope(random);
      case 6 -> inclusion(random);
      default -> consistency(random);
    };
  }

  private static String b64(byte[] bytes) {
    return StrictBase64.encode(bytes);
  }

  private static final String LIKELY = " \"\\{}[]:,01.e-+tfnu\u007f\n";

  private static byte[] damaged(String text, Random random) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (random.nextInt(3) == 0 && bytes.length > 0) {
      bytes[random.nextInt(bytes.length)] = (byte) LIKELY.charAt(random.nextInt(LIKELY.length()));
    }
    return bytes;
  }

  private static String json(Random random, int depth) {
    return switch (random.nextInt(depth > 3 ? 4 : 6)) {
      case 0 -> List.of("null", "true", "false").get(random.nextInt(3));
      case 1 -> number(random);
      case 2, 3 -> string(random);
      case 4 -> {
        List<String> items = new ArrayList<>();
        for (int i = random.nextInt(5); i > 0; i--) {
          items.add(json(random, depth + 1));
        }
        yield "[" + String.join(random.nextBoolean() ? "," : " , ", items) + "]";
      }
      default -> {
        List<String> members = new ArrayList<>();
        for (int i = random.nextInt(6); i > 0; i--) {
          members.add(string(random) + ":" + json(random, depth + 1));
        }
        yield "{" + String.join(",", members) + "}";
      }
    };
  }

  private static String number(Random random) {
    return switch (random.nextInt(5)) {
      case 0 -> String.valueOf(random.nextInt(1000) - 500);
      case 1 -> String.valueOf(random.nextLong());
      case 2 -> {
        double any = Double.longBitsToDouble(random.nextLong());
        yield Double.isFinite(any) ? String.valueOf(any) : "1e400";
      }
      case 3 -> random.nextInt(100) + "." + Math.abs(random.nextLong());
      default ->
          random.nextInt(10)
              + (random.nextBoolean() ? "." + random.nextInt(1000) : "")
              + "e"
              + (random.nextInt(700) - 350);
    };
  }

  private static String string(Random random) {
    StringBuilder text = new StringBuilder("\"");
    for (int i = random.nextInt(6); i > 0; i--) {
      switch (random.nextInt(7)) {
        case 0 -> text.append('\\').append("\"\\/bfnrt".charAt(random.nextInt(8)));
        case 1 -> text.append(String.format("\\u%04x", random.nextInt(0x10000)));
        case 2 -> text.appendCodePoint(0x10000 + random.nextInt(0x100));
        case 3 -> text.appendCodePoint(0xE000 + random.nextInt(0x1F00));
        case 4 ->
            text.append("\\ud83d\\ude0").append("0123456789abcdef".charAt(random.nextInt(16)));
        default -> text.append("abcABC é".charAt(random.nextInt(8)));
      }
    }
    return text.append('"').toString();
  }

  private static byte[] bytes(Random random, int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }

  /** Flips a bit now and then. */
  private static byte[] perhapsWrong(byte[] bytes, Random random) {
    byte[] changed = bytes.clone();
    if (random.nextInt(3) == 0) {
      changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
    }
    return changed;
  }

  private static Asked signature(Random random) {
    SigningKey key = SigningKey.ed25519(bytes(random, 32));
    byte[] message = bytes(random, 1 + random.nextInt(100));
    return new Asked(
        "ed25519.verify",
        JsonValue.object()
            .put("public_key_b64", b64(perhapsWrong(key.verifyingKey().bytes(), random)))
            .put("message_b64", b64(perhapsWrong(message, random)))
            .put("signature_b64", b64(perhapsWrong(key.sign(message), random)))
            .build());
  }

  private static Asked envelope(Random random) {
    SigningKey one = SigningKey.ed25519(bytes(random, 32));
    SigningKey two = SigningKey.ed25519(bytes(random, 32));
    Envelope envelope =
        random.nextBoolean()
            ? Envelope.signBytes("text/plain", bytes(random, random.nextInt(50)), one)
            : Envelope.signBytes("text/plain", bytes(random, random.nextInt(50)), one, two);
    String text = new String(envelope.toBytes(), StandardCharsets.UTF_8);
    if (random.nextInt(3) == 0) {
      text = new String(damaged(text, random), StandardCharsets.UTF_8);
    }
    return new Asked(
        "dsse.verify",
        JsonValue.object()
            .put("envelope_b64", b64(text.getBytes(StandardCharsets.UTF_8)))
            .putList("keys", List.of(one, two), key -> key.verifyingKey().toJwk())
            .build());
  }

  private static List<Digest> leaves(Random random, int count) {
    List<Digest> leaves = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      leaves.add(Merkle.leafHash(bytes(random, 3)));
    }
    return leaves;
  }

  private static JsonValue proof(MerkleProof proof, Random random) {
    List<JsonValue> hashes = new ArrayList<>();
    proof.hashes().forEach(h -> hashes.add(JsonValue.of(b64(perhapsWrong(h.bytes(), random)))));
    if (random.nextInt(6) == 0) {
      hashes.add(JsonValue.of(b64(bytes(random, 32))));
    }
    return JsonValue.of(hashes);
  }

  private static Asked inclusion(Random random) {
    int size = 1 + random.nextInt(40);
    int index = random.nextInt(size);
    var leaves = leaves(random, size);
    return new Asked(
        "merkle.inclusion",
        JsonValue.object()
            .put("leaf_hash_b64", b64(leaves.get(index).bytes()))
            .put("index", index + (random.nextInt(5) == 0 ? 1 : 0))
            .put("size", size + (random.nextInt(5) == 0 ? 1 : 0))
            .put(
                "proof_b64",
                proof(Merkle.inclusionProof(NodeSource.ofLeaves(leaves), index, size), random))
            .put("root_b64", b64(Merkle.root(leaves).bytes()))
            .build());
  }

  private static Asked consistency(Random random) {
    int size2 = 1 + random.nextInt(40);
    int size1 = random.nextInt(size2 + 1);
    var leaves = leaves(random, size2);
    return new Asked(
        "merkle.consistency",
        JsonValue.object()
            .put("size1", size1 + (random.nextInt(6) == 0 ? 1 : 0))
            .put("root1_b64", b64(Merkle.root(leaves.subList(0, size1)).bytes()))
            .put("size2", size2)
            .put("root2_b64", b64(Merkle.root(leaves).bytes()))
            .put(
                "proof_b64",
                proof(Merkle.consistencyProof(NodeSource.ofLeaves(leaves), size1, size2), random))
            .build());
  }
}

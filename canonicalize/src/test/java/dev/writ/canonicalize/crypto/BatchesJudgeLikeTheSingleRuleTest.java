package dev.writ.canonicalize.crypto;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SignatureBatch.Item;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BatchesJudgeLikeTheSingleRuleTest {
  private static final BigInteger L = ReferenceCurve.L;

  private final Random random = new Random(Refused.seed(getClass()));
  private final List<SigningKey> keys =
      Stream.generate(() -> SigningKey.ed25519(bytes(32))).limit(4).toList();

  private byte[] bytes(int length) {
    return OneAcceptanceRuleTest.bytes(random, length);
  }

  private Item good() {
    SigningKey key = keys.get(random.nextInt(keys.size()));
    byte[] message = bytes(random.nextInt(200));
    return new Item(key.verifyingKey(), message, key.sign(message));
  }

  private List<Item> good(int count) {
    return new ArrayList<>(Stream.generate(this::good).limit(count).toList());
  }

  private static BitSet singly(List<Item> items) {
    BitSet accepted = new BitSet();
    for (int i = 0; i < items.size(); i++) {
      Item item = items.get(i);
      try {
        item.key().verify(SignatureEngines.bouncyCastle(), item.message(), item.signature());
        accepted.set(i);
      } catch (WritException e) {
        assertThat(e.code()).isEqualTo(CanonicalizeError.SIGNATURE_INVALID);
      }
    }
    return accepted;
  }

  /** The verdicts of a batch, after it was asked for all in one, which must agree with them. */
  private static BitSet verify(List<Item> items) {
    BitSet accepted = SignatureBatch.verify(items);
    boolean all =
        accepted.cardinality() == items.size()
            && items.stream().allMatch(item -> item.key().algorithm() == Algorithm.ED25519);
    assertThat(SignatureBatch.holds(items)).isEqualTo(all);
    assertThat(verifyByTheEngineForAFew(items)).isEqualTo(accepted);
    return accepted;
  }

  /** That engine has batches from two signatures on. */
  private static BitSet verifyByTheEngineForAFew(List<Item> items) {
    SignatureEngine before = SignatureEngines.current();
    SignatureEngines.use(SignatureEngines.forAFew());
    try {
      return SignatureBatch.verify(items);
    } finally {
      SignatureEngines.use(before);
    }
  }

  /** The verdict of the batch's equation alone, with no judge behind it. */
  private static boolean equationHolds(List<Item> items) throws Exception {
    Edwards25519 curve = new Edwards25519();
    MessageDigest hash = MessageDigest.getInstance("SHA-512");
    List<Claim> claims = new ArrayList<>();
    List<FixedTerm> terms = new ArrayList<>();
    for (Item item : items) {
      hash.update(item.signature(), 0, 32);
      hash.update(item.key().bytes());
      byte[] challenge = hash.digest(item.message());
      Addend25519 r = curve.decode(item.signature(), 0);
      claims.add(Claim.of(terms.size(), terms.size(), r, item.signature(), challenge));
      terms.add(new FixedTerm(curve, curve.decode(item.key().bytes(), 0)));
    }
    return new BatchEquation(curve, claims, terms, new BatchCoefficients(hash, claims))
        .holds(0, claims.size());
  }

  private static Item with(Item item, byte[] signature) {
    return new Item(item.key(), item.message(), signature);
  }

  private static Item flip(Item item, int bit) {
    byte[] bent = item.signature().clone();
    bent[bit / 8] ^= (byte) (1 << bit % 8);
    return with(item, bent);
  }

  private static Item addToS(Item item, BigInteger added) {
    byte[] signature = item.signature();
    BigInteger s = ReferenceCurve.number(Arrays.copyOfRange(signature, 32, 64));
    return with(item, ReferenceCurve.join(signature, s.add(added)));
  }

  private BigInteger scalar() {
    return new BigInteger(256, random).mod(L);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 15, 16, 17, 31, 64, 100, 333, SignatureBatch.MOST + 20})
  void allThatIsGoodIsAccepted(int count) {
    BitSet accepted = verify(good(count));
    assertThat(accepted.cardinality()).isEqualTo(count);
    assertThat(accepted.length()).isEqualTo(count);
  }

  /** Were the equation wrong, singles would hide it: it must hold by itself, for each size. */
  @Test
  void theEquationHoldsForGoodOnesOfEveryNumberAndFailsWithAnyOneBent() throws Exception {
    for (int count : new int[] {1, 2, 3, 5, 8, 16, 33, 64, 200, 700}) {
      List<Item> items = good(count);
      assertThat(equationHolds(items)).as("%d good", count).isTrue();
      int place = random.nextInt(count);
      items.set(place, addToS(items.get(place), BigInteger.ONE.negate()));
      assertThat(equationHolds(items)).as("%d bent in %d", place, count).isFalse();
    }
  }

  @Test
  void oneBentIsFoundAtEveryPlace() {
    List<Item> items = good(40);
    for (int place = 0; place < items.size(); place++) {
      List<Item> bent = new ArrayList<>(items);
      bent.set(place, flip(items.get(place), 8 * 32 + random.nextInt(250)));
      BitSet accepted = verify(bent);
      assertThat(accepted.cardinality()).isEqualTo(39);
      assertThat(accepted.get(place)).isFalse();
    }
  }

  @Test
  void everyBitOfASignatureAndOfItsMessageCounts() {
    Item item = good(1).getFirst();
    List<Item> items = good(20);
    for (int bit = 0; bit < 512; bit++) {
      items.add(flip(item, bit));
    }
    BitSet accepted = verify(items);
    assertThat(accepted.cardinality()).isEqualTo(20);
    assertThat(accepted.nextClearBit(0)).isEqualTo(20);
  }

  @Test
  void wrongMessagesSwappedSignaturesAndForeignKeysAreRefused() {
    List<Item> items = good(60);
    Item a = items.get(7);
    Item b = items.get(50);
    items.set(7, with(a, b.signature()));
    items.set(50, with(b, a.signature()));
    items.set(20, new Item(items.get(20).key(), bytes(201), items.get(20).signature()));
    VerifyingKey foreign = SigningKey.ed25519(bytes(32)).verifyingKey();
    items.set(30, new Item(foreign, items.get(30).message(), items.get(30).signature()));
    BitSet accepted = verify(items);
    assertThat(accepted).isEqualTo(singly(items));
    assertThat(IntStream.of(7, 20, 30, 50)).noneMatch(accepted::get);
    assertThat(accepted.cardinality()).isEqualTo(56);
  }

  @Test
  void whatIsThereTwiceIsJudgedTwice() {
    Item one = good(1).getFirst();
    Item bent = addToS(one, BigInteger.ONE);
    List<Item> items = new ArrayList<>(Collections.nCopies(40, one));
    assertThat(verify(items).cardinality()).isEqualTo(40);
    items.addAll(Collections.nCopies(40, bent));
    assertThat(verify(items)).isEqualTo(singly(items));
  }

  /** Errors that cancel wherever two coefficients are equal, or are those of an earlier batch. */
  @Test
  void errorsThatCancelBetweenTwoItemsAreRefused() throws Exception {
    for (int round = 0; round < 20; round++) {
      List<Item> items = good(32);
      int i = random.nextInt(32);
      int j = (i + 1 + random.nextInt(31)) % 32;
      BigInteger error = BigInteger.valueOf(1 + random.nextInt(1000));
      items.set(i, addToS(items.get(i), error));
      items.set(j, addToS(items.get(j), error.negate()));
      assertThat(equationHolds(items)).isFalse();
      BitSet accepted = verify(items);
      assertThat(accepted.cardinality()).isEqualTo(30);
      assertThat(accepted.get(i) || accepted.get(j)).isFalse();
    }
  }

  /** An item bent and its double bent the other way, so that both have one R, key and challenge. */
  @Test
  void errorsThatCancelBetweenDoublesAreRefused() throws Exception {
    List<Item> items = good(30);
    Item one = good(1).getFirst();
    items.add(addToS(one, BigInteger.TWO));
    items.add(addToS(one, BigInteger.TWO.negate()));
    assertThat(equationHolds(items)).isFalse();
    assertThat(verify(items).cardinality()).isEqualTo(30);
  }

  /** Every pair of points of small order in A and R: the rule accepts them, so must the batch. */
  @Test
  void pointsOfSmallOrderInKeyAndRChangeNothing() throws Exception {
    List<Item> items = new ArrayList<>();
    BigInteger secret = scalar();
    for (int a = 0; a < 8; a++) {
      for (int r = 0; r < 8; r++) {
        items.add(ReferenceCurve.sign(secret, scalar(), a, r, bytes(20)));
      }
    }
    assertThat(singly(items).cardinality()).isEqualTo(64);
    assertThat(verify(items).cardinality()).isEqualTo(64);
    assertThat(equationHolds(items)).isTrue();
    for (int a = 0; a < 8; a++) { // each key and each R once
      assertThat(equationHolds(List.of(items.get(8 * a + (3 * a + 1) % 8)))).as("alone").isTrue();
    }
  }

  /** R of small order itself: the nonce is zero. */
  @Test
  void rMayBeOfSmallOrderItself() throws Exception {
    List<Item> items = new ArrayList<>();
    for (int r = 0; r < 8; r++) {
      items.add(ReferenceCurve.sign(scalar(), BigInteger.ZERO, random.nextInt(8), r, bytes(9)));
    }
    assertThat(singly(items).cardinality()).isEqualTo(8);
    assertThat(equationHolds(items)).isTrue();
    items.addAll(good(20));
    assertThat(verify(items).cardinality()).isEqualTo(28);
  }

  /** False items whose difference from true ones has a part of small order as well. */
  @Test
  void forgeriesOfMixedOrderThatCancelAreRefused() throws Exception {
    for (int torsion = 0; torsion < 8; torsion++) {
      List<Item> items = good(20);
      Item one = ReferenceCurve.sign(scalar(), scalar(), torsion, random.nextInt(8), bytes(5));
      Item two =
          ReferenceCurve.sign(scalar(), scalar(), (8 - torsion) % 8, random.nextInt(8), bytes(5));
      items.add(addToS(one, BigInteger.valueOf(8)));
      items.add(addToS(two, BigInteger.valueOf(-8)));
      assertThat(equationHolds(items)).isFalse();
      BitSet accepted = verify(items);
      assertThat(accepted).isEqualTo(singly(items));
      assertThat(accepted.cardinality()).isEqualTo(20);
    }
  }

  @Test
  void whatIsNotWellFormedIsRefusedWhereverItStands() {
    List<Item> items = good(40);
    items.set(1, addToS(items.get(1), L));
    items.set(2, with(items.get(2), new byte[0]));
    items.set(3, with(items.get(3), Arrays.copyOf(items.get(3).signature(), 65)));
    byte[] signature = items.get(4).signature().clone();
    Arrays.fill(signature, 0, 32, (byte) 0xff);
    items.set(4, with(items.get(4), signature));
    byte[] offCurve = new byte[64];
    offCurve[0] = 2;
    items.set(5, with(items.get(5), offCurve));
    BitSet accepted = verify(items);
    assertThat(accepted).isEqualTo(singly(items));
    assertThat(accepted.cardinality()).isEqualTo(35);
  }

  @Test
  void aBatchOfForgeriesOnlyIsRefused() {
    List<Item> items = new ArrayList<>();
    for (int i = 0; i < 70; i++) {
      items.add(with(good(), bytes(64)));
      items.add(flip(good(), 256 + random.nextInt(250)));
    }
    assertThat(verify(items).isEmpty()).isTrue();
  }

  @Test
  void mlDsaIsJudgedBesideEd25519() {
    SigningKey other = SigningKey.mlDsa65(bytes(32));
    List<Item> items = good(20);
    byte[] message = bytes(10);
    items.add(3, new Item(other.verifyingKey(), message, other.sign(message)));
    items.add(9, new Item(other.verifyingKey(), bytes(11), other.sign(message)));
    BitSet accepted = verify(items);
    assertThat(accepted.cardinality()).isEqualTo(21);
    assertThat(accepted.get(9)).isFalse();
  }

  @Test
  void theTwelveSpeccheckVectorsAmongGoodOnes() throws Exception {
    List<Integer> admitted = new ArrayList<>();
    List<Item> items = good(30);
    for (int i = 0; i < Speccheck.ALL.size(); i++) {
      Speccheck vector = Speccheck.ALL.get(i);
      try {
        VerifyingKey key = VerifyingKey.ed25519(vector.keyBytes());
        items.add(new Item(key, vector.messageBytes(), vector.signatureBytes()));
        admitted.add(i);
      } catch (WritException e) {
        assertThat(e.code()).isEqualTo(CanonicalizeError.KEY_WEAK);
      }
    }
    BitSet accepted = verify(items);
    assertThat(accepted).isEqualTo(singly(items));
    assertThat(accepted.stream().filter(i -> i >= 30).map(i -> admitted.get(i - 30)))
        .containsExactly(2, 3, 4, 5);
    assertThat(equationHolds(accepted.stream().mapToObj(items::get).toList())).isTrue();
  }

  @Test
  void theGoldenVectorsAmongGoodOnes() throws IOException {
    Path folder = Path.of(System.getProperty("basedir", "."), "..", "golden-vectors", "ed25519");
    List<Item> items = good(30);
    TreeMap<Integer, Boolean> expected = new TreeMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".json")).sorted().toList()) {
        JsonValue.Obj vector = (JsonValue.Obj) Jcs.parse(Files.readAllBytes(file));
        Fields input = Fields.of("input", vector.get("input"));
        try {
          VerifyingKey key = VerifyingKey.ed25519(base64(input, "public_key_b64"));
          expected.put(items.size(), ((JsonValue.Obj) vector.get("expect")).get("valid") != null);
          items.add(new Item(key, base64(input, "message_b64"), base64(input, "signature_b64")));
        } catch (WritException e) {
          assertThat(e.code()).isNotEqualTo(CanonicalizeError.SIGNATURE_INVALID);
        }
      }
    }
    Collections.swap(items, 3, items.size() - 1);
    BitSet accepted = verify(items);
    assertThat(accepted).isEqualTo(singly(items));
    assertThat(expected).hasSizeGreaterThan(15).containsValue(true).containsValue(false);
    int last = items.size() - 1;
    expected.forEach(
        (place, valid) -> assertThat(accepted.get(place == last ? 3 : place)).isEqualTo(valid));
  }

  private static byte[] base64(Fields fields, String member) {
    return StrictBase64.decode(member, fields.string(member));
  }

  @Test
  void mixturesOfEverythingGetTheVerdictsOfTheSingleRule() {
    int rounds = Integer.getInteger("writ.batches", 5);
    for (int round = 0; round < rounds; round++) {
      List<Item> items = new ArrayList<>();
      int count = random.nextInt(150);
      int bad = random.nextInt(4) == 0 ? 2 : 30;
      while (items.size() < count) {
        items.add(random.nextInt(bad) == 0 ? strange() : good());
      }
      BitSet accepted = verify(items);
      assertThat(accepted).as("round %d", round).isEqualTo(singly(items));
      assertThat(verify(items)).as("again").isEqualTo(accepted);
    }
  }

  private Item strange() {
    Item item = good();
    return switch (random.nextInt(8)) {
      case 0 -> flip(item, random.nextInt(512));
      case 1 -> with(item, bytes(64));
      case 2 -> with(item, bytes(random.nextInt(70)));
      case 3 -> addToS(item, random.nextBoolean() ? L : BigInteger.ONE);
      case 4 -> new Item(item.key(), bytes(random.nextInt(9)), item.signature());
      case 5 -> new Item(good().key(), item.message(), item.signature());
      case 6 ->
          ReferenceCurve.sign(scalar(), scalar(), random.nextInt(8), random.nextInt(8), bytes(3));
      default ->
          addToS(
              ReferenceCurve.sign(
                  scalar(), scalar(), random.nextInt(8), random.nextInt(8), bytes(3)),
              BigInteger.ONE);
    };
  }

  @Test
  void aBatchPaysFromSixteenSignaturesOnAndWithTwoForEachKey() {
    assertThat(SignatureBatch.pays(Collections.nCopies(15, "key"))).isFalse();
    assertThat(SignatureBatch.pays(Collections.nCopies(16, "key"))).isTrue();
    for (int keys : new int[] {8, 9, 16}) {
      List<String> kids = IntStream.range(0, 16).mapToObj(i -> "key" + i % keys).toList();
      assertThat(SignatureBatch.pays(kids)).as("%d keys", keys).isEqualTo(keys <= 8);
    }
  }

  /** The hash covers all of a batch: whatever changes in it changes every coefficient. */
  @Test
  void coefficientsDependOnAllOfTheBatchAndOnNothingElse() throws Exception {
    MessageDigest hash = MessageDigest.getInstance("SHA-512");
    List<Claim> claims = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      claims.add(Claim.of(i, 0, null, bytes(64), bytes(64)));
    }
    BatchCoefficients first = new BatchCoefficients(hash, claims);
    BatchCoefficients again = new BatchCoefficients(hash, List.copyOf(claims));
    List<List<Claim>> others = new ArrayList<>();
    others.add(claims.subList(0, 8));
    for (int place : new int[] {0, 8}) {
      List<Claim> other = new ArrayList<>(claims);
      other.set(place, Claim.of(place, 0, null, bytes(64), claims.get(place).challenge()));
      others.add(other);
      other = new ArrayList<>(claims);
      byte[] challenge = claims.get(place).challenge().clone();
      challenge[63] ^= 1;
      other.set(place, new Claim(place, 0, null, claims.get(place).s(), challenge, new long[8]));
      others.add(other);
    }
    for (int i = 0; i < 9; i++) {
      assertThat(again.low(i)).isEqualTo(first.low(i));
      assertThat(again.high(i)).isEqualTo(first.high(i));
    }
    for (List<Claim> other : others) {
      BatchCoefficients changed = new BatchCoefficients(hash, other);
      for (int i = 0; i < other.size(); i++) {
        assertThat(changed.low(i)).isNotEqualTo(first.low(i));
        assertThat(changed.high(i)).isNotEqualTo(first.high(i));
      }
    }
  }

  @Test
  void digitsOfACoefficientAreTheCoefficientForEveryWidth() throws Exception {
    MessageDigest hash = MessageDigest.getInstance("SHA-512");
    List<Claim> claims = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      claims.add(Claim.of(i, 0, null, bytes(64), bytes(64)));
    }
    BatchCoefficients coefficients = new BatchCoefficients(hash, claims);
    for (int bits = 2; bits <= 13; bits++) {
      int count = BatchCoefficients.count(bits);
      for (int claim = 0; claim < claims.size(); claim++) {
        short[] digits = new short[2 * count];
        coefficients.digits(claim, bits, digits, 1, 2);
        BigInteger sum = BigInteger.ZERO;
        for (int i = count - 1; i >= 0; i--) {
          assertThat(Math.abs(digits[1 + 2 * i])).isLessThanOrEqualTo(1 << bits - 1);
          sum = sum.shiftLeft(bits).add(BigInteger.valueOf(digits[1 + 2 * i]));
        }
        BigInteger low = new BigInteger(Long.toUnsignedString(coefficients.low(claim)));
        assertThat(sum)
            .isEqualTo(BigInteger.valueOf(coefficients.high(claim)).shiftLeft(64).add(low));
      }
    }
  }

  @Test
  void manyThreadsVerifyTheSameItems() throws Exception {
    List<Item> items = good(50);
    items.set(13, flip(items.get(13), 300));
    BitSet expected = singly(items);
    try (var threads = Executors.newFixedThreadPool(4)) {
      List<Callable<BitSet>> tasks = Collections.nCopies(40, () -> SignatureBatch.verify(items));
      for (Future<BitSet> result : threads.invokeAll(tasks)) {
        assertThat(result.get()).isEqualTo(expected);
      }
    }
  }
}

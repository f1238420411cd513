package dev.writ.canonicalize.crypto;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.crypto.ReferenceCurve.Point;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CurveArithmeticAgreesWithBigIntegersTest {
  private static final BigInteger P = ReferenceCurve.P;

  private final Random random = new Random(Refused.seed(getClass()));
  private final Edwards25519 curve = new Edwards25519();

  /** Numbers below 2^255 at the edges of limbs and of the prime, and others. */
  private List<BigInteger> numbers() {
    List<BigInteger> numbers = new ArrayList<>();
    for (int bit : new int[] {0, 1, 50, 51, 52, 102, 153, 203, 204, 205, 253, 254}) {
      numbers.add(BigInteger.ONE.shiftLeft(bit));
      numbers.add(BigInteger.ONE.shiftLeft(bit).subtract(BigInteger.ONE));
    }
    for (int low = 1; low <= 40; low++) {
      numbers.add(BigInteger.TWO.pow(255).subtract(BigInteger.valueOf(low)));
    }
    for (int i = 0; i < 40; i++) {
      numbers.add(new BigInteger(255, random));
    }
    return numbers;
  }

  private static Field25519 field(BigInteger number) {
    Field25519 value = new Field25519();
    value.decode(ReferenceCurve.littleEndian(number), 0);
    return value;
  }

  private static BigInteger number(Field25519 value) {
    BigInteger number = ReferenceCurve.number(value.encode());
    assertThat(number).as("encoded below the prime").isLessThan(P);
    return number;
  }

  @Test
  void productsSquaresSumsAndDifferencesAreThoseOfTheField() {
    List<BigInteger> numbers = numbers();
    Field25519 result = new Field25519();
    for (BigInteger a : numbers) {
      assertThat(number(field(a))).isEqualTo(a.mod(P));
      assertThat(field(a).isZero()).isEqualTo(a.mod(P).signum() == 0);
      assertThat(field(a).isOdd()).isEqualTo(a.mod(P).testBit(0));
      result.square(field(a));
      assertThat(number(result)).isEqualTo(a.multiply(a).mod(P));
      for (BigInteger b : numbers) {
        result.product(field(a), field(b));
        assertThat(number(result)).isEqualTo(a.multiply(b).mod(P));
        result.sum(field(a), field(b));
        assertThat(number(result)).isEqualTo(a.add(b).mod(P));
        result.difference(field(a), field(b));
        assertThat(number(result)).isEqualTo(a.subtract(b).mod(P));
      }
    }
  }

  /** As far as the formulas let limbs grow: four units, of either sign. */
  @Test
  void productsTakeSumsOfFourUnitsOfEitherSign() {
    long unit = (1L << 51) + (1L << 13);
    long[] edges = {0, 1, -1, unit, -unit, 4 * unit, -4 * unit, 3 * unit, -(1L << 13)};
    for (int i = 0; i < 3000; i++) {
      long[] a = random.longs(5, 0, edges.length).map(e -> edges[(int) e]).toArray();
      long[] b = random.longs(5, 0, edges.length).map(e -> edges[(int) e]).toArray();
      Field25519 left = Field25519.of(a[0], a[1], a[2], a[3], a[4]);
      Field25519 right = Field25519.of(b[0], b[1], b[2], b[3], b[4]);
      Field25519 result = new Field25519();
      result.product(left, right);
      assertThat(number(result)).isEqualTo(value(a).multiply(value(b)).mod(P));
      result.square(left);
      assertThat(number(result)).isEqualTo(value(a).pow(2).mod(P));
      assertThat(number(left)).isEqualTo(value(a).mod(P));
    }
  }

  private static BigInteger value(long[] limbs) {
    BigInteger value = BigInteger.ZERO;
    for (int i = 0; i < limbs.length; i++) {
      value = value.add(BigInteger.valueOf(limbs[i]).shiftLeft(51 * i));
    }
    return value;
  }

  @Test
  void thePowerForSquareRootsIsRight() {
    BigInteger power = P.subtract(BigInteger.valueOf(5)).shiftRight(3);
    for (BigInteger a : numbers()) {
      Field25519 result = new Field25519();
      result.squareRootPower(field(a));
      assertThat(number(result)).isEqualTo(a.modPow(power, P));
      result.squareTimes(field(a), 7);
      assertThat(number(result)).isEqualTo(a.modPow(BigInteger.valueOf(128), P));
    }
  }

  @Test
  void pointsAreDecodedAddedSubtractedAndDoubled() {
    List<Point> points = new ArrayList<>(ReferenceCurve.SMALL_ORDER);
    points.add(ReferenceCurve.BASE);
    points.add(ReferenceCurve.BASE.negate());
    for (int i = 0; i < 6; i++) {
      points.add(
          ReferenceCurve.BASE
              .times(new BigInteger(252, random))
              .plus(ReferenceCurve.SMALL_ORDER.get(random.nextInt(8))));
    }
    for (Point p : points) {
      assertThat(p.isOnCurve()).isTrue();
      Point25519 sum = new Point25519();
      curve.set(sum, addend(p), true);
      assertSame(sum, p.negate());
      curve.set(sum, addend(p), false);
      assertSame(sum, p);
      assertThat(sum.isNeutral()).isEqualTo(p.equals(ReferenceCurve.NEUTRAL));
      curve.twice(sum);
      assertSame(sum, p.plus(p));
      Addend25519 projective = Addend25519.projective();
      curve.prepare(projective, sum);
      for (Point q : points) {
        curve.set(sum, addend(q), false);
        curve.add(sum, addend(p), false);
        assertSame(sum, q.plus(p));
        curve.add(sum, projective, true);
        assertSame(sum, q.plus(p.negate()));
        curve.add(sum, projective, false);
        curve.add(sum, addend(p), true);
        assertSame(sum, q);
        curve.add(sum, sum);
        assertSame(sum, q.plus(q));
      }
    }
  }

  private Addend25519 addend(Point p) {
    return curve.decode(p.encode(), 0);
  }

  private static void assertSame(Point25519 actual, Point expected) {
    BigInteger z = number(actual.z);
    assertThat(number(actual.x)).isEqualTo(expected.x().multiply(z).mod(P));
    assertThat(number(actual.y)).isEqualTo(expected.y().multiply(z).mod(P));
    assertThat(number(actual.t).multiply(z).mod(P))
        .isEqualTo(number(actual.x).multiply(number(actual.y)).mod(P));
  }

  @Test
  void whatIsNoPointIsNotDecoded() {
    int off = 0;
    for (int i = 0; i < 60; i++) {
      BigInteger y = new BigInteger(254, random);
      boolean odd = random.nextBoolean();
      Point expected = ReferenceCurve.decode(y, odd);
      byte[] bytes = ReferenceCurve.littleEndian(y);
      bytes[31] |= (byte) (odd ? 0x80 : 0);
      Addend25519 decoded = curve.decode(bytes, 0);
      assertThat(decoded == null).isEqualTo(expected == null);
      if (decoded == null) {
        off++;
      } else {
        Point25519 point = new Point25519();
        curve.set(point, decoded, false);
        assertSame(point, expected);
      }
    }
    assertThat(off).isBetween(10, 50);
  }

  @Test
  void digitsOfScalarsAreTheScalar() {
    BigInteger most = ReferenceCurve.L.subtract(BigInteger.ONE);
    List<BigInteger> scalars = new ArrayList<>(List.of(BigInteger.ZERO, BigInteger.ONE, most));
    for (int i = 0; i < 200; i++) {
      scalars.add(new BigInteger(253, random).mod(ReferenceCurve.L));
    }
    for (BigInteger scalar : scalars) {
      BigInteger sum = BigInteger.ZERO;
      byte[] digits = FixedTerm.digits(scalar);
      for (int i = digits.length - 1; i >= 0; i--) {
        sum = sum.shiftLeft(1).add(BigInteger.valueOf(digits[i]));
        assertThat(digits[i] == 0 || digits[i] % 2 != 0 && Math.abs(digits[i]) < 16).isTrue();
      }
      assertThat(sum).isEqualTo(scalar);
    }
  }

  @Test
  void sumsOfProductsAreTheirSumsModuloL() {
    for (int count : new int[] {0, 1, 2, 300}) {
      ScalarSum sum = new ScalarSum();
      BigInteger expected = BigInteger.ZERO;
      for (int i = 0; i < count; i++) {
        long[] number = new long[random.nextBoolean() ? 4 : 8];
        for (int word = 0; word < number.length; word++) {
          number[word] = edgeOrNot();
        }
        long low = edgeOrNot();
        long high = edgeOrNot();
        sum.addProduct(low, high, number);
        BigInteger coefficient = BigInteger.valueOf(high).shiftLeft(64).add(unsigned(low));
        BigInteger product = BigInteger.ZERO;
        for (int word = number.length - 1; word >= 0; word--) {
          product = product.shiftLeft(64).add(unsigned(number[word]));
        }
        expected = expected.add(coefficient.multiply(product));
      }
      assertThat(sum.reduced()).isEqualTo(expected.mod(ReferenceCurve.L));
    }
  }

  private long edgeOrNot() {
    long[] edges = {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE};
    return random.nextInt(3) == 0 ? random.nextLong() : edges[random.nextInt(edges.length)];
  }

  private static BigInteger unsigned(long word) {
    return new BigInteger(Long.toUnsignedString(word));
  }
}

package dev.writ.canonicalize.crypto;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The claims of many signatures in one equation: with a coefficient z for each, [8]Σ(zS)·B =
 * [8]Σz·R + [8]Σ over keys (Σzk)·A. All of it is cofactored, as Bouncy Castle is, so that
 * components of small order have no influence in either, however they are mixed: after
 * multiplication by 8 all points lie in the group of prime order L, where scalars may be reduced
 * modulo L, and where a false claim breaks the equation for all values of its coefficient but one.
 */
final class BatchEquation {
  private final Edwards25519 curve;
  private final List<Claim> claims;
  private final List<FixedTerm> keys;
  private final BatchCoefficients coefficients;

  BatchEquation(
      Edwards25519 curve,
      List<Claim> claims,
      List<FixedTerm> keys,
      BatchCoefficients coefficients) {
    this.curve = curve;
    this.claims = claims;
    this.keys = keys;
    this.coefficients = coefficients;
  }

  /** Whether the equation of these claims holds. */
  boolean holds(int from, int to) {
    int bits = Buckets.bits(to - from);
    Point25519[] sums = new Buckets(curve, bits).sums(claims, coefficients, from, to);
    List<FixedTerm> terms = new ArrayList<>();
    List<byte[]> digits = new ArrayList<>();
    collect(from, to, terms, digits);
    Point25519 sum = new Point25519();
    for (int i = FixedTerm.DIGITS - 1; i >= 0; i--) {
      curve.twice(sum);
      for (int term = 0; term < terms.size(); term++) {
        terms.get(term).add(curve, sum, digits.get(term)[i]);
      }
      if (i % bits == 0 && i / bits < sums.length) {
        curve.add(sum, sums[i / bits]);
      }
    }
    for (int i = 0; i < 3; i++) {
      curve.twice(sum);
    }
    return sum.isNeutral();
  }

  /** The base point and the keys that occur, with their scalars: −Σ(zS) and Σ(zk). */
  private void collect(int from, int to, List<FixedTerm> terms, List<byte[]> digits) {
    ScalarSum[] byKey = new ScalarSum[keys.size()];
    ScalarSum base = new ScalarSum();
    for (int i = from; i < to; i++) {
      Claim claim = claims.get(i);
      long low = coefficients.low(i);
      long high = coefficients.high(i);
      base.addProduct(low, high, claim.s());
      if (byKey[claim.key()] == null) {
        byKey[claim.key()] = new ScalarSum();
      }
      byKey[claim.key()].addProduct(low, high, claim.k());
    }
    terms.add(Base.TERM);
    digits.add(FixedTerm.digits(base.reduced().negate().mod(ScalarSum.L)));
    for (int key = 0; key < byKey.length; key++) {
      if (byKey[key] != null) {
        terms.add(keys.get(key));
        digits.add(FixedTerm.digits(byKey[key].reduced()));
      }
    }
  }

  /** The base point, made ready when the first batch needs it. */
  private static final class Base {
    /** Its y is 4/5 and its x even (RFC 8032, 5.1). */
    static final FixedTerm TERM = make();

    private static FixedTerm make() {
      byte[] encoded = new byte[Ed25519Rule.HALF];
      Arrays.fill(encoded, (byte) 0x66);
      encoded[0] = 0x58;
      Edwards25519 curve = new Edwards25519();
      return new FixedTerm(curve, curve.decode(encoded, 0));
    }
  }
}

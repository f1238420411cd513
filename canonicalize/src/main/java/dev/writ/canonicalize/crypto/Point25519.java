package dev.writ.canonicalize.crypto;

/**
 * A point of the curve −x² + y² = 1 + d·x²·y² in extended coordinates (Hisil, Wong, Carter, Dawson:
 * Twisted Edwards Curves Revisited, 2008): x = X/Z, y = Y/Z, T = XY/Z. {@link Edwards25519} changes
 * it in place.
 */
final class Point25519 {
  final Field25519 x = Field25519.of(0);
  final Field25519 y = Field25519.of(1);
  final Field25519 z = Field25519.of(1);
  final Field25519 t = Field25519.of(0);

  /** Whether it is the neutral element: (0, 1). */
  boolean isNeutral() {
    Field25519 difference = new Field25519();
    difference.difference(y, z);
    return x.isZero() && difference.isZero();
  }
}

package dev.writ.canonicalize.crypto;

/** A point in the form in which it is added: Y + X, Y − X, 2d·T, 2Z. */
final class Addend25519 {
  final Field25519 yPlusX = new Field25519();
  final Field25519 yMinusX = new Field25519();
  final Field25519 t2d = new Field25519();

  /** Null where Z is 1, which saves a product. */
  final Field25519 z2;

  private Addend25519(Field25519 z2) {
    this.z2 = z2;
  }

  /** The form of a point with Z = 1, which {@link Edwards25519#decode} fills. */
  static Addend25519 affine() {
    return new Addend25519(null);
  }

  /** The form of any point, which {@link Edwards25519#prepare} fills. */
  static Addend25519 projective() {
    return new Addend25519(new Field25519());
  }
}

package dev.writ.canonicalize.crypto;

/**
 * The arithmetic of the curve of Ed25519, on public data only. Keeps its intermediate values in
 * fields, so each thread needs its own instance. The formulas are those of Hisil, Wong, Carter,
 * Dawson (2008) for a = −1; they are complete: they hold for all points of the curve, those of
 * small order among them.
 */
final class Edwards25519 {
  private static final Field25519 D =
      Field25519.of(
          0x34dca135978a3L, 0x1a8283b156ebdL, 0x5e7a26001c029L, 0x739c663a03cbbL, 0x52036cee2b6ffL);
  private static final Field25519 TWICE_D =
      Field25519.of(
          0x69b9426b2f159L, 0x35050762add7aL, 0x3cf44c0038052L, 0x6738cc7407977L, 0x2406d9dc56dffL);
  private static final Field25519 INVERSE_OF_D =
      Field25519.of(
          0xf276cdc9f843L, 0x3084f2a85c4bcL, 0x6e73d982d775aL, 0x721958b108a66L, 0x40907ed214d5cL);
  private static final Field25519 ROOT_OF_MINUS_ONE =
      Field25519.of(
          0x61b274a0ea0b0L, 0xd5a5fc8f189dL, 0x7ef5e9cbd0c60L, 0x78595a6804c9eL, 0x2b8324804fc1dL);
  private static final Field25519 ZERO = Field25519.of(0);
  private static final Field25519 ONE = Field25519.of(1);

  private final Field25519 a = new Field25519();
  private final Field25519 b = new Field25519();
  private final Field25519 c = new Field25519();
  private final Field25519 d = new Field25519();
  private final Field25519 e = new Field25519();
  private final Field25519 f = new Field25519();
  private final Addend25519 other = Addend25519.projective();

  /**
   * RFC 8032, 5.1.3, for a canonical encoding.
   *
   * @return null where it is no point of the curve
   */
  Addend25519 decode(byte[] bytes, int at) {
    Field25519 y = a;
    Field25519 u = b;
    Field25519 v = c;
    Field25519 x = d;
    y.decode(bytes, at);
    u.square(y);
    v.product(u, D);
    u.difference(u, ONE);
    v.sum(v, ONE);
    // x = u v³ (u v⁷)^((p − 5) / 8) is a root of u/v or of −u/v, where there is one.
    e.square(v);
    e.product(e, v);
    x.square(e);
    x.product(x, v);
    x.product(x, u);
    x.squareRootPower(x);
    x.product(x, e);
    x.product(x, u);
    if (!isRoot(x, u, v)) {
      x.product(x, ROOT_OF_MINUS_ONE);
      if (!isRoot(x, u, v)) {
        return null;
      }
    }
    if (x.isOdd() != bytes[at + Ed25519Rule.HALF - 1] < 0) {
      x.difference(ZERO, x);
    }
    Addend25519 point = Addend25519.affine();
    point.yPlusX.sum(y, x);
    point.yMinusX.difference(y, x);
    point.t2d.product(x, y);
    point.t2d.product(point.t2d, TWICE_D);
    return point;
  }

  /** Whether v · x² = u. */
  private boolean isRoot(Field25519 x, Field25519 u, Field25519 v) {
    f.square(x);
    f.product(f, v);
    f.difference(f, u);
    return f.isZero();
  }

  /** Sets p to the point that an affine addend stands for, or to its negative. */
  void set(Point25519 p, Addend25519 q, boolean negative) {
    // Y + X and Y − X give 2X and 2Y: the same point with Z = 2 and T = 2xy. The limbs have two
    // units, which add() and twice() accept.
    p.y.sum(q.yPlusX, q.yMinusX);
    if (negative) {
      p.x.difference(q.yMinusX, q.yPlusX);
      p.t.difference(ZERO, q.t2d);
    } else {
      p.x.difference(q.yPlusX, q.yMinusX);
      p.t.set(q.t2d);
    }
    p.t.product(p.t, INVERSE_OF_D);
    p.z.sum(ONE, ONE);
  }

  /** Sets a projective addend to a point. */
  void prepare(Addend25519 q, Point25519 p) {
    q.yPlusX.sum(p.y, p.x);
    q.yMinusX.difference(p.y, p.x);
    q.t2d.product(p.t, TWICE_D);
    q.z2.sum(p.z, p.z);
  }

  /** p + q, or p − q, into p. */
  void add(Point25519 p, Addend25519 q, boolean negative) {
    a.difference(p.y, p.x);
    b.sum(p.y, p.x);
    a.product(a, negative ? q.yPlusX : q.yMinusX);
    b.product(b, negative ? q.yMinusX : q.yPlusX);
    c.product(p.t, q.t2d);
    if (q.z2 == null) {
      d.sum(p.z, p.z);
    } else {
      d.product(p.z, q.z2);
    }
    e.difference(b, a);
    b.sum(b, a);
    Field25519 g = a;
    if (negative) {
      f.sum(d, c);
      g.difference(d, c);
    } else {
      f.difference(d, c);
      g.sum(d, c);
    }
    p.x.product(e, f);
    p.y.product(g, b);
    p.t.product(e, b);
    p.z.product(f, g);
  }

  /** p + q into p. */
  void add(Point25519 p, Point25519 q) {
    prepare(other, q);
    add(p, other, false);
  }

  /** 2p into p. */
  void twice(Point25519 p) {
    a.square(p.x);
    b.square(p.y);
    c.square(p.z);
    c.sum(c, c);
    e.sum(p.x, p.y);
    e.square(e);
    e.difference(e, a);
    e.difference(e, b);
    d.difference(b, a);
    f.difference(d, c);
    b.sum(a, b);
    b.difference(ZERO, b);
    p.x.product(e, f);
    p.y.product(d, b);
    p.t.product(e, b);
    p.z.product(f, d);
  }
}

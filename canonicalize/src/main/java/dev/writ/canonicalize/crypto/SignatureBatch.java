package dev.writ.canonicalize.crypto;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Verifies many Ed25519 signatures at once, several times as fast as one by one
 * (spec/signatures.md, batches). The verdict on each is that of the one acceptance rule: a batch is
 * only ever accepted as a whole; one that is not is halved, until Bouncy Castle judges the
 * remaining signatures one by one. If all are forged that costs about half as much again as judging
 * them singly at once.
 *
 * <p>Needs no lock and keeps no state: any number of threads may verify batches of their own.
 */
public final class SignatureBatch {
  /**
   * Fewer signatures than this are judged singly, unless the engine in use says otherwise; from
   * here on a batch is mostly faster.
   */
  static final int LEAST = 16;

  /** More than this are judged as several batches; more at once gain nothing. */
  static final int MOST = 4096;

  private final int least = Math.min(LEAST, least());
  private final List<Item> items;
  private final BitSet accepted = new BitSet();
  private final Edwards25519 curve = new Edwards25519();
  private final MessageDigest sha512 = newSha512();

  private SignatureBatch(List<Item> items) {
    this.items = items;
  }

  /** A signature over a message, which claims to be by that key. The arrays are not copied. */
  public record Item(VerifyingKey key, byte[] message, byte[] signature) {}

  /**
   * Judges every item; keys and algorithms may be mixed, ML-DSA is judged singly.
   *
   * @return bit i is set exactly where the acceptance rule accepts item i
   */
  public static BitSet verify(List<Item> items) {
    BitSet accepted = new BitSet(items.size());
    List<Integer> batch = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      Item item = items.get(i);
      if (item.key().algorithm() != Algorithm.ED25519) {
        accepted.set(i, isAccepted(item));
      } else if (Ed25519Rule.isWellFormed(item.signature())) {
        batch.add(i);
      }
    }
    for (int from = 0; from < batch.size(); from += MOST) {
      List<Integer> part = batch.subList(from, Math.min(batch.size(), from + MOST));
      if (part.size() < least()) {
        for (int i : part) {
          accepted.set(i, isAccepted(items.get(i)));
        }
      } else {
        accepted.or(new SignatureBatch(items).judge(part));
      }
    }
    return accepted;
  }

  /** The acceptance rule, for one. */
  private static boolean isAccepted(Item item) {
    return item.key().accepts(SignatureEngines.current(), item.message(), item.signature());
  }

  /** Fewer signatures than this are verified faster one by one, with the engine in use. */
  public static int least() {
    return SignatureEngines.current().batchLeast();
  }

  /**
   * Whether one equation is probably faster than asking the engine for each signature. A key that
   * signs only once costs about as much as the equation saves on its signature.
   *
   * @param kids the signing key of each signature
   */
  public static boolean pays(List<String> kids) {
    return kids.size() >= least() && 2 * new TreeSet<>(kids).size() <= kids.size();
  }

  /**
   * Whether the acceptance rule accepts all items, which are Ed25519's, by one equation alone.
   *
   * @return false if it refuses at least one; it is not known which
   */
  public static boolean holds(List<Item> items) {
    boolean wellFormed =
        items.stream()
            .allMatch(item ->
                item.key().algorithm() == Algorithm.ED25519
                    && Ed25519Rule.isWellFormed(item.signature()));
    if (!wellFormed) {
      return false;
    }
    List<Claim> claims = new ArrayList<>(items.size());
    List<Integer> all = IntStream.range(0, items.size()).boxed().toList();
    BatchEquation equation = new SignatureBatch(items).equation(all, claims);
    return claims.size() == items.size() && equation.holds(0, claims.size());
  }

  /** The same for one well-formed signature. */
  static boolean holds(Ed25519Public key, byte[] message, byte[] signature) {
    SignatureBatch one = new SignatureBatch(List.of());
    Addend25519 r = one.curve.decode(signature, 0);
    if (r == null) {
      return false;
    }
    byte[] challenge = one.challenge(key.raw(), message, signature);
    List<Claim> claims = List.of(Claim.of(0, 0, r, signature, challenge));
    List<FixedTerm> keys = List.of(new FixedTerm(one.curve, key.point()));
    return new BatchEquation(one.curve, claims, keys, new BatchCoefficients(one.sha512, claims))
        .holds(0, 1);
  }

  private BitSet judge(List<Integer> part) {
    List<Claim> claims = new ArrayList<>(part.size());
    BatchEquation equation = equation(part, claims);
    judge(equation, claims, 0, claims.size(), false);
    return accepted;
  }

  /**
   * The equation for those items of a part whose R is a point; the others are judged at once.
   *
   * @param claims receives what the equation is about
   */
  private BatchEquation equation(List<Integer> part, List<Claim> claims) {
    List<FixedTerm> keys = new ArrayList<>();
    TreeMap<byte[], Integer> places = new TreeMap<>(Arrays::compareUnsigned);
    for (int i : part) {
      Item item = items.get(i);
      byte[] raw = item.key().rawBytes();
      int key =
          places.computeIfAbsent(
              raw,
              _ -> {
                keys.add(new FixedTerm(curve, item.key().ed25519().point()));
                return keys.size() - 1;
              });
      Addend25519 r = curve.decode(item.signature(), 0);
      if (r == null) {
        accepted.set(i, isAccepted(item));
      } else {
        claims.add(
            Claim.of(
                i, key, r, item.signature(), challenge(raw, item.message(), item.signature())));
      }
    }
    return new BatchEquation(curve, claims, keys, new BatchCoefficients(sha512, claims));
  }

  /** SHA-512 over R, A and the message (RFC 8032, 5.1.7). */
  private byte[] challenge(byte[] key, byte[] message, byte[] signature) {
    sha512.update(signature, 0, Ed25519Rule.HALF);
    sha512.update(key);
    return sha512.digest(message);
  }

  /**
   * Judges some of the claims.
   *
   * @param isKnownNotToHold whether the equation is known to fail, so that it need not be computed
   * @return whether all of them were accepted
   */
  private boolean judge(
      BatchEquation equation, List<Claim> claims, int from, int to, boolean isKnownNotToHold) {
    if (to - from < least) {
      boolean all = true;
      for (Claim claim : claims.subList(from, to)) {
        boolean yes = isAccepted(items.get(claim.item()));
        accepted.set(claim.item(), yes);
        all &= yes;
      }
      return all;
    }
    if (!isKnownNotToHold && equation.holds(from, to)) {
      claims.subList(from, to).forEach(claim -> accepted.set(claim.item()));
      return true;
    }
    int half = (from + to) / 2;
    boolean first = judge(equation, claims, from, half, false);
    // If the first half is right, the fault is in the second: its equation need not be computed.
    return judge(equation, claims, half, to, first) && first;
  }

  private static MessageDigest newSha512() {
    try {
      return MessageDigest.getInstance("SHA-512");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-512", e);
    }
  }
}

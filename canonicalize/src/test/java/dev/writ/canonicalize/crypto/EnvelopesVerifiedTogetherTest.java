package dev.writ.canonicalize.crypto;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.dsse.EnvelopeBatch;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Whoever was in a batch gets the verdict that an envelope alone gets. */
class EnvelopesVerifiedTogetherTest {
  private static final String TYPE = "application/vnd.writ.request.v1+json";

  private final Random random = new Random(Refused.seed(getClass()));
  private final List<SigningKey> keys =
      List.of(SigningKey.ed25519(bytes(32)), SigningKey.ed25519(bytes(32)));

  private byte[] bytes(int length) {
    return OneAcceptanceRuleTest.bytes(random, length);
  }

  private static EnvelopeBatch.Item item(VerifyingKey key, byte[] payload, byte[] signature) {
    Envelope.Signature by = new Envelope.Signature(key.kid(), signature);
    return new EnvelopeBatch.Item(Envelope.of(TYPE, payload, List.of(by)), List.of(key));
  }

  private EnvelopeBatch.Item good() {
    SigningKey key = keys.get(random.nextInt(keys.size()));
    byte[] payload = bytes(random.nextInt(100));
    return item(key.verifyingKey(), payload, key.sign(Envelope.preAuthEncoding(TYPE, payload)));
  }

  /** Accepted, though no honest signer makes it: components of small order in key and R. */
  private EnvelopeBatch.Item ofMixedOrder(boolean rIsSmall) {
    byte[] payload = bytes(10);
    SignatureBatch.Item made =
        ReferenceCurve.sign(
            scalar(),
            rIsSmall ? BigInteger.ZERO : scalar(),
            random.nextInt(8),
            random.nextInt(8),
            Envelope.preAuthEncoding(TYPE, payload));
    return item(made.key(), payload, made.signature());
  }

  private BigInteger scalar() {
    return new BigInteger(256, random).mod(ReferenceCurve.L);
  }

  /** The same envelope with another signature. */
  private EnvelopeBatch.Item bent(EnvelopeBatch.Item item) {
    byte[] signature = item.envelope().signatures().getFirst().bytes();
    byte[] bent =
        switch (random.nextInt(4)) {
          case 0 -> bytes(random.nextInt(70));
          case 1 -> plusL(signature);
          case 2 -> new byte[64]; // R is a point of order 4, S is zero
          default -> {
            signature[random.nextInt(64)] ^= (byte) (1 << random.nextInt(8));
            yield signature;
          }
        };
    return item(item.keys().getFirst(), item.envelope().payload(), bent);
  }

  /** S + L, which a verifier without rule 3 accepts. */
  private static byte[] plusL(byte[] signature) {
    byte[] s = new byte[32];
    System.arraycopy(signature, 32, s, 0, 32);
    return ReferenceCurve.join(signature, ReferenceCurve.number(s).add(ReferenceCurve.L));
  }

  private static boolean isAccepted(EnvelopeBatch.Item item) {
    try {
      item.envelope().verifySignatures(item.keys());
      return true;
    } catch (WritException e) {
      assertThat(e.code()).isEqualTo(CanonicalizeError.SIGNATURE_INVALID);
      return false;
    }
  }

  /** What an object says that was in no batch. */
  private static boolean isAcceptedAlone(EnvelopeBatch.Item item) {
    Envelope alone = Envelope.parse(item.envelope().toBytes());
    return isAccepted(new EnvelopeBatch.Item(alone, item.keys()));
  }

  @Test
  void everyMixtureGetsTheVerdictsOfEachAlone() {
    for (int round = 0; round < 24; round++) {
      List<EnvelopeBatch.Item> items = new ArrayList<>();
      int bad = round % 3;
      while (items.size() < 20 + random.nextInt(20)) {
        int kind = random.nextInt(6);
        items.add(kind < 2 ? ofMixedOrder(kind == 0) : good());
      }
      for (int i = 0; i < bad; i++) {
        int place = random.nextInt(items.size());
        items.set(place, bent(items.get(place)));
      }
      List<Boolean> alone =
          items.stream().map(EnvelopesVerifiedTogetherTest::isAcceptedAlone).toList();
      assertThat(new EnvelopeBatch(items).verify()).isEqualTo(!alone.contains(false));
      assertThat(items.stream().map(EnvelopesVerifiedTogetherTest::isAccepted).toList())
          .isEqualTo(alone);
    }
  }

  @Test
  void aBatchIsAcceptedAsAWholeAndThenHasNothingToGain() {
    List<EnvelopeBatch.Item> items = List.of(good(), good(), good());
    EnvelopeBatch.Item bad = bent(good());
    List<EnvelopeBatch.Item> withBad = new ArrayList<>(items);
    withBad.add(bad);
    assertThat(new EnvelopeBatch(withBad).verify()).isFalse();
    assertThat(withBad).allMatch(EnvelopeBatch.Item::mayGain);
    assertThat(new EnvelopeBatch(items).verify()).isTrue();
    assertThat(items).noneMatch(EnvelopeBatch.Item::mayGain);
  }

  /** What held under one key says nothing about another. */
  @Test
  void anAcceptedOneIsRefusedUnderAnotherKey() {
    EnvelopeBatch.Item item = good();
    assertThat(new EnvelopeBatch(List.of(item)).verify()).isTrue();
    VerifyingKey other = SigningKey.ed25519(bytes(32)).verifyingKey();
    EnvelopeBatch.Item foreign = new EnvelopeBatch.Item(item.envelope(), List.of(other));
    assertThat(foreign.mayGain()).isTrue();
    assertThat(isAccepted(foreign)).isFalse();
    assertThat(new EnvelopeBatch(List.of(foreign)).verify()).isFalse();
  }

  @Test
  void everySignatureOfAnEnvelopeCounts() {
    byte[] payload = bytes(30);
    SigningKey one = keys.getFirst();
    SigningKey two = keys.getLast();
    Envelope signed = Envelope.parse(Envelope.signBytes(TYPE, payload, one, two).toBytes());
    List<VerifyingKey> inOrder =
        signed.signatures().stream()
            .map(s -> (s.kid().equals(one.kid()) ? one : two).verifyingKey())
            .toList();
    assertThat(
            new EnvelopeBatch(List.of(new EnvelopeBatch.Item(signed, inOrder.reversed()))).verify())
        .isFalse();
    assertThat(new EnvelopeBatch(List.of(new EnvelopeBatch.Item(signed, inOrder))).verify())
        .isTrue();
  }

  @Test
  void largePayloadsAreNotGathered() {
    VerifyingKey key = keys.getFirst().verifyingKey();
    assertThat(item(key, bytes(16 * 1024), bytes(64)).mayGain()).isTrue();
    assertThat(item(key, bytes(16 * 1024 + 1), bytes(64)).mayGain()).isFalse();
  }

  @Test
  void onlyEd25519IsGathered() {
    SigningKey other = SigningKey.mlDsa65(bytes(32));
    Envelope signed = Envelope.parse(Envelope.signBytes(TYPE, bytes(9), other).toBytes());
    EnvelopeBatch.Item item = new EnvelopeBatch.Item(signed, List.of(other.verifyingKey()));
    assertThat(item.mayGain()).isFalse();
    assertThat(new EnvelopeBatch(List.of(item)).verify()).isFalse();
    assertThat(isAccepted(item)).isTrue();
  }
}

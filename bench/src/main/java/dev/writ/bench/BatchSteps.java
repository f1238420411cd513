package dev.writ.bench;

import dev.writ.canonicalize.crypto.SignatureBatch;
import dev.writ.canonicalize.crypto.SignatureEngine;
import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.canonicalize.crypto.SigningKey;
import java.util.ArrayList;
import java.util.List;

/** Verifying many signatures at once, against verifying each with the fastest engine there is. */
final class BatchSteps {
  private BatchSteps() {}

  static List<Step> of(Stopwatch watch, byte[] message) {
    return List.of(
        step(watch, message, 1024, 1, 3),
        step(watch, message, 1024, 4, 3),
        step(watch, message, 64, 1, 1.5));
  }

  private static Step step(Stopwatch watch, byte[] message, int count, int keys, double target) {
    SignatureEngine fastest = SignatureEngines.fastest();
    List<SignatureBatch.Item> items = items(message, count, keys);
    return new Step(
        "verify " + count + " at once, " + (keys == 1 ? "one key" : keys + " keys"),
        "one by one, " + (BenchEngines.hasCorretto() ? "ACCP" : "Bouncy Castle"),
        new BenchTarget.RateAtLeast(target),
        BenchEngines.with(fastest, watch.repeat(() -> atOnce(items))),
        BenchEngines.with(fastest, watch.repeat(() -> oneByOne(items))));
  }

  /** Signatures over messages that differ. */
  private static List<SignatureBatch.Item> items(byte[] message, int count, int keys) {
    List<SignatureBatch.Item> items = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] seed = new byte[SigningKey.SEED_LENGTH];
      seed[0] = (byte) (1 + i % keys);
      SigningKey key = SigningKey.ed25519(seed);
      byte[] other = message.clone();
      other[0] = (byte) i;
      other[1] = (byte) (i >> 8);
      items.add(new SignatureBatch.Item(key.verifyingKey(), other, key.sign(other)));
    }
    return items;
  }

  private static Object atOnce(List<SignatureBatch.Item> items) {
    int accepted = SignatureBatch.verify(items).cardinality();
    if (accepted != items.size()) {
      throw new IllegalStateException("refused " + (items.size() - accepted) + " good signatures");
    }
    return accepted;
  }

  private static Object oneByOne(List<SignatureBatch.Item> items) {
    items.forEach(item -> item.key().verify(item.message(), item.signature()));
    return items;
  }
}

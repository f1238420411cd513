package dev.writ.bench;

import dev.writ.canonicalize.crypto.SignatureEngine;
import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.VerifyingKey;
import java.util.ArrayList;
import java.util.List;

/** Signing and verifying through our keys, against the library that does it, called directly. */
final class CurveSteps {
  private static final BenchTarget TARGET = new BenchTarget.RateAtLeast(0.95);

  private CurveSteps() {}

  static List<Step> of(Stopwatch watch, byte[] message) {
    List<Step> steps = new ArrayList<>();
    byte[] seed = new byte[SigningKey.SEED_LENGTH];
    seed[0] = 7;
    steps.addAll(
        pair(
            watch,
            "Bouncy Castle",
            SignatureEngines.bouncyCastle(),
            RawEd25519.bouncyCastle(seed),
            seed,
            message));
    RawEd25519.corretto(seed)
        .ifPresent(raw ->
            steps.addAll(pair(watch, "ACCP", SignatureEngines.fastest(), raw, seed, message)));
    return steps;
  }

  private static List<Step> pair(
      Stopwatch watch,
      String library,
      SignatureEngine engine,
      RawEd25519 raw,
      byte[] seed,
      byte[] message) {
    SigningKey key = SigningKey.ed25519(seed);
    VerifyingKey half = key.verifyingKey();
    byte[] signature = key.sign(message);
    Step.Slice sign = watch.repeat(() -> key.sign(message));
    Step.Slice verify =
        watch.repeat(() -> {
          half.verify(message, signature);
          return half;
        });
    return List.of(
        new Step(
            "sign, " + library,
            "the library alone",
            TARGET,
            BenchEngines.with(engine, sign),
            watch.repeat(() -> raw.sign(message))),
        new Step(
            "verify, " + library,
            "the library alone",
            TARGET,
            BenchEngines.with(engine, verify),
            watch.repeat(() -> raw.verify(message, signature))));
  }
}

package dev.writ.bench;

import dev.writ.canonicalize.crypto.SignatureEngine;
import dev.writ.canonicalize.crypto.SignatureEngines;

/**
 * Runs a step's slice under a given signature engine, and restores the previous engine afterwards.
 */
final class BenchEngines {
  private BenchEngines() {}

  static Step.Slice with(SignatureEngine engine, Step.Slice slice) {
    return () -> {
      SignatureEngine before = SignatureEngines.current();
      SignatureEngines.use(engine);
      try {
        return slice.cost();
      } finally {
        SignatureEngines.use(before);
      }
    };
  }

  /** Whether there is a faster engine than Bouncy Castle on this machine. */
  static boolean hasCorretto() {
    return SignatureEngines.fastest().description().startsWith("Amazon");
  }
}

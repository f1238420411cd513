package dev.writ.replay.engine;

import dev.writ.canonicalize.Nondeterministic;
import java.security.SecureRandom;
import java.util.HexFormat;

/** Returns the recorded seed of the run. */
final class RecordedSeed extends SecureRandom {
  private static final long serialVersionUID = 1L;

  private byte[] seed = new byte[32];

  @Nondeterministic("nothing is drawn: all that it gives is the recorded seed")
  RecordedSeed() {
    super();
  }

  void set(String hex) {
    seed = HexFormat.of().parseHex(hex);
  }

  @Override
  public void nextBytes(byte[] bytes) {
    System.arraycopy(seed, 0, bytes, 0, bytes.length);
  }
}

package dev.writ.canonicalize.crypto;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Objects;

/**
 * The engines there are, and the one this process uses: Bouncy Castle, unless the program's start
 * chose another. The choice changes no byte and no verdict, only the speed, so a thread that still
 * sees the former choice does no harm.
 */
public final class SignatureEngines {
  private static final SignatureEngine BOUNCY_CASTLE = new BouncyCastleEngine("Bouncy Castle");

  private static volatile SignatureEngine current = BOUNCY_CASTLE;

  private SignatureEngines() {}

  /** Bouncy Castle alone: the judge, with the shortest start. */
  public static SignatureEngine bouncyCastle() {
    return BOUNCY_CASTLE;
  }

  /**
   * For a process that verifies a few dozen signatures and ends: needs the least time until the
   * first verdict.
   */
  public static SignatureEngine forAFew() {
    return new EquationEngine();
  }

  /**
   * The Corretto provider where it is present, loads and passes a known-answer test; otherwise
   * Bouncy Castle, whose description then says why. Loads it only now, which takes about 300 ms:
   * worth it for a server or for thousands of signatures.
   */
  public static SignatureEngine fastest() {
    return Fastest.ENGINE;
  }

  /** Makes an engine the one that keys of this process use. */
  public static void use(SignatureEngine engine) {
    current = Objects.requireNonNull(engine, "engine");
  }

  /** The engine that keys of this process use. */
  public static SignatureEngine current() {
    return current;
  }

  /** Keeps the loaded engine, so that it is loaded only once, on first use. */
  private static final class Fastest {
    static final SignatureEngine ENGINE = find();

    private static SignatureEngine find() {
      try {
        CorrettoEngine corretto = CorrettoEngine.load();
        selfTest(corretto);
        return corretto;
      } catch (ClassNotFoundException e) {
        return fallBack("is not installed");
      } catch (ReflectiveOperationException
          | GeneralSecurityException
          | LinkageError
          | RuntimeException e) {
        return fallBack("is not usable: " + e.getMessage());
      }
    }

    private static SignatureEngine fallBack(String why) {
      return new BouncyCastleEngine("Bouncy Castle (the Corretto provider " + why + ")");
    }

    /**
     * A known-answer test: signs, accepts a valid signature and refuses a false one, compared with
     * Bouncy Castle.
     */
    private static void selfTest(CorrettoEngine engine) throws GeneralSecurityException {
      Ed25519Secret key = new Ed25519Secret(new byte[SigningKey.SEED_LENGTH]);
      byte[] message = "writ self-test".getBytes(StandardCharsets.US_ASCII);
      byte[] signature = key.sign(BOUNCY_CASTLE, message);
      if (!Arrays.equals(signature, engine.signNatively(key, message))) {
        throw new IllegalStateException("it signs other bytes than Bouncy Castle");
      }
      Ed25519Public half = new Ed25519Public(key.rawPublic());
      byte[] forged = signature.clone();
      forged[40] ^= 1;
      if (!engine.saysYes(half, message, signature) || engine.saysYes(half, message, forged)) {
        throw new IllegalStateException("it verifies otherwise than Bouncy Castle");
      }
    }
  }
}

package dev.writ.canonicalize.crypto;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Bouncy Castle, asked once for each key and message, and signature. For tests that sign and verify
 * the same documents a thousand times.
 */
public final class RememberingEngine extends SignatureEngine {
  private static final SignatureEngine JUDGE = SignatureEngines.bouncyCastle();

  private final Map<ByteBuffer, Boolean> verdicts = new ConcurrentHashMap<>();
  private final Map<ByteBuffer, byte[]> signatures = new ConcurrentHashMap<>();

  private RememberingEngine() {
    super("Bouncy Castle, remembered");
  }

  /** For a test class whose documents repeat each other's: each signature is judged once. */
  public static final class ForTheClass implements BeforeAllCallback, AfterAllCallback {
    private SignatureEngine before;

    @Override
    public void beforeAll(ExtensionContext context) {
      before = SignatureEngines.current();
      use();
    }

    @Override
    public void afterAll(ExtensionContext context) {
      SignatureEngines.use(before);
    }
  }

  /** From now on keys use it. */
  public static void use() {
    SignatureEngines.use(new RememberingEngine());
  }

  @Override
  byte[] sign(Ed25519Secret key, byte[] message) {
    byte[] raw = key.rawPublic();
    ByteBuffer question = ByteBuffer.allocate(raw.length + message.length).put(raw).put(message);
    return signatures.computeIfAbsent(question.flip(), _ -> JUDGE.sign(key, message)).clone();
  }

  /** Never: a batch asks nobody, so that nothing of it would be remembered. */
  @Override
  int batchLeast() {
    return Integer.MAX_VALUE;
  }

  @Override
  boolean saysYes(Ed25519Public key, byte[] message, byte[] signature) {
    byte[] raw = key.raw();
    ByteBuffer question =
        ByteBuffer.allocate(raw.length + signature.length + message.length)
            .put(raw)
            .put(signature)
            .put(message)
            .flip();
    return verdicts.computeIfAbsent(question, _ -> key.accepts(JUDGE, message, signature));
  }
}

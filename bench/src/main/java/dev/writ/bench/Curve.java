package dev.writ.bench;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.dsse.Envelope;

/**
 * The curve operations of one allowed effect, as the pipeline does them: the request's signature is
 * verified at admission; decision and intent are signed by the Guardian and verified by the Gate;
 * the receipt is signed. Three and three.
 */
final class Curve {
  private final SigningKey guardian;
  private final SigningKey executor;
  private final VerifyingKey agentHalf;
  private final VerifyingKey guardianHalf;
  private final Signed request;
  private final Signed decision;
  private final Signed intent;
  private final byte[] receipt;

  private record Signed(byte[] message, byte[] signature) {
    static Signed of(Envelope envelope) {
      return new Signed(envelope.preAuthEncoding(), envelope.signatures().getFirst().bytes());
    }
  }

  Curve(
      SigningKey agent,
      SigningKey guardian,
      SigningKey executor,
      Envelope request,
      Envelope decision,
      Envelope intent,
      Envelope receipt) {
    this.guardian = guardian;
    this.executor = executor;
    this.agentHalf = agent.verifyingKey();
    this.guardianHalf = guardian.verifyingKey();
    this.request = Signed.of(request);
    this.decision = Signed.of(decision);
    this.intent = Signed.of(intent);
    this.receipt = receipt.preAuthEncoding();
  }

  Object operations() {
    agentHalf.verify(request.message, request.signature);
    byte[] one = guardian.sign(decision.message);
    byte[] two = guardian.sign(intent.message);
    guardianHalf.verify(decision.message, decision.signature);
    guardianHalf.verify(intent.message, intent.signature);
    byte[] three = executor.sign(receipt);
    return one.length + two.length + three.length;
  }
}

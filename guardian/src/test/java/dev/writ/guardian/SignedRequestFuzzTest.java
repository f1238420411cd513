package dev.writ.guardian;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Any document whatever that an enrolled agent signs as a request: a signed decision on it that is
 * the same twice, or a refusal.
 */
class SignedRequestFuzzTest {
  private static final Trust TRUST = World.trust();
  private static final Policy POLICY = World.policy();

  static Stream<byte[]> seeds() {
    World.RequestBuilder delegated = World.request();
    delegated.delegations =
        List.of(World.signed(World.delegation(World.OWNER, World.AGENT, 0), World.OWNER));
    World.RequestBuilder all =
        World.request()
            .params(
                "{\"env\":{\"LANG\":\"C\"},\"file\":\"data/a\",\"n\":1,\"source\":\"1\","
                    + "\"url\":\"https://a.example.com/x\"}");
    return Stream.of(World.request(), delegated, all).map(r -> Jcs.write(r.request().toJson()));
  }

  private static Decision judge(Envelope request) {
    Admitted admitted = Admission.readmit(request, TRUST, POLICY, World.NOW, World.NOW);
    if (!admitted.request().toJson().equals(request.document())) {
      throw new AssertionError("a request that changes when it is read");
    }
    return World.accounts(POLICY)
        .judge(admitted, World.circumstances(), POLICY, TRUST, World.NOW)
        .decision();
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsAdmittedIsJudgedTheSameTwice(byte[] bytes) {
    Envelope request;
    Decision decision;
    try {
      request = Envelope.sign(Request.TYPE, Jcs.parse(bytes), World.AGENT);
      decision = judge(request);
    } catch (WritException refused) {
      return;
    }
    if (!judge(request).equals(decision)
        || !Decision.read(Jcs.parse(Jcs.write(decision.toJson()))).equals(decision)) {
      throw new AssertionError("two decisions on one request");
    }
  }
}

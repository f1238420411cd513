package dev.writ.guardian;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.guardian.policy.Policy;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Any bytes whatever that arrive: an admitted request with those very bytes, or a refusal. */
class AdmissionFuzzTest {
  private static final Trust TRUST = World.trust();
  private static final Policy POLICY = World.policy();

  static Stream<byte[]> seeds() {
    World.RequestBuilder delegated = World.request();
    delegated.delegations =
        List.of(World.signed(World.delegation(World.OWNER, World.AGENT, 0), World.OWNER));
    World.RequestBuilder stranger = World.request();
    stranger.signer = World.key("stranger");
    return Stream.of(World.request().bytes(), delegated.bytes(), stranger.bytes());
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsAdmittedIsWhatCame(byte[] bytes) {
    Admitted admitted;
    try {
      admitted = Admission.admit(Admission.parse(bytes, POLICY), TRUST, POLICY, World.NOW);
    } catch (WritException refused) {
      return;
    }
    if (!Arrays.equals(admitted.envelope().toBytes(), bytes)
        || !admitted.request().toJson().equals(admitted.envelope().document())) {
      throw new AssertionError("admitted is something else than what came");
    }
  }
}

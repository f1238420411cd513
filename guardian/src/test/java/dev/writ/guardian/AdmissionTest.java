package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.guardian.document.Audience;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.policy.Policy;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What is let in is exactly what was signed, by whom it says, in time. */
class AdmissionTest {

  @Test
  void noChangedByteIsLetIn() {
    long seed = Long.getLong("writ.seed", 20261121L);
    System.out.println("writ.seed=" + seed);
    Random random = new Random(seed);
    Policy policy = World.policy();
    World.RequestBuilder request = World.request();
    request.delegations =
        List.of(World.signed(World.delegation(World.OWNER, World.AGENT, 0), World.OWNER));
    byte[] good = request.bytes();
    assertThat(admit(good, policy).charged()).containsExactly(World.SUBJECT, "owner");
    for (int i = 0; i < Integer.getInteger("writ.rounds", 200); i++) {
      byte[] bad = good.clone();
      int at = random.nextInt(bad.length);
      bad[at] ^= (byte) (1 << random.nextInt(8));
      assertThatThrownBy(() -> admit(bad, policy))
          .as("byte " + at)
          .isInstanceOf(WritException.class);
    }
  }

  private static Admitted admit(byte[] request, Policy policy) {
    return Admission.admit(Admission.parse(request, policy), World.trust(), policy, World.NOW);
  }

  @Test
  void whatIsTooLargeIsRefusedBeforeItIsParsedAndWhoeverParsedIt() {
    Policy policy = World.policy();
    Envelope large =
        World.request()
            .params("{\"source\":\"" + "x".repeat((int) policy.limits().requestBytesMax()) + "\"}")
            .sign();
    String found = large.size() + " bytes, at most " + policy.limits().requestBytesMax();
    byte[] broken = Arrays.copyOf(large.toBytes(), (int) large.size() - 1);
    assertThatThrownBy(() -> Admission.parse(broken, policy)).hasMessageContaining("GRD-002");
    assertThatThrownBy(() -> Admission.admit(large, World.trust(), policy, World.NOW))
        .hasMessageContaining("GRD-002")
        .hasMessageContaining(found);
  }

  @Test
  void aPendingRequestIsAsOldAsWhenItCameButItsKeysAreOfNow() {
    Policy policy = World.policy();
    Envelope request = World.request().sign();
    Instant later = World.NOW.plusSeconds(3_000);
    assertThatThrownBy(() -> Admission.admit(request, World.trust(), policy, later))
        .hasMessageContaining("GRD-005");
    Admitted again = Admission.readmit(request, World.trust(), policy, World.NOW, later);
    assertThat(again.receivedAt()).isEqualTo(World.NOW);
    Instant afterTheKey = Instant.parse("2027-01-01T00:00:00.000Z");
    assertThatThrownBy(
            () -> Admission.readmit(request, World.trust(), policy, World.NOW, afterTheKey))
        .hasMessageContaining("CAN-054");
  }

  @Test
  void anIntentEndsWithTheDelegationItRestsOn() {
    Policy policy = World.policy();
    Delegation d = World.delegation(World.OWNER, World.AGENT, 0);
    Delegation brief =
        new Delegation(
            d.tenant(), d.from(), d.to(), d.tools(), d.notBefore(), World.NOW.plusSeconds(7), 0);
    World.RequestBuilder request = World.request();
    request.delegations = List.of(World.signed(brief, World.OWNER));
    var decision = World.judge(policy, request);
    Guardian guardian = new Guardian(World.CI, new Audience("log.example/writ", 1));
    var intent =
        guardian.intentFor(
            decision,
            guardian.sign(decision).envelope().id(),
            World.manifest().ref(),
            new byte[32],
            World.NOW.plusMillis(3));
    assertThat(intent.expiresAt()).isEqualTo(World.NOW.plusSeconds(7));
    assertThat(intent.issuedAt()).isEqualTo(World.NOW.plusMillis(3));
  }

  @Test
  void bothEndsAreCharged() {
    Policy policy = World.policy(World.POLICY.replace("limit: 1000", "limit: 1"));
    Accounts accounts = World.accounts(policy);
    World.RequestBuilder own = World.request();
    own.delegations =
        List.of(World.signed(World.delegation(World.OWNER, World.AGENT, 0), World.OWNER));
    var decision =
        accounts
            .judge(own.admit(policy), World.circumstances(), policy, World.trust(), World.NOW)
            .decision();
    assertThat(JudgeInputs.read(decision.inputs()).balances())
        .extracting(JudgeInputs.Balance::key)
        .containsExactly("[\"acme\",\"owner\"]", "[\"acme\",\"researcher\"]");
    assertThat(decision.code()).isEmpty();
    var next =
        accounts
            .judge(
                World.request().nonce("2").admit(policy),
                World.circumstances(),
                policy,
                World.trust(),
                World.NOW)
            .decision();
    assertThat(next.code()).contains("GRD-201");
  }
}

package dev.writ.verify.audit;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestMandate;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.mandate.Mandates;
import dev.writ.guardian.mandate.SeenMandate;
import dev.writ.guardian.policy.mandate.MandateTrust;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever a trusted issuer signs and a holder discloses, in any bytes: a mandate counts, with
 * terms that read back as themselves, or it is refused with a code of its own; nothing else is
 * thrown.
 */
class MandateFuzzTest {
  private static final Request REQUEST =
      new TestRequest("acme", "alice", "n-1", TestHome.START).request();
  private static final Optional<MandateTrust> TRUST =
      TestPolicy.first(TestPolicy.YAML + TestMandate.policySection(), TestTools.standard())
          .mandates();

  static Stream<byte[]> seeds() {
    return Stream.of(
            "{\"vct\":\"v\",\"exp\":1795270000,\"payee\":{\"id\":\"shop\"},\"payment_amount\":{\"amount\":1,\"currency\":\"EUR\"},\"cnf\":{\"jwk\":"
                + TestMandate.jwk("wallet")
                + "}}\n[\"s\",\"a\",1]",
            "{\"_sd\":[\"x\"],\"delegate_payload\":[{\"...\":\"x\"}]}\n[\"s\",{}]",
            "{\"constraints\":[{\"type\":\"payment.amount_range\",\"max\":1e300}],\"vct\":\"v\"}")
        .map(text -> text.getBytes(StandardCharsets.UTF_8));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void itCountsOrIsRefusedWithACode(byte[] bytes) {
    String[] texts = new String(bytes, StandardCharsets.UTF_8).split("\n", -1);
    TestMandate mandate = TestMandate.plain(texts[0]);
    for (int i = 1; i < texts.length; i++) {
      mandate.disclose(texts[i]);
    }
    requireStable(Mandates.see(mandate.envelope(REQUEST, "alice"), REQUEST, TRUST, TestHome.START));
    requireStable(
        Mandates.see(
            TestMandate.plain("{}")
                .sent(_ -> new String(bytes, StandardCharsets.ISO_8859_1))
                .envelope(REQUEST, "alice"),
            REQUEST,
            TRUST,
            TestHome.START));
  }

  private static void requireStable(SeenMandate seen) {
    if (seen instanceof SeenMandate.Refused refused && !refused.code().matches("GRD-62[0-5]")) {
      throw new AssertionError(refused.code());
    }
    JsonValue.Obj written = seen.toJson();
    if (!SeenMandate.read("mandate", written).equals(seen)) {
      throw new AssertionError("what is recorded reads back as something else");
    }
  }
}

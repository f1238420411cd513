package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The exit status says what a chain of others proves. */
class ReceiptsOfOthersAreVerifiedTest {
  private static final String KEY =
      "79b5562e8fe654f94078b112e8a98ba7901f853ae695bed7e0e3910bad049664";

  /** The first receipt of HELM's frozen-chain-2026.json. */
  private static final String RECEIPT =
      """
      {"args_hash":"sha256:args-rcpt-001","created_at":"0001-01-01T00:00:00Z",
      "decision_id":"dec-rcpt-001","effect_id":"eff-rcpt-001","external_reference_id":"",
      "installed_at":"0001-01-01T00:00:00Z","issued_at":"0001-01-01T00:00:00Z",
      "key_id":"frozen-fixture-key-1","lamport_clock":1,"output_hash":"sha256:out-rcpt-001",
      "policy_hash":"sha256:policy-frozen-v1","prev_hash":"","reason_code":"POLICY_SATISFIED",
      "receipt_id":"rcpt-001","session_id":"sess-frozen-2026","signature":"22dd1755f0ef0d2ec4f7\
      48164d4594553f0fbfde51111fd69bdcc1a7529beeb342d9ef4cb53a87979dcd29ee7fdc23d37d1e8937cc0cb\
      6876db72ab6c98f770d","signature_version":"receipt.v5","status":"COMPLETED",
      "timestamp":"2026-08-09T12:00:00Z","verdict":"ALLOW"}
      """;

  /** What a next receipt would name it by. */
  private static final String DIGEST =
      "7ddb403ce5b6d7068ef1c48841fd6b3e8e7cae66e4767eca62ecc80a5957180e";

  @TempDir Path dir;
  private Path file;

  @BeforeEach
  void file() throws IOException {
    file = Files.writeString(dir.resolve("receipt.json"), RECEIPT);
  }

  private Run verify(String... options) {
    String[] line = new String[options.length + 2];
    line[0] = "verify-peer";
    line[1] = file.toString();
    System.arraycopy(options, 0, line, 2, options.length);
    return Run.of(line);
  }

  @Test
  void aKnownSignerAndAKnownEndAreVerified() {
    Run run = verify("--key", KEY, "--last", DIGEST);
    assertThat(run.err()).isEmpty();
    assertThat(run.status()).isZero();
    assertThat(run.out())
        .contains("a pinned key, 79b5562e8fe654f9: ", "verified      the last is " + DIGEST)
        .endsWith("verified: all of the chain\n");
    assertThat(verify("--key", KEY, "--count", "1").status()).isZero();
  }

  @Test
  void anUnknownEndIsSaid() {
    Run run = verify("--key", KEY);
    assertThat(run.status()).isEqualTo(ExitCode.INTEGRITY_ONLY.status());
    assertThat(run.out())
        .contains("not verified  the end: ", DIGEST)
        .endsWith("verified, but not known to be all of the chain\n");
  }

  @Test
  void aChangedReceiptIsRefused() throws IOException {
    Files.writeString(file, RECEIPT.replace("ALLOW", "DENY"));
    Run run = verify("--key", KEY, "--count", "1");
    assertThat(run.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(run.out()).contains("FAILED        PRC-004 ").doesNotContain("verified: ");
    Run json = verify("--key", KEY, "--json");
    assertThat(json.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(json.out()).contains("\"code\":\"PRC-004\"", "\"holds\":false");
  }

  @Test
  void aSlipIsToldBeforeTheFileIsRead() {
    assertThat(verify("--key", "79b5").status()).isEqualTo(ExitCode.USAGE.status());
    assertThat(verify("--key", KEY, "--last", "x").status()).isEqualTo(ExitCode.USAGE.status());
    assertThat(verify("--key", KEY, "--count", "-1").status()).isEqualTo(ExitCode.USAGE.status());
  }
}

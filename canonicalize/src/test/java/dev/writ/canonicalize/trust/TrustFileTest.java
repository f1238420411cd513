package dev.writ.canonicalize.trust;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.Refused;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Jcs;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TrustFileTest {
  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static TrustedKey key(Random random) {
    byte[] seed = new byte[32];
    random.nextBytes(seed);
    Instant begin = BEGIN.plusMillis(random.nextInt(1 << 30));
    return new TrustedKey(
        (random.nextInt(5) == 0 ? SigningKey.mlDsa65(seed) : SigningKey.ed25519(seed))
            .verifyingKey(),
        KeyRole.ALL.get(random.nextInt(KeyRole.ALL.size())),
        random.nextBoolean() ? Optional.of("tenant-" + random.nextInt(3)) : Optional.empty(),
        "subject ü " + random.nextInt(100),
        begin,
        random.nextBoolean()
            ? Optional.of(begin.plusMillis(1 + random.nextInt(1 << 30)))
            : Optional.empty(),
        random.nextBoolean()
            ? Optional.of(begin.plusMillis(random.nextInt(1 << 30)))
            : Optional.empty());
  }

  @Test
  void readsWhatItWritesAndTheOrderOfKeysDoesNotMatter() {
    Random random = new Random(Refused.seed(getClass()));
    for (int i = 0; i < 50; i++) {
      List<TrustedKey> keys = new ArrayList<>();
      for (int n = random.nextInt(8); n > 0; n--) {
        keys.add(key(random));
      }
      Trust trust = Trust.of(keys);
      if (random.nextBoolean()) {
        trust = trust.withRequiredAlgorithms(KeyRole.GUARDIAN, Algorithm.ALL);
        trust = trust.withRequiredAlgorithms(KeyRole.LOG, List.of(Algorithm.ML_DSA_65));
      }
      byte[] file = Jcs.write(trust.toJson());
      Trust read = Trust.parse(file);
      assertThat(read).isEqualTo(trust).hasSameHashCodeAs(trust);
      assertThat(Jcs.write(read.toJson())).isEqualTo(file);
      Collections.shuffle(keys, random);
      assertThat(Trust.of(keys).keys()).isEqualTo(trust.keys());
    }
  }

  /** Whoever compares what two parties pin must see each difference. */
  @Test
  void twoAreEqualOnlyWithTheSameKeysAndTheSameRequiredAlgorithms() {
    Random random = new Random(Refused.seed(getClass()));
    TrustedKey first = key(random);
    Trust trust = Trust.of(List.of(first));
    assertThat(trust).isNotEqualTo(Trust.of(List.of(key(random))));
    assertThat(trust).isNotEqualTo(Trust.of(List.of()));
    assertThat(trust)
        .isNotEqualTo(trust.withRequiredAlgorithms(KeyRole.LOG, List.of(Algorithm.ML_DSA_65)));
    assertThat(trust).isNotEqualTo(List.of(first));
    assertThat(trust).isEqualTo(Trust.of(List.of(first)));
  }

  @Test
  void aPositionBeforeTheLogIsNone() {
    assertThatThrownBy(() -> new LogPosition(-1, BEGIN))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** The example of spec/keys.md. */
  private static final String KEY =
      """
      {"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
       "writ_role":"agent","writ_tenant":"acme","writ_subject":"agent-7",
       "writ_not_before":"2026-01-01T00:00:00.000Z"}\
      """;

  @Test
  void peopleMayWriteIt() {
    Trust trust = Trust.parse(utf8("{ \"keys\" : [\n" + KEY + "\n] }\n"));
    TrustedKey key = trust.key("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k").orElseThrow();
    assertThat(key.role()).isEqualTo(KeyRole.AGENT);
    assertThat(key.tenant()).contains("acme");
    assertThat(key.subject()).isEqualTo("agent-7");
    assertThat(key.notBefore()).isEqualTo(BEGIN);
    assertThat(key.notAfter()).isEmpty();
    assertThat(key.revokedAt()).isEmpty();
    assertThat(Trust.parse(utf8("{\"keys\":[]}")).keys()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "FIELD_TYPE | []",
        "FIELD_MISSING | {}",
        "FIELD_TYPE | {'keys':{}}",
        "FIELD_TYPE | {'keys':[1]}",
        "FIELD_UNKNOWN | {'keys':[],'x':1}",
        "DUPLICATE_KEY | {'keys':[],'keys':[]}",
        "KEY_TWICE | {'keys':[K,K]}",
        "FIELD_TYPE | {'keys':[],'writ_required_algorithms':[]}",
        "FIELD_VALUE | {'keys':[],'writ_required_algorithms':{'agent':[]}}",
        "FIELD_VALUE | {'keys':[],'writ_required_algorithms':{'agent':['Ed25519','Ed25519']}}",
        "FIELD_VALUE | {'keys':[],'writ_required_algorithms':{'agent':['none']}}",
        "FIELD_TYPE | {'keys':[],'writ_required_algorithms':{'agent':[null]}}",
        "FIELD_UNKNOWN | {'keys':[],'writ_required_algorithms':{'root':['Ed25519']}}"
      })
  void whatIsNoTrustFileIsRefused(CanonicalizeError code, String json) {
    Refused.with(code, () -> Trust.parse(utf8(json.replace('\'', '"').replace("K", KEY))));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "FIELD_VALUE | \"agent\" | \"root\"",
        "FIELD_VALUE | \"agent\" | \"AGENT\"",
        "FIELD_TYPE | \"agent\" | [\"agent\",\"guardian\"]",
        "FIELD_MISSING | \"writ_role\":\"agent\", | ``",
        "FIELD_MISSING | \"writ_subject\":\"agent-7\", | ``",
        "FIELD_VALUE | agent-7 | ``",
        "FIELD_VALUE | acme | ``",
        "FIELD_TYPE | \"acme\" | null",
        "FIELD_UNKNOWN | \"writ_role\" | \"use\":\"sig\",\"writ_role\"",
        "FIELD_UNKNOWN | \"writ_role\" | \"d\":\"AA\",\"writ_role\"",
        "FIELD_UNKNOWN | \"writ_role\" | \"writ_roles\":1,\"writ_role\"",
        "KEY_MALFORMED | \"writ_role\" | \"kid\":\"x\",\"writ_role\"",
        "FIELD_VALUE | 00:00.000Z | 00:00Z",
        "FIELD_VALUE | 2026-01-01T | 2026-02-30T",
        "FIELD_VALUE | \"writ_role\" |"
            + " \"writ_not_after\":\"2026-01-01T00:00:00.000Z\",\"writ_role\"",
        "KEY_WEAK | 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo |"
            + " AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
      })
  void whatIsNoKeyOfOursIsRefused(CanonicalizeError code, String part, String by) {
    assertThat(KEY).contains(part);
    Refused.with(code, () -> Trust.parse(utf8("{\"keys\":[" + KEY.replace(part, by) + "]}")));
  }

  @Test
  void editsGiveANewTrustAndLeaveTheOld() {
    Random random = new Random(7);
    TrustedKey one = key(random).withNotAfter(BEGIN.plusSeconds(1L << 40));
    one =
        new TrustedKey(
            one.key(),
            one.role(),
            one.tenant(),
            one.subject(),
            BEGIN,
            Optional.empty(),
            Optional.empty());
    TrustedKey two = key(random);
    Trust first = Trust.of(List.of(one));
    Trust second = first.withKey(two);
    assertThat(first.keys()).hasSize(1);
    assertThat(second.keys()).hasSize(2);
    String kid = one.kid();
    Instant noon = BEGIN.plusSeconds(43_200);

    Trust revoked = second.withRevoked(kid, noon);
    assertThat(second.key(kid).orElseThrow().revokedAt()).isEmpty();
    assertThat(revoked.key(kid).orElseThrow().revokedAt()).contains(noon);
    Refused.with(CanonicalizeError.KEY_REVOKED, () -> revoked.withRevoked(kid, BEGIN));

    Trust ended = second.withNotAfter(kid, noon);
    assertThat(ended.key(kid).orElseThrow().notAfter()).contains(noon);
    assertThat(ended.withNotAfter(kid, noon.minusSeconds(1)).keys()).hasSize(2);
    Refused.with(CanonicalizeError.KEY_WINDOW, () -> ended.withNotAfter(kid, noon.plusMillis(1)));
    Refused.with(CanonicalizeError.FIELD_VALUE, () -> ended.withNotAfter(kid, BEGIN));

    Refused.with(CanonicalizeError.KEY_UNKNOWN, () -> first.withRevoked(two.kid(), noon));
    Refused.with(CanonicalizeError.KEY_UNKNOWN, () -> first.withNotAfter(two.kid(), noon));
    TrustedKey again =
        new TrustedKey(
            two.key(),
            KeyRole.LOG,
            Optional.empty(),
            "x",
            BEGIN,
            Optional.empty(),
            Optional.empty());
    Refused.with(CanonicalizeError.KEY_TWICE, () -> second.withKey(again));
    Refused.with(CanonicalizeError.KEY_TWICE, () -> Trust.of(List.of(two, again)));
    assertThatThrownBy(() -> second.keys().clear())
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void timesHaveMilliseconds() {
    TrustedKey key =
        new TrustedKey(
            SigningKey.ed25519(new byte[32]).verifyingKey(),
            KeyRole.AGENT,
            Optional.empty(),
            "s",
            BEGIN.plusNanos(1_999_999),
            Optional.of(BEGIN.plusSeconds(1).plusNanos(999)),
            Optional.empty());
    assertThat(key.notBefore()).isEqualTo(BEGIN.plusMillis(1));
    assertThat(Trust.parse(Jcs.write(Trust.of(List.of(key)).toJson())).key(key.kid()))
        .contains(key);
  }

  /** Whatever bytes arrive: a trust that writes and reads back as itself, or a refusal. */
  @Test
  void noMutantDoesAnythingElse() {
    Random random = new Random(Refused.seed(getClass()));
    int rounds = Integer.getInteger("writ.mutations", 20_000);
    byte[] whole =
        utf8("{\"keys\":[" + KEY + "],\"writ_required_algorithms\":{\"agent\":[\"Ed25519\"]}}");
    int read = 0;
    for (int i = 0; i < rounds; i++) {
      byte[] mutant = whole.clone();
      for (int n = random.nextInt(1, 4); n > 0; n--) {
        int at = random.nextInt(mutant.length);
        mutant[at] =
            random.nextBoolean() ? whole[random.nextInt(whole.length)] : (byte) random.nextInt(256);
      }
      try {
        Trust trust = Trust.parse(mutant);
        assertThat(Trust.parse(Jcs.write(trust.toJson()))).isEqualTo(trust);
        read++;
      } catch (WritException e) {
        assertThat(e.code()).isInstanceOf(CanonicalizeError.class);
      }
    }
    assertThat(read).as("mutants that are trust files").isGreaterThan(rounds / 100);
  }
}

package dev.writ.canonicalize.dsse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.Refused;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EnvelopeFormTest {
  private static final String TYPE = "application/vnd.writ.receipt.v1+json";
  private static final String KEY_ID = "A".repeat(43);

  private final SigningKey key = key(1);
  private final JsonValue document = JsonValue.object().put("a", 1).build();

  private static SigningKey key(int n) {
    byte[] secret = new byte[32];
    secret[0] = (byte) n;
    return SigningKey.ed25519(secret);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Records compare arrays by identity; a signature is its bytes. */
  @Test
  void signaturesAreEqualByKeyAndBytes() {
    Envelope.Signature signature = new Envelope.Signature(KEY_ID, new byte[] {1, 2});
    assertThat(signature)
        .isEqualTo(new Envelope.Signature(KEY_ID, new byte[] {1, 2}))
        .hasSameHashCodeAs(new Envelope.Signature(KEY_ID, new byte[] {1, 2}))
        .isNotEqualTo(new Envelope.Signature(KEY_ID, new byte[] {1, 3}))
        .isNotEqualTo(new Envelope.Signature("B".repeat(43), new byte[] {1, 2}))
        .isNotEqualTo(KEY_ID);
  }

  /** The vector of the DSSE protocol page. */
  @Test
  void preAuthEncodingIsThatOfDsse() {
    assertThat(Envelope.preAuthEncoding("http://example.com/HelloWorld", ascii("hello world")))
        .isEqualTo(ascii("DSSEv1 29 http://example.com/HelloWorld 11 hello world"));
    assertThat(Envelope.preAuthEncoding("", new byte[0])).isEqualTo(ascii("DSSEv1 0  0 "));
    assertThat(Envelope.preAuthEncoding("é", utf8("ü"))).isEqualTo(utf8("DSSEv1 2 é 2 ü"));
  }

  /** Two (type, payload) pairs never encode to the same bytes: the lengths see to that. */
  @Test
  void preAuthEncodingIsInjective() {
    byte[] one = Envelope.preAuthEncoding("a", ascii("1 b 1 c"));
    byte[] other = Envelope.preAuthEncoding("a 7 1", ascii("b 1 c"));
    assertThat(one).isNotEqualTo(other);
  }

  @Test
  void aPayloadIsParsedOnce() {
    Envelope read = Envelope.parse(Envelope.sign(TYPE, document, key).toBytes());
    assertThat(read.document()).isEqualTo(document).isSameAs(read.document());
  }

  @Test
  void readsWhatItWroteByteForByte() {
    Random random = new Random(Refused.seed(getClass()));
    for (int i = 0; i < 200; i++) {
      byte[] payload = new byte[random.nextInt(300)];
      random.nextBytes(payload);
      SigningKey[] keys =
          IntStream.rangeClosed(1, 1 + i % 5)
              .mapToObj(EnvelopeFormTest::key)
              .toArray(SigningKey[]::new);
      Envelope envelope = Envelope.signBytes(TYPE, payload, keys);
      byte[] bytes = envelope.toBytes();
      Envelope read = Envelope.parse(bytes);
      assertThat(read.toBytes()).isEqualTo(bytes);
      assertThat(read.size()).isEqualTo(bytes.length);
      assertThat(Jcs.write(read.toJson())).isEqualTo(bytes);
      assertThat(read.payload()).isEqualTo(payload);
      assertThat(read.payloadType()).isEqualTo(TYPE);
      assertThat(read.signatures()).isEqualTo(envelope.signatures()).hasSize(keys.length);
      assertThat(read.id()).isEqualTo(Digest.sha256(payload)).isEqualTo(envelope.id());
    }
  }

  @Test
  void theOrderOfTheKeysDoesNotMatterAndTheIdIsThePayloads() {
    Envelope one = Envelope.sign(TYPE, document, key(1), key(2), key(3));
    Envelope other = Envelope.sign(TYPE, document, key(3), key(1), key(2));
    assertThat(one.toBytes()).isEqualTo(other.toBytes());
    assertThat(one.id()).isEqualTo(Envelope.sign(TYPE, document, key(9)).id());
    assertThat(one.signatures().stream().map(Envelope.Signature::kid)).isSorted().hasSize(3);
    assertThat(one.document()).isEqualTo(document);
  }

  @Test
  void whatWasHandedOutCannotChangeTheEnvelope() {
    byte[] payload = Jcs.write(document);
    Envelope envelope = Envelope.signBytes(TYPE, payload, key);
    byte[] before = envelope.toBytes();
    payload[1] ^= 1;
    envelope.payload()[1] ^= 1;
    envelope.signatures().getFirst().bytes()[0] ^= 1;
    byte[] given = new byte[64];
    Envelope.Signature signature = new Envelope.Signature(KEY_ID, given);
    given[0] = 1;
    assertThat(signature).isEqualTo(new Envelope.Signature(KEY_ID, new byte[64]));
    assertThat(envelope.toBytes()).isEqualTo(before);
    assertThatThrownBy(() -> envelope.signatures().clear())
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "a\tb", "a\nb", "é", "\u007f"})
  void aPayloadTypeIsVisibleAscii(String type) {
    assertThatThrownBy(() -> Envelope.sign(type, document, key))
        .isInstanceOf(IllegalArgumentException.class);
    JsonValue json =
        JsonValue.object()
            .put("payload", "e30=")
            .put("payloadType", type)
            .putList("signatures", List.of(signature(KEY_ID, "AAAA")), s -> s)
            .build();
    Refused.with(CanonicalizeError.FIELD_VALUE, () -> Envelope.parse(Jcs.write(json)));
  }

  @Test
  void mistakesOfTheSignerAreNotSigned() {
    SigningKey[] many =
        IntStream.rangeClosed(1, 17).mapToObj(EnvelopeFormTest::key).toArray(SigningKey[]::new);
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> Envelope.sign(TYPE, document),
            () -> Envelope.sign(TYPE, document, key, key),
            () -> Envelope.sign(TYPE, document, many),
            () -> Envelope.sign("x".repeat(257), document, key))) {
      assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class);
    }
    String longest = "x".repeat(256);
    assertThat(Envelope.parse(Envelope.sign(longest, document, key).toBytes()).payloadType())
        .isEqualTo(longest);
    Envelope most = Envelope.sign(TYPE, document, Arrays.copyOf(many, 16));
    assertThat(Envelope.parse(most.toBytes()).signatures()).hasSize(16);
  }

  /** Whatever can be signed can be read, and what is larger is refused on both sides. */
  @Test
  void theLargestPayloadIsReadAndOneByteMoreIsNot() {
    SigningKey[] keys =
        IntStream.rangeClosed(1, 16)
            .mapToObj(n -> SigningKey.mlDsa65(Arrays.copyOf(new byte[] {(byte) n}, 32)))
            .toArray(SigningKey[]::new);
    byte[] largest = new byte[Envelope.PAYLOAD_BYTES_MAX];
    byte[] bytes = Envelope.signBytes(TYPE, largest, keys).toBytes();
    assertThat(Envelope.parse(bytes).payload()).hasSize(largest.length);
    byte[] more = new byte[largest.length + 1];
    Refused.with(CanonicalizeError.TOO_LARGE, () -> Envelope.signBytes(TYPE, more, key));
    byte[] forged =
        Jcs.write(
            JsonValue.object()
                .put("payload", StrictBase64.encode(more))
                .put("payloadType", TYPE)
                .putList("signatures", List.of(signature(KEY_ID, "AAAA")), s -> s)
                .build());
    Refused.with(CanonicalizeError.TOO_LARGE, () -> Envelope.parse(forged));
    Refused.with(CanonicalizeError.TOO_LARGE, () -> Envelope.parse(new byte[(16 << 20) + 1]));
  }

  private static JsonValue signature(String keyId, String sig) {
    return JsonValue.object().put("keyid", keyId).put("sig", sig).build();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "TRUNCATED | ``",
        "TRUNCATED | {",
        "FIELD_TYPE | []",
        "FIELD_TYPE | 1",
        "FIELD_MISSING | {}",
        "FIELD_MISSING | {'payload':'','signatures':[S]}",
        "FIELD_MISSING | {'payload':'','payloadType':'t'}",
        "FIELD_MISSING | {'payload':'','payloadType':'t','signatures':[{'keyid':'K'}]}",
        "FIELD_MISSING | {'payload':'','payloadType':'t','signatures':[{'sig':'AAAA'}]}",
        "FIELD_TYPE | {'payload':1,'payloadType':'t','signatures':[S]}",
        "FIELD_TYPE | {'payload':'','payloadType':null,'signatures':[S]}",
        "FIELD_TYPE | {'payload':'','payloadType':'t','signatures':{}}",
        "FIELD_TYPE | {'payload':'','payloadType':'t','signatures':[1]}",
        "FIELD_VALUE | {'payload':'','payloadType':'t','signatures':[]}",
        "FIELD_VALUE | {'payload':'','payloadType':'t','signatures':[S,S]}",
        "FIELD_VALUE | {'payload':'','payloadType':'t','signatures':[T,S]}",
        "FIELD_VALUE | {'payload':'','payloadType':'t','signatures':[{'keyid':'','sig':'AAAA'}]}",
        "FIELD_VALUE | {'payload':'','payloadType':'t','signatures':[{'keyid':'KK','sig':'AAAA'}]}",
        "FIELD_VALUE | {'payload':'','payloadType':'t','signatures':[{'keyid':'K','sig':'AAA'}]}",
        "FIELD_UNKNOWN | {'payload':'','payloadType':'t','signatures':[S],'x':1}",
        "FIELD_UNKNOWN |"
            + " {'payload':'','payloadType':'t','signatures':[{'keyid':'K','sig':'AAAA','x':1}]}",
        "FIELD_VALUE | {'payload':'e30','payloadType':'t','signatures':[S]}",
        "FIELD_VALUE | {'payload':'e31=','payloadType':'t','signatures':[S]}",
        "FIELD_VALUE | {'payload':'e30==','payloadType':'t','signatures':[S]}",
        "FIELD_VALUE | {'payload':'-_8=','payloadType':'t','signatures':[S]}",
        "FIELD_VALUE | {'payload':'e30= ','payloadType':'t','signatures':[S]}",
        "NOT_CANONICAL | {'payload':'','payloadType':'t', 'signatures':[S]}",
        "NOT_CANONICAL | {'payloadType':'t','payload':'','signatures':[S]}",
        "NOT_CANONICAL | {'payload':'','payloadType':'\\u0074','signatures':[S]}",
        "NOT_CANONICAL |"
            + " {'payload':'','payloadType':'t','signatures':[{'sig':'AAAA','keyid':'K'}]}",
        "DUPLICATE_KEY | {'payload':'','payload':'','payloadType':'t','signatures':[S]}",
        "TRAILING_BYTES | {'payload':'','payloadType':'t','signatures':[S]}x",
        "TOO_DEEP | {'payload':[[[[]]]],'payloadType':'t','signatures':[S]}"
      })
  void thereIsOneForm(CanonicalizeError code, String json) {
    String text =
        json.replace("S", "{'keyid':'" + KEY_ID + "','sig':'AAAA'}")
            .replace("T,", "{'keyid':'" + "B".repeat(42) + "A','sig':'AAAA'},")
            .replace("'K'", "'" + KEY_ID + "'")
            .replace("'KK'", "'" + KEY_ID + "A'")
            .replace('\'', '"');
    Refused.with(code, () -> Envelope.parse(utf8(text)));
  }

  @Test
  void moreThanSixteenSignaturesAreRefused() {
    List<String> kids = new ArrayList<>();
    for (int i = 0; i < 17; i++) {
      kids.add(key(i).kid());
    }
    Collections.sort(kids);
    byte[] bytes =
        Jcs.write(
            JsonValue.object()
                .put("payload", "e30=")
                .put("payloadType", TYPE)
                .putList("signatures", kids, kid -> signature(kid, "AAAA"))
                .build());
    Refused.with(CanonicalizeError.FIELD_VALUE, () -> Envelope.parse(bytes));
  }

  /** Whatever bytes arrive: an envelope whose bytes are those very bytes, or a refusal. */
  @Test
  void noMutantIsReadAsSomethingElse() {
    long seed = Refused.seed(getClass());
    int rounds = Integer.getInteger("writ.mutations", 20_000);
    Random random = new Random(seed);
    byte[] whole = Envelope.sign(TYPE, document, key(1), key(2)).toBytes();
    int read = 0;
    for (int i = 0; i < rounds; i++) {
      byte[] mutant = mutate(whole, random);
      try {
        assertThat(Envelope.parse(mutant).toBytes()).isEqualTo(mutant);
        read++;
      } catch (WritException e) {
        assertThat(e.code()).isInstanceOf(CanonicalizeError.class);
      }
    }
    assertThat(read).as("mutants that are envelopes").isGreaterThan(rounds / 100);
  }

  private static byte[] mutate(byte[] whole, Random random) {
    byte[] mutant = whole.clone();
    for (int n = random.nextInt(1, 4); n > 0; n--) {
      int at = random.nextInt(mutant.length);
      switch (random.nextInt(5)) {
        case 0 -> mutant[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> mutant[at] = whole[random.nextInt(whole.length)];
        case 2 -> mutant = Arrays.copyOf(mutant, Math.max(1, at));
        case 3 -> mutant[at] = (byte) random.nextInt(256);
        default -> {
          byte[] longer = Arrays.copyOf(mutant, mutant.length + 1);
          System.arraycopy(mutant, at, longer, at + 1, mutant.length - at);
          mutant = longer;
        }
      }
    }
    return mutant;
  }
}

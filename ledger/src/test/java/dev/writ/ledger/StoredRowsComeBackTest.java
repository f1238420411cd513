package dev.writ.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.Packing;
import dev.writ.ledger.form.Phrases;
import dev.writ.ledger.form.StoredForm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What is stored in another form comes back as the very bytes that were given. */
class StoredRowsComeBackTest {
  private static final String HEX =
      "32d89387eb8280110be2fdafb67922443f33c4848afd31c2db3c8c945985487b";
  private static final String KEY = "QUFf-G2KqcQ7Ue0t1ouEULAICstuXim-NZeBfp9uk8w";

  private static void comesBack(byte[] text) {
    assertThat(Packing.unpack(Packing.pack(text), 0)).isEqualTo(text);
    assertThat(StoredForm.fromValue(StoredForm.value(text))).isEqualTo(text);
  }

  private static void comesBack(String text) {
    comesBack(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void what_looks_almost_like_something_that_is_packed() {
    List<String> values =
        List.of(
            "sha256:" + HEX,
            "sha256:" + HEX.replace('3', 'A'),
            "sha256:" + HEX.substring(1),
            "sha256:" + HEX + "0",
            "sha256:sha256:" + HEX,
            "sha512:" + HEX,
            HEX,
            HEX + HEX,
            HEX.substring(2),
            "2026-11-24T00:50:20.640Z",
            "2026-02-29T00:50:20.640Z",
            "2024-02-29T23:59:59.999Z",
            "2100-02-29T00:00:00.000Z",
            "2026-11-24T24:00:00.000Z",
            "2026-11-24T00:50:60.640Z",
            "2026-13-24T00:50:20.640Z",
            "2026-00-24T00:50:20.640Z",
            "2026-11-00T00:50:20.640Z",
            "1969-12-31T23:59:59.999Z",
            "1970-01-01T00:00:00.000Z",
            "0000-01-01T00:00:00.000Z",
            "9999-12-31T23:59:59.999Z",
            "2026-11-24t00:50:20.640z",
            "2026-11-24T00:50:20.640",
            KEY,
            KEY.substring(0, 42) + "x", // spare bits that are not zero
            KEY.substring(0, 42) + "+",
            KEY + "A",
            "héllo 😀 \u007f",
            "");
    for (String value : values) {
      comesBack(value);
      comesBack("\"" + value + "\"");
      comesBack("{\"a\":\"" + value + "\"}");
      comesBack("{\"a\":\"" + value);
      comesBack("{\"prev\":\"" + value + "\",\"run\":\"r\"}");
    }
  }

  @Test
  void every_byte_and_every_phrase() {
    byte[] all = new byte[512];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    comesBack(all);
    for (byte[] phrase : Phrases.ALL) {
      comesBack(phrase);
      comesBack(Arrays.copyOf(phrase, phrase.length - 1));
      for (byte[] next : Phrases.ALL) {
        comesBack(concat(phrase, next));
      }
    }
  }

  /** The views of a database unpack by a list of their own. */
  @Test
  void the_views_in_postgres_have_the_same_phrases() throws IOException {
    String schema =
        Files.readString(
            Path.of(System.getProperty("writ.root", ".."))
                .resolve("postgres/src/main/resources/dev/writ/postgres/schema/V5__packed.sql"));
    assertThat(schema.split("\\$phrases\\$", -1)[1].split("\n", -1))
        .containsExactlyElementsOf(
            Phrases.ALL.stream().map(p -> new String(p, StandardCharsets.US_ASCII)).toList());
  }

  @Test
  void a_phrase_has_one_number_and_there_are_no_more_than_its_codes_can_say() {
    assertThat(Phrases.ALL.stream().map(p -> new String(p, StandardCharsets.US_ASCII)))
        .doesNotHaveDuplicates()
        .hasSizeLessThanOrEqualTo(26 + 256)
        .allMatch(phrase -> phrase.length() >= 2);
    // Stored rows hold the numbers: this digest changes only together with the ledger's format.
    byte[] list = {};
    for (byte[] phrase : Phrases.ALL) {
      list = concat(concat(list, phrase), new byte[] {'\n'});
    }
    assertThat(Digest.sha256(list).toString())
        .isEqualTo("sha256:8aa26ea8f0e901e031a2c80dfe0b17ec5007ea00c6c388c1513a74197286e697");
  }

  @Test
  void anything_made_of_pieces_that_are_packed() {
    Random random = new Random(1);
    List<byte[]> pieces = new ArrayList<>(Phrases.ALL);
    for (String piece :
        List.of(
            "sha256:",
            HEX,
            HEX.substring(7),
            KEY,
            "2026-11-24T00:50:20.640Z",
            "\"",
            "{",
            "\u0002")) {
      pieces.add(piece.getBytes(StandardCharsets.UTF_8));
    }
    for (int i = 0; i < 20_000; i++) {
      byte[] text = {};
      for (int n = random.nextInt(8); n >= 0; n--) {
        text = concat(text, pieces.get(random.nextInt(pieces.size())));
      }
      comesBack(random.nextBoolean() ? text : Arrays.copyOf(text, random.nextInt(text.length + 1)));
    }
  }

  @Test
  void every_day_of_four_centuries() {
    for (long day = 0; day < 146_097; day++) {
      Instant time = Instant.ofEpochSecond(day * 86_400 + day % 86_400, day % 1000 * 1_000_000);
      byte[] text = ("\"" + Timestamps.format(time) + "\"").getBytes(StandardCharsets.US_ASCII);
      byte[] packed = Packing.pack(text);
      assertThat(packed).hasSize(9);
      assertThat(Packing.unpack(packed, 0)).isEqualTo(text);
    }
  }

  @Test
  void values_that_begin_like_a_packed_row_or_have_the_length_of_a_digest() {
    for (int length = 0; length < 70; length++) {
      for (int second = 0; second < 256; second++) {
        byte[] value = new byte[length];
        if (length > 0) {
          value[0] = '{';
        }
        if (length > 1) {
          value[1] = (byte) second;
        }
        assertThat(StoredForm.fromValue(StoredForm.value(value))).isEqualTo(value);
      }
      comesBack("{\"tenant\":\"" + "x".repeat(length) + "\"}");
      comesBack("{\"a\":0,\"tenant\":\"" + "x".repeat(length) + "\",\"seq\":1,\"run\":\"\"}");
    }
  }

  @Test
  void what_format_1_wrote_is_read_as_it_is() {
    byte[] digest = Digest.parse("sha256:" + HEX).bytes();
    for (int form = 0; form < 256; form++) {
      digest[0] = '{';
      digest[1] = (byte) form;
      assertThat(StoredForm.fromValue(digest)).isEqualTo(digest);
      assertThat(StoredForm.value(digest)).isEqualTo(digest);
    }
    for (String json : List.of("{}", "{\"a\":1}", "{\"tenant\":\"acme\"}")) {
      assertThat(StoredForm.fromValue(Fixture.bytes(json))).isEqualTo(Fixture.bytes(json));
    }
    Envelope envelope = Fixture.document("old");
    assertThat(StoredForm.document(envelope.toBytes()).toBytes()).isEqualTo(envelope.toBytes());
    Event event = Fixture.first("run");
    byte[] key = Keys.event(Keys.run(event.runId()), 0);
    byte[] row = concat(Keys.number(7), event.toBytes());
    assertThat(StoredForm.parseEvent(key, row)).isEqualTo(event);
    assertThat(StoredForm.eventBytes(key, row)).isEqualTo(event.toBytes());
  }

  @Test
  void envelopes_with_any_payload_type_and_number_of_signatures() {
    for (Envelope envelope :
        List.of(
            Fixture.document("a"),
            Envelope.signBytes("text/plain", new byte[0], Fixture.key(2)),
            Envelope.signBytes("x", new byte[] {0, 1, 2, 3, 4, 5, 6}, Fixture.key(2)),
            Envelope.signBytes(
                "application/vnd.writ.receipt.v1+json",
                Fixture.bytes("{\"prev\":\"sha256:" + HEX + "\"}"),
                Fixture.key(2),
                Fixture.key(3),
                Fixture.key(4)))) {
      Envelope back = StoredForm.document(StoredForm.document(envelope));
      assertThat(back.toBytes()).isEqualTo(envelope.toBytes());
      assertThat(back.id()).isEqualTo(envelope.id());
    }
  }

  @Test
  void events_with_and_without_prev_and_seed_at_any_time_and_of_any_name() {
    Digest body = Fixture.digest("body");
    for (Instant at :
        List.of(
            Instant.EPOCH,
            Instant.parse("0000-01-01T00:00:00Z"),
            Instant.parse("9999-12-31T23:59:59.999Z"),
            Fixture.AT)) {
      for (String name : List.of("a", "run.opened", "tenant é", "x".repeat(256), "sha256:" + HEX)) {
        Event first = Event.first(name, name, name, body, at, Optional.of(HEX));
        for (Event event : List.of(first, first.next(name, body, at, Optional.empty()))) {
          byte[] key = Keys.event(Keys.run(event.runId()), event.seq());
          byte[] row = concat(Keys.number(9), StoredForm.event(event));
          assertThat(StoredForm.parseEvent(key, row)).isEqualTo(event);
          assertThat(StoredForm.eventBytes(key, row)).isEqualTo(event.toBytes());
        }
      }
    }
  }

  @Test
  void a_row_that_is_cut_off_is_refused_or_another_one() {
    byte[] document = StoredForm.document(Fixture.document("cut"));
    byte[] event = concat(Keys.number(0), StoredForm.event(Fixture.first("cut")));
    byte[] key = Keys.event(Keys.run(Fixture.run("cut")), 0);
    for (int length = 0; length < document.length; length++) {
      byte[] cut = Arrays.copyOf(document, length);
      assertThatThrownBy(() -> StoredForm.document(Fixture.document("cut").id(), cut))
          .isInstanceOf(WritException.class);
    }
    for (int length = 0; length < event.length; length++) {
      byte[] cut = Arrays.copyOf(event, length);
      try {
        assertThat(StoredForm.parseEvent(key, cut)).isNotEqualTo(Fixture.first("cut"));
      } catch (WritException e) {
        assertThat(e.code().code()).matches("(LED|CAN)-\\d+");
      }
    }
  }

  @Test
  void a_receipt_takes_less_than_half_of_its_envelope() {
    Envelope receipt =
        Envelope.sign(
            "application/vnd.writ.receipt.v1+json",
            JsonValue.object()
                .put("decision", Digest.parse("sha256:" + HEX))
                .put("finished_at", Fixture.AT)
                .put("prng_seed", HEX)
                .put("request", Digest.parse("sha256:" + HEX))
                .put("run", "r")
                .put("tenant", "acme")
                .build(),
            Fixture.key(2));
    assertThat(2 * StoredForm.document(receipt).length).isLessThan(receipt.toBytes().length);
  }

  private static byte[] concat(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }
}

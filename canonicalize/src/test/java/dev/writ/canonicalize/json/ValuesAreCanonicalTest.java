package dev.writ.canonicalize.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A value made by hand is written as the same value read from a text would be. */
class ValuesAreCanonicalTest {

  private static String written(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\ud800", "a\udc00", "\ude00\ud83d", "\ud83d\ud83d\ude00", "x\ud83dx"})
  void halfAPairIsNotWritten(String text) {
    List<JsonValue> values =
        List.of(
            JsonValue.of(text),
            JsonValue.object().put(text, 1).build(),
            JsonValue.of(List.of(JsonValue.of(text))));
    for (JsonValue value : values) {
      assertThatThrownBy(() -> Jcs.write(value))
          .isInstanceOfSatisfying(
              WritException.class,
              e -> assertThat(e.code()).isEqualTo(CanonicalizeError.LONE_SURROGATE));
    }
  }

  @Test
  void aMapOfAnotherOrderIsPutInOurs() {
    TreeMap<String, JsonValue> backwards = new TreeMap<>(Comparator.reverseOrder());
    backwards.put("a", JsonValue.of(1));
    backwards.put("B", JsonValue.of(2));
    backwards.put("b", JsonValue.of(3));
    assertThat(written(new JsonValue.Obj(backwards))).isEqualTo("{\"B\":2,\"a\":1,\"b\":3}");
  }

  @Test
  void anObjectDoesNotChangeWithTheMapItWasMadeOf() {
    TreeMap<String, JsonValue> source = new TreeMap<>();
    source.put("a", JsonValue.TRUE);
    JsonValue.Obj object = new JsonValue.Obj(source);
    source.put("b", JsonValue.FALSE);
    assertThat(object.members()).hasSize(1);
    assertThatThrownBy(() -> object.members().put("c", JsonValue.NULL))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> object.members().clear())
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @ParameterizedTest
  @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY})
  void whatJsonHasNoNumberForIsNone(double value) {
    assertThatThrownBy(() -> new JsonValue.Num(value)).isInstanceOf(IllegalArgumentException.class);
  }

  /** A double holds every integer up to here; from 2^53 on two of them would be one number. */
  @ParameterizedTest
  @ValueSource(longs = {1L << 53, -(1L << 53), Long.MAX_VALUE, Long.MIN_VALUE})
  void anIntegerThatADoubleMayNotHoldIsRefused(long value) {
    assertThatThrownBy(() -> JsonValue.of(value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(String.valueOf(value));
    long most = JsonValue.Num.MAX_INTEGER;
    assertThat(written(JsonValue.of(most))).isEqualTo("9007199254740991");
    assertThat(written(JsonValue.of(-most))).isEqualTo("-9007199254740991");
  }

  @Test
  void limitsThatLetNothingThroughAreAMistake() {
    assertThatThrownBy(() -> new Limits(0, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Limits(1, -1)).isInstanceOf(IllegalArgumentException.class);
    assertThat(Jcs.parse("1".getBytes(StandardCharsets.UTF_8), new Limits(1, 0)))
        .isEqualTo(JsonValue.of(1));
  }

  /** A name of 256 characters, DEL and the byte order mark are where the rules end. */
  @Test
  void namesAreShortAndWithoutControlCharacters() {
    String longest = "n".repeat(256);
    assertThat(Fields.of("d", JsonValue.object().put("a", longest).build()).name("a"))
        .isEqualTo(longest);
    for (String name : List.of("", longest + "n", "a\u007f", "\u001f", "a\nb")) {
      Fields fields = Fields.of("d", JsonValue.object().put("a", name).build());
      assertThatThrownBy(() -> fields.name("a"))
          .isInstanceOfSatisfying(
              WritException.class,
              e -> assertThat(e.code()).isEqualTo(CanonicalizeError.FIELD_VALUE));
    }
  }

  @Test
  void aByteOrderMarkIsNamedAndHalfOfOneIsNot() {
    byte[][] texts = {
      {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF, '1'},
      {(byte) 0xEF, (byte) 0xBB, '1'},
      {(byte) 0xEF, '1', '2'},
    };
    for (byte[] text : texts) {
      assertThatThrownBy(() -> Jcs.parse(text))
          .isInstanceOfSatisfying(
              WritException.class,
              e ->
                  assertThat(e.code() == CanonicalizeError.BYTE_ORDER_MARK)
                      .isEqualTo(text[2] == (byte) 0xBF));
    }
  }

  @Test
  void minusZeroIsZero() {
    assertThat(new JsonValue.Num(-0.0)).isEqualTo(new JsonValue.Num(0));
    assertThat(Jcs.parse("-0".getBytes(StandardCharsets.UTF_8))).isEqualTo(JsonValue.of(0));
  }

  @Test
  void membersAreASortedMapLikeAnyOther() {
    TreeMap<String, JsonValue> model = new TreeMap<>();
    for (String key : List.of("b", "d", "f", "h", "\uD83D\uDE00", "\uFB33")) {
      model.put(key, JsonValue.of(key));
    }
    var members = new JsonValue.Obj(model).members();
    assertThat(members).isEqualTo(model).hasSameHashCodeAs(model).hasToString(model.toString());
    assertThat(members.firstKey()).isEqualTo("b");
    assertThat(members.lastKey()).isEqualTo("\uFB33");
    assertThat(members.get("c")).isNull();
    assertThat(members.containsKey("d")).isTrue();
    assertThat(members.containsKey("e")).isFalse();
    for (String from : List.of("a", "b", "c", "h", "z", "\uFFFF")) {
      assertThat(members.headMap(from)).isEqualTo(model.headMap(from));
      assertThat(members.tailMap(from)).isEqualTo(model.tailMap(from));
      assertThat(members.subMap(from, "\uFFFF")).isEqualTo(model.subMap(from, "\uFFFF"));
    }
    assertThatThrownBy(() -> members.headMap("a").firstKey())
        .isInstanceOf(NoSuchElementException.class);
    assertThatThrownBy(() -> members.subMap("d", "b")).isInstanceOf(IllegalArgumentException.class);
  }
}

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

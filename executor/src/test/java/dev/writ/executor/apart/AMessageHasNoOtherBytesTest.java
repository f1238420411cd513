package dev.writ.executor.apart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.Refused;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A message between guardian and executor is read whole, or not at all (spec/apart.md). */
class AMessageHasNoOtherBytesTest {
  private static final ApartMessage MESSAGE =
      new ApartMessage(
          JsonValue.object().put("asks", "end").build(),
          List.of("one".getBytes(StandardCharsets.UTF_8), new byte[0], new byte[] {0, -1}));

  private static byte[] headed(String head, String rest) {
    byte[] bytes = head.getBytes(StandardCharsets.UTF_8);
    byte[] behind = rest.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(Integer.BYTES + bytes.length + behind.length)
        .putInt(bytes.length)
        .put(bytes)
        .put(behind)
        .array();
  }

  @Test
  void it_comes_back_as_it_was() {
    ApartMessage read = ApartMessage.parse(MESSAGE.toBytes());
    assertThat(read.said()).isEqualTo(MESSAGE.said());
    assertThat(read.parts()).hasSize(3);
    assertThat(read.part(0)).isEqualTo(MESSAGE.part(0));
    assertThat(read.part(2)).isEqualTo(MESSAGE.part(2));
    assertThat(Refused.code(() -> read.part(3))).isEqualTo("CAN-023");
  }

  @Test
  void no_beginning_of_it_is_a_message() {
    byte[] whole = MESSAGE.toBytes();
    for (int length = 0; length < whole.length; length++) {
      byte[] beginning = Arrays.copyOf(whole, length);
      assertThat(Refused.code(() -> ApartMessage.parse(beginning)))
          .as("%d bytes", length)
          .startsWith("CAN-");
    }
    byte[] longer = Arrays.copyOf(whole, whole.length + 1);
    assertThat(Refused.code(() -> ApartMessage.parse(longer))).isEqualTo("CAN-023");
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1 << 20})
  void a_head_is_not_longer_than_its_message(int length) {
    byte[] bytes = MESSAGE.toBytes();
    ByteBuffer.wrap(bytes).putInt(length);
    assertThat(Refused.code(() -> ApartMessage.parse(bytes))).isEqualTo("CAN-023");
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "4", "9007199254740991", "3,1"})
  void a_part_is_not_longer_than_what_is_left(String sizes) {
    byte[] bytes = headed("{\"parts\":[" + sizes + "],\"said\":{}}", "one");
    assertThat(Refused.code(() -> ApartMessage.parse(bytes))).isEqualTo("CAN-023");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"parts\":[3] ,\"said\":{}}",
        "{\"parts\":[3],\"said\":{},\"else\":1}",
        "{\"parts\":[\"3\"],\"said\":{}}",
        "{\"parts\":[3]}",
        "[]",
        ""
      })
  void a_head_has_one_form(String head) {
    byte[] bytes = headed(head, "one");
    assertThat(Refused.code(() -> ApartMessage.parse(bytes))).startsWith("CAN-");
  }
}

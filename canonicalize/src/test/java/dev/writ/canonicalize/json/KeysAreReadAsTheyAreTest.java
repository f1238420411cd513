package dev.writ.canonicalize.json;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.writ.canonicalize.WritException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Keys that are kept from earlier documents change nothing in later ones. */
class KeysAreReadAsTheyAreTest {
  private static String read(String key) {
    byte[] json = Jcs.write(JsonValue.object().put(key, true).build());
    JsonValue.Obj object = (JsonValue.Obj) Jcs.parseCanonical(json, Limits.DEFAULT);
    assertArrayEquals(json, Jcs.write(object));
    assertEquals(JsonValue.of(true), object.get(new String(key.toCharArray())));
    assertNull(object.get(key + "x"));
    return object.members().firstKey();
  }

  @Test
  void whateverCameBefore() {
    for (int round = 0; round < 2; round++) {
      for (String key :
          List.of("", "a", "b", "é", "e\u0301", "ſ", "\u007f", "日本", "\uD83D\uDE00", "\"", "\\n")) {
        assertEquals(key, read(key));
      }
      for (int i = 0; i < 5000; i++) { // more than have a place
        assertEquals("k" + i * 7919, read("k" + i * 7919));
      }
      assertEquals("x".repeat(40), read("x".repeat(40)));
    }
  }

  /** In Java "Aa" and "BB" have one hash. */
  @Test
  void alsoOnesOfOneHash() {
    for (String key : List.of("AaAa", "BBBB", "AaBB", "BBAa", "AaAa")) {
      assertEquals(key, read(key));
    }
  }

  @Test
  void aByteThatIsNoCharacterIsRefusedStill() {
    read("plain");
    byte[] json = "{\"plain\":1}".getBytes(StandardCharsets.UTF_8);
    json[3] = (byte) 0xff;
    assertEquals(
        "CAN-001",
        assertThrows(WritException.class, () -> Jcs.parseCanonical(json, Limits.DEFAULT))
            .code()
            .code());
  }
}

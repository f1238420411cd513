package dev.writ.conform.run;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.adapter.AdapterAnswer;
import java.util.Arrays;

/** The two lines of one operation. */
final class Question {
  private final String id;
  private final byte[] line;

  Question(String id, String op, JsonValue.Obj input) {
    this.id = id;
    this.line =
        Jcs.write(JsonValue.object().put("id", id).put("op", op).put("input", input).build());
  }

  /** Without its end. */
  byte[] line() {
    return line.clone();
  }

  /** With its end. */
  byte[] endedLine() {
    byte[] ended = Arrays.copyOf(line, line.length + 1);
    ended[line.length] = '\n';
    return ended;
  }

  /**
   * @throws Implementation.Broken for a line that answers something else, or is no answer
   */
  AdapterAnswer answer(byte[] answer) {
    try {
      return AdapterAnswer.read(Jcs.parse(answer, Adapter.LIMITS), id);
    } catch (WritException e) {
      throw new Implementation.Broken(
          "no answer of the protocol: " + e.code().code() + " " + e.found());
    }
  }
}

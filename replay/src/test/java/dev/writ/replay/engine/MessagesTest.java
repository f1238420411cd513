package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A text for people may be worded otherwise; nothing else can hide behind that. */
class MessagesTest {
  private static JsonValue json(String text) {
    return Jcs.parse(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  private static boolean same(String replayed, String recorded) {
    return Messages.asRecorded(json(replayed), json(recorded)).equals(json(recorded));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{'code':'EXE-107','found':'now'}           | {'code':'EXE-107','found':'then'}",
        "{'code':'EXE-107','message':'now'}         | {'code':'EXE-107','message':'then'}",
        "{'code':'EXE-201','observed':{'a':1}}      | {'code':'EXE-201'}",
        "{'checks':[{'check':'a','detail':'now'}]}  | {'checks':[{'check':'a','detail':'then'}]}",
      })
  void another_wording_is_no_difference(String replayed, String recorded) {
    assertThat(same(replayed, recorded)).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        // A code is what programs read.
        "{'code':'EXE-107','found':'now'}           | {'code':'EXE-108','found':'now'}",
        // Without a code the message is the tool's own.
        "{'message':'now'}                          | {'message':'then'}",
        // What is no text, or is on one side only, is no wording.
        "{'code':'EXE-107','found':1}               | {'code':'EXE-107','found':2}",
        "{'code':'EXE-107','found':'now'}           | {'code':'EXE-107','found':2}",
        "{'code':'EXE-107','found':'now'}           | {'code':'EXE-107'}",
        "{'code':'EXE-107'}                         | {'code':'EXE-107','found':'then'}",
        "{'code':'EXE-201','observed':{'a':1}}      | {'code':'EXE-201','observed':{'a':2}}",
        "{'code':'EXE-201'}                         | {'code':'EXE-201','observed':{'a':2}}",
        // Of a check only its detail.
        "{'checks':[{'check':'a','detail':'x'}]}    | {'checks':[{'check':'b','detail':'x'}]}",
        "{'checks':[{'check':'a','detail':1}]}      | {'checks':[{'check':'a','detail':'x'}]}",
        "{'checks':[{'check':'a','detail':'x'}]}    | {'checks':[{'check':'a','detail':1}]}",
        "{'checks':[{'check':'a','detail':'x'}]}    | {'checks':['a']}",
        "{'checks':['b']}                           | {'checks':['a']}",
        "{'checks':[{'detail':'x'},{'detail':'x'}]} | {'checks':[{'detail':'y'}]}",
        "{'checks':[{'detail':'x'}]}                | {'checks':[{'detail':'y'},{'detail':'x'}]}",
        "{'checks':[]}                              | {'checks':{}}",
        "{'checks':{}}                              | {'checks':[]}",
        // No document at all.
        "'a'                                        | {'code':'EXE-107'}",
        "{'code':'EXE-107'}                         | 'a'",
      })
  void anything_else_is(String replayed, String recorded) {
    assertThat(same(replayed, recorded)).isFalse();
  }

  @Test
  void a_document_is_itself() {
    assertThat(same("{'a':[1,{'b':null}]}", "{'a':[1,{'b':null}]}")).isTrue();
  }
}

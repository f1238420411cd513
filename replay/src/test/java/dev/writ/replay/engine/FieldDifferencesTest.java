package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Every place is named by a pointer that leads there (RFC 6901), and nothing else is. */
class FieldDifferencesTest {
  private static JsonValue json(String text) {
    return Jcs.parse(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  private static List<String> differences(String recorded, String replayed) {
    return FieldDifferences.of("/body", json(recorded), json(replayed)).stream()
        .map(field -> field.pointer() + " " + field.recorded() + " " + field.replayed())
        .toList();
  }

  @Test
  void members_and_items_that_only_one_of_them_has() {
    assertThat(differences("{'a':1,'c':[1,2,3]}", "{'b':2,'c':[1,9]}"))
        .containsExactly(
            "/body/a 1 nothing", "/body/b nothing 2", "/body/c/1 2 9", "/body/c/2 3 nothing");
    assertThat(differences("[]", "[null]")).containsExactly("/body/0 nothing null");
  }

  @Test
  void a_value_of_another_type_is_one_difference() {
    assertThat(differences("{'a':[1]}", "{'a':{'0':1}}")).containsExactly("/body/a [1] {\"0\":1}");
    assertThat(differences("{'a':{'0':1}}", "{'a':[1]}")).containsExactly("/body/a {\"0\":1} [1]");
    assertThat(differences("[1]", "1")).containsExactly("/body [1] 1");
    assertThat(differences("'1'", "1")).containsExactly("/body 1 1");
  }

  @Test
  void names_are_escaped_so_that_no_pointer_leads_elsewhere() {
    assertThat(differences("{'a/b':1,'a~1b':{'~':2}}", "{}"))
        .containsExactly("/body/a~1b 1 nothing", "/body/a~01b {\"~\":2} nothing");
  }

  @Test
  void equal_documents_have_none() {
    assertThat(differences("{'a':[1,{'b':null}]}", "{'a':[1,{'b':null}]}")).isEmpty();
  }
}

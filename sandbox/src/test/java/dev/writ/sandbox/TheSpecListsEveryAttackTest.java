package dev.writ.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.sandbox.testing.Attack;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The table in spec/sandbox.md is that of attacks.txt; {@code -Dwrit.update=true} writes it. */
class TheSpecListsEveryAttackTest {
  private static final String BEGIN = "<!-- attacks -->\n";
  private static final String END = "<!-- end -->\n";

  private static String table(List<Attack> attacks) {
    StringBuilder table =
        new StringBuilder("| attack | in | tries | result |\n|---|---|---|---|\n");
    for (Attack attack : attacks) {
      List<String> ends = attack.ends().stream().map(EndReason::text).toList();
      String result = ends.isEmpty() ? "held" : String.join(" or ", ends);
      String reached = attack.reached().map(r -> ", at the " + r.text()).orElse("");
      table
          .append("| ")
          .append(attack.name())
          .append(" | ")
          .append(attack.language())
          .append(" | ")
          .append(attack.what())
          .append(" | ")
          .append(result)
          .append(reached)
          .append(" |\n");
    }
    return table.toString();
  }

  @Test
  void asTheyAreRun() throws IOException {
    List<Attack> attacks = Attack.all();
    assertThat(attacks).hasSizeGreaterThanOrEqualTo(60);
    assertThat(new TreeSet<>(attacks.stream().map(Attack::name).toList())).hasSameSizeAs(attacks);
    assertThat(attacks).allSatisfy(a -> assertThat(a.what()).isNotEmpty());
    Path page = Path.of(System.getProperty("writ.root"), "spec/sandbox.md");
    String text = Files.readString(page, StandardCharsets.UTF_8);
    int begin = text.indexOf(BEGIN) + BEGIN.length();
    int end = text.indexOf(END);
    if (Boolean.getBoolean("writ.update")) {
      Files.writeString(
          page,
          text.substring(0, begin) + table(attacks) + text.substring(end),
          StandardCharsets.UTF_8);
      return;
    }
    assertThat(text.substring(begin, end)).isEqualTo(table(attacks));
    for (EndReason reason : EndReason.values()) {
      assertThat(text).contains("| `" + reason.text() + "` |");
    }
    for (String profile : Profile.NAMES) {
      assertThat(text).contains("| `" + profile + "` |");
    }
  }
}

package dev.writ.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.ledger.form.Phrases;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** PostgreSQL unpacks rows by its own copy of the phrases: one that differs garbles its views. */
class TheSchemaHasThePhrasesOfTheLedgerTest {
  private static final String QUOTE = "$phrases$";

  @Test
  void in_the_same_order() throws IOException {
    String script;
    try (InputStream in =
        TheSchemaHasThePhrasesOfTheLedgerTest.class.getResourceAsStream(
            "/dev/writ/postgres/schema/V5__packed.sql")) {
      script = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    int from = script.indexOf(QUOTE) + QUOTE.length();
    List<String> inSchema =
        List.of(script.substring(from, script.indexOf(QUOTE, from)).split("\n"));
    List<String> inLedger = new ArrayList<>();
    for (byte[] phrase : Phrases.ALL) {
      inLedger.add(new String(phrase, StandardCharsets.UTF_8));
    }
    assertThat(inSchema).isEqualTo(inLedger).hasSizeGreaterThan(100);
  }
}

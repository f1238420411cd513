package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a tenant takes along has one form: sorted, each account once, all of them the tenant's. */
class CarriedAccountsAreReadStrictlyTest {
  private static final String AMOUNT = "{'amount':7,'budget':'b','key':'[\\'acme\\']'}";
  private static final String USE = "{'key':'[\\'acme\\',\\'alice\\']','rate':'r','times':[1,1,2]}";

  private static CarriedAccounts read(String amounts, String uses) {
    String text = ("{'amounts':[" + amounts + "],'uses':[" + uses + "]}").replace('\'', '"');
    Fields fields = Fields.of("carried", Jcs.parse(text.getBytes(StandardCharsets.UTF_8)));
    CarriedAccounts read = CarriedAccounts.read(fields, "acme");
    fields.end();
    return read;
  }

  @Test
  void whatIsInOrderIsTaken() {
    CarriedAccounts read = read(AMOUNT + "," + AMOUNT.replace("'b'", "'c'"), USE);
    assertThat(read.amounts()).hasSize(2);
    assertThat(read.usesTotal()).isEqualTo(3);
    assertThat(read("", "").usesTotal()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        AMOUNT + "," + AMOUNT,
        "{'amount':7,'budget':'c','key':'[\\'acme\\']'}," + AMOUNT,
        "{'amount':0,'budget':'b','key':'[\\'acme\\']'}",
        "{'amount':-1,'budget':'b','key':'[\\'acme\\']'}",
        "{'amount':7,'budget':'b','key':'[\\'acme2\\']'}",
        "{'amount':7,'budget':'b','key':'[\\'globex\\',\\'acme\\']'}",
        "{'amount':7,'budget':'b','key':'acme'}",
        "{'amount':7,'budget':'b','key':'[\\'acme\\']','more':1}"
      })
  void amountsOfAnotherFormAreRefused(String amounts) {
    assertThatThrownBy(() -> read(amounts, ""))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code().code()).startsWith("CAN-02"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        USE + "," + USE,
        "{'key':'[\\'acme\\']','rate':'s','times':[1]}," + USE,
        "{'key':'[\\'acme\\']','rate':'r','times':[]}",
        "{'key':'[\\'acme\\']','rate':'r','times':[2,1]}",
        "{'key':'[\\'globex\\']','rate':'r','times':[1]}"
      })
  void usesOfAnotherFormAreRefused(String uses) {
    assertThatThrownBy(() -> read("", uses))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code().code()).startsWith("CAN-02"));
  }
}

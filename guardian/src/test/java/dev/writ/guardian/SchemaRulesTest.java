package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.error.GuardianError;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Schemas that are validated in time in proportion to the value, or not accepted. */
class SchemaRulesTest {

  private static ToolSchemas schemas(String schema) {
    return ToolSchemas.of(World.manifest(schema));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"$id\":\"https://example.org/a\"}",
        "{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}",
        "{\"$dynamicRef\":\"#a\"}",
        "{\"$anchor\":\"a\"}",
        "{\"$ref\":\"#\"}",
        "{\"$ref\":\"#/properties/a\",\"properties\":{\"a\":true}}",
        "{\"$ref\":\"#/$defs/missing\"}",
        "{\"$ref\":\"file:///etc/passwd\"}",
        "{\"$defs\":{\"a\":{\"items\":{\"$ref\":\"#/$defs/a\"}}},\"$ref\":\"#/$defs/a\"}",
        "{\"format\":\"uri\"}",
        "{\"properties\":{\"a\":1}}",
        "{\"properties\":[]}",
        "{\"items\":[true]}",
        "{\"pattern\":1}",
        "{\"patternProperties\":{\"(?=a)\":true}}",
        "{\"pattern\":\"(a{1000}){1000}\"}",
        "{\"pattern\":\"((a{1,1000}){1,1000}){1,1000}\"}",
        "{\"not\":\"a\"}"
      })
  void theseAreNotAccepted(String schema) {
    assertThatThrownBy(() -> schemas(schema))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(GuardianError.SCHEMA_REFUSED));
  }

  @Test
  void deepSchemasAreNotAccepted() {
    String deep = "{\"not\":".repeat(100) + "true" + "}".repeat(100);
    assertThatThrownBy(() -> schemas(deep)).hasMessageContaining("GRD-420");
  }

  /** Each is looked for in proportion to the text, which is minutes where both are large. */
  @Test
  void patternsTakeABoundedTimeOverOneValue() {
    String text = "{\"source\":\"" + "xy".repeat(400_000) + "\"}";
    for (String slow :
        List.of(
            "{\"pattern\":\"(x?y?){800}z\"}",
            "{\"not\":{\"pattern\":\"(x?y?){800}z\"}}",
            "{\"anyOf\":[" + "{\"pattern\":\"(x?y?){40}z\"},".repeat(60) + "true]}")) {
      ToolSchemas schemas = schemas("{\"properties\":{\"source\":" + slow + "}}");
      assertThatThrownBy(() -> schemas.requireInput("eval", World.json(text)))
          .as(slow)
          .hasMessageContaining("GRD-403")
          .hasMessageContaining("against pattern: shorter texts");
    }
    ToolSchemas quick = schemas("{\"properties\":{\"source\":{\"pattern\":\"^[a-z]*$\"}}}");
    assertThatCode(() -> quick.requireInput("eval", World.json(text))).doesNotThrowAnyException();
  }

  @Test
  void aPatternThatWouldBacktrackForeverEnds() {
    ToolSchemas evil = schemas("{\"properties\":{\"source\":{\"pattern\":\"^(a+)+$\"}}}");
    String text = "{\"source\":\"" + "a".repeat(50_000) + "!\"}";
    assertThatThrownBy(() -> evil.requireInput("eval", World.json(text)))
        .hasMessageContaining("GRD-403")
        .hasMessageContaining("params/source against pattern");
    assertThatCode(() -> evil.requireInput("eval", World.json("{\"source\":\"aaa\"}")))
        .doesNotThrowAnyException();
  }

  @Test
  void theMessageNamesThePlaceAndNeverTheValue() {
    ToolSchemas schemas =
        schemas(
            "{\"additionalProperties\":false,\"properties\":{\"b\":{\"type\":\"integer\"},"
                + "\"a\":{\"type\":\"integer\"}}}");
    assertThatThrownBy(
            () -> schemas.requireInput("eval", World.json("{\"b\":\"secret\",\"a\":\"secret\"}")))
        .hasMessageContaining("params/a against type")
        .hasMessageNotContaining("secret");
  }

  @Test
  void anUnknownOperationIsRefusedAndAnOutputWithoutSchemaPasses() {
    assertThatThrownBy(() -> schemas("{}").requireInput("nope", World.json("{}")))
        .hasMessageContaining("GRD-402");
    assertThatCode(() -> schemas("{}").requireOutput("lint", World.json("[]")))
        .doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "1.0", "-0", "1e2", "9007199254740991"})
  void whatHasNoFractionIsAnInteger(String number) {
    ToolSchemas schemas = schemas("{\"properties\":{\"n\":{\"type\":\"integer\"}}}");
    assertThatCode(() -> schemas.requireInput("eval", World.json("{\"n\":" + number + "}")))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> schemas.requireInput("eval", World.json("{\"n\":1.5}")))
        .hasMessageContaining("GRD-403");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'type':'integer','minimum':1|1e20|true",
        "'type':'integer','minimum':1|-1e20|false",
        "'type':'integer','maximum':5|1e308|false",
        "'exclusiveMaximum':9007199254740991|9007199254740992|false",
        "'const':1e20|100000000000000000000|true",
        "'enum':[1e20]|1e21|false",
        "'multipleOf':2|1e20|true",
        "'multipleOf':3|1e20|false",
      })
  void numbersBeyondALongAreComparedLikeAnyOther(String schema, String number, boolean fits) {
    ToolSchemas schemas = schemas("{\"properties\":{\"n\":{" + schema.replace('\'', '"') + "}}}");
    String params = "{\"n\":" + number + "}";
    if (fits) {
      assertThatCode(() -> schemas.requireInput("eval", World.json(params)))
          .doesNotThrowAnyException();
    } else {
      assertThatThrownBy(() -> schemas.requireInput("eval", World.json(params)))
          .hasMessageContaining("GRD-403");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'required':'text'} | /required",
        "{'minLength':-1} | /minLength",
        "{'type':'strng'} | /type",
        "{'type':[]} | /type",
        "{'multipleOf':0} | /multipleOf",
        "{'allOf':[]} | /allOf",
        "{'properties':{'a':{'enum':3}}} | /properties/a/enum",
        "{'$defs':{'a':{'maxItems':1.5}}} | /$defs/a/maxItems",
        "{'items':{'required':['a','a']}} | /items/required",
        "{'description':3} | /description",
        "{'dependentRequired':{'a':'b'}} | /dependentRequired/a",
        "{'uniqueItems':'yes'} | /uniqueItems",
      })
  void whatTheMetaschemaRefusesIsNotRegistered(String schema, String place) {
    String json = schema.replace('\'', '"');
    assertThatThrownBy(() -> ToolSchemas.requireWellFormed(World.manifest(json)))
        .hasMessageContaining("GRD-422")
        .hasMessageContaining("/input " + place + ": ");
    // What was registered before is judged as it was.
    assertThatCode(() -> schemas(json)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "#/$defs/a%20b | a b",
        "#/$defs/%C3%A9 | é",
        "#/%24defs/x | x",
        "#/$defs/a~1b | a/b",
        "#/$defs/a~01b | a~1b",
        "#/$defs/100%25 | 100%",
        "#/$defs/x+y | x+y",
      })
  void aReferenceIsAPercentEncodedPointer(String ref, String name) {
    String schema =
        "{\"properties\":{\"n\":{\"$ref\":\""
            + ref
            + "\"}},\"$defs\":{\""
            + name
            + "\":{\"type\":\"integer\"}}}";
    ToolSchemas.requireWellFormed(World.manifest(schema));
    assertThatCode(() -> schemas(schema).requireInput("eval", World.json("{\"n\":1}")))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> schemas(schema).requireInput("eval", World.json("{\"n\":\"1\"}")))
        .hasMessageContaining("GRD-403");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a%20b", "a%2", "a%ff", "a%7E1b", "a%zz"})
  void aReferenceThatCanBeReadInTwoWaysIsNotRegistered(String ref) {
    String schema =
        "{\"$ref\":\"#/$defs/" + ref + "\",\"$defs\":{\"" + ref + "\":true,\"a b\":false}}";
    assertThatThrownBy(() -> ToolSchemas.requireWellFormed(World.manifest(schema)))
        .hasMessageContaining("GRD-420");
  }
}

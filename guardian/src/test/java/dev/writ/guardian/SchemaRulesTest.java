package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
}

package dev.writ.tools.http.openapi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.http.openapi.OpenApiImport.Imported;
import dev.writ.tools.http.openapi.OpenApiImport.Wanted;
import dev.writ.tools.schema.RandomSchemas;
import dev.writ.tools.schema.RandomSchemas.Written;
import dev.writ.tools.schema.ReferenceSchema;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What a described request accepts is accepted: of a body's schema in an OpenAPI document, asked of
 * a library that the kernel is not built on. Where nothing was left out, nothing else is.
 */
class NothingThatAnApiDescribesIsRefusedTest {
  private static final int VALUES = 12;

  private static JsonValue.Obj json(String text) {
    return (JsonValue.Obj) Jcs.parse(text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * A document whose one request has this body, with its definitions where such documents have
   * them.
   */
  private static String document(String version, JsonValue.Obj schema) {
    TreeMap<String, JsonValue> components = new TreeMap<>();
    TreeMap<String, JsonValue> root = new TreeMap<>(schema.members());
    root.remove("$schema");
    if (root.remove("$defs") instanceof JsonValue.Obj definitions) {
      components.putAll(definitions.members());
    }
    components.put("Root", new JsonValue.Obj(root));
    String schemas =
        ReferenceSchema.text(new JsonValue.Obj(components))
            .replace("\"#/$defs/", "\"#/components/schemas/")
            .replace("\"$ref\":\"#\"", "\"$ref\":\"#/components/schemas/Root\"");
    return "{\"openapi\":\""
        + version
        + "\",\"info\":{\"title\":\"api\",\"version\":\"1\"},\"servers\":[{\"url\":\"https://api.example\"}],"
        + "\"paths\":{\"/all\":{\"post\":{\"operationId\":\"send\",\"requestBody\":{\"required\":true,\"content\":"
        + "{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/Root\"}}}},\"responses\":{}}}},"
        + "\"components\":{\"schemas\":"
        + schemas
        + "}}";
  }

  private static Imported imported(String document) {
    return OpenApiImport.of(
        document.getBytes(StandardCharsets.UTF_8),
        "api.json",
        new Wanted(Optional.empty(), List.of(), Optional.empty()));
  }

  private static ToolManifest manifest(Imported imported) {
    TreeMap<String, byte[]> files = new TreeMap<>();
    files.put("tool.manifest", imported.manifest());
    files.put("tool.lock", "format: 1\ndependencies: []\n".getBytes(StandardCharsets.UTF_8));
    return ToolProject.of(files).manifest();
  }

  private static boolean accepts(ToolManifest manifest, JsonValue body) {
    try {
      ToolSchemas.of(manifest).requireInput("send", JsonValue.object().put("body", body).build());
      return true;
    } catch (WritException e) {
      return false;
    }
  }

  @Test
  void what_the_schema_of_a_body_accepts_is_accepted_and_what_is_held_wholly_is_held_exactly() {
    long seed = Long.getLong("writ.seed", 20261123L);
    System.out.println("writ.seed=" + seed);
    int rounds = Integer.getInteger("writ.rounds", 300);
    int fitted = 0;
    int refused = 0;
    for (int round = 0; round < rounds; round++) {
      RandomSchemas schemas = new RandomSchemas(new Random(seed + round), Written.UNSAID);
      JsonValue.Obj schema = schemas.schema();
      Imported imported = imported(document("3.1.0", schema));
      ToolManifest manifest = manifest(imported);
      ReferenceSchema theirs = new ReferenceSchema(schema);
      boolean exact = imported.notes().stream().noneMatch(note -> note.contains("checked"));
      for (int i = 0; i < VALUES; i++) {
        JsonValue value = schemas.fitting();
        Optional<Boolean> fits = theirs.accepts(value);
        String about =
            "-Dwrit.rounds=1 -Dwrit.seed="
                + (seed + round)
                + "\nschema  "
                + ReferenceSchema.text(schema)
                + "\nheld    "
                + ReferenceSchema.text(manifest.operation("send").orElseThrow().input())
                + "\nnotes   "
                + imported.notes()
                + "\nvalue   "
                + ReferenceSchema.text(value);
        if (fits.isPresent() && fits.get()) {
          fitted++;
          assertThat(accepts(manifest, value)).as("never narrower: " + about).isTrue();
        } else if (fits.isPresent() && exact) {
          refused++;
          assertThat(accepts(manifest, value)).as("nothing was left out: " + about).isFalse();
        }
      }
    }
    assertThat(fitted).as("values that fit, or the test says nothing").isGreaterThan(rounds);
    assertThat(refused).as("values that a whole schema refuses").isGreaterThan(rounds / 20);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "what is not, of a definition with losses | 3.1.0 |"
            + " {'$defs':{'A':{'format':'date','type':'string'}},'properties':{'a':{'$ref':'#/$defs/A'},'b':{'not':{'$ref':'#/$defs/A'}}}}"
            + " | {'b':'text'}",
        "one of two with losses | 3.1.0 |"
            + " {'$defs':{'A':{'pattern':'^(?!x)'}},'properties':{'a':{'$ref':'#/$defs/A'},'b':{'oneOf':[{'$ref':'#/$defs/A'},{'type':'string'}]}}}"
            + " | {'b':'xy'}",
        "a name whose pattern cannot be held | 3.1.0 | {'patternProperties':{'^(?!x)':true},"
            + "'additionalProperties':false} | {'a':1}",
        "what is contained at most once | 3.1.0 |"
            + " {'properties':{'a':{'contains':{'pattern':'^(?!x)','type':'string'},'maxContains':1}}}"
            + " | {'a':['a','xa','xb']}",
        "null beside a reference | 3.0.3 |"
            + " {'$defs':{'A':{'type':'object'}},'properties':{'a':{'nullable':true,'allOf':[{'$ref':'#/$defs/A'}]}}}"
            + " | {'a':null}",
        "null of a choice | 3.0.3 |"
            + " {'properties':{'a':{'type':'string','enum':['b'],'nullable':true}}} | {'a':null}",
        "a space of Unicode | 3.0.3 | {'properties':{'a':{'pattern':'^\\\\s$'}}} | {'a':'\\u00a0'}",
        "a bound that is excluded by a flag | 3.0.3 |"
            + " {'properties':{'a':{'minimum':1,'exclusiveMinimum':false}}} | {'a':1}",
      })
  void it_is_accepted_where_a_loss_could_be_forgotten(
      String what, String version, String schema, String value) {
    String document = document(version, json(schema.replace('\'', '"')));
    ToolManifest manifest = manifest(imported(document));
    assertThat(accepts(manifest, json(value.replace('\'', '"')))).isTrue();
  }
}

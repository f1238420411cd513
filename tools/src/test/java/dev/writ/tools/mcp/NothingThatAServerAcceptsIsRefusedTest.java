package dev.writ.tools.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.ToolSchemas;
import dev.writ.tools.schema.RandomSchemas;
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
 * The law of schemas that are derived from a server's: whatever the server's own accepts, ours
 * accepts; and where nothing was left out, ours accepts nothing else. What the server's own accepts
 * is asked of a library that the kernel is not built on.
 */
class NothingThatAServerAcceptsIsRefusedTest {
  private static final int VALUES = 12;

  /** Package and operation as they are made of a server's list. */
  private static UpstreamPackage made(JsonValue.Obj schema) {
    ListedTool tool =
        new ListedTool(
            "one",
            Optional.empty(),
            Optional.empty(),
            schema,
            Optional.of(schema),
            Optional.empty());
    return UpstreamPackage.of(
        "srv",
        "1",
        new ServerSpec(
            List.of("srv"), new TreeMap<>(), new TreeMap<>(), List.of(), List.of(), 1_000),
        PinnedTools.of(List.of(tool.toJson())),
        new TreeMap<>());
  }

  private static boolean accepted(Runnable check) {
    try {
      check.run();
      return true;
    } catch (WritException e) {
      return false;
    }
  }

  private static JsonValue.Obj answer(JsonValue structured) {
    return JsonValue.object()
        .put("content", JsonValue.of(List.<JsonValue>of()))
        .put("structuredContent", structured)
        .build();
  }

  @Test
  void what_a_servers_schema_accepts_is_accepted_and_what_is_held_wholly_is_held_exactly() {
    long seed = Long.getLong("writ.seed", 20261123L);
    System.out.println("writ.seed=" + seed);
    int rounds = Integer.getInteger("writ.rounds", 600);
    int fitted = 0;
    int whole = 0;
    int refused = 0;
    for (int round = 0; round < rounds; round++) {
      Random random = new Random(seed + round);
      RandomSchemas schemas = RandomSchemas.any(random);
      JsonValue.Obj schema = schemas.schema();
      UpstreamPackage made = made(schema);
      ToolSchemas ours = ToolSchemas.of(made.manifest());
      boolean exact = made.dropped().isEmpty();
      whole += exact ? 1 : 0;
      ReferenceSchema theirs = new ReferenceSchema(schema);
      for (int i = 0; i < VALUES; i++) {
        JsonValue value = schemas.fitting();
        Optional<Boolean> said = theirs.accepts(value);
        if (!(value instanceof JsonValue.Obj) || said.isEmpty()) {
          continue; // arguments and structured content are objects
        }
        boolean fits = said.get();
        boolean input = accepted(() -> ours.requireInput("one", value));
        boolean output = accepted(() -> ours.requireOutput("one", answer(value)));
        fitted += fits ? 1 : 0;
        refused += exact && !fits ? 1 : 0;
        String about =
            "-Dwrit.rounds=1 -Dwrit.seed="
                + (seed + round)
                + "\nschema  "
                + ReferenceSchema.text(schema)
                + "\nderived "
                + ReferenceSchema.text(made.manifest().operation("one").orElseThrow().input())
                + "\nvalue   "
                + ReferenceSchema.text(value);
        assertThat(input).as("input and output agree " + about).isEqualTo(output);
        if (fits) {
          assertThat(input).as("never narrower: " + about).isTrue();
        } else if (exact) {
          assertThat(input).as("nothing was left out: " + about).isFalse();
        }
      }
    }
    assertThat(fitted).as("values that fit, or the test says nothing").isGreaterThan(rounds);
    assertThat(whole).as("schemas that are held wholly").isGreaterThan(rounds / 20);
    assertThat(refused).as("values that such a schema refuses").isGreaterThan(rounds / 20);
  }

  private static JsonValue.Obj json(String text) {
    return (JsonValue.Obj) Jcs.parse(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "what stands in another place |"
            + " {'$defs':{'D':{'type':'integer'}},'properties':{'a':{'$id':'urn:x','$defs':{'D':{'type':'string'}},'$ref':'#/$defs/D'}}}"
            + " | {'a':'text'}",
        "a name with an end of line | {'patternProperties':{'^a.b$':{'type':'integer'}}} |"
            + " {'a\\rb':'text'}",
        "a keyword of a later version | {'$schema':'http://json-schema.org/draft-07/schema#',"
            + "'dependentRequired':{'a':['b']}} | {'a':1}",
        "a tuple of an earlier one |"
            + " {'properties':{'a':{'prefixItems':{},'items':{'type':'string'}}}} | {'a':[1]}",
        "null where it is allowed |"
            + " {'properties':{'a':{'type':'string','enum':['b'],'nullable':true}}} | {'a':null}",
        "a space of Unicode | {'properties':{'a':{'pattern':'^\\\\s$'}}} | {'a':'\u00a0'}",
      })
  void it_is_accepted_where_a_keyword_could_be_misread(String what, String schema, String value) {
    ToolSchemas ours = ToolSchemas.of(made(json(schema)).manifest());
    assertThat(accepted(() -> ours.requireInput("one", json(value)))).isTrue();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "a reference to a property |"
            + " {'properties':{'a':{'type':'string'},'b':{'$ref':'#/properties/a'}}} | {'b':1}",
        "what stands beside a pattern that cannot be held |"
            + " {'properties':{'a':{'pattern':'^(?!x)','maxLength':2}}} | {'a':'abc'}",
        "all of, beside one of | {'properties':{'a':{'allOf':[{'type':'string'}],'anyOf':[true],"
            + "'oneOf':[{'format':'date'}]}}} | {'a':1}",
        "booleans of draft 4 |"
            + " {'$schema':'http://json-schema.org/draft-04/schema#','additionalProperties':false}"
            + " | {'a':1}",
        "what may be null but is no number | {'properties':{'a':{'type':'string','nullable':true}}}"
            + " | {'a':1}",
        "spaces | {'properties':{'a':{'pattern':'^[^\\\\s@]+@\\\\S+$'}}} | {'a':'a @b'}",
        "in a tree |"
            + " {'$ref':'#/$defs/T','$defs':{'T':{'required':['v'],'properties':{'v':{'type':'integer'},'l':{'$ref':'#/$defs/T'}}}}}"
            + " | {'v':'no'}",
      })
  void what_can_be_checked_still_is(String what, String schema, String value) {
    ToolSchemas ours = ToolSchemas.of(made(json(schema)).manifest());
    assertThat(accepted(() -> ours.requireInput("one", json(value)))).isFalse();
  }

  /** Each of these took hours, or all memory, by a way of the first draft of this class. */
  @Test
  void a_schema_that_was_made_to_keep_us_busy_is_read_at_once() {
    String name = "n".repeat(1 << 20);
    StringBuilder wide = new StringBuilder("{'properties':{'" + name + "':{'properties':{");
    StringBuilder references = new StringBuilder("{'properties':{");
    StringBuilder definitions = new StringBuilder("},'$defs':{");
    for (int i = 0; i < 30_000; i++) {
      wide.append(i == 0 ? "" : ",").append("'p").append(i).append("':{'x':1}");
      references.append(i == 0 ? "" : ",").append("'p").append(i);
      references.append("':{'$ref':'#/$defs/").append(i).append("/properties/same'}");
      definitions.append(i == 0 ? "'" : ",'").append(i).append("':{'properties':{'same':true}}");
    }
    for (String schema :
        List.of(
            wide + "}}}}",
            references.toString() + definitions + "}}",
            "{'properties':{'a':{'pattern':'" + "?".repeat(900) + "!'}}}",
            "{'properties':{'a':{'pattern':'" + "(a|a?)+".repeat(100) + "é{9999}'}}}",
            "{'not':".repeat(80) + "{}" + "}".repeat(80))) {
      ToolSchemas ours = ToolSchemas.of(made(json(schema)).manifest());
      assertThat(accepted(() -> ours.requireInput("one", json("{'a':'b','p1':1}")))).isTrue();
    }
  }
}

package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.guardian.document.ParameterFault;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a plain schema accepts needs no library, which would have accepted it. */
class PlainSchemasAcceptWhatTheLibraryAcceptsTest {
  private static final Path MANIFESTS =
      Path.of(System.getProperty("writ.root", ".."))
          .resolve("tools/src/main/resources/dev/writ/tools/registry/builtin");
  private static final List<String> NAMES = List.of("a", "b", "type", "é", "x".repeat(20), "");

  private static JsonValue value(Random random, int depth) {
    return switch (random.nextInt(depth > 2 ? 7 : 10)) {
      case 0 -> JsonValue.of(List.of("", "a", "b", "😀é", "xxxx").get(random.nextInt(5)));
      case 1 -> JsonValue.of(random.nextInt(6) - 2L);
      case 2 ->
          new JsonValue.Num(
              List.of(0.5, 1e20, -1e300, 2.5, 9.007199254740993E15).get(random.nextInt(5)));
      case 3 -> JsonValue.TRUE;
      case 4 -> JsonValue.FALSE;
      case 5, 6 -> JsonValue.NULL;
      case 7 -> list(random, depth);
      default -> object(random, depth);
    };
  }

  private static JsonValue list(Random random, int depth) {
    List<JsonValue> items = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      items.add(value(random, depth + 1));
    }
    return new JsonValue.Arr(items);
  }

  private static JsonValue object(Random random, int depth) {
    ObjectBuilder object = JsonValue.object();
    for (String name : NAMES) {
      if (random.nextInt(3) == 0) {
        object.put(name, value(random, depth + 1));
      }
    }
    return object.build();
  }

  private static JsonValue schema(Random random, int depth) {
    if (depth > 3 || random.nextInt(8) == 0) {
      return random.nextInt(6) == 0 ? JsonValue.FALSE : JsonValue.TRUE;
    }
    ObjectBuilder schema = JsonValue.object();
    for (String key :
        List.of(
            "type",
            "enum",
            "required",
            "properties",
            "additionalProperties",
            "anyOf",
            "items",
            "maxItems",
            "maxLength",
            "maxProperties",
            "minItems",
            "minLength",
            "minProperties",
            "maximum",
            "minimum",
            "title",
            "pattern",
            "default",
            "uniqueItems",
            "const")) {
      if (random.nextInt(7) == 0) {
        schema.put(key, word(random, key, depth));
      }
    }
    return schema.build();
  }

  /** Of the type that the keyword takes, but for a slip now and then. */
  private static JsonValue word(Random random, String key, int depth) {
    if (random.nextInt(25) == 0) {
      return value(random, 1);
    }
    return switch (key) {
      case "type" -> type(random);
      case "enum", "required" -> Jcs.parse("[\"a\",\"b\",\"é\"]".getBytes(StandardCharsets.UTF_8));
      case "properties" -> {
        ObjectBuilder members = JsonValue.object();
        NAMES.forEach(name -> {
          if (random.nextInt(3) == 0) {
            members.put(name, schema(random, depth + 1));
          }
        });
        yield members.build();
      }
      case "additionalProperties", "items" -> schema(random, depth + 1);
      case "anyOf" ->
          new JsonValue.Arr(List.of(schema(random, depth + 1), schema(random, depth + 1)));
      case "title", "pattern" -> JsonValue.of("a");
      case "uniqueItems" -> JsonValue.TRUE;
      case "default", "const" -> value(random, 1);
      default -> JsonValue.of((long) random.nextInt(4));
    };
  }

  private static JsonValue type(Random random) {
    List<String> types =
        List.of("array", "boolean", "integer", "null", "number", "object", "string");
    JsonValue one = JsonValue.of(types.get(random.nextInt(types.size())));
    return random.nextInt(3) == 0
        ? new JsonValue.Arr(
            List.of(one, JsonValue.of("other")).subList(0, random.nextInt(8) == 0 ? 2 : 1))
        : one;
  }

  @Test
  void forAnySchemaAndValue() {
    Random random = new Random(17);
    int plain = 0;
    int accepted = 0;
    int left = 0;
    while (plain < 3_000) {
      if (!(schema(random, 0) instanceof JsonValue.Obj schema)) {
        continue;
      }
      Optional<PlainSchema> found = PlainSchema.of(schema);
      if (found.isEmpty()) {
        left++;
        continue;
      }
      plain++;
      CompiledSchema judge = CompiledSchema.compile("schema", schema);
      CompiledSchema.requireWellFormed("schema", schema);
      for (int i = 0; i < 8; i++) {
        JsonValue value = value(random, 0);
        if (found.get().accepts(value)) {
          accepted++;
          assertThat(judge.errors(value).orElseThrow()).as(schema + " of " + value).isEmpty();
        }
      }
    }
    assertThat(accepted).isGreaterThan(5_000);
    assertThat(left).isGreaterThan(300);
  }

  @Test
  void wrongNamesAreToldAsTheLibraryTellsThem() {
    Random random = new Random(18);
    int told = 0;
    while (told < 3_000) {
      if (!(schema(random, 0) instanceof JsonValue.Obj schema)) {
        continue;
      }
      Optional<PlainSchema> found = PlainSchema.of(schema);
      for (int i = 0; found.isPresent() && i < 4; i++) {
        JsonValue value = object(random, 0);
        int most = 1 + random.nextInt(6);
        Optional<WrongNames> names = found.get().wrongNames(value);
        if (names.isPresent()) {
          CompiledSchema judge = CompiledSchema.compile("schema", schema);
          List<ParameterFault> faults = names.get().faults(schema, most);
          told += faults.isEmpty() ? 0 : 1;
          assertThat(faults)
              .as(schema + " of " + value)
              .isEqualTo(SchemaFaults.of(judge, schema, value, most));
        }
      }
    }
  }

  @Test
  void whatIsWrongBesideNamesIsLeftToTheLibrary() {
    for (List<String> each :
        List.of(
            List.of("{\"required\":[\"a\"]}", "1"),
            List.of("{\"type\":\"array\"}", "{}"),
            List.of("{\"enum\":[\"a\"]}", "{}"),
            List.of("{\"anyOf\":[{\"required\":[\"a\"]}]}", "{}"),
            List.of("{\"minProperties\":1}", "{}"),
            List.of("{\"maxProperties\":1}", "{\"a\":1,\"b\":2}"),
            List.of("{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":1}"),
            List.of("{\"properties\":{\"a\":false}}", "{\"a\":1}"),
            List.of("{\"additionalProperties\":{\"type\":\"string\"}}", "{\"a\":1}"))) {
      PlainSchema plain = PlainSchema.of((JsonValue.Obj) parsed(each.getFirst())).orElseThrow();
      assertThat(plain.wrongNames(parsed(each.getLast()))).as(each.toString()).isEmpty();
    }
    PlainSchema names =
        PlainSchema.of(
                (JsonValue.Obj)
                    parsed(
                        "{\"type\":\"object\",\"additionalProperties\":false,"
                            + "\"properties\":{\"a\":true},\"required\":[\"a\"]}"))
            .orElseThrow();
    assertThat(names.wrongNames(parsed("{\"b\":1}")))
        .contains(new WrongNames(List.of("a"), List.of("b")));
    assertThat(names.wrongNames(parsed("{\"a\":1}")))
        .contains(new WrongNames(List.of(), List.of()));
  }

  private static JsonValue parsed(String text) {
    return Jcs.parse(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void whatToolsOfOursTakeIsMostlyPlain() throws IOException {
    int plain = 0;
    int all = 0;
    try (Stream<Path> files = Files.walk(MANIFESTS)) {
      for (Path file : files.filter(f -> f.endsWith("manifest.json")).toList()) {
        JsonValue.Obj manifest = (JsonValue.Obj) Jcs.parse(Files.readAllBytes(file));
        for (JsonValue operation : ((JsonValue.Arr) manifest.get("operations")).items()) {
          JsonValue.Obj input = (JsonValue.Obj) ((JsonValue.Obj) operation).get("input");
          plain += PlainSchema.of(input).isPresent() ? 1 : 0;
          all++;
        }
      }
    }
    assertThat(plain).isGreaterThan(all / 3);
  }

  @Test
  void whatOtherKeywordsSayIsLeftToTheLibrary() {
    for (String schema :
        List.of(
            "{\"pattern\":\"a\"}",
            "{\"anyOf\":[]}",
            "{\"anyOf\":[true,{\"pattern\":\"a\"}]}",
            "{\"oneOf\":[true]}",
            "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":true}}",
            "{\"maxLength\":-1}",
            "{\"maxLength\":1.5}",
            "{\"type\":\"text\"}",
            "{\"enum\":[]}",
            "{\"enum\":[1]}",
            "{\"required\":[\"a\",\"a\"]}",
            "{\"properties\":{\"$id\":true}}",
            "{\"unknown\":true}")) {
      assertThat(PlainSchema.of((JsonValue.Obj) Jcs.parse(schema.getBytes(StandardCharsets.UTF_8))))
          .as(schema)
          .isEmpty();
    }
  }
}

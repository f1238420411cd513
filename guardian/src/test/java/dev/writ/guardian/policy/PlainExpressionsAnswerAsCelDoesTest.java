package dev.writ.guardian.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cel.common.values.NullValue;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.policy.cel.CelExpression;
import dev.writ.guardian.policy.cel.CelProgram;
import dev.writ.guardian.policy.cel.CelVariables;
import dev.writ.guardian.policy.cel.PlainExpression;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Plain expressions are answered without cel-java, which stays the judge: what it refuses is not
 * plain, and where there is a plain value it is the one that cel-java gives.
 */
class PlainExpressionsAnswerAsCelDoesTest {
  private static final Path ROOT = Path.of(System.getProperty("writ.root", ".."));
  private static final Pattern WRITTEN = Pattern.compile("\"?cel\"?: *(\"[^\"\n]*\"|'[^'\n]*')");
  private static final List<String> NAMES =
      List.of("a", "b", "source", "list", "missing", "name", "deep");
  private static final List<String> VARIABLES =
      List.of(
          "effect",
          "params",
          "inputs",
          "request",
          "tenant",
          "run",
          "subject",
          "roles",
          "time",
          "artifacts",
          "evidence",
          "consumes",
          "i",
          "nobody");

  private int plain;
  private int answered;
  private int errors;

  private static Object value(Random random, int depth) {
    return switch (random.nextInt(depth > 2 ? 8 : 10)) {
      case 0 -> "";
      case 1 -> "text";
      case 2 -> "é😀" + "x".repeat(random.nextInt(40));
      case 3 -> (long) random.nextInt(30);
      case 4 -> random.nextBoolean() ? -1L : 1L << 60;
      case 5 -> random.nextInt(30) + 0.5;
      case 6 -> random.nextBoolean();
      case 7 -> NullValue.NULL_VALUE;
      case 8 -> list(random, depth + 1);
      default -> map(random, depth + 1);
    };
  }

  private static List<Object> list(Random random, int depth) {
    List<Object> list = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      list.add(random.nextInt(3) == 0 ? value(random, depth) : map(random, depth));
    }
    return list;
  }

  private static Map<String, Object> map(Random random, int depth) {
    Map<String, Object> map = new TreeMap<>();
    for (String name : NAMES) {
      if (!name.equals("missing") && random.nextInt(4) > 0) {
        map.put(name, value(random, depth + 1));
      }
    }
    return map;
  }

  private static CelVariables variables(Random random) {
    Map<String, Object> all = new TreeMap<>();
    List.of("effect", "params", "request").forEach(name -> all.put(name, map(random, 0)));
    for (String name : List.of("inputs", "artifacts")) {
      all.put(name, Stream.generate(() -> map(random, 1)).limit(random.nextInt(4)).toList());
    }
    List.of("tenant", "run", "subject").forEach(name -> all.put(name, "text"));
    List.of("roles", "evidence", "consumes")
        .forEach(name -> all.put(name, List.of("text", "other").subList(0, random.nextInt(3))));
    all.put("time", Instant.EPOCH);
    return name -> Optional.ofNullable(all.get(name));
  }

  /** Mostly sound, since a type that does not fit is an error of the whole. */
  private static String expression(Random random, int depth) {
    if (depth > 3) {
      return comparison(random, depth);
    }
    return switch (random.nextInt(13)) {
      case 0 -> expression(random, depth + 1) + " && " + expression(random, depth + 1);
      case 1 -> expression(random, depth + 1) + " || " + expression(random, depth + 1);
      case 2 -> "(" + expression(random, depth + 1) + ")";
      case 3 -> "!" + expression(random, depth + 1);
      case 4 -> "has(" + place(random) + "." + name(random) + ")";
      case 5 -> place(random) + ".exists(i, " + expression(random, depth + 1) + ")";
      case 6 -> operand(random) + " in " + (random.nextBoolean() ? place(random) : texts(random));
      case 7 -> place(random) + ".all(i, " + expression(random, depth + 1) + ")";
      case 8 ->
          "type(" + operand(random) + ") " + (random.nextBoolean() ? "==" : "!=") + type(random);
      case 9 -> operand(random) + method(random) + "(" + operand(random) + ")";
      case 10 -> operand(random) + ".matches(" + pattern(random) + ")";
      default -> comparison(random, depth);
    };
  }

  private static String texts(Random random) {
    return List.of(
            "['text']", "['a', \"text\",'b']", "[]", "['a',]", "['x', 1]", "['é']", "[tenant]")
        .get(random.nextInt(7));
  }

  private static String type(Random random) {
    return List.of(" string", "int", " bool", " double", " list", " map", " null_type", " 'int'")
        .get(random.nextInt(8));
  }

  private static String method(Random random) {
    return List.of(".startsWith", ".endsWith", ".contains", " . contains ", ".size")
        .get(random.nextInt(5));
  }

  private static String pattern(Random random) {
    return List.of(
            "'t'", "'^te?x+t$'", "'('", "'(x{900}){900}'", "tenant", "\"[a-z]{2,4}\"", "'.*x'")
        .get(random.nextInt(7));
  }

  private static String comparison(Random random, int depth) {
    String operator = List.of("==", "!=", "<", "<=", ">", ">=").get(random.nextInt(6));
    return operand(random) + (random.nextInt(9) == 0 ? "" : " ") + operator + " " + operand(random);
  }

  private static String operand(Random random) {
    return switch (random.nextInt(8)) {
      case 0 -> "size(" + place(random) + ")";
      case 1 ->
          List.of("'text'", "\"text\"", "''", "'é'", "r'x'", "'a\\n'", "'''t'''")
              .get(random.nextInt(7));
      case 2 ->
          List.of(
                  "0",
                  "1",
                  "20",
                  "007",
                  "1u",
                  "1.5",
                  "0x1",
                  "-1",
                  "9223372036854775807",
                  "99999999999999999999")
              .get(random.nextInt(10));
      case 3 ->
          List.of("true", "false", "null", "int", "[1]", "i", "i.name").get(random.nextInt(7));
      case 4 -> VARIABLES.get(random.nextInt(VARIABLES.size()));
      default -> place(random);
    };
  }

  private static String place(Random random) {
    String first = VARIABLES.get(random.nextInt(random.nextInt(3) == 0 ? VARIABLES.size() : 3));
    StringBuilder place = new StringBuilder(first);
    for (int i = random.nextInt(3); i > 0; i--) {
      place.append('.').append(name(random));
    }
    return place.toString();
  }

  private static String name(Random random) {
    return random.nextInt(40) == 0 ? "size" : NAMES.get(random.nextInt(NAMES.size()));
  }

  /** As it was written, or with a slip of the pen. */
  private static String slipped(Random random, String source) {
    if (random.nextInt(5) > 0 || source.isEmpty()) {
      return source;
    }
    int at = random.nextInt(source.length());
    String signs = " .()!'\"&|=<>?:,[]{}_iu0x/\t\\";
    char sign = signs.charAt(random.nextInt(signs.length()));
    return switch (random.nextInt(3)) {
      case 0 -> source.substring(0, at) + source.substring(at + 1);
      case 1 -> source.substring(0, at) + sign + source.substring(at);
      default -> source.substring(0, at) + sign + source.substring(at + 1);
    };
  }

  private void requireSame(String source, List<CelVariables> all) {
    Optional<PlainExpression> found = PlainExpression.parse(source);
    if (found.isEmpty()) {
      return;
    }
    plain++;
    CelProgram judge;
    try {
      judge = CelProgram.compile(source);
    } catch (WritException e) {
      throw new AssertionError("cel-java refuses " + source, e);
    }
    assertThat(found.get().params()).as(source).isEqualTo(judge.params());
    for (CelVariables variables : all) {
      Optional<CelExpression.Result> result = found.get().evaluate(variables);
      if (result.isPresent()) {
        answered++;
        errors += result.get().error().isEmpty() ? 0 : 1;
        assertThat(result.get()).as(source).isEqualTo(judge.evaluate(variables));
      }
    }
  }

  @Test
  void forAnyExpressionOverAnyRequest() {
    Random random = new Random(17);
    List<CelVariables> all = Stream.generate(() -> variables(random)).limit(12).toList();
    for (int i = 0; i < 20_000; i++) {
      requireSame(slipped(random, expression(random, 0)), all);
    }
    assertThat(plain).as("expressions that were plain").isGreaterThan(1_000);
    assertThat(answered - errors).as("values that were compared").isGreaterThan(3_000);
    assertThat(errors).as("missing members that were compared").isGreaterThan(1_000);
  }

  @Test
  void forEachExpressionOfThePoliciesThatWeShip() throws IOException {
    Random random = new Random(18);
    List<CelVariables> all = Stream.generate(() -> variables(random)).limit(12).toList();
    TreeSet<String> sources = new TreeSet<>();
    for (String folder : List.of("examples", "golden-vectors", "spec", "embed/src/main")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(folder))) {
        for (Path file :
            files.filter(f -> f.toString().matches(".*\\.(json|jsonl|md|yaml)")).toList()) {
          Matcher written = WRITTEN.matcher(Files.readString(file));
          while (written.find()) {
            sources.add(written.group(1).substring(1, written.group(1).length() - 1));
          }
        }
      }
    }
    sources.forEach(source -> requireSame(source, all));
    assertThat(sources).hasSizeGreaterThan(8);
    assertThat(plain).isGreaterThan(sources.size() / 3);
  }

  @Test
  void whatStarterAndProposedPoliciesAskIsPlain() {
    for (String source :
        List.of(
            "true",
            "size(params.source) <= 20000",
            "effect.resources.output_bytes <= 1048576",
            "inputs.exists(i, i.name == 'text')",
            "!has(params.secrets)",
            "!has(params.script) || size(params.script) <= 50",
            // What `writ policy propose` writes (spec/propose.md).
            "params.all(k1, k1 in [\"max\", \"path\"])",
            "has(params.path) && type(params.path) == string && params.path.startsWith(\"a/\")"
                + " && !params.path.contains(\"..\")",
            "!(has(params.max)) || type(params.max) == int && params.max >= 0")) {
      assertThat(PlainExpression.parse(source)).as(source).isPresent();
    }
  }

  @Test
  void aCostNearTheLimitAndAnOddTypeAreLeftToCel() {
    PlainExpression expression = PlainExpression.parse("params.a == 1").orElseThrow();
    assertThat(expression.evaluate(params(Map.of("a", 1L)))).contains(TRUE);
    assertThat(expression.evaluate(params(Map.of("a", 1.0)))).isEmpty();
    assertThat(expression.evaluate(params(Map.of("b", 1L)))).contains(MISSING);
    assertThat(expression.evaluate(name -> Optional.empty())).isEmpty();
    assertThat(expression.evaluate(params(Map.of("a", 1L, "b", "x".repeat(16 * 125_000)))))
        .isEmpty();
    PlainExpression exists = PlainExpression.parse("params.a.exists(i, i == 2)").orElseThrow();
    List<Long> many = new ArrayList<>(java.util.Collections.nCopies(1_001, 1L));
    assertThat(exists.evaluate(params(Map.of("a", many)))).isEmpty();
    assertThat(exists.evaluate(params(Map.of("a", List.of(1L, "2", 2L))))).isEmpty();
    assertThat(exists.evaluate(params(Map.of("a", List.of(2L, "2"))))).contains(TRUE);
  }

  @Test
  void aMissingMemberIsAnErrorButNotOfOneItemAmongOthers() {
    for (String source :
        List.of(
            "size(params.b) <= 20000",
            "params.b.startsWith('/srv/')",
            "has(params.b.c)",
            "params.b == 1 || true",
            "type(params.b) == string")) {
      PlainExpression expression = PlainExpression.parse(source).orElseThrow();
      assertThat(expression.evaluate(params(Map.of("a", 1L)))).as(source).contains(MISSING);
    }
    PlainExpression either = PlainExpression.parse("true || params.b == 1").orElseThrow();
    assertThat(either.evaluate(params(Map.of("a", 1L)))).contains(TRUE);
    PlainExpression exists = PlainExpression.parse("params.a.exists(i, i.n == 1)").orElseThrow();
    assertThat(exists.evaluate(params(Map.of("a", List.of(Map.of(), Map.of("n", 1L)))))).isEmpty();
  }

  @Test
  void whatCelRefusesIsNotPlain() {
    for (String source :
        List.of(
            "",
            "params.a",
            "tenant == 1",
            "has(params)",
            "params.a && true",
            "1 < 2 < 3",
            "params.exists(tenant, true)",
            "(".repeat(70) + "true" + ")".repeat(70),
            "params" + ".a".repeat(200) + " == 1",
            "true // so",
            "nobody == 1")) {
      assertThat(PlainExpression.parse(source)).as(source).isEmpty();
    }
  }

  @Test
  void whatIsLongDeepOrUnusualIsLeftToCel() {
    for (String source :
        List.of(
            "true" + " && true".repeat(60),
            "!".repeat(10) + "true",
            "inputs.exists(size, true)",
            "inputs.exists(i true)",
            "tenant == r\"acme\"",
            "tenant in")) {
      assertThat(PlainExpression.parse(source)).as(source).isEmpty();
    }
    assertThat(PlainExpression.parse("params.a\n == 1")).isPresent();
  }

  private static final CelExpression.Result TRUE = new CelExpression.Result(Optional.of(true), "");
  private static final CelExpression.Result MISSING =
      new CelExpression.Result(Optional.empty(), "attribute not found");

  private static CelVariables params(Map<String, Object> params) {
    return name -> name.equals("params") ? Optional.of(params) : Optional.empty();
  }
}

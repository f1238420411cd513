package dev.writ.conform.adapter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.Ours;
import dev.writ.conform.mutant.Golden;
import dev.writ.conform.run.Vectors;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Whatever comes in, each line gets one line, and the next one is understood. */
class TheAdapterSurvivesAnyLineTest {
  private static final String GOOD =
      "{\"id\":\"1\",\"op\":\"digest\",\"input\":{\"bytes_b64\":\"\"}}";
  private static final String GOOD_ANSWER =
      "{\"id\":\"1\",\"ok\":true,\"output\":{\"digest\":"
          + "\"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}}";

  private static List<String> serve(InputStream in) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new Adapter(Ours.OPERATIONS).serve(in, out);
    return out.toString(StandardCharsets.UTF_8).lines().toList();
  }

  private static List<String> serve(byte[]... lines) throws IOException {
    ByteArrayOutputStream in = new ByteArrayOutputStream();
    for (byte[] line : lines) {
      in.writeBytes(line);
      in.write('\n');
    }
    return serve(new ByteArrayInputStream(in.toByteArray()));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static void refusedThenServed(byte[] line, String code, String id) throws IOException {
    List<String> answers = serve(line, utf8(GOOD));
    assertThat(answers).hasSize(2);
    assertThat(answers.get(0)).startsWith("{\"code\":\"" + code + "\",\"id\":" + id + ",");
    assertThat(answers.get(0)).contains("\"ok\":false");
    assertThat(answers.get(1)).isEqualTo(GOOD_ANSWER);
  }

  @Test
  void garbageIsRefusedByItsCode() throws IOException {
    refusedThenServed(utf8(""), "CAN-011", "null");
    refusedThenServed(utf8("   "), "CAN-011", "null");
    refusedThenServed(utf8("hello"), "CAN-003", "null");
    refusedThenServed(new byte[] {0, 0, 0}, "CAN-003", "null");
    refusedThenServed(new byte[] {'"', (byte) 0xff, '"'}, "CAN-001", "null");
    refusedThenServed(utf8("\uFEFF{}"), "CAN-010", "null");
    refusedThenServed(utf8("[1,2]"), "CAN-022", "null");
    refusedThenServed(utf8("{}"), "CAN-020", "null");
    refusedThenServed(utf8("{\"id\":\"1\"}"), "CAN-020", "\"1\"");
    refusedThenServed(utf8("{\"id\":1,\"op\":\"digest\",\"input\":{}}"), "CAN-022", "null");
    refusedThenServed(utf8("{\"id\":\"9\",\"op\":\"digest\",\"input\":[]}"), "CAN-022", "\"9\"");
    refusedThenServed(utf8("{\"id\":\"9\",\"op\":\"digest\",\"input\":{}}"), "CAN-020", "\"9\"");
    refusedThenServed(
        utf8("{\"id\":\"9\",\"op\":\"digest\",\"input\":{\"bytes_b64\":\"\",\"x\":1}}"),
        "CAN-021",
        "\"9\"");
    refusedThenServed(utf8(GOOD.replace("}}", "},\"x\":1}")), "CAN-021", "\"1\"");
    refusedThenServed(utf8(GOOD + GOOD), "CAN-006", "null");
    refusedThenServed(utf8(GOOD.substring(0, 30)), "CAN-011", "null");
    refusedThenServed(utf8("[".repeat(100_000)), "CAN-008", "null");
    refusedThenServed(utf8("{\"a\":".repeat(1_000_000)), "CAN-008", "null");
    refusedThenServed(utf8("{\"id\":\"\\ud800\"}"), "CAN-002", "null");
  }

  @Test
  void anUnknownOperationIsUnsupported() throws IOException {
    refusedThenServed(
        utf8("{\"id\":\"é\",\"op\":\"no.such\",\"input\":{}}"), "unsupported", "\"é\"");
    refusedThenServed(utf8("{\"id\":\"\",\"op\":\"\",\"input\":{}}"), "unsupported", "\"\"");
  }

  @Test
  void aLineThatIsTooLongIsReadToItsEndAndRefused() throws IOException {
    int over = Adapter.LIMITS.bytesMax() + 1;
    InputStream huge =
        new InputStream() {
          private int left = over;
          private final InputStream rest = new ByteArrayInputStream(utf8("\n" + GOOD + "\n"));

          @Override
          public int read() throws IOException {
            return left-- > 0 ? 'x' : rest.read();
          }

          @Override
          public int read(byte[] into, int from, int length) throws IOException {
            if (left <= 0) {
              return rest.read(into, from, length);
            }
            int count = Math.min(length, left);
            Arrays.fill(into, from, from + count, (byte) 'x');
            left -= count;
            return count;
          }
        };
    List<String> answers = serve(huge);
    assertThat(answers).hasSize(2);
    assertThat(answers.get(0)).startsWith("{\"code\":\"CNF-022\",\"id\":null,");
    assertThat(answers.get(1)).isEqualTo(GOOD_ANSWER);
  }

  @Test
  void aLastLineWithoutItsEndCountsAndHalvesOfALineAreOne() throws IOException {
    assertThat(serve(new ByteArrayInputStream(utf8(GOOD)))).containsExactly(GOOD_ANSWER);
    InputStream slowly =
        new FilterInputStream(new ByteArrayInputStream(utf8(GOOD + "\n" + GOOD + "\n"))) {
          @Override
          public int read(byte[] into, int from, int length) throws IOException {
            return super.read(into, from, 1);
          }
        };
    assertThat(serve(slowly)).containsExactly(GOOD_ANSWER, GOOD_ANSWER);
    assertThat(serve(new ByteArrayInputStream(new byte[0]))).isEmpty();
  }

  @Test
  void aDefectIsAnAnswerAndNotTheEnd() throws IOException {
    TreeMap<String, Operation> broken = new TreeMap<>(Ours.OPERATIONS);
    broken.put(
        "digest",
        _ -> {
          throw new IllegalStateException("secret words");
        });
    broken.put("digest.parse", TheAdapterSurvivesAnyLineTest::overflow);
    Adapter adapter = new Adapter(broken);
    String answer = new String(adapter.answer(utf8(GOOD)), StandardCharsets.UTF_8);
    assertThat(answer)
        .isEqualTo(
            "{\"code\":\"internal\",\"id\":\"1\",\"message\":\"IllegalStateException\","
                + "\"ok\":false}");
    assertThat(
            new String(
                adapter.answer(utf8(GOOD.replace("\"digest\"", "\"digest.parse\""))),
                StandardCharsets.UTF_8))
        .contains("internal", "StackOverflowError");
  }

  private static JsonValue.Obj overflow(Fields input) {
    return overflow(input); // until there is no stack
  }

  /** Every operation, with every input damaged: an answer with a code, and never a defect. */
  @Test
  void damagedQuestionsNeverMeetADefect() throws IOException {
    long seed = Long.getLong("writ.seed", 1);
    System.out.println("writ.seed=" + seed);
    Random random = new Random(seed);
    Adapter adapter = new Adapter(Ours.OPERATIONS);
    List<byte[]> questions = new ArrayList<>();
    for (var vector : Vectors.load(Golden.ROOT).all()) {
      if (!vector.op().equals("executor.run")) {
        questions.add(
            Jcs.write(
                JsonValue.object()
                    .put("id", "1")
                    .put("op", vector.op())
                    .put("input", vector.input())
                    .build()));
      }
    }
    int rounds = Integer.getInteger("writ.rounds", 3_000);
    for (int i = 0; i < rounds; i++) {
      byte[] line = questions.get(random.nextInt(questions.size())).clone();
      int changes = 1 + random.nextInt(3);
      for (int c = 0; c < changes; c++) {
        line[random.nextInt(line.length)] = damage(random);
      }
      String answer = new String(adapter.answer(line), StandardCharsets.UTF_8);
      assertThat(answer)
          .as(new String(line, StandardCharsets.UTF_8))
          .doesNotContain("\"code\":\"internal\"");
    }
  }

  private static byte damage(Random random) {
    String likely = "\"\\{}[]:,0123456789-+.eEnulltruefalse=AZaz \u0000";
    return random.nextBoolean()
        ? (byte) likely.charAt(random.nextInt(likely.length()))
        : (byte) random.nextInt(256);
  }
}

package dev.writ.guardian;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Request;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Any JSON whatever: a document that is written as that very JSON, or a refusal. */
class DocumentsFuzzTest {

  static Stream<byte[]> seeds() {
    return SpecPagesTest.examples().values().stream().map(Jcs::write);
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsReadReadsBackAsItself(byte[] bytes) {
    JsonValue json;
    try {
      json = Jcs.parse(bytes);
    } catch (WritException refused) {
      return;
    }
    requireStable(json, Request::read, Request::toJson);
    requireStable(json, Delegation::read, Delegation::toJson);
    requireStable(json, Approval::read, Approval::toJson);
    requireStable(json, Decision::read, Decision::toJson);
    requireStable(json, Intent::read, Intent::toJson);
  }

  private static <T> void requireStable(
      JsonValue json, Function<JsonValue, T> read, Function<T, JsonValue.Obj> write) {
    T document;
    try {
      document = read.apply(json);
    } catch (WritException refused) {
      return;
    }
    JsonValue.Obj written = write.apply(document);
    if (!written.equals(json) || !write.apply(read.apply(written)).equals(written)) {
      throw new AssertionError("a document that changes when it is written");
    }
  }
}

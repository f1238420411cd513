package dev.writ.tools.review;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class PackagesDifferPlaceByPlaceTest {
  private static ReviewedPackage reviewed(
      String version, Determinism determinism, String input, String file, String request) {
    ToolManifest manifest =
        new ToolManifest(
            "words",
            version,
            "python",
            determinism,
            List.of(
                new ToolManifest.Operation(
                    "count",
                    (JsonValue.Obj) Jcs.parse(input.getBytes(StandardCharsets.UTF_8)),
                    Optional.empty(),
                    "text/plain")),
            ToolManifest.Capabilities.none(),
            new Resources(1, 1, 1, 1),
            List.of("box"),
            List.of(new ToolManifest.PackageFile(file, Digest.sha256(new byte[0]), 0)));
    return new ReviewedPackage(manifest, new TreeMap<>(Map.of("count", request)));
  }

  private static List<PackageDifference> differences(ReviewedPackage a, ReviewedPackage b) {
    return PackageDifference.between(a, b);
  }

  private static final ReviewedPackage FIRST =
      reviewed("1", Determinism.PURE, "{\"a\":{\"b\":1},\"c\":[1]}", "main.py", "GET /a");

  @Test
  void anotherVersionAloneIsNoDifference() {
    assertThat(
            differences(
                FIRST,
                reviewed(
                    "2", Determinism.PURE, "{\"a\":{\"b\":1},\"c\":[1]}", "main.py", "GET /a")))
        .isEmpty();
  }

  @Test
  void eachDifferenceNamesItsPlacesAndHasALineForPeople() {
    List<PackageDifference> found =
        differences(
            FIRST,
            reviewed(
                "2",
                Determinism.RECORDED,
                "{\"a\":{\"b\":2},\"c\":[1,2],\"d~/\":{}}",
                "other.py",
                "GET /b"));
    assertThat(found.stream().map(PackageDifference::line))
        .containsExactly(
            "determinism: \"pure\" → \"recorded\"",
            "operation count: changed",
            "file main.py: gone",
            "file other.py: new",
            "request count: changed");
    assertThat(found.get(1).places())
        .extracting(PackageDifference.Place::pointer)
        .containsExactly("/input/a/b", "/input/c", "/input/d~0~1");
    assertThat(new String(Jcs.write(found.get(3).toJson()), StandardCharsets.UTF_8))
        .startsWith("{\"change\":\"new\",\"name\":\"other.py\",\"places\":[{\"after\":\"sha256:")
        .doesNotContain("before");
  }
}

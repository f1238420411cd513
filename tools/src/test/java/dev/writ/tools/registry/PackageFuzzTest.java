package dev.writ.tools.registry;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.TestTools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A registered package with any manifest whatever and one file: it is what its manifest and its
 * place say, each file that can be read is inside and has its digest, or it is refused.
 */
class PackageFuzzTest {
  private static final byte[] MODULE = {0, 'a', 's', 'm', 1, 0, 0, 0};

  private static Path registry;
  private static Path home;

  @BeforeAll
  static void makeRegistry() throws IOException {
    registry = Files.createTempDirectory("writ-package-fuzz");
    home = Files.createDirectories(registry.resolve("guest/1.0.0"));
    Files.write(home.resolve("m.wasm"), MODULE);
  }

  @AfterAll
  static void removeRegistry() throws IOException {
    Files.deleteIfExists(home.resolve("manifest.json"));
    Files.delete(home.resolve("m.wasm"));
    Files.delete(home);
    Files.delete(home.getParent());
    Files.delete(registry);
  }

  static Stream<byte[]> seeds() {
    return Stream.concat(
            Stream.of(TestTools.manifest("wasm", MODULE, "run")), BuiltinTools.manifests().stream())
        .map(manifest -> Jcs.write(manifest.toJson()));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsResolvedIsWhatItsManifestSays(byte[] bytes) throws IOException {
    RegisteredTool tool;
    try {
      Files.write(home.resolve("manifest.json"), bytes);
      tool = ToolRegistry.open(registry).resolve("guest", "1.0.0");
    } catch (WritException refused) {
      return;
    }
    if (!Jcs.digest(Jcs.parse(bytes)).equals(tool.manifest().packageDigest())) {
      throw new AssertionError("a package that is not what its manifest says");
    }
    for (ToolManifest.PackageFile file : tool.manifest().files()) {
      try {
        if (tool.content().read(file).length != MODULE.length || !file.path().equals("m.wasm")) {
          throw new AssertionError("a file that is not in the package");
        }
      } catch (WritException refused) {
        continue;
      }
    }
  }
}

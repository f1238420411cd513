package dev.writ.tools.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.Call;
import dev.writ.tools.TestTools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A package is registered whole or not at all, and served only as its digests say. */
class ToolRegistryTest {
  @TempDir Path home;
  private Path source;
  private Path registered;
  private ToolRegistry registry;

  @BeforeEach
  void aPackage() throws IOException {
    source = home.resolve("source");
    registered = home.resolve("registered");
    registry = ToolRegistry.open(registered);
    write("counter", "2.0.0");
  }

  private void write(String name, String version) throws IOException {
    Files.createDirectories(source.resolve("src"));
    byte[] module = read("word-count.wasm");
    byte[] text = read("word-count.wat");
    Files.write(source.resolve("m.wasm"), module);
    Files.write(source.resolve("src/m.wat"), text);
    manifest(
        name,
        version,
        new ToolManifest.PackageFile("m.wasm", Digest.sha256(module), module.length),
        new ToolManifest.PackageFile("src/m.wat", Digest.sha256(text), text.length));
  }

  private static byte[] read(String file) {
    return TestTools.resource("registry/builtin/word-count/" + file);
  }

  private void manifest(String name, String version, ToolManifest.PackageFile... files)
      throws IOException {
    ToolManifest m = BuiltinTools.manifest("word-count", "1.0.0").orElseThrow();
    ToolManifest mine =
        new ToolManifest(
            name,
            version,
            m.driver(),
            m.determinism(),
            m.operations(),
            m.capabilities(),
            m.resourcesMax(),
            m.sandboxes(),
            List.of(files));
    Files.write(source.resolve("manifest.json"), Jcs.write(mine.toJson()));
  }

  private void refused(String code) {
    assertThatThrownBy(() -> registry.register(source)).hasMessageContaining(code);
    List<Path> left = new ArrayList<>();
    try {
      if (Files.exists(registered)) {
        try (var paths = Files.walk(registered)) {
          paths.filter(Files::isRegularFile).forEach(left::add);
        }
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    assertThat(left).as("nothing half-written").isEmpty();
  }

  @Test
  void aRegisteredToolRuns() {
    ToolManifest manifest = registry.register(source);
    RegisteredTool tool = registry.resolve("counter", "2.0.0", manifest.packageDigest());
    assertThat(tool.builtin()).isFalse();
    assertThat(
            new Call(TestTools.driver("wasm").prepare(tool.manifest(), "count", tool.content()))
                .input("text", "a b c")
                .text())
        .isEqualTo("{\"bytes\":5,\"lines\":0,\"words\":3}");
    assertThat(registry.tools().stream().map(t -> t.manifest().name()))
        .contains("counter", "js", "sql", "word-count")
        .isSorted();
    assertThat(ToolRegistry.open(registered).resolve("counter", "2.0.0").manifest())
        .isEqualTo(manifest);
  }

  @Test
  void theSamePackageAgainIsNothingNewAndAnotherIsRefused() throws IOException {
    ToolManifest manifest = registry.register(source);
    assertThat(registry.register(source)).isEqualTo(manifest);
    byte[] module = read("word-count.wasm");
    Files.delete(source.resolve("src/m.wat"));
    Files.delete(source.resolve("src"));
    manifest(
        "counter",
        "2.0.0",
        new ToolManifest.PackageFile("m.wasm", Digest.sha256(module), module.length));
    assertThatThrownBy(() -> registry.register(source)).hasMessageContaining("TOL-022");
    assertThat(registry.resolve("counter", "2.0.0").manifest()).isEqualTo(manifest);
  }

  @Test
  void theReleasesOwnNamesAreTaken() throws IOException {
    write("word-count", "1.0.0");
    refused("TOL-022");
  }

  @Test
  void contentIsVerifiedAtEveryLoad() throws IOException {
    registry.register(source);
    RegisteredTool tool = registry.resolve("counter", "2.0.0");
    Path module = registered.resolve("counter/2.0.0/m.wasm");
    byte[] bytes = Files.readAllBytes(module);
    bytes[bytes.length - 1] ^= 1;
    Files.write(module, bytes);
    assertThatThrownBy(() -> tool.content().read(tool.manifest().files().getFirst()))
        .hasMessageContaining("TOL-025");
    Files.delete(module);
    assertThatThrownBy(() -> tool.content().read(tool.manifest().files().getFirst()))
        .hasMessageContaining("TOL-024");
    assertThatThrownBy(
            () -> registry.resolve("counter", "2.0.0", Digest.sha256("other".getBytes())))
        .hasMessageContaining("TOL-025");
  }

  @Test
  void aManifestIsTheOneThatLiesThereNowThoughItWasReadBefore() throws IOException {
    Digest first = registry.register(source).packageDigest();
    Path manifest = registered.resolve("counter/2.0.0/manifest.json");
    byte[] before = Files.readAllBytes(manifest);
    assertThat(registry.resolve("counter", "2.0.0").manifest().packageDigest()).isEqualTo(first);

    manifest("counter", "2.0.0"); // without its files: another package
    byte[] other = Files.readAllBytes(source.resolve("manifest.json"));
    Files.write(manifest, other);
    assertThat(registry.resolve("counter", "2.0.0").manifest().packageDigest()).isNotEqualTo(first);
    assertThatThrownBy(() -> registry.resolve("counter", "2.0.0", first))
        .hasMessageContaining("TOL-025");
    Files.writeString(manifest, "no json");
    assertThatThrownBy(() -> registry.resolve("counter", "2.0.0")).hasMessageContaining("CAN-003");
    Files.write(manifest, before);
    assertThat(registry.resolve("counter", "2.0.0", first).manifest().packageDigest())
        .isEqualTo(first);
    Files.delete(manifest);
    assertThatThrownBy(() -> registry.resolve("counter", "2.0.0")).hasMessageContaining("TOL-024");
  }

  @Test
  void aPackageUnderAnotherNameIsRefused() throws IOException {
    registry.register(source);
    Files.createDirectories(registered.resolve("other"));
    Files.move(registered.resolve("counter/2.0.0"), registered.resolve("other/2.0.0"));
    assertThatThrownBy(() -> registry.resolve("other", "2.0.0")).hasMessageContaining("TOL-028");
  }

  @Test
  void filesAreThoseThatTheManifestLists() throws IOException {
    Files.write(source.resolve("extra"), new byte[1]);
    refused("TOL-024");
    Files.delete(source.resolve("extra"));
    Files.delete(source.resolve("src/m.wat"));
    refused("TOL-024");
    Files.write(source.resolve("src/m.wat"), new byte[1]);
    refused("TOL-025");
  }

  @Test
  void pathsLeadNowhereElse() throws IOException {
    Files.write(home.resolve("secret"), new byte[] {1});
    ToolManifest.PackageFile outside =
        new ToolManifest.PackageFile("../secret", Digest.sha256(new byte[] {1}), 1);
    manifest("counter", "2.0.0", outside);
    refused("TOL-024");
    var read = new PackageDirectory(source);
    for (String path :
        new String[] {"../secret", "/etc/passwd", "a/../../secret", "", ".", "a//b"}) {
      assertThatThrownBy(() -> read.read(new ToolManifest.PackageFile(path, Digest.sha256(), 0)))
          .as(path)
          .hasMessageContaining("TOL-023");
    }
    for (String name : new String[] {"..", "../x", "", "A", ".incoming", "a/b", "x".repeat(65)}) {
      assertThatThrownBy(() -> registry.resolve(name, "1")).hasMessageContaining("TOL-021");
      assertThatThrownBy(() -> registry.resolve("js", name)).hasMessageContaining("TOL-021");
    }
    assertThatThrownBy(() -> registry.resolve("nope", "1")).hasMessageContaining("TOL-020");
  }

  @Test
  void linksAreNotFollowed() throws IOException {
    Path real = home.resolve("real.wasm");
    Files.move(source.resolve("m.wasm"), real);
    Files.createSymbolicLink(source.resolve("m.wasm"), real);
    refused("TOL-023");
  }

  @Test
  void modulesThatCannotRunAreNotRegistered() throws IOException {
    byte[] bad = {0, 97, 115, 109, 1, 0, 0, 0};
    Files.delete(source.resolve("src/m.wat"));
    Files.delete(source.resolve("src"));
    Files.write(source.resolve("m.wasm"), bad);
    manifest(
        "counter", "2.0.0", new ToolManifest.PackageFile("m.wasm", Digest.sha256(bad), bad.length));
    refused("TOL-014");
    Files.delete(source.resolve("m.wasm"));
    manifest("counter", "2.0.0");
    refused("TOL-010");
  }

  @Test
  void aManifestOfAnotherShapeIsRefused() throws IOException {
    Files.writeString(source.resolve("manifest.json"), "{\"name\":\"x\"}");
    refused("CAN-020");
    Files.writeString(source.resolve("manifest.json"), "no json");
    refused("CAN-003");
    write("Bad Name", "1");
    refused("TOL-021");
    write("counter", "../1");
    refused("TOL-021");
  }

  @Test
  void aProgramThatAnInterpreterIsGivenHasNoFiles() throws IOException {
    byte[] module = read("word-count.wasm");
    byte[] text = read("word-count.wat");
    ToolManifest js = BuiltinTools.manifest("js", "1.0.0").orElseThrow();
    ToolManifest mine =
        new ToolManifest(
            "counter",
            "2.0.0",
            js.driver(),
            js.determinism(),
            js.operations(),
            js.capabilities(),
            js.resourcesMax(),
            js.sandboxes(),
            List.of(
                new ToolManifest.PackageFile("m.wasm", Digest.sha256(module), module.length),
                new ToolManifest.PackageFile("src/m.wat", Digest.sha256(text), text.length)));
    Files.write(source.resolve("manifest.json"), Jcs.write(mine.toJson()));
    refused("TOL-015");
  }

  @Test
  void aRegistryWithoutADirectoryTakesNoPackage() {
    assertThatThrownBy(() -> ToolRegistry.ofBuiltins().register(source))
        .hasMessageContaining("TOL-027");
  }

  @Test
  void aDirectoryThatCannotBeWrittenIsToldSo() throws IOException {
    Files.writeString(registered, "a file where the packages belong");
    assertThatThrownBy(() -> registry.register(source))
        .hasMessageContaining("TOL-027")
        .hasMessageContaining(registered.toString());
    assertThat(Files.readString(registered)).isEqualTo("a file where the packages belong");
  }
}

package dev.writ.tools.author;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.policy.governance.ApprovedLibrary;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A governed package carries the libraries that policy lists, to the digest, and says so. */
class OnlyApprovedLibrariesAreCarriedTest {
  @TempDir Path home;
  private Path folder;

  private Path project(String language) {
    folder = home.resolve(language);
    Templates.make(Language.named(language).orElseThrow(), "my-tool", folder);
    return folder;
  }

  private void put(String path, byte[] bytes) throws IOException {
    Path file = folder.resolve(path);
    Files.createDirectories(file.getParent());
    Files.write(file, bytes);
  }

  private void put(String path, String text) throws IOException {
    put(path, text.getBytes(StandardCharsets.UTF_8));
  }

  private ToolProject locked() throws IOException {
    ToolProject before = ToolProject.open(folder);
    put(ToolLock.FILE, LockWriter.of(before.files(), List.of(), before.lock()).toBytes());
    return ToolProject.open(folder);
  }

  private static List<ApprovedLibrary> carried(ToolProject project) {
    return project.lock().dependencies().stream()
        .map(one -> new ApprovedLibrary(one.name(), one.version(), one.digest()))
        .toList();
  }

  private static List<String> codes(List<LintFinding> findings) {
    return findings.stream().map(f -> f.code().code() + " " + f.place()).toList();
  }

  private void markdown(String version) throws IOException {
    put("vendor/markdown/__init__.py", "version = '" + version + "'\n");
    put("vendor/markdown.dist-info/METADATA", "Name: markdown\nVersion: " + version + "\n\n");
    put("vendor/markdown.dist-info/RECORD", "markdown/__init__.py,,\n");
  }

  @Test
  void aLibraryOfPythonIsApprovedByNameVersionAndDigest() throws IOException {
    project("python");
    markdown("3.5");
    ToolProject project = locked();
    ApprovedLibrary library = carried(project).getFirst();
    assertThat(LibraryCheck.check(project, List.of(library))).isEmpty();
    assertThat(library.digest())
        .as("the digest of the canonical form of its files in the lock")
        .isEqualTo(
            Jcs.digest(
                JsonValue.object()
                    .put(
                        "vendor/markdown.dist-info/METADATA",
                        digest("Name: markdown\nVersion: 3.5\n\n"))
                    .put("vendor/markdown.dist-info/RECORD", digest("markdown/__init__.py,,\n"))
                    .put("vendor/markdown/__init__.py", digest("version = '3.5'\n"))
                    .build()));
    for (ApprovedLibrary other :
        List.of(
            new ApprovedLibrary("markdown", "3.4", library.digest()),
            new ApprovedLibrary("other", "3.5", library.digest()),
            new ApprovedLibrary("markdown", "3.5", Digest.sha256()))) {
      assertThat(codes(LibraryCheck.check(project, List.of(other))))
          .containsExactly("TOL-221 tool.lock");
    }
    assertThat(LibraryCheck.check(project, List.of()).getFirst().found())
        .isEqualTo("markdown 3.5 " + library.digest());
  }

  private static Digest digest(String text) {
    return Digest.sha256(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void aChangedFileIsAnotherLibrary() throws IOException {
    project("python");
    markdown("3.5");
    List<ApprovedLibrary> approved = carried(locked());
    put("vendor/markdown/__init__.py", "version = '3.5'; evil = 1\n");
    List<LintFinding> findings = LibraryCheck.check(locked(), approved);
    assertThat(codes(findings)).containsExactly("TOL-221 tool.lock");
    assertThat(findings.getFirst().found())
        .contains("approved are [markdown 3.5 " + approved.getFirst().digest() + "]");
  }

  @Test
  void librariesOfNodeAndJavaAreKnownByTheirOwnData() throws IOException {
    project("node");
    put("vendor/left-pad/package.json", "{\"name\":\"left-pad\",\"version\":\"1.3.0\"}");
    put("vendor/left-pad/index.js", "module.exports = 1;\n");
    put("package.json", "{\"name\":\"my-tool\",\"version\":\"1.0.0\"}");
    ToolProject node = locked();
    assertThat(carried(node)).extracting(ApprovedLibrary::name).containsExactly("left-pad");
    assertThat(LibraryCheck.check(node, carried(node))).isEmpty();
    assertThat(codes(LibraryCheck.check(node, List.of()))).containsExactly("TOL-221 tool.lock");

    project("java");
    put("vendor/gson.jar", jar("META-INF/maven/g/gson/pom.properties"));
    ToolProject java = locked();
    assertThat(carried(java)).extracting(ApprovedLibrary::name).containsExactly("g:gson");
    assertThat(LibraryCheck.check(java, carried(java))).isEmpty();
    assertThat(codes(LibraryCheck.check(java, carried(node)))).containsExactly("TOL-221 tool.lock");
  }

  private static byte[] jar(String entry) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      zip.putNextEntry(new ZipEntry(entry));
      zip.write("groupId=g\nartifactId=gson\nversion=2.11\n".getBytes(StandardCharsets.UTF_8));
    }
    return bytes.toByteArray();
  }

  @Test
  void aLockThatGivesALibraryAnotherNameIsFound() throws IOException {
    project("python");
    markdown("3.5");
    locked();
    Path lock = folder.resolve(ToolLock.FILE);
    Files.writeString(lock, Files.readString(lock).replace("name: \"markdown\"", "name: \"nice\""));
    ToolProject project = ToolProject.open(folder);
    List<LintFinding> findings = LibraryCheck.check(project, carried(project));
    assertThat(codes(findings)).containsExactly("TOL-222 vendor/markdown.dist-info/METADATA");
    assertThat(findings.getFirst().found()).contains("markdown 3.5", "the lock does not say");
  }

  @Test
  void aLibraryOutsideVendorIsFound() throws IOException {
    project("python");
    put("src/markdown.dist-info/METADATA", "Name: markdown\nVersion: 3.5\n\n");
    ToolProject project = ToolProject.open(folder);
    assertThat(codes(LibraryCheck.check(project, List.of())))
        .containsExactly("TOL-222 src/markdown.dist-info/METADATA");
  }

  @Test
  void anAssemblyBesideTheEntryIsALibraryThatNoLockNames() throws IOException {
    project("dotnet");
    put("bin/tool.dll", "MZ");
    assertThat(LibraryCheck.check(ToolProject.open(folder), List.of())).isEmpty();
    put("bin/Newtonsoft.Json.dll", "MZ");
    assertThat(codes(LibraryCheck.check(ToolProject.open(folder), List.of())))
        .containsExactly("TOL-222 bin/Newtonsoft.Json.dll");
  }

  @Test
  void aPackageWithoutLibrariesNeedsNone() {
    assertThat(LibraryCheck.check(ToolProject.open(project("python")), List.of())).isEmpty();
  }
}

package dev.writ.tools.author;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;

/** {@code tool.lock} says of each file below vendor/ whose it is, by what libraries say. */
class TheLockIsMadeFromWhatIsThereTest {
  private static final ToolLock NONE = new ToolLock(List.of());
  private final TreeMap<String, byte[]> files = new TreeMap<>();

  private void put(String path, String text) {
    files.put(path, text.getBytes(StandardCharsets.UTF_8));
  }

  private ToolLock lock(String... named) {
    return LockWriter.of(
        files, List.of(named).stream().map(LockWriter.Named::parse).toList(), NONE);
  }

  private static List<String> of(ToolLock lock) {
    return lock.dependencies().stream()
        .map(d -> d.name() + " " + d.version() + " " + d.origin() + " " + d.files().keySet())
        .toList();
  }

  /** What is written is read as it was, holds, and is the same bytes again. */
  private void holds(ToolLock lock) {
    ToolLock read = ToolLock.parse(lock.toBytes());
    assertThat(read).isEqualTo(lock);
    assertThat(read.check(files)).isEmpty();
    assertThat(LockWriter.of(files, List.of(), read).toBytes()).isEqualTo(lock.toBytes());
  }

  private static byte[] jar(String... entries) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      for (int i = 0; i < entries.length; i += 2) {
        zip.putNextEntry(new ZipEntry(entries[i]));
        zip.write(entries[i + 1].getBytes(StandardCharsets.UTF_8));
      }
    }
    return bytes.toByteArray();
  }

  @Test
  void withoutLibrariesItIsEmpty() {
    put("src/tool.py", "x");
    assertThat(lock().dependencies()).isEmpty();
    holds(lock());
  }

  @Test
  void pythonSaysItInDistInfo() {
    put("vendor/markdown/__init__.py", "x");
    put("vendor/markdown/core.py", "y");
    put("vendor/bin/markdown_py", "#!");
    put(
        "vendor/Markdown-3.5.dist-info/METADATA",
        "Metadata-Version: 2.1\nName: Markdown\nVersion: 3.5\n\nName: no\n");
    put(
        "vendor/Markdown-3.5.dist-info/RECORD",
        "../../bin/markdown_py,sha256=x,2\n"
            + "markdown/__init__.py,sha256=x,1\n"
            + "\"markdown/core.py\",,\n"
            + "markdown/gone.py,,\n");
    assertThat(of(lock()))
        .containsExactly(
            "Markdown 3.5 pypi [vendor/Markdown-3.5.dist-info/METADATA,"
                + " vendor/Markdown-3.5.dist-info/RECORD, vendor/bin/markdown_py,"
                + " vendor/markdown/__init__.py, vendor/markdown/core.py]");
    holds(lock());
    put("vendor/markdown/more.py", "nobody installed this");
    assertThatThrownBy(this::lock)
        .hasMessageContaining("TOL-215")
        .hasMessageContaining("vendor/markdown/more.py");
  }

  @Test
  void nodeSaysItInPackageJson() {
    put("vendor/a/package.json", "{\"name\":\"a\",\"version\":\"1.2.3\"}");
    put("vendor/a/index.mjs", "x");
    put("vendor/a/esm/package.json", "{\"type\":\"module\"}");
    put("vendor/a/esm/i.mjs", "x");
    put("vendor/a/node_modules/b/package.json", "{\"name\":\"@s/b\",\"version\":\"2.0.0\"}");
    put("vendor/a/node_modules/b/i.mjs", "x");
    assertThat(of(lock()))
        .containsExactly(
            "@s/b 2.0.0 npm [vendor/a/node_modules/b/i.mjs, vendor/a/node_modules/b/package.json]",
            "a 1.2.3 npm [vendor/a/esm/i.mjs, vendor/a/esm/package.json, vendor/a/index.mjs,"
                + " vendor/a/package.json]");
    holds(lock());
  }

  @Test
  void jarsSayItInMavensPropertiesOrTheirManifest() throws IOException {
    String maven = "groupId=org.x\nartifactId=lib\nversion=1.0\n";
    files.put("vendor/a.jar", jar("META-INF/maven/org.x/lib/pom.properties", maven));
    files.put(
        "vendor/b.jar",
        jar(
            "META-INF/MANIFEST.MF",
            "Manifest-Version: 1.0\n"
                + "Bundle-SymbolicName: org.b;singleton:=true\n"
                + "Bundle-Version: 2\n\n"));
    assertThat(of(lock()))
        .containsExactly("org.b 2 jar [vendor/b.jar]", "org.x:lib 1.0 maven [vendor/a.jar]");
    holds(lock());
    files.put("vendor/c-1.0.jar", jar("C.class", "x"));
    files.put("vendor/d.jar", "no archive".getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(this::lock)
        .hasMessageContaining("TOL-215")
        .hasMessageContaining("vendor/c-1.0.jar and 1 more");
    holds(lock("c@1.0=vendor/c-1.0.jar", "d@0=vendor/d.jar"));
  }

  @Test
  void whatSaysNothingIsNamedOnceAndKept() {
    put("vendor/thing/a.py", "x");
    put("vendor/thing/b.py", "y");
    put("vendor/thing.txt", "z");
    ToolLock lock = lock("thing@1=vendor/thing", "note@2=vendor/thing.txt");
    assertThat(of(lock))
        .containsExactly(
            "note 2 named [vendor/thing.txt]",
            "thing 1 named [vendor/thing/a.py, vendor/thing/b.py]");
    holds(lock);
    put("vendor/thing/a.py", "changed");
    assertThat(lock.check(files)).hasSize(1);
    holds(LockWriter.of(files, List.of(), lock));
    put("vendor/thing/new.py", "x");
    assertThatThrownBy(() -> LockWriter.of(files, List.of(), lock)).hasMessageContaining("TOL-215");
    files.remove("vendor/thing/new.py");
    files.remove("vendor/thing.txt");
    assertThat(of(LockWriter.of(files, List.of(), lock))).hasSize(1);
  }

  @Test
  void aNameIsGivenInOneForm() {
    put("vendor/a", "x");
    for (String no :
        new String[] {
          "", "a", "a@1", "a=vendor/a", "@1=vendor/a", "a@=vendor/a", "a@1=a", "a@1=vendor/b"
        }) {
      assertThatThrownBy(() -> lock(no)).as(no).hasMessageContaining("TOL-215");
    }
    assertThat(of(lock("@s/a@1=vendor/a"))).containsExactly("@s/a 1 named [vendor/a]");
  }
}

package dev.writ.tools.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.executor.driver.DriverOutcome;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.workspace.TreeLimits;
import dev.writ.sandbox.workspace.Workspace;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Artifacts are what the patterns name, all of it or nothing, and nothing from elsewhere. */
class WhatIsLeftBehindIsCollectedTest {
  private static final long SEED = Long.getLong("writ.seed", 20261122L);
  private static final Masking NO_SECRETS = new Masking(List.of());
  private static final Artifacts.Caps CAPS = new Artifacts.Caps(4, 3, 100, 250);

  @TempDir private Path temporary;
  private Path root;
  private Path outside;

  @BeforeEach
  void directories() throws IOException {
    root = Files.createDirectory(temporary.resolve("workspace"));
    outside = Files.createDirectory(temporary.resolve("outside"));
    Files.writeString(outside.resolve("junit.xml"), "the host's");
  }

  private void file(String name, String content) throws IOException {
    Path path = root.resolve(name);
    Files.createDirectories(path.getParent());
    Files.writeString(path, content);
  }

  private static Artifacts.Caps wide() {
    return Artifacts.Caps.STANDARD;
  }

  private Artifacts collect(Masking masking, String base, String... patterns) {
    return collect(CAPS, masking, base, patterns);
  }

  private Artifacts collect(Artifacts.Caps caps, Masking masking, String base, String... patterns) {
    List<ArtifactPattern> parsed = new ArrayList<>();
    for (String pattern : patterns) {
      parsed.add(ArtifactPattern.parse(pattern));
    }
    return Artifacts.collect(new Workspace(root, -1), base, parsed, masking, caps);
  }

  private List<String> names(String... patterns) {
    return collect(NO_SECRETS, ".", patterns).files().stream()
        .map(DriverOutcome.Artifact::name)
        .toList();
  }

  private String refusal(String... patterns) {
    Artifacts artifacts = collect(NO_SECRETS, ".", patterns);
    assertThat(artifacts.files()).isEmpty();
    return artifacts.refusal().map(Artifacts.Refusal::reason).orElse("none");
  }

  @Test
  void filesByTheirPatternsWithTypesByTheirNames() throws IOException {
    file("junit.xml", "<a/>");
    file("out/shot.PNG", "png");
    file("out/deep/er/log", "x");
    file("other", "not asked");
    Artifacts found = collect(NO_SECRETS, ".", "junit.xml", "out/*.PNG", "**/log", "junit.*");
    assertThat(found.refusal()).isEmpty();
    assertThat(found.files())
        .extracting(DriverOutcome.Artifact::name, DriverOutcome.Artifact::mediaType)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("junit.xml", "application/xml"),
            org.assertj.core.groups.Tuple.tuple("out/deep/er/log", "application/octet-stream"),
            org.assertj.core.groups.Tuple.tuple("out/shot.PNG", "image/png"));
    assertThat(names("nothing*")).isEmpty();
    assertThat(names()).isEmpty();
  }

  @Test
  void patternsAreRelativeToTheDirectoryOfTheCommand() throws IOException {
    file("repo/junit.xml", "<a/>");
    file("junit.xml", "<b/>");
    assertThat(collect(NO_SECRETS, "repo", "*.xml").files())
        .singleElement()
        .satisfies(one -> {
          assertThat(one.name()).isEqualTo("junit.xml");
          assertThat(one.bytes()).asString().isEqualTo("<a/>");
        });
    assertThat(collect(NO_SECRETS, "gone", "*").files()).isEmpty();
  }

  @Test
  void aDirectoryIsOneArchiveWhoseBytesRepeat() throws IOException {
    file("test-results/b.xml", "b");
    file("test-results/a/a.txt", "a");
    Files.createSymbolicLink(root.resolve("test-results/link"), outside.resolve("junit.xml"));
    Artifacts first = collect(NO_SECRETS, ".", "test-results/");
    Files.setLastModifiedTime(root.resolve("test-results/b.xml"), FileTime.fromMillis(1));
    Artifacts second = collect(NO_SECRETS, ".", "test-results/");
    assertThat(first.files())
        .extracting(DriverOutcome.Artifact::name)
        .containsExactly("test-results.tar");
    assertThat(first.files().getFirst().mediaType()).isEqualTo("application/x-tar");
    assertThat(second.files().getFirst().bytes()).isEqualTo(first.files().getFirst().bytes());
    Path unpacked = Files.createDirectory(temporary.resolve("unpacked"));
    Workspace reader = new Workspace(unpacked, -1);
    reader.importTar(
        new ByteArrayInputStream(first.files().getFirst().bytes()), TreeLimits.STANDARD);
    assertThat(reader.files(TreeLimits.STANDARD)).containsExactly("a/a.txt", "b.xml");
    assertThat(reader.read("b.xml", 10)).asString().isEqualTo("b");
    assertThat(names("test-results")).as("a pattern of files means no directory").isEmpty();
    assertThat(names("junit.xml/")).isEmpty();
  }

  /** What the receipt calls the workspace is what its archive makes again. */
  @Test
  void aWholeWorkspaceIsOneArchiveOfItAsItStands() throws IOException {
    file("a/deep/er", "x");
    file("run.sh", "#!/bin/sh");
    assertThat(root.resolve("run.sh").toFile().setExecutable(true)).isTrue();
    Files.createDirectory(root.resolve("empty"));
    Files.createSymbolicLink(root.resolve("a/link"), Path.of("deep/er"));
    Artifacts first = collect(wide(), NO_SECRETS, ".", "./");
    Files.setLastModifiedTime(root.resolve("run.sh"), FileTime.fromMillis(1));
    byte[] tar = first.files().getFirst().bytes();
    assertThat(first.files())
        .extracting(DriverOutcome.Artifact::name, DriverOutcome.Artifact::mediaType)
        .containsExactly(org.assertj.core.groups.Tuple.tuple("workspace.tar", "application/x-tar"));
    assertThat(collect(wide(), NO_SECRETS, ".", "./", "./").files().getFirst().bytes())
        .isEqualTo(tar);
    Workspace again = new Workspace(Files.createDirectory(temporary.resolve("again")), -1);
    again.importTar(new ByteArrayInputStream(tar), TreeLimits.STANDARD);
    assertThat(again.treeDigest()).isEqualTo(new Workspace(root, -1).treeDigest());
    // Relative to the directory of the command, as every pattern.
    Artifacts below = collect(wide(), NO_SECRETS, "a/deep", "./", "er");
    assertThat(below.files())
        .extracting(DriverOutcome.Artifact::name)
        .containsExactly("deep.tar", "er");
    assertThat(collect(wide(), NO_SECRETS, "gone", "./").files()).isEmpty();
    file("workspace.tar", "another of that name");
    assertThat(collect(wide(), NO_SECRETS, ".", "./", "*.tar").refusal().orElseThrow().reason())
        .isEqualTo("artifact-name");
  }

  @Test
  void aWholeWorkspaceHasTheSameLimitsAndTellsNoSecret() throws IOException {
    file("a", "x".repeat(100));
    file("b", "x".repeat(100));
    assertThat(names("./")).containsExactly("workspace.tar");
    file("a", "x".repeat(101));
    assertThat(refusal("./")).as("size of one").isEqualTo("artifact-limit");
    file("a", "x".repeat(90));
    file("c", "x".repeat(61));
    assertThat(refusal("./")).as("size of all").isEqualTo("artifact-limit");
    assertThat(names("a", "b")).as("each is counted once").hasSize(2);
    assertThat(refusal("./", "a")).as("with what else was collected").isEqualTo("artifact-limit");
    file("c", "");
    file("d", "");
    assertThat(refusal("./")).as("entries").isEqualTo("artifact-limit");
    Files.delete(root.resolve("d"));
    Masking masking =
        new Masking(List.of(new SecretFile("t", "correct horse".getBytes(StandardCharsets.UTF_8))));
    file("a", "said correct horse");
    assertThat(collect(masking, ".", "./").files().getFirst().bytes())
        .asString(StandardCharsets.UTF_8)
        .contains("said [secret]")
        .doesNotContain("horse");
    Files.delete(root.resolve("c"));
    for (String what : List.of("a file's name", "a directory's", "a link's target")) {
      Path named = root.resolve("correct horse");
      Path made =
          switch (what) {
            case "a file's name" -> Files.createFile(named);
            case "a directory's" -> Files.createDirectory(named);
            default -> Files.createSymbolicLink(root.resolve("l"), Path.of("correct horse"));
          };
      Artifacts refused = collect(masking, ".", "./");
      assertThat(refused.files()).as(what).isEmpty();
      assertThat(refused.refusal().orElseThrow().reason()).isEqualTo("artifact-name");
      assertThat(refused.refusal().orElseThrow().message()).doesNotContain("horse");
      Files.delete(made);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/",
        "/etc/passwd",
        "../x",
        "a/../b",
        "a/./b",
        ".",
        ".//",
        "././",
        "a/./",
        "../",
        "..",
        "a//b",
        "a\\b",
        "a\nb",
        "a**",
        "***",
        "//",
        "x//"
      })
  void aPatternCannotLeaveTheWorkspace(String pattern) {
    assertThatThrownBy(() -> ArtifactPattern.parse(pattern)).hasMessageContaining("TOL-045");
  }

  @Test
  void patternsAreBounded() {
    assertThatThrownBy(() -> ArtifactPattern.parse("a".repeat(257)))
        .hasMessageContaining("TOL-045");
    assertThatThrownBy(() -> ArtifactPattern.parse("a/".repeat(17)))
        .hasMessageContaining("TOL-045");
    String walk = "*a".repeat(100) + "b";
    assertThat(ArtifactPattern.parse(walk).matches("a".repeat(250))).isFalse();
    String parts = "**/a/".repeat(7) + "**/b";
    assertThat(ArtifactPattern.parse(parts).matches("a/".repeat(60) + "c")).isFalse();
  }

  @Test
  void linksPipesAndDevicesAreNoFiles() throws Exception {
    Files.createSymbolicLink(root.resolve("junit.xml"), outside.resolve("junit.xml"));
    Files.createSymbolicLink(root.resolve("results"), outside);
    Process pipe = new ProcessBuilder("mkfifo", root.resolve("pipe").toString()).start();
    assertThat(pipe.waitFor()).isZero();
    Process device =
        new ProcessBuilder("mknod", root.resolve("null").toString(), "c", "1", "3").start();
    device.waitFor(); // may be refused: then there is no device to look at
    assertThat(names("**", "results/", "**/")).isEmpty();
    assertThat(names("junit.xml", "results/*", "pipe", "null")).isEmpty();
  }

  @Test
  void hostileNamesAreRefusedOrNotSeen() throws IOException {
    Files.writeString(Path.of(URI.create(root.toUri() + "bad%ff%fe.xml")), "x");
    assertThat(names("**")).as("bytes that are no text match no pattern").isEmpty();
    Files.writeString(Path.of(URI.create(root.toUri() + "new%0aline.xml")), "x");
    assertThat(refusal("*.xml")).isEqualTo("artifact-name");
    assertThat(names("new?line.txt")).isEmpty();
  }

  @Test
  void twoOfOneNameAreRefused() throws IOException {
    file("a.tar", "x");
    file("a/b", "x");
    assertThat(refusal("a.tar", "a/")).isEqualTo("artifact-name");
  }

  @Test
  void beyondALimitThereIsNothing() throws IOException {
    for (int i = 0; i < 4; i++) {
      file("d/f" + i, "x".repeat(50));
    }
    assertThat(names("d/*")).hasSize(4);
    assertThat(refusal("d/")).as("files of a directory").isEqualTo("artifact-limit");
    file("e", "y");
    assertThat(refusal("**")).as("files").isEqualTo("artifact-limit");
    file("d/f3", "x".repeat(101));
    assertThat(refusal("d/f3")).as("size of one").isEqualTo("artifact-limit");
    file("d/f3", "x".repeat(100));
    assertThat(names("d/f3")).hasSize(1);
    assertThat(names("d/*")).hasSize(4);
    file("d/f0", "x".repeat(51));
    assertThat(refusal("d/*")).as("size of all").isEqualTo("artifact-limit");
    try (RandomAccessFile sparse = new RandomAccessFile(root.resolve("huge").toFile(), "rw")) {
      sparse.setLength(1L << 40);
    }
    assertThat(names("d/f1")).as("a sparse file beside it").hasSize(1);
    assertThat(refusal("huge")).isEqualTo("artifact-limit");
  }

  @Test
  void secretsAreMaskedInFilesAndArchivesAndNeverNames() throws IOException {
    Masking masking =
        new Masking(List.of(new SecretFile("t", "correct horse".getBytes(StandardCharsets.UTF_8))));
    file("log", "said correct horse");
    file("r/log", "said correct horse");
    Artifacts found = collect(masking, ".", "log", "r/");
    assertThat(found.files().getFirst().bytes()).asString().isEqualTo("said [secret]");
    assertThat(found.files().getLast().bytes())
        .asString(StandardCharsets.UTF_8)
        .contains("said [secret]")
        .doesNotContain("horse");
    file("r/correct horse", "x");
    for (String pattern : List.of("r/correct*", "r/")) {
      Artifacts refused = collect(masking, ".", pattern);
      assertThat(refused.files()).isEmpty();
      assertThat(refused.refusal().orElseThrow().reason()).isEqualTo("artifact-name");
      assertThat(refused.refusal().orElseThrow().message()).doesNotContain("horse");
    }
  }

  /** Against the definition: each pattern as a regular expression. */
  @Test
  void patternsMatchWhatTheirDefinitionSays() {
    Random random = new Random(SEED);
    int matches = 0;
    for (int round = 0; round < 20_000; round++) {
      String pattern = words(random, List.of("a", "b", "*", "?", "a*", "*b", "**", "ab?", "*a*"));
      String path = words(random, List.of("a", "b", "ab", "ba", "aab", "bb", "c"));
      boolean expected = Pattern.matches(regex(pattern), "/" + path);
      assertThat(ArtifactPattern.parse(pattern).matches(path))
          .as("%s against %s, seed %d", pattern, path, SEED)
          .isEqualTo(expected);
      matches += expected ? 1 : 0;
    }
    assertThat(matches).isBetween(1_000, 19_000);
  }

  private static String words(Random random, List<String> words) {
    List<String> parts = new ArrayList<>();
    for (int i = 0; i <= random.nextInt(5); i++) {
      parts.add(words.get(random.nextInt(words.size())));
    }
    return String.join("/", parts);
  }

  /** Each part with a slash before it, so that a part ** is any number of such. */
  private static String regex(String pattern) {
    StringBuilder regex = new StringBuilder();
    for (String part : pattern.split("/")) {
      if (part.equals("**")) {
        regex.append("(?:/[^/]+)*");
      } else {
        regex.append('/').append(part.replace("*", "[^/]*").replace("?", "[^/]"));
      }
    }
    return regex.toString();
  }

  @ParameterizedTest
  @CsvSource({
    "junit.xml, junit.xml, true",
    "junit.xml, a/junit.xml, false",
    "**/junit.xml, junit.xml, true",
    "**/junit.xml, a/b/junit.xml, true",
    "a/**, a/b/c, true",
    "a/**, a, true",
    "*, .hidden, true",
    "?, é, true",
    "?, 😀, true",
    "[a], a, false"
  })
  void someMatches(String pattern, String path, boolean matches) {
    assertThat(ArtifactPattern.parse(pattern).matches(path)).isEqualTo(matches);
  }
}

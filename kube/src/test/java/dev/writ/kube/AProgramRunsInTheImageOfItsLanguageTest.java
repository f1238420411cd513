package dev.writ.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.kube.testing.FakeCluster;
import dev.writ.kube.testing.TestPods;
import dev.writ.sandbox.Bind;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.ProgramImage;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A command that names no image, such as a tool's, runs in that which the settings have for it. */
@Timeout(300)
class AProgramRunsInTheImageOfItsLanguageTest {
  private static TestPods pods;

  @TempDir Path dir;

  @BeforeAll
  static void open() {
    pods = new TestPods();
    pods.cluster.more =
        settings ->
            settings.put(
                "programs",
                JsonValue.object()
                    .put(
                        "python3",
                        JsonValue.object()
                            .put("image", FakeCluster.DEBIAN)
                            .put("version", "3.13.5")
                            .build())
                    .build());
  }

  @AfterAll
  static void close() {
    pods.close();
  }

  private static SandboxSpec spec() {
    return SandboxSpec.of("l" + System.nanoTime(), Profile.named("restricted"))
        .without(TestPods.WAIVED);
  }

  @Test
  void itsFilesAreThereReadOnlyAndTheImageIsNamed() throws Exception {
    String longName = "a/name/of/more/than/a/hundred/bytes/".repeat(4) + "data.txt";
    Path tool = dir.resolve("tool");
    Files.createDirectories(tool.resolve(longName).getParent());
    Files.writeString(tool.resolve(longName), "from afar");
    Files.writeString(
        tool.resolve("main.py"),
        """
        import sys
        print(open('/tool/' + sys.argv[1]).read())
        try: open('/tool/x', 'w'); print('ESCAPED')
        except OSError as e: print(e.strerror)
        """);
    try (Sandbox sandbox = pods.engine().create(spec())) {
      Command command =
          Command.of("/usr/bin/python3", "-I", "/tool/main.py", longName)
              .withExecutables(List.of("/usr/bin/python3"))
              .withBinds(List.of(new Bind(tool, "/tool")));
      Ended ended = sandbox.exec(command);
      assertThat(new String(ended.stdout().bytes(), StandardCharsets.UTF_8))
          .as(new String(ended.stderr().bytes(), StandardCharsets.UTF_8))
          .isEqualTo("from afar\nRead-only file system\n");
      assertThat(ended.engine()).contains("image " + FakeCluster.DEBIAN);
      for (String target : List.of("/writ/in", "/tmp/x", "/workspace")) {
        assertThat(
                WhatGoesWrongInAClusterTest.refusal(
                    () -> sandbox.exec(command.withBinds(List.of(new Bind(tool, target))))))
            .startsWith("SBX-027");
      }
      assertThat(
              WhatGoesWrongInAClusterTest.refusal(
                  () -> sandbox.exec(Command.of("/usr/bin/node", "-v"))))
          .startsWith("SBX-033")
          .contains("no image for node");
      assertThat(
              WhatGoesWrongInAClusterTest.refusal(
                  () -> sandbox.hold(command, 1_000, OutputListener.NONE)))
          .startsWith("SBX-033");
    }
    assertThat(pods.engine().imageOf("python3")).map(ProgramImage::version).hasValue("3.13.5");
    assertThat(pods.engine().imageOf("node")).isEmpty();
    assertThat(pods.pods()).isZero();
  }
}

package dev.writ.sandbox.workspace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.engine.Engines;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is left in a state directory is told by looking; and what is taken out of a workspace. */
class WhatCanBeToldWithoutOpeningTest {
  private static final Instant MADE = Instant.parse("2026-01-02T03:04:05Z");

  @TempDir Path dir;

  @Test
  void whetherARunHasAWorkspaceAndWhetherItsTimeIsOver() {
    SandboxSettings settings = SandboxSettings.in(dir);
    assertThat(Engines.hasWorkspace(settings, "t", "r")).isFalse();
    assertThat(Engines.hasExpiredWorkspace(settings, MADE)).isFalse();
    Workspaces all = new Workspaces(dir.resolve("workspaces"), false, WorkspaceBounds.STANDARD);
    all.open(
        new WorkspaceSpec("t", "r", WorkspaceStorage.DIRECTORY, 1, MADE, MADE.plusSeconds(10)));
    assertThat(Engines.hasWorkspace(settings, "t", "r")).isTrue();
    assertThat(Engines.hasWorkspace(settings, "r", "t")).isFalse();
    assertThat(Engines.hasExpiredWorkspace(settings, MADE.plusSeconds(9))).isFalse();
    assertThat(Engines.hasExpiredWorkspace(settings, MADE.plusSeconds(10))).isTrue();
    all.wipe("t", "r", "test", MADE);
    assertThat(Engines.hasWorkspace(settings, "t", "r")).isFalse();
  }

  @Test
  void whetherAKilledProcessLeftASandbox() throws Exception {
    SandboxSettings settings = SandboxSettings.in(dir);
    assertThat(Engines.leftSomething(settings)).isFalse();
    Files.createDirectories(dir.resolve("live"));
    assertThat(Engines.leftSomething(settings)).isFalse();
    Files.createDirectories(dir.resolve("live/x"));
    assertThat(Engines.leftSomething(settings)).isTrue();
  }

  @Test
  void aFileOrALinkIsTakenAwayAndNothingElse() throws Exception {
    Path outside = Files.createFile(dir.resolve("outside"));
    Path tree = Files.createDirectory(dir.resolve("tree"));
    Workspace workspace = new Workspace(tree, -1);
    workspace.write("a/file", new byte[1], false);
    Files.createSymbolicLink(tree.resolve("link"), outside);
    Files.createSymbolicLink(tree.resolve("out"), dir);
    workspace.remove("a/file");
    workspace.remove("a/file");
    workspace.remove("link");
    assertThat(tree.resolve("a/file")).doesNotExist();
    assertThat(tree.resolve("link")).doesNotExist();
    assertThat(outside).exists();
    assertThatThrownBy(() -> workspace.remove("a")).hasMessageContaining("SBX-045");
    assertThatThrownBy(() -> workspace.remove("out/outside")).hasMessageContaining("SBX-043");
    assertThatThrownBy(() -> workspace.remove("../outside")).hasMessageContaining("SBX-043");
    assertThat(outside).exists();
  }
}

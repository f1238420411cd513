package dev.writ.surfaces.seed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.gateway.config.SurfaceConfig;
import dev.writ.guardian.document.Resources;
import dev.writ.surfaces.logline.LoglineConfig;
import dev.writ.surfaces.logline.LoglineSettings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Secrets come from files and the environment, and from nowhere else. */
class SurfacesComeFromTheConfigurationTest {
  private static final String SECRET = "a secret of the tests, long enough";

  @TempDir Path dir;

  private static SurfaceConfig config(List<String> secrets, String... more) {
    TreeMap<String, String> settings = new TreeMap<>();
    settings.put("cpu_ms", "30000");
    settings.put("memory_bytes", "268435456");
    settings.put("output_bytes", "1048576");
    settings.put("wall_ms", "30000");
    settings.put("sandbox", "default");
    settings.put("subject.acme", "vercel");
    settings.put("tool.code_interpreter", "code_interpreter 1.0.0 run");
    for (int i = 0; i < more.length; i += 2) {
      settings.put(more[i], more[i + 1]);
    }
    return new SurfaceConfig(new TreeMap<>(), secrets, settings);
  }

  @Test
  void theSeedsVariableAndFilesHoldAtOnce() throws IOException {
    Path file = Files.writeString(dir.resolve("next"), SECRET + " too\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    LoglineConfig logline =
        LoglineSettings.read(
            config(List.of("next")), Map.of(LoglineSettings.SECRET_VARIABLE, SECRET), dir);
    assertThat(logline.secrets())
        .extracting(LoglineConfig.Secret::name)
        .containsExactly(LoglineSettings.SECRET_VARIABLE, "next");
    assertThat(logline.secrets().getFirst().subjects()).containsEntry("acme", "vercel");
    assertThat(logline.tools().get("code_interpreter").operation()).isEqualTo("run");
    assertThat(logline.tools().get("code_interpreter").resources().wallMs()).isEqualTo(30_000);
  }

  @Test
  void withoutASecretThereIsNoSurface() {
    for (Map<String, String> environment :
        List.of(Map.<String, String>of(), Map.of(LoglineSettings.SECRET_VARIABLE, ""))) {
      assertThatThrownBy(() -> LoglineSettings.read(config(List.of()), environment, dir))
          .isInstanceOf(WritException.class)
          .hasMessageStartingWith("GWY-101");
    }
  }

  @Test
  void aToolMayHaveLimitsOfItsOwn() {
    LoglineConfig logline =
        LoglineSettings.read(
            config(
                List.of(),
                "tool.web_browser",
                "web_browser 1.0.0 visit",
                "tool.web_browser.memory_bytes",
                "1073741824",
                "tool.web_browser.cpu_ms",
                "60000",
                "tool.web_browser.defaults",
                "{\"results\":[\"png\"]}",
                "artifacts_bytes",
                "0"),
            Map.of(LoglineSettings.SECRET_VARIABLE, SECRET),
            dir);
    assertThat(logline.tools().keySet()).containsExactly("code_interpreter", "web_browser");
    assertThat(logline.tools().get("web_browser").resources())
        .isEqualTo(new Resources(60_000, 1 << 30, 1 << 20, 30_000));
    assertThat(logline.tools().get("code_interpreter").resources())
        .isEqualTo(new Resources(30_000, 1 << 28, 1 << 20, 30_000));
    assertThat(logline.tools().get("web_browser").defaults())
        .isEqualTo(Jcs.parse("{\"results\":[\"png\"]}".getBytes(StandardCharsets.UTF_8)));
    assertThat(logline.artifactsBytes()).isZero();
  }

  @Test
  void whatIsNotUnderstoodIsRefused() {
    Map<String, String> environment = Map.of(LoglineSettings.SECRET_VARIABLE, SECRET);
    for (String[] wrong :
        new String[][] {
          {"colour", "red"},
          {"cpu_ms", "much"},
          {"cpu_ms", "0"},
          {"tool.git_cli", "git_cli"},
          {"tool.code_interpreter.memory_bytes", "1 GiB"},
          {"tool.code_interpreter.memory_bytes", "0"},
          {"tool.code_interpreter.memory", "1073741824"},
          {"tool.web_browser.memory_bytes", "1073741824"},
          {"tool.code_interpreter.defaults", "[]"},
          {"tool.code_interpreter.defaults", "{"},
          {"artifacts_bytes", "-1"},
        }) {
      assertThatThrownBy(() -> LoglineSettings.read(config(List.of(), wrong), environment, dir))
          .as(wrong[0])
          .isInstanceOf(WritException.class)
          .hasMessageStartingWith("GWY-002")
          .hasMessageContaining(wrong[0])
          .hasMessageNotContaining(SECRET);
    }
    assertThatThrownBy(() -> LoglineSettings.read(config(List.of("gone")), Map.of(), dir))
        .isInstanceOf(WritException.class)
        .hasMessageStartingWith("GWY-005");
  }
}

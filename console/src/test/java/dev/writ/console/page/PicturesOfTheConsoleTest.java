package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ScreenshotAnimations;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.page.Desk.Screen;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The pictures of spec/console.md, of real pages before a real server. {@code -Dwrit.update=true}
 * keeps them; otherwise they are made, compared in size, and thrown away.
 */
class PicturesOfTheConsoleTest {
  private static final Path KEPT = Path.of("../spec/console");
  private static final boolean UPDATE = Boolean.getBoolean("writ.update");

  @TempDir static Path dir;
  private static Desk desk;

  @BeforeAll
  static void start() {
    desk = Desk.with(dir, Engine.CHROMIUM);
    for (int i = 0; i < 12; i++) {
      desk.ask(i % 3 == 0 ? "bob" : "alice", i % 4 == 0 ? "calc" : "mail", "{\"note\":" + i + "}");
    }
  }

  @AfterAll
  static void stop() {
    desk.close();
  }

  @Test
  void each_page_has_its_picture() throws IOException {
    take("live", "rita", Screen.WIDE, "#/live");
    take("effect", "rita", Screen.WIDE, Desk.effect(desk.done));
    take("run", "alice", Screen.WIDE, "#/runs/run-1");
    take("approval", "rita", Screen.PHONE, Desk.approval(desk.waiting));
    take("tools", "rita", Screen.WIDE, "#/tools");
    take("policy", "rita", Screen.WIDE, "#/policy");
    take("operations", "rita", Screen.WIDE, "#/operations");
    take("audit", "alice", Screen.WIDE.dark(), "#/audit");
    assertThat(desk.closePages()).isEmpty();
  }

  private static void take(String name, String as, Screen screen, String address)
      throws IOException {
    Page page = desk.open(as, screen, address);
    assertThat(
            page.locator(
                ".loading, [data-proof=waiting], [data-history=waiting], [data-standing=waiting]"))
        .hasCount(0);
    byte[] picture =
        page.screenshot(new Page.ScreenshotOptions().setAnimations(ScreenshotAnimations.DISABLED));
    Path kept = KEPT.resolve(name + ".png");
    if (UPDATE) {
      Files.createDirectories(KEPT);
      Files.write(kept, picture);
    }
    assertThat(kept).exists();
    assertThat(size(picture)).as(name).isEqualTo(size(Files.readAllBytes(kept)));
  }

  /** Width and height of a PNG (its IHDR). */
  private static long size(byte[] png) {
    return ByteBuffer.wrap(png).getLong(16);
  }
}

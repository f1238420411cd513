package dev.writ.tools.browser;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.ProcessDriver;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.Program;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Opens pages in a headless Chromium that lives in a sandbox (spec/tool-browser.md). */
public final class BrowserDriver extends ProcessDriver {
  public static final String NAME = "browser";

  /** Debian's Chromium itself, without the shell script around it. */
  public static final String CHROMIUM = "/usr/lib/chromium/chromium";

  /** What runs Playwright. */
  public static final String NODE = "/usr/bin/node";

  public BrowserDriver(ProcessHost host) {
    super(NAME, BrowserFiles::digest, host);
  }

  /**
   * @throws WritException {@code TOL-060}
   */
  @Override
  protected Program program(
      ToolManifest manifest, ToolManifest.Operation operation, PackageContent content) {
    requirePrograms(List.of(CHROMIUM, NODE));
    return call -> new BrowserVisit(host(), call).run();
  }

  static void requirePrograms(List<String> programs) {
    for (String program : programs) {
      if (!Files.isExecutable(Path.of(program))) {
        throw new WritException(ToolsError.BROWSER_MISSING, "no " + program);
      }
    }
  }
}

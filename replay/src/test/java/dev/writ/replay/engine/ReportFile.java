package dev.writ.replay.engine;

import dev.writ.replay.report.ReportPage;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Writes the report of a bundle in a process of its own: {@code BUNDLE PAGE}. */
final class ReportFile {
  private ReportFile() {}

  public static void main(String[] args) throws IOException {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(Path.of(args[1])))) {
      ReportPage.write(List.of(Path.of(args[0])), ReportPage.Options.NONE, out);
    }
  }
}

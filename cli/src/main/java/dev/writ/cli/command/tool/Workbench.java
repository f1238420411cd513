package dev.writ.cli.command.tool;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.cli.error.CliError;
import dev.writ.embed.error.EmbedError;
import dev.writ.executor.driver.Driver;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.host.Mounts;
import dev.writ.sandbox.host.Trees;
import dev.writ.tools.Drivers;
import dev.writ.tools.author.JavaScanner;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.Lint;
import dev.writ.tools.author.NodeScanner;
import dev.writ.tools.author.Scanner;
import dev.writ.tools.author.ToolArchive;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.author.ToolSource;
import dev.writ.tools.http.call.HttpDriver;
import dev.writ.tools.js.JsDriver;
import dev.writ.tools.language.LanguageDrivers;
import dev.writ.tools.language.PythonScanner;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.SecretStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.TreeMap;

/** The parsers, drivers and sandbox for authors of tools, independent of any data directory. */
final class Workbench implements AutoCloseable {
  private final TemporaryDirectory scratch;
  private final ProcessHost host;
  private final Drivers drivers = Drivers.wasmFamily();

  private final HttpDriver http;

  Workbench() {
    try {
      scratch = TemporaryDirectory.create("writ", this::end);
      Files.setPosixFilePermissions(scratch.path(), PosixFilePermissions.fromString("rwx--x--x"));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, "a scratch folder", e);
    }
    host =
        ProcessHost.open(SandboxSettings.in(scratch.path().resolve("s")), SecretStore.standIns());
    http = new HttpDriver(host);
  }

  Lint lint() {
    TreeMap<Language, Scanner> scanners = new TreeMap<>();
    scanners.put(Language.NODE, new NodeScanner(drivers.byName().get(JsDriver.NAME)));
    scanners.put(Language.JAVA, new JavaScanner());
    scanners.put(Language.PYTHON, new PythonScanner(host));
    return new Lint(scanners);
  }

  /** The driver that a project's manifest names. */
  Driver driver(ToolProject project) {
    String name = project.manifest().driver();
    if (name.equals(HttpDriver.NAME)) {
      return http;
    }
    return LanguageDrivers.all(host).stream()
        .filter(driver -> driver.name().equals(name))
        .findFirst()
        .orElseGet(() -> drivers.byName().get(name));
  }

  /** A project from its folder, or from a package file. */
  static ToolProject project(Path path) {
    return Files.isDirectory(path) ? ToolProject.open(path) : archive(path).project();
  }

  static ToolArchive archive(Path file) {
    if (Files.isRegularFile(file.resolve(ToolSource.FILE))) {
      throw new WritException(
          CliError.USAGE,
          file + " is a project; make a package of it with writ tool package, and name that file");
    }
    try {
      return ToolArchive.read(Files.readAllBytes(file));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, file.toString(), e);
    }
  }

  /** Writes a file that is not there yet. */
  static void write(Path file, byte[] bytes) {
    try {
      Files.write(file, bytes);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, file.toString(), e);
    }
  }

  @Override
  public void close() {
    drivers.close();
    http.close();
    end();
    try {
      scratch.close();
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, "a scratch folder", e);
    }
  }

  /** Ends all processes, and removes what they wrote: the file systems of their own, too. */
  private void end() {
    host.close();
    Mounts.below(scratch.path()).forEach(Mounts::unmount);
    Trees.remove(scratch.path().resolve("s"));
  }
}

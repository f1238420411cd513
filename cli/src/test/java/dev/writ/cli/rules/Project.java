package dev.writ.cli.rules;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The checkout that these tests run in: its folders, its texts, and its classes. */
public final class Project {
  private static JavaClasses classes;

  private Project() {}

  /** The top of the checkout: the folder that holds {@code config/deterministic.txt}. */
  public static Path root() {
    Path at = Path.of("").toAbsolutePath();
    while (!Files.exists(at.resolve("config/deterministic.txt"))) {
      at = at.getParent();
      if (at == null) {
        throw new IllegalStateException("run the tests inside the checkout");
      }
    }
    return at;
  }

  /** Every class of ours on the class path, without the tests; read once. */
  public static synchronized JavaClasses classes() {
    if (classes == null) {
      // No rule asks what a class of a library is beyond its name; reading them doubles the time.
      ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
      classes =
          new ClassFileImporter()
              .withImportOption(new ImportOption.DoNotIncludeTests())
              .importPackages("dev.writ");
    }
    return classes;
  }

  /** The folders that hold a module with main sources, by name. */
  public static List<String> modulesWithSources() {
    try (Stream<Path> folders = Files.list(root())) {
      return folders
          .filter(folder -> Files.exists(folder.resolve("pom.xml")))
          .filter(folder -> !files(folder.resolve("src/main/java"), ".java").isEmpty())
          .map(folder -> folder.getFileName().toString())
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The files under a folder whose names end so, sorted; none where there is no such folder. */
  public static List<Path> files(Path folder, String suffix) {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile)
          .filter(file -> file.toString().endsWith(suffix))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

package dev.writ.sandbox.testing;

import dev.writ.sandbox.Engine;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.egress.Resolver;
import dev.writ.sandbox.engine.Engines;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** The engines of this host on a state directory of their own, which is gone at the end. */
public final class TestEngines implements AutoCloseable {
  private static final AtomicLong IDS = new AtomicLong();

  private final Path directory;
  private final Engines engines;

  private TestEngines(Path directory, Engines engines) {
    this.directory = directory;
    this.engines = engines;
  }

  public static TestEngines open() {
    return open(Resolver.HOST);
  }

  public static TestEngines open(Resolver resolver) {
    try {
      Path directory = Files.createTempDirectory(Path.of("/tmp"), "sbx");
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
      return new TestEngines(
          directory, Engines.open(SandboxSettings.in(directory.resolve("s")).with(resolver)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * With the tests' own podman service as the engine docker, or with the service that {@code
   * -Dwrit.containers=SOCKET} names.
   */
  public static TestEngines withContainers(Resolver resolver) {
    try {
      Path directory = Files.createTempDirectory(Path.of("/tmp"), "sbx");
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
      SandboxSettings settings =
          SandboxSettings.in(directory.resolve("s")).with(resolver).withContainers(containers());
      return new TestEngines(directory, Engines.open(settings));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path containers() {
    String named = System.getProperty("writ.containers", "");
    return named.isEmpty() ? PodmanService.shared().socket() : Path.of(named);
  }

  /** All engines, the one of containers too; only of {@link #withContainers}. */
  public static List<String> allNames() {
    return List.of("bubblewrap", "runc", "docker");
  }

  /** The engines that every test of behaviour runs on. */
  public static List<String> names() {
    return List.of("bubblewrap", "runc");
  }

  public static String newId() {
    return "t-" + IDS.incrementAndGet();
  }

  public Engine named(String name) {
    return engines.named(name);
  }

  public Engines engines() {
    return engines;
  }

  public Path directory() {
    return directory;
  }

  @Override
  public void close() {
    engines.close();
    Trees.remove(directory);
  }
}

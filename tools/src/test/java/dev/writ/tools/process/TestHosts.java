package dev.writ.tools.process;

import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Hosts of processes, each on a state directory of its own, which is gone at the end. */
public final class TestHosts implements AutoCloseable {
  private final Path directory;
  private final ProcessHost host;

  private TestHosts(Path directory, ProcessHost host) {
    this.directory = directory;
    this.host = host;
  }

  /** On the engine that this host chooses. */
  public static TestHosts open() {
    return open(SecretStore.none(), Optional.empty());
  }

  public static TestHosts open(SecretStore secrets, Optional<String> engine) {
    return open(settings -> settings, secrets, engine);
  }

  /** With a network of the test's own, say. */
  public static TestHosts open(
      UnaryOperator<SandboxSettings> with, SecretStore secrets, Optional<String> engine) {
    Path directory = directory();
    SandboxSettings settings = with.apply(SandboxSettings.in(directory.resolve("s")));
    return new TestHosts(directory, ProcessHost.open(settings, secrets, engine));
  }

  /** A directory that the users of sandboxes may traverse. */
  public static Path directory() {
    try {
      Path directory = Files.createTempDirectory(Path.of("/tmp"), "tools");
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public ProcessHost host() {
    return host;
  }

  public SandboxSettings settings() {
    return SandboxSettings.in(directory.resolve("s"));
  }

  @Override
  public void close() {
    host.close();
    Trees.remove(directory);
  }
}

package dev.writ.cli.clients;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The clients' packages, made without a registry and installed as their users have them: a wheel in
 * a new environment of Python, a tarball in a folder that has nothing else.
 *
 * @param python the interpreter of the environment, which also has Debian's cryptography
 * @param javascript the folder, with the examples of the client
 */
record InstalledPackages(Path python, Path javascript) {
  private static final String SYSTEM_PYTHON = "/usr/bin/python3";

  static InstalledPackages in(Path dir, Path clients) throws Exception {
    return new InstalledPackages(python(dir, clients), javascript(dir, clients));
  }

  private static Path python(Path dir, Path clients) throws Exception {
    String script = clients.resolve("python/build_wheel.py").toString();
    Path wheel =
        Path.of(output(SYSTEM_PYTHON, script, Files.createDirectory(dir.resolve("w1")).toString()));
    Path again =
        Path.of(output(SYSTEM_PYTHON, script, Files.createDirectory(dir.resolve("w2")).toString()));
    assertThat(again).hasSameBinaryContentAs(wheel);
    Path environment = dir.resolve("python");
    output(
        SYSTEM_PYTHON,
        "-m",
        "venv",
        "--without-pip",
        "--copies",
        "--system-site-packages",
        environment.toString());
    Path python = environment.resolve("bin/python3");
    output(
        SYSTEM_PYTHON,
        "-m",
        "pip",
        "--python",
        python.toString(),
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-cache-dir",
        "--disable-pip-version-check",
        wheel.toString());
    String installed = output(python.toString(), "-c", "import writ; print(writ.__file__)");
    assertThat(Path.of(installed)).startsWith(environment);
    assertThat(Path.of(installed).resolveSibling("py.typed")).exists();
    return python;
  }

  private static Path javascript(Path dir, Path clients) throws Exception {
    String script = clients.resolve("js/pack").toString();
    Path tarball = Path.of(output(script, dir.resolve("t1").toString()));
    assertThat(Path.of(output(script, dir.resolve("t2").toString())))
        .hasSameBinaryContentAs(tarball);
    Path folder = Files.createDirectory(dir.resolve("javascript"));
    Path modules = Files.createDirectories(folder.resolve("node_modules/writ-client"));
    output("tar", "-xzf", tarball.toString(), "--strip-components=1", "-C", modules.toString());
    copy(clients.resolve("js/examples"), folder.resolve("examples"));
    copy(clients.resolve("js/test/doubles"), folder.resolve("node_modules"));
    return folder;
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      files.forEach(file -> {
        try {
          Path target = to.resolve(from.relativize(file).toString());
          if (Files.isDirectory(file)) {
            Files.createDirectories(target);
          } else {
            Files.copy(file, target);
          }
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      });
    }
  }

  private static String output(String... command) throws Exception {
    return output(new ProcessBuilder(List.of(command))).strip();
  }

  /** What a program says that ends with success. */
  static String output(ProcessBuilder builder) throws Exception {
    builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
    Process process = builder.redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said;
  }
}

package dev.writ.sandbox.engine;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Any bytes whatever: nothing, or names without NUL and in bounded number; never an exception. */
class ElfFileFuzzTest {

  static Stream<byte[]> seeds() {
    return Stream.of("/usr/bin/true", "/usr/bin/catatonit", "/usr/bin/ldd")
        .map(Path::of)
        .filter(Files::exists)
        .map(path -> {
          try {
            return Files.readAllBytes(path);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void isNothingOrNames(byte[] bytes) throws IOException {
    Path file = Files.createTempFile("elf", "");
    try {
      Files.write(file, bytes);
      Optional<ElfFile> read = ElfFile.read(file);
      read.ifPresent(elf ->
          Stream.of(elf.loader().stream(), elf.libraries().stream(), elf.searchPath().stream())
              .flatMap(s -> s)
              .forEach(name -> {
                if (name.indexOf('\0') >= 0 || name.length() > 4096) {
                  throw new AssertionError("no name");
                }
              }));
      if (read.map(elf -> elf.libraries().size() > bytes.length / 16).orElse(false)) {
        throw new AssertionError("more libraries than entries");
      }
    } finally {
      Files.delete(file);
    }
  }
}

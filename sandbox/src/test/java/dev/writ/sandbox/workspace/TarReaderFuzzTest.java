package dev.writ.sandbox.workspace;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.host.Trees;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Any bytes whatever, with the checksums of its headers made right, or a fuzzer would get nowhere:
 * a tree that is the same again when it is written and read; or a code. Beside the workspace there
 * is nothing afterwards, whatever was in the archive.
 */
class TarReaderFuzzTest {
  private static final TreeLimits LIMITS = new TreeLimits(50, 1 << 16, 8);

  static Stream<byte[]> seeds() throws IOException {
    Path directory = Files.createTempDirectory("tar");
    try {
      Path place = Files.createDirectory(directory.resolve("w"));
      Workspace workspace = new Workspace(place, -1);
      workspace.write("a/b", "content".getBytes(StandardCharsets.US_ASCII), true);
      workspace.write("n".repeat(150), new byte[600], false);
      Files.createSymbolicLink(place.resolve("a/link"), Path.of("../" + "n".repeat(150)));
      ByteArrayOutputStream tar = new ByteArrayOutputStream();
      workspace.exportTar(tar, LIMITS);
      return Stream.of(tar.toByteArray(), new byte[1024]);
    } finally {
      Trees.remove(directory);
    }
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void isATreeThatComesBackTheSameOrRefused(byte[] bytes) throws IOException {
    Path directory = Files.createTempDirectory("tar");
    try {
      Workspace workspace = workspace(directory.resolve("w"));
      boolean read = read(workspace, repaired(bytes));
      try (var beside = Files.list(directory)) {
        List<Path> all = beside.toList();
        if (all.size() != 1) {
          throw new AssertionError("something beside the workspace: " + all);
        }
      }
      if (read) {
        ByteArrayOutputStream tar = new ByteArrayOutputStream();
        workspace.exportTar(tar, TreeLimits.STANDARD);
        Workspace again = workspace(directory.resolve("again"));
        again.importTar(new ByteArrayInputStream(tar.toByteArray()), TreeLimits.STANDARD);
        if (!again.treeDigest().equals(workspace.treeDigest())) {
          throw new AssertionError("a tree that changes when it is written");
        }
      }
    } finally {
      Trees.remove(directory);
    }
  }

  private static Workspace workspace(Path place) throws IOException {
    return new Workspace(Files.createDirectory(place), -1);
  }

  private static boolean read(Workspace workspace, byte[] bytes) {
    try {
      workspace.importTar(new ByteArrayInputStream(bytes), LIMITS);
      return true;
    } catch (WritException e) {
      return false;
    }
  }

  /** Each block gets the checksum that it would need as a header; to content it does not matter. */
  private static byte[] repaired(byte[] bytes) {
    byte[] copy = bytes.clone();
    for (int at = 0; at + TarWriter.BLOCK <= copy.length; at += TarWriter.BLOCK) {
      byte[] block = Arrays.copyOfRange(copy, at, at + TarWriter.BLOCK);
      if (new String(block, 257, 5, StandardCharsets.ISO_8859_1).equals("ustar")) {
        byte[] sum =
            String.format("%06o\0 ", TarWriter.checksum(block)).getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(sum, 0, copy, at + 148, sum.length);
      }
    }
    return copy;
  }
}

package dev.writ.gateway.config;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;

/** Secrets out of files that others cannot read. */
public final class Secrets {
  private Secrets() {}

  /**
   * A file's content without the line's end.
   *
   * @throws WritException {@code GWY-005} for a file that is not there, empty, or open to others
   */
  public static byte[] read(Path file) {
    try {
      if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
        for (PosixFilePermission open :
            List.of(
                PosixFilePermission.GROUP_READ,
                PosixFilePermission.GROUP_WRITE,
                PosixFilePermission.OTHERS_READ,
                PosixFilePermission.OTHERS_WRITE)) {
          if (Files.getPosixFilePermissions(file).contains(open)) {
            throw new WritException(GatewayError.SECRET_UNREADABLE, file + " is open to others");
          }
        }
      }
      byte[] secret =
          Files.readString(file, StandardCharsets.UTF_8).strip().getBytes(StandardCharsets.UTF_8);
      if (secret.length == 0) {
        throw new WritException(GatewayError.SECRET_UNREADABLE, file + " is empty");
      }
      return secret;
    } catch (IOException e) {
      throw new WritException(
          GatewayError.SECRET_UNREADABLE, file + ": " + e.getClass().getSimpleName(), e);
    }
  }
}

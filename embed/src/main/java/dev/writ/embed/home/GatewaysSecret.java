package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.EmbedError;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;

/** The file by which gateways that share an installation know each other (spec/cells.md). */
public final class GatewaysSecret {
  private static final int BYTES = 32;

  private GatewaysSecret() {}

  /** Makes the file, unless it is there. */
  public static void makeIfMissing(Home home, SecureRandom random) {
    makeIfMissing(home.gatewaysSecret(), random);
  }

  static void makeIfMissing(Path file, SecureRandom random) {
    if (Files.exists(file)) {
      return;
    }
    byte[] secret = new byte[BYTES];
    random.nextBytes(secret);
    byte[] line = (HexFormat.of().formatHex(secret) + "\n").getBytes(StandardCharsets.US_ASCII);
    try {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.write(file, line);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, file.toString(), e);
    }
  }

  /**
   * Its 32 bytes.
   *
   * @throws WritException {@code CLI-002} where it is missing, open to others, or none
   */
  public static byte[] read(Home home) {
    return read(home.gatewaysSecret());
  }

  /** The same of another file of that form. */
  public static byte[] read(Path file) {
    try {
      for (PosixFilePermission permission : Files.getPosixFilePermissions(file)) {
        if (!permission.name().startsWith("OWNER")) {
          throw new WritException(EmbedError.FILE_UNREADABLE, file + " is open to others");
        }
      }
      String line = Files.readString(file).strip();
      if (!line.matches("[0-9a-f]{" + 2 * BYTES + "}")) {
        throw new WritException(EmbedError.FILE_UNREADABLE, file + " has no 64 hexadecimal digits");
      }
      return HexFormat.of().parseHex(line);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, file.toString(), e);
    }
  }
}

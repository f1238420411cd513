package dev.writ.cli.home;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Optional;

/**
 * A server's word in the home that it has open, on how it is reached: where, and by which token the
 * home's own agent may. Whoever can read it can read that agent's key, too. After a crash the word
 * stays, and counts for nothing.
 */
public final class Serving {
  private final Path file;
  private final byte[] said;

  private Serving(Path file, byte[] said) {
    this.file = file;
    this.said = said;
  }

  /**
   * What a server said.
   *
   * @param token of the home's agent, made for as long as the server runs
   */
  public record At(URI url, String token) {}

  /** Says it. */
  public static Serving at(Home home, String url, String token) {
    byte[] said =
        Jcs.write(
            JsonValue.object()
                .put("pid", ProcessHandle.current().pid())
                .put("token", token)
                .put("url", url)
                .build());
    try {
      Files.deleteIfExists(home.serving());
      Files.createFile(
          home.serving(),
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.write(home.serving(), said);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, home.serving().toString(), e);
    }
    return new Serving(home.serving(), said);
  }

  /** Takes it back, where no later server has said another one. */
  public void ended() {
    try {
      if (Arrays.equals(Files.readAllBytes(file), said)) {
        Files.delete(file);
      }
    } catch (IOException e) {
      // It stays, as after a crash.
    }
  }

  /** Where the server is, if the one that said so last still lives. */
  public static Optional<At> of(Home home) {
    try {
      Fields fields =
          Fields.of(home.serving().toString(), Jcs.parse(Files.readAllBytes(home.serving())));
      At at = new At(URI.create(fields.name("url")), fields.name("token"));
      boolean lives =
          ProcessHandle.of(fields.count("pid")).filter(ProcessHandle::isAlive).isPresent();
      fields.end();
      return lives ? Optional.of(at) : Optional.empty();
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException | IllegalArgumentException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, home.serving().toString(), e);
    }
  }
}

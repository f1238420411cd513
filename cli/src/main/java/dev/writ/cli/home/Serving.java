package dev.writ.cli.home;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.gateway.http.Listen;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/**
 * The file {@code serving.json}, in which a server tells other commands on this machine its address
 * and a token for the home's own agent. Every user who can read the file can read that agent's key,
 * too. A file left by a crash is ignored.
 */
public final class Serving {
  private final Path file;
  private final byte[] said;

  private Serving(Path file, byte[] said) {
    this.file = file;
    this.said = said;
  }

  /**
   * What the file holds.
   *
   * @param token of the home's agent, made for as long as the server runs
   * @param certificate PEM of the server's own certificate, where it speaks TLS by itself: commands
   *     believe exactly this one
   */
  public record At(URI url, String token, Optional<Path> certificate) {}

  /** Writes the file. */
  public static Serving at(Home home, String url, String token, Listen.Protection protection) {
    Optional<Path> certificate =
        protection instanceof Listen.Protection.Tls tls
            ? Optional.of(tls.certificate().toAbsolutePath())
            : Optional.empty();
    byte[] said =
        Jcs.write(
            JsonValue.object()
                .put("pid", ProcessHandle.current().pid())
                .putIfPresent("started", started(ProcessHandle.current()), JsonValue::of)
                .put("token", token)
                .put("url", url)
                .putIfPresent("certificate", certificate, path -> JsonValue.of(path.toString()))
                .build());
    try {
      // At once: another command never finds a part of it, nor does a full disk leave one.
      DurableFiles.REAL.replace(home.serving(), said);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, home.serving().toString(), e);
    }
    return new Serving(home.serving(), said);
  }

  /** When a process began: another one that later has its number began at another time. */
  private static Optional<String> started(ProcessHandle process) {
    return process.info().startInstant().map(Object::toString);
  }

  /** Removes the file, unless a later server has overwritten it. */
  public void ended() {
    try {
      if (Arrays.equals(Files.readAllBytes(file), said)) {
        Files.delete(file);
      }
    } catch (IOException e) {
      // It stays, as after a crash.
    }
  }

  /** Where the server is, if the process that wrote the file still runs. */
  public static Optional<At> of(Home home) {
    try {
      Fields fields =
          Fields.of(home.serving().toString(), Jcs.parse(Files.readAllBytes(home.serving())));
      At at =
          new At(
              URI.create(fields.name("url")),
              fields.name("token"),
              fields.optional("certificate", name -> Path.of(fields.name(name))));
      Optional<String> started = fields.optional("started", fields::name);
      boolean lives =
          ProcessHandle.of(fields.count("pid"))
              .filter(ProcessHandle::isAlive)
              .filter(process -> started.isEmpty() || started(process).equals(started))
              .isPresent();
      fields.end();
      return lives ? Optional.of(at) : Optional.empty();
    } catch (NoSuchFileException | WritException e) { // none, or what a crash cut off
      return Optional.empty();
    } catch (IOException | IllegalArgumentException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, home.serving().toString(), e);
    }
  }
}

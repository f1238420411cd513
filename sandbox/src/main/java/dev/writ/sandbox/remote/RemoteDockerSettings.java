package dev.writ.sandbox.remote;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.TlsAuthorities;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.docker.ServiceAddress;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;

/**
 * How a container service on another host is reached (spec/sandbox-remote.md).
 *
 * @param host the name, or the address, for which the service's certificate has to be
 * @param ca the authorities of the service's certificate, in PEM
 * @param certificate what this server shows, in PEM
 * @param key its private key, PKCS #8 in PEM
 * @param helper the image with a static BusyBox at {@code /bin/busybox}
 * @param startMs how long a container may take until its command runs
 * @param patienceMs how long the service may not answer while a command runs
 */
public record RemoteDockerSettings(
    String host,
    int port,
    Path ca,
    Path certificate,
    Path key,
    ImageReference helper,
    long startMs,
    long patienceMs) {
  private static final long START_S = 120;
  private static final long PATIENCE_S = 60;
  private static final long MOST_S = 3_600;

  public RemoteDockerSettings {
    if (!host.matches(
        "[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9a-fA-F:]*:[0-9a-fA-F:.]*")) {
      throw refused("host is no name and no address");
    }
    if (port < 1 || port > 65_535) {
      throw refused("port is none");
    }
    requireSeconds("start_s", startMs);
    requireSeconds("patience_s", patienceMs);
  }

  private static void requireSeconds(String name, long ms) {
    if (ms < 1_000 || ms > MOST_S * 1_000) {
      throw refused(name + " is not within 1 and " + MOST_S);
    }
  }

  /**
   * @throws WritException {@code SBX-050} for a file that cannot be read or says what cannot be
   */
  static RemoteDockerSettings read(Path file) {
    try {
      return read(Jcs.parse(Files.readAllBytes(file)));
    } catch (IOException e) {
      throw new WritException(SandboxError.SERVICE_SETTINGS, file + " cannot be read", e);
    }
  }

  /** A document of {@code spec/sandbox-remote.md}. */
  public static RemoteDockerSettings read(JsonValue document) {
    Fields fields = Fields.of("docker-remote", document);
    RemoteDockerSettings settings =
        new RemoteDockerSettings(
            fields.name("host"),
            (int) Math.min(fields.count("port"), 65_536),
            Path.of(fields.name("ca")),
            Path.of(fields.name("certificate")),
            Path.of(fields.name("key")),
            ImageReference.parse(fields.string("helper")),
            seconds(fields, "start_s", START_S),
            seconds(fields, "patience_s", PATIENCE_S));
    fields.end();
    return settings;
  }

  private static long seconds(Fields fields, String name, long otherwise) {
    return Math.min(fields.optional(name, fields::count).orElse(otherwise), MOST_S + 1) * 1_000;
  }

  /**
   * Where the service is; the files of TLS are read now.
   *
   * @throws WritException {@code SBX-050}
   */
  ServiceAddress address() {
    try {
      return ServiceAddress.of(
          host,
          port,
          TlsAuthorities.mutual(
              Files.readAllBytes(ca), Files.readAllBytes(certificate), Files.readAllBytes(key)));
    } catch (IOException | GeneralSecurityException e) {
      throw new WritException(
          SandboxError.SERVICE_SETTINGS, ca + ", " + certificate + ", " + key + ": " + e, e);
    }
  }

  private static WritException refused(String found) {
    return new WritException(SandboxError.SERVICE_SETTINGS, found);
  }
}

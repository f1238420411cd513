package dev.writ.sandbox.remote.testing;

import dev.writ.canonicalize.crypto.TlsAuthorities;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;

/** An authority that issues certificates, by openssl. */
public final class Authority {
  private final Path directory;

  public Authority(Path directory) throws IOException {
    this.directory = Files.createDirectories(directory);
    openssl(
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-keyout",
        "ca-key.pem",
        "-out",
        "ca.pem",
        "-subj",
        "/CN=authority",
        "-days",
        "30");
  }

  public Path certificate() {
    return directory.resolve("ca.pem");
  }

  /** Files of one that was issued. */
  public record Issued(Path certificate, Path key) {
    /** What a server or a client speaks with. */
    public SSLContext trusting(Authority peers) {
      try {
        return TlsAuthorities.mutual(
            Files.readAllBytes(peers.certificate()),
            Files.readAllBytes(certificate),
            Files.readAllBytes(key));
      } catch (IOException | GeneralSecurityException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** A certificate for a name, for 30 days. */
  public Issued issue(String name) throws IOException {
    return issue(name, "30");
  }

  /** One whose time is over. */
  public Issued expired(String name) throws IOException {
    return issue(name, "-1");
  }

  private Issued issue(String name, String days) throws IOException {
    String file = name + "-for" + days;
    Files.writeString(directory.resolve(file + ".ext"), "subjectAltName=DNS:" + name + "\n");
    openssl(
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-keyout",
        file + "-key.pem",
        "-out",
        file + ".csr",
        "-subj",
        "/CN=" + name);
    openssl(
        "x509",
        "-req",
        "-in",
        file + ".csr",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca-key.pem",
        "-CAcreateserial",
        "-extfile",
        file + ".ext",
        "-out",
        file + ".pem",
        "-days",
        days);
    return new Issued(directory.resolve(file + ".pem"), directory.resolve(file + "-key.pem"));
  }

  private void openssl(String... arguments) throws IOException {
    List<String> argv = new ArrayList<>(List.of("openssl"));
    argv.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(argv).directory(directory.toFile()).redirectErrorStream(true).start();
    try {
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IOException(said);
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }
}

package dev.writ.sandbox.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * A TLS server's identity of its own, made by the JDK's keytool.
 *
 * @param server what a server speaks with
 * @param authority what a client has to trust, in PEM
 */
public record TestTls(SSLContext server, byte[] authority) {
  private static final char[] PASSWORD = "changeit".toCharArray();

  /**
   * @param names that its certificate is for
   */
  public static TestTls forNames(String... names) {
    try {
      Path directory = Files.createTempDirectory("tls");
      Path file = directory.resolve("keys.p12");
      String alternatives =
          Stream.of(names).map(n -> "dns:" + n).collect(Collectors.joining(",", "SAN=", ""));
      run(
          List.of(
              Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
              "-genkeypair",
              "-alias",
              "server",
              "-keyalg",
              "EC",
              "-dname",
              "CN=" + names[0],
              "-ext",
              alternatives,
              "-ext",
              "BC=ca:true",
              "-validity",
              "3650",
              "-storetype",
              "PKCS12",
              "-keystore",
              file.toString(),
              "-storepass",
              new String(PASSWORD)));
      KeyStore keys = KeyStore.getInstance("PKCS12");
      try (InputStream in = Files.newInputStream(file)) {
        keys.load(in, PASSWORD);
      }
      Files.delete(file);
      Files.delete(directory);
      KeyManagerFactory managers =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      managers.init(keys, PASSWORD);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(managers.getKeyManagers(), null, null);
      return new TestTls(context, pem(keys.getCertificate("server").getEncoded()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static byte[] pem(byte[] der) {
    return ("-----BEGIN CERTIFICATE-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der)
            + "\n-----END CERTIFICATE-----\n")
        .getBytes(StandardCharsets.US_ASCII);
  }

  private static void run(List<String> argv) throws IOException {
    Process process = new ProcessBuilder(argv).redirectErrorStream(true).start();
    try (InputStream in = process.getInputStream()) {
      String said = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IOException(said);
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }
}

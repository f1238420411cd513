package dev.writ.cli.demo;

import dev.writ.canonicalize.disk.TemporaryDirectory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * A TLS identity for 127.0.0.1, made by the JDK's keytool: self-signed, valid for a day, its key in
 * memory alone once it is made.
 *
 * @param server what a server speaks with
 * @param authority what a client has to trust, in PEM
 */
record LoopbackTls(SSLContext server, byte[] authority) {
  static final String ADDRESS = "127.0.0.1";

  /** Of a file that is gone when this returns, in a directory of this user alone. */
  private static final String PASSWORD = "changeit";

  static LoopbackTls make() throws IOException {
    try (TemporaryDirectory directory = TemporaryDirectory.create("writ-demo-tls")) {
      Path file = directory.path().resolve("keys.p12");
      keytool(file);
      KeyStore keys = KeyStore.getInstance("PKCS12");
      try (InputStream in = Files.newInputStream(file)) {
        keys.load(in, PASSWORD.toCharArray());
      }
      KeyManagerFactory managers =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      managers.init(keys, PASSWORD.toCharArray());
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(managers.getKeyManagers(), null, null);
      return new LoopbackTls(context, pem(keys.getCertificate("server").getEncoded()));
    } catch (GeneralSecurityException e) {
      throw new IOException("keytool made nothing that this JDK can use", e);
    }
  }

  private static void keytool(Path file) throws IOException {
    List<String> argv =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
            "-genkeypair",
            "-alias",
            "server",
            "-keyalg",
            "EC",
            "-dname",
            "CN=the demo of Writ",
            "-ext",
            "SAN=ip:" + ADDRESS,
            "-ext",
            "BC=ca:true",
            "-validity",
            "1",
            "-storetype",
            "PKCS12",
            "-keystore",
            file.toString(),
            "-storepass",
            PASSWORD);
    Processes.requireSuccess(new ProcessBuilder(argv));
  }

  private static byte[] pem(byte[] der) {
    return ("-----BEGIN CERTIFICATE-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der)
            + "\n-----END CERTIFICATE-----\n")
        .getBytes(StandardCharsets.US_ASCII);
  }
}

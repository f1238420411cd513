package dev.writ.gateway.http;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What is wrong with a certificate or its key, in words for who can mend it. Parsers name neither
 * the file nor what they missed, and a file that was read while it was being written is one that an
 * operator only has to be told of.
 */
final class TlsFault {
  private static final Pattern BLOCK = Pattern.compile("-----(BEGIN|END) ([A-Z0-9 ]{1,40})-----");

  private TlsFault() {}

  /**
   * @param chain the certificate's file, with what it holds
   * @param key the key's
   * @return empty where neither shows why
   */
  static Optional<String> of(Path chain, byte[] certificates, Path key, byte[] secret) {
    return ofCertificates(certificates)
        .map(what -> chain + " " + what)
        .or(() -> ofKey(secret).map(what -> key + " " + what));
  }

  private static Optional<String> ofCertificates(byte[] content) {
    List<X509Certificate> chain;
    try {
      chain =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(content))
              .stream()
              .map(X509Certificate.class::cast)
              .toList();
    } catch (CertificateException e) {
      return Optional.of("is no certificate in PEM, or not all of one");
    }
    if (chain.isEmpty()) {
      return Optional.of("is empty");
    }
    for (int i = 1; i < chain.size(); i++) {
      if (!chain
          .get(i - 1)
          .getIssuerX500Principal()
          .equals(chain.get(i).getSubjectX500Principal())) {
        return Optional.of(
            "has certificates in another order than the server's own first, then each one's"
                + " issuer: number "
                + (i + 1)
                + " did not issue the one before");
      }
    }
    return Optional.empty();
  }

  private static Optional<String> ofKey(byte[] content) {
    Matcher block = BLOCK.matcher(new String(content, StandardCharsets.ISO_8859_1));
    if (!block.find()) {
      return Optional.of(content.length == 0 ? "is empty" : "has no private key in PEM");
    }
    String kind = block.group(2);
    if (kind.equals("ENCRYPTED PRIVATE KEY")) {
      return Optional.of("is encrypted; the server reads a key without a passphrase");
    }
    if (!kind.endsWith("PRIVATE KEY")) {
      return Optional.of("begins with " + kind + "; the private key alone has to be in it");
    }
    return block.find() && block.group(1).equals("END")
        ? Optional.empty()
        : Optional.of("ends in the middle of a private key");
  }
}
